"""Measures how long the event loop is blocked while a run's outputs go into the journal and to a
window, and while a receipt with the earlier cell comes back."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.notebook.live import LiveNotebook, SessionDocument, WindowState
from jupyter_codeinterp.server.socket.send_queue import SendQueue
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire.commands import OpFrame, OpReceipt, ServerFrame, SessionInfo
from jupyter_codeinterp.wire.ops import Delete, FinishRun, Output, Receipt

from .figures import Bound, Figure

KEY = "sk-ant-api03-bench-8fJ2kQ0zL5vX7mN1pR4tY6wB9cD3eG"
RUNS = 5
SIZES = ((2, 20.0), (32, 50.0))
"""MB of outputs, and the milliseconds that the event loop may be blocked."""
MOST_IN_A_RECEIPT = 3_000_000


class Window:
    """A window that answers each op with a given receipt."""

    def __init__(self, notebook: LiveNotebook) -> None:
        self.receipt = Receipt("done")
        self._notebook = notebook
        self._queue = SendQueue(self._write, lambda reason: None)

    async def _write(self, message: bytes) -> None:
        """Stands for a socket that takes everything at once."""

    def send(self, frame: ServerFrame) -> None:
        self._queue.post(frame)
        if isinstance(frame, OpFrame):
            names = (frame.notebook, frame.epoch, frame.session_id, frame.seq)
            answer = OpReceipt(*names, self.receipt)
            asyncio.get_running_loop().call_soon(self._notebook.receive, self, answer)

    def close(self) -> None:
        self._queue.close()


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    return [figure for size, bound in SIZES for figure in await _of_size(size, bound)]


async def _of_size(size: int, bound: float) -> list[Figure]:
    secrets = Secrets()
    secrets.add(KEY)
    with tempfile.TemporaryDirectory(prefix="codeinterp-bench-") as folder:
        store = SqliteStore(Path(folder) / "sessions.db", secrets.scrub)
        now = time.time()
        store.create(SessionInfo("s", "a.ipynb", "", "m", "auto", True, now, now))
        notebook = LiveNotebook("a.ipynb")
        window = Window(notebook)
        notebook.open(window, WindowState({}))
        document = SessionDocument(lambda: notebook, store, "s")
        runs, receipts = [], []
        for number in range(RUNS):
            outputs = _outputs(size, number)
            runs.append(await _silence(_run(store, document, outputs)))
            window.receipt = Receipt("done", before=_cell(_outputs(min(size, 3), number + 100)))
            receipts.append(await _silence(_delete(document)))
            window.receipt = Receipt("done")
        window.close()
        store.close()
    figures = [Figure(f"silence for {size} MB of outputs", runs, "ms", (Bound(bound, "median"),))]
    if size * 1_000_000 <= MOST_IN_A_RECEIPT:
        name = f"silence for a receipt with {size} MB of outputs"
        figures.append(Figure(name, receipts, "ms", (Bound(bound, "median"),)))
    return figures


def _outputs(size: int, number: int) -> tuple[Output, ...]:
    """Outputs like those of a plot, in pieces of at most 2 MB."""
    data = f"{number:08d}" * (min(size, 2) * 125_000)
    image = {"image/png": data, "text/plain": "<Figure size 640x480>"}
    output: Output = {"output_type": "display_data", "data": image, "metadata": {}}
    return (output,) * max(1, size // 2)


def _cell(outputs: tuple[Output, ...]) -> dict[str, object]:
    kept = list(outputs)[:1]
    return {"id": "c", "cell_type": "code", "source": "x", "metadata": {}, "outputs": kept}


async def _run(store: SqliteStore, document: SessionDocument, outputs: tuple[Output, ...]) -> None:
    kept = await store.keep_outputs("s", outputs)
    await document.apply(FinishRun("c", "r", outputs, 1, kept=kept))


async def _delete(document: SessionDocument) -> None:
    await document.apply(Delete("c", "x"))


async def _silence(work: Coroutine[None, None, None]) -> float:
    """The longest time that the event loop is blocked, in milliseconds."""
    longest = 0.0
    done = asyncio.ensure_future(work)
    while not done.done():
        began = time.perf_counter()
        await asyncio.sleep(0)
        longest = max(longest, time.perf_counter() - began)
    await done
    return longest * 1000
