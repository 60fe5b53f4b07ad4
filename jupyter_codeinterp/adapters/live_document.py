"""The notebook that is open in a browser: ops go to one window, receipts come back.

    LiveNotebook      one a path: the windows that have it open, the lease, ops on their way
    SessionDocument   what one session sees of it: the ``Document`` port, with numbered,
                      journaled ops

One window holds the lease and applies ops; every lease has an epoch, and receipts of an
older one are ignored. A window that attaches says which ops its document already holds
(``applied``), and gets the running turn's ops above that again: ops are idempotent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from ..core.commands import (
    DisplayFrame,
    Lease,
    OpFrame,
    OpReceipt,
    OutputsFrame,
    ReadNotebook,
    ServerFrame,
    SnapshotTaken,
    StreamFrame,
)
from ..core.document import FinishRun, Op, Output, Receipt, Snapshot
from ..core.errors import DocumentError
from ..core.ports import SessionStore, StoredOp

RESEND_AFTER = 10.0
"""Seconds without a receipt after which an op is sent again."""
RESENDS = 2
"""How often an op is sent again before it counts as pending."""
SNAPSHOT_TIMEOUT = 10.0
"""Seconds that a window has to answer a read. A notebook of 1,000 cells takes 5 ms."""


class Window(Protocol):
    """One browser tab. ``send`` queues and never waits."""

    def send(self, frame: ServerFrame) -> None: ...


class _Sent:
    """An op that has been numbered, and its receipt when there is one."""

    def __init__(self, session_id: str, seq: int, op: Op) -> None:
        self.session_id = session_id
        self.seq = seq
        self.op = op
        self.receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.tries = 0
        self.timer: asyncio.TimerHandle | None = None


class LiveNotebook:
    def __init__(self, path: str) -> None:
        self.path = path
        self.kernel_id = ""
        self.epoch = 0
        self._windows: dict[Window, dict[str, int]] = {}
        self._holder: Window | None = None
        self._held = asyncio.Event()
        self._ops: dict[tuple[str, int], _Sent] = {}
        self._reads: dict[int, asyncio.Future[Snapshot]] = {}
        self._last_read = 0
        self._shown: dict[str, tuple[str, list[Output]]] = {}

    # --- windows and the lease -------------------------------------------------------

    @property
    def windows(self) -> tuple[Window, ...]:
        return tuple(self._windows)

    @property
    def is_open(self) -> bool:
        return bool(self._windows)

    def open(self, window: Window, applied: dict[str, int], kernel_id: str) -> None:
        """A window has the notebook open; with no other holder it gets the lease."""
        self._windows[window] = applied
        if kernel_id or self._holder in (None, window):
            self.kernel_id = kernel_id
        if self._holder in (None, window):
            self._grant(window)
        else:
            window.send(Lease(self.path, self.epoch, False))

    def close(self, window: Window) -> None:
        """The window is gone; the next one gets the lease and the ops it lacks."""
        if self._windows.pop(window, None) is None or window is not self._holder:
            return
        self._holder = None
        self._held.clear()
        if self._windows:
            self._grant(next(iter(self._windows)))

    def take(self, window: Window) -> None:
        """Give the lease to this window, which has the notebook open."""
        if window in self._windows and window is not self._holder:
            self._grant(window)

    def _grant(self, window: Window) -> None:
        before, self._holder = self._holder, window
        self.epoch += 1
        if before is not None and before is not window:
            before.send(Lease(self.path, self.epoch, False))
        window.send(Lease(self.path, self.epoch, True))
        self._held.set()
        applied = self._windows[window]
        for sent in self._ops.values():
            if sent.seq > applied.get(sent.session_id, 0) or not sent.receipt.done():
                self._send(sent)
        for cell_id, (run_id, outputs) in self._shown.items():
            self._post(OutputsFrame(self.path, self.epoch, cell_id, run_id, 0, tuple(outputs)))

    def _post(self, frame: ServerFrame) -> None:
        if self._holder is not None:
            self._holder.send(frame)

    # --- ops and receipts ------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        sent = _Sent(session_id, seq, op)
        self._ops[session_id, seq] = sent
        if isinstance(op, FinishRun):
            self._shown.pop(op.cell_id, None)
        if self._holder is not None:
            self._send(sent)
        return sent.receipt

    def _send(self, sent: _Sent) -> None:
        if sent.timer is not None:
            sent.timer.cancel()
        self._post(OpFrame(self.path, self.epoch, sent.session_id, sent.seq, sent.op))
        if not sent.receipt.done():
            loop = asyncio.get_running_loop()
            sent.timer = loop.call_later(RESEND_AFTER, self._overdue, sent)

    def _overdue(self, sent: _Sent) -> None:
        if sent.receipt.done() or self._holder is None:
            return
        if sent.tries >= RESENDS:
            reason = "the notebook's window does not answer"
            sent.receipt.set_result(Receipt("pending", reason=reason))
            return
        sent.tries += 1
        self._send(sent)

    def receive(self, window: Window, command: OpReceipt) -> None:
        """A receipt from the holder. Others, and those of an older epoch, are ignored."""
        if window is not self._holder or command.epoch != self.epoch:
            return
        applied = self._windows[window]
        applied[command.session_id] = max(applied.get(command.session_id, 0), command.seq)
        sent = self._ops.get((command.session_id, command.seq))
        if sent is None:
            return
        if sent.timer is not None:
            sent.timer.cancel()
        if not sent.receipt.done():
            sent.receipt.set_result(command.receipt)

    def forget(self, session_id: str) -> None:
        """The session's turn is over: its confirmed ops need not be sent again."""
        done = [
            key
            for key, sent in self._ops.items()
            if sent.session_id == session_id and sent.receipt.done()
        ]
        for key in done:
            del self._ops[key]

    # --- reading and showing ---------------------------------------------------------

    async def read(self, save: bool = False) -> Snapshot:
        """The notebook as the holder has it. Raises DocumentError ``not_open``."""
        if self._holder is None:
            words = "The notebook is not open in any window. Open it and try again."
            raise DocumentError("not_open", words)
        self._last_read += 1
        request_id = self._last_read
        future: asyncio.Future[Snapshot] = asyncio.get_running_loop().create_future()
        self._reads[request_id] = future
        self._post(ReadNotebook(self.path, self.epoch, request_id, save))
        try:
            return await asyncio.wait_for(future, SNAPSHOT_TIMEOUT)
        except asyncio.TimeoutError:
            words = "The notebook's window does not answer. Reload it and try again."
            raise DocumentError("not_open", words) from None
        finally:
            del self._reads[request_id]

    def answer(self, window: Window, command: SnapshotTaken) -> None:
        future = self._reads.get(command.request_id)
        if future is not None and not future.done() and window is self._holder:
            future.set_result(Snapshot(self.path, command.cells, command.active_cell_id))

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        self._post(StreamFrame(self.path, self.epoch, draft_id, cell_id, kind, start, text))

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        """Keep what a running cell shows, for a window that attaches in mid-run; show it."""
        shown = self._shown.get(cell_id, (run_id, []))[1]
        shown[start:] = outputs
        self._shown[cell_id] = (run_id, shown)
        self._post(OutputsFrame(self.path, self.epoch, cell_id, run_id, start, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._post(DisplayFrame(self.path, self.epoch, display_id, data, metadata))


class SessionDocument:
    """A live notebook as one session works on it. Fulfils the ``Document`` port."""

    def __init__(
        self, notebook: Callable[[], LiveNotebook], store: SessionStore, session_id: str
    ) -> None:
        self._notebook = notebook
        self._store = store
        self._session_id = session_id
        ops = store.ops(session_id)
        self._seq = ops[-1].seq if ops else 0
        self.turn = 0

    @property
    def path(self) -> str:
        return self._notebook().path

    async def snapshot(self) -> Snapshot:
        return await self._notebook().read()

    async def save(self) -> None:
        notebook = self._notebook()
        if notebook.is_open:
            await notebook.read(save=True)

    def apply(self, op: Op) -> Awaitable[Receipt]:
        self._seq += 1
        seq = self._seq
        self._store.append_op(self._session_id, StoredOp(seq, self.turn, op))
        receipt = self._notebook().apply(self._session_id, seq, op)
        receipt.add_done_callback(lambda done: self._confirmed(seq, done))
        return receipt

    def _confirmed(self, seq: int, receipt: asyncio.Future[Receipt]) -> None:
        if not receipt.cancelled() and receipt.result().status != "pending":
            self._store.set_receipt(self._session_id, seq, receipt.result())

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        self._notebook().stream(draft_id, cell_id, kind, start, text)

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        self._notebook().outputs(cell_id, run_id, start, outputs)

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._notebook().display(display_id, data, metadata)

    def end_turn(self) -> None:
        self._notebook().forget(self._session_id)
