"""Runs notebooks in fresh kernels in the background and compares their outputs.

A run goes on when its window closes, and ``of`` returns its state. A restart of
the server loses all runs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...base.errors import CodeInterpError, CommandError
from ...base.paths import root_of
from ...base.sentences import Sentence, as_it_is, together
from ...run.approval.modes import MODES
from ...run.verify.comparing import compare, last_lines
from ...run.verify.verification import CellLine, CodeCell, Verification, title_of
from ...wire.events import Mode
from ...wire.ops import joined
from ..notebooks.notebook_kernels import NotebookKernels, notebook_content
from .folder import copied, remove

log = logging.getLogger(__name__)

AT_ONCE = 2
"""Runs at the same time on this server."""
KEPT = 20
"""Notebooks whose latest run is kept."""
LONGEST_WAIT = 20.0
"""Seconds that ``changed`` waits."""
SKIPPED = Sentence("A cell above failed.")
TAGGED = Sentence("Skipped because of its tag skip-execution.")
BELOW = Sentence("The cells below it did not run.")
CELL_LIMIT = 600.0
"""Seconds for a cell where the admin sets no limit."""


# -------------------------------------------------------------------------------------------------
# The cells of a notebook's file.

MOST_CELLS = 2_000


class Book(msgspec.Struct, frozen=True):
    """``kernel``: the kernelspec's name; "" for the server's default."""

    path: str
    kernel: str
    cells: tuple[CodeCell, ...]


async def read(contents: Any, kernels: NotebookKernels, path: str) -> Book:
    """Raises CommandError ``unknown_notebook`` or ``malformed``."""
    content = await notebook_content(contents, path)
    cells = tuple(_code_cells(content.get("cells")))
    if not cells:
        raise CommandError("malformed", "The notebook has no code to run.")
    if len(cells) > MOST_CELLS:
        words = "The notebook has more than {limit:,} code cells."
        raise CommandError("malformed", words, limit=MOST_CELLS)
    spec = (await kernels.metadata(path)).get("kernelspec", {})
    return Book(path, str(spec.get("name", "")), cells)


def _code_cells(cells: Any) -> list[CodeCell]:
    found: list[CodeCell] = []
    for place, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        source = joined(cell.get("source"))
        if cell.get("cell_type") != "code" or not source.strip():
            continue
        count, tags = cell.get("execution_count"), cell.get("metadata", {}).get("tags")
        found.append(
            CodeCell(
                str(cell.get("id", "")),
                place,
                source,
                count if isinstance(count, int) else None,
                tuple(one for one in cell.get("outputs") or () if isinstance(one, dict)),
                tuple(map(str, tags)) if isinstance(tags, list) else (),
            )
        )
    return found


# -------------------------------------------------------------------------------------------------
# Runs.


class Verifier:
    """The latest run of each notebook, by path."""

    def __init__(
        self,
        kernel_manager: Any,
        contents: Any,
        kernels: NotebookKernels,
        *,
        highest_mode: Mode,
        cell_timeout: float | None,
        scrub: Callable[[str], str],
    ) -> None:
        """``kernel_manager`` and ``contents`` are jupyter_server's."""
        self._runs: dict[str, VerifyRun] = {}
        self.kernel_manager = kernel_manager
        self.contents = contents
        self.kernels = kernels
        self.timeout = cell_timeout or CELL_LIMIT
        self.scrub = scrub
        self._allowed = MODES[highest_mode].changes

    async def start(self, path: str, *, in_place: bool = False, kernel: str = "") -> Verification:
        """Begin to verify the saved notebook. ``in_place``: in its own folder.

        Raises CommandError ``not_allowed``, ``busy``, ``in_folder`` (the folder cannot be copied)
        or as ``read``.
        """
        self._check_allowed()
        self._check(path)
        book = await read(self.contents, self.kernels, path)
        run = VerifyRun(self, replace(book, kernel=kernel) if kernel else book)
        folder = None if in_place else self._folder(path)
        copy = None if folder is None else await copied(folder)
        try:
            self._check(path)
        except CommandError:
            if copy is not None:
                remove(copy)
            raise
        self._runs.pop(path, None)
        ended = [other for other, earlier in self._runs.items() if not earlier.running]
        for other in ended[: max(0, len(self._runs) + 1 - KEPT)]:
            del self._runs[other]
        self._runs[path] = run
        run.start(folder, copy)
        return run.now

    def _check(self, path: str) -> None:
        """Raises CommandError ``busy`` if no run of this notebook can begin."""
        running = [run.now.notebook for run in self._runs.values() if run.running]
        if path in running:
            raise CommandError("busy", "{path} is already being verified.", path=path)
        if len(running) >= AT_ONCE:
            words = "{limit} notebooks are being verified. Try again when one ends."
            raise CommandError("busy", words, limit=AT_ONCE)

    def of(self, path: str) -> Verification | None:
        """The state of the latest run; None if there was none."""
        run = self._runs.get(path)
        return None if run is None else run.now

    async def changed(self, path: str, seen: int) -> Verification | None:
        """Wait up to ``LONGEST_WAIT`` for a version other than ``seen``; return the state."""
        run = self._runs.get(path)
        if run is not None and run.running and run.now.version == seen:
            await run.next_change(LONGEST_WAIT)
        return self.of(path)

    async def ended(self, path: str) -> Verification:
        """Wait for the end of the run."""
        run = self._runs[path]
        await run.ended()
        return run.now

    async def cancel(self, path: str) -> Verification | None:
        """Cancel the run, if there is one, and wait for the end of its kernel."""
        run = self._runs.get(path)
        if run is not None:
            await run.cancel()
        return self.of(path)

    async def close(self) -> None:
        for run in self._runs.values():
            await run.cancel()

    def _check_allowed(self) -> None:
        """Raises CommandError ``not_allowed`` if no code may run on this server."""
        if not self._allowed:
            words = "Running code is not allowed on this server (c.CodeInterp.highest_mode)."
            raise CommandError("not_allowed", words)

    def _folder(self, path: str) -> Path:
        """The notebook's folder. Raises CommandError ``in_folder`` if it is not on this machine's
        disk."""
        if root_of(self.contents) is None or not hasattr(self.kernel_manager, "cwd_for_path"):
            raise CommandError("in_folder", "The notebook's folder is not on this server's disk.")
        return Path(self.kernel_manager.cwd_for_path(path))


class VerifyRun:
    """One run; ``now`` is its state."""

    def __init__(self, verifier: Verifier, book: Book) -> None:
        self._verifier = verifier
        self._book = book
        self._scrubbed = verifier.scrub
        self._moved: tuple[str, str] | None = None
        lines = tuple(
            CellLine(cell.cell_id, cell.number, self._scrubbed(title_of(cell.source)))
            for cell in book.cells
        )
        started = time.time()
        self.now = Verification(book.path, "running", lines, book.kernel, started=started)
        self._ended = Sentence()
        """A sentence about the cell that ended the kernel."""
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def start(self, folder: Path | None, copy: Path | None) -> None:
        """``copy``: the copy of ``folder``; None to run in the notebook's own folder."""
        if copy is not None:
            self._moved = (str(copy), str(folder))
        self._show(in_place=copy is None)
        self._task = asyncio.create_task(self._until_end(self._work(copy)))

    @property
    def running(self) -> bool:
        return self.now.state == "running"

    async def next_change(self, timeout: float) -> None:
        waiting = asyncio.ensure_future(self._changed.wait())
        await asyncio.wait({waiting}, timeout=timeout)
        waiting.cancel()

    async def ended(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})

    async def cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await self.ended()

    def _show(self, **changes: Any) -> None:
        self.now = replace(self.now, version=self.now.version + 1, **changes)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _until_end(self, work: Coroutine[Any, Any, None]) -> None:
        ending: dict[str, Any] = {"state": "done", "words": Sentence()}
        try:
            await work
        except asyncio.CancelledError:
            ending["state"] = "cancelled"
        except CodeInterpError as error:
            ending = {"state": "failed", "words": error.message.changed(self._scrubbed)}
        except Exception as error:
            # Managers of other packages may raise anything.
            log.exception("Could not run %s", self.now.notebook)
            why = self._scrubbed(str(error))[:500]
            ending = {"state": "failed", "words": Sentence("Could not go on: {why}", why=why)}
        words = self._ended or SKIPPED if ending["state"] == "done" else Sentence()
        lines = [
            replace(line, status="skipped", text=words)
            if line.status in ("waiting", "running")
            else line
            for line in self.now.cells
        ]
        if self._ended and lines[-1].status == "skipped":
            ending["words"] = together(self._ended, BELOW)
        self._show(cells=tuple(lines), **ending)

    async def _work(self, copy: Path | None) -> None:
        from ...kernel.zmq.fresh import FreshKernel  # not at the server's start

        place = {"path": self._book.path} if copy is None else {"cwd": str(copy)}
        kernel = FreshKernel(self._verifier.kernel_manager, self._book.kernel, place)
        try:
            await kernel.start(self._verifier.timeout)
            await self._run_cells(kernel)
        finally:
            await asyncio.shield(_cleaned_up(kernel, copy))

    async def _run_cells(self, kernel: Any) -> None:
        for at, cell in enumerate(self._book.cells):
            if "skip-execution" in cell.tags:
                self._line(at, status="skipped", text=TAGGED)
                continue
            self._line(at, status="running")
            began = time.monotonic()
            ran = await kernel.run(cell.source)
            seconds = round(time.monotonic() - began, 3)
            if ran.status == "ok" or (ran.status == "error" and "raises-exception" in cell.tags):
                found = await asyncio.to_thread(self._compared, cell, ran.outputs)
                self._line(at, seconds=seconds, **found)
            else:
                words = ran.words or as_it_is(await asyncio.to_thread(last_lines, ran.outputs))
                words = words.changed(self._scrubbed)
                self._line(at, status="failed", text=words, seconds=seconds)
            if ran.ended:
                self._ended = Sentence("Cell {number} ended the kernel.", number=cell.number)
            if ran.ended or self.now.cells[at].status == "failed":
                return

    def _compared(self, cell: CodeCell, outputs: Any) -> dict[str, Any]:
        if not cell.has_run:
            return {"status": "new"}
        found = compare(cell.outputs, outputs, self._moved)
        if found is None:
            return {"status": "same"}
        old, new = self._scrubbed(found.old), self._scrubbed(found.new)
        return {"status": "differs", "old": old, "new": new}

    def _line(self, at: int, **changes: Any) -> None:
        lines = list(self.now.cells)
        lines[at] = replace(lines[at], **changes)
        self._show(cells=tuple(lines))


async def _cleaned_up(kernel: Any, copy: Path | None) -> None:
    """End a kernel and remove the copy that it worked in."""
    try:
        await kernel.close()
    except Exception:
        log.exception("Could not end a fresh kernel")
    if copy is not None:
        await asyncio.to_thread(remove, copy)


# -------------------------------------------------------------------------------------------------
# Verifies the notebook of a conversation for the agent.


class NotebookRuns:
    """Implements the core's ``FreshRuns``. ``path``: of the notebook, which may move."""

    def __init__(self, verifier: Verifier, path: Callable[[], str]) -> None:
        self._verifier = verifier
        self._path = path
        self._ending: set[asyncio.Task[None]] = set()
        """Runs that end after Stop; the event loop holds tasks only weakly."""

    async def cells(self) -> Sequence[CodeCell]:
        verifier = self._verifier
        return (await read(verifier.contents, verifier.kernels, self._path())).cells

    async def run(self, in_place: bool) -> Verification:
        path = self._path()
        starting = asyncio.ensure_future(self._verifier.start(path, in_place=in_place))
        try:
            await asyncio.shield(starting)
            return await self._verifier.ended(path)
        except asyncio.CancelledError:
            # Stop waits for no kernel.
            ending = asyncio.ensure_future(self._end(path, starting))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            raise

    async def _end(self, path: str, starting: asyncio.Future[Verification]) -> None:
        await asyncio.wait({starting})
        if starting.exception() is None:
            await self._verifier.cancel(path)
