"""One open notebook: its windows, which of them the agent works in, what goes to it."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any, Protocol, Union

import msgspec

from ...core.commands import (
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
from ...core.document import Op, Output, Receipt, Snapshot
from ...core.errors import DocumentError
from .outbox import Outbox, Parcel
from .shown import Shown, StreamKind

SNAPSHOT_TIMEOUT = 10.0
"""Seconds that a window has to answer a read. A notebook of 1,000 cells takes 5 ms."""
SAVE_ONLY = 0
"""The number of a read whose answer nobody waits for: the window is only to save."""

_epochs = itertools.count(1)
"""Over all notebooks: one that is closed and opened again, or takes another's path, must
not get an epoch that a window has seen before."""


class Window(Protocol):
    """One browser tab. ``send`` queues and never waits."""

    def send(self, frame: ServerFrame) -> None: ...


class Attached(msgspec.Struct):
    """What a window says of its copy: the ops that it holds, the kernel that it shows."""

    applied: dict[str, int]
    kernel_id: str


class LiveNotebook:
    def __init__(self, path: str) -> None:
        self.path = path
        self.epoch = 0
        self._windows: dict[Window, Attached] = {}
        self._holder: Window | None = None
        self._held = asyncio.Event()
        self._outbox = Outbox(self._post_op)
        self._shown = Shown()
        self._reads: dict[int, asyncio.Future[Union[Snapshot, None]]] = {}
        self._last_read = SAVE_ONLY
        self._readers = 0

    # --- windows and the lease -------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._holder is not None

    @property
    def idle(self) -> bool:
        """Whether nothing would be lost without it."""
        return not (self._windows or self._outbox or self._readers or self._shown)

    @property
    def kernel_id(self) -> str:
        """The kernel as the window that the agent works in has it. No other window's word
        counts: a stale one must not send a turn's code elsewhere."""
        return self._windows[self._holder].kernel_id if self._holder is not None else ""

    def held_by(self, window: Window) -> bool:
        return window is self._holder

    def opened_by(self, window: Window) -> bool:
        return window in self._windows

    def open(self, window: Window, applied: dict[str, int], kernel_id: str) -> None:
        """A window has the notebook open; with no other holder it gets the lease.

        The holder may say so again, with another ``applied`` if its document was read from
        the file anew: it keeps its epoch and gets what it lacks now.
        """
        self._windows[window] = Attached(applied, kernel_id)
        if self._holder is None:
            self._grant(window)
        elif self._holder is window:
            self._bring_up_to_date(window)
        else:
            window.send(Lease(self.path, self.epoch, False))

    def close(self, window: Window) -> None:
        """The window is gone; the next one gets the lease and the ops it lacks."""
        if self._windows.pop(window, None) is None or window is not self._holder:
            return
        self._holder = None
        self._held.clear()
        self._outbox.hold()
        self._ask_again()
        if self._windows:
            self._grant(next(iter(self._windows)))

    def take(self, window: Window) -> None:
        """Give the lease to this window, if it has the notebook open."""
        if window in self._windows and window is not self._holder:
            self._grant(window)

    def kernel_of(self, window: Window, kernel_id: str) -> None:
        if window in self._windows:
            self._windows[window].kernel_id = kernel_id

    def moved(self, path: str, window: Window) -> dict[Window, Attached]:
        """The notebook is at ``path`` now, in this window. The others, which are given back,
        still have it where it was."""
        ours = self._windows.pop(window)
        others, self._windows = self._windows, {window: ours}
        self.path = path
        self._grant(window)
        return others

    def _grant(self, window: Window) -> None:
        before, self._holder = self._holder, window
        self.epoch = next(_epochs)
        if before in self._windows and before is not window:
            before.send(Lease(self.path, self.epoch, False))
        self._held.set()
        self._ask_again()
        self._bring_up_to_date(window)

    def _bring_up_to_date(self, window: Window) -> None:
        window.send(Lease(self.path, self.epoch, True))
        self._outbox.resend(self._windows[window].applied)
        for frame in self._shown.frames(self.path, self.epoch):
            self._post(frame)

    def _post(self, frame: ServerFrame) -> None:
        if self._holder is not None:
            self._holder.send(frame)

    # --- ops and receipts ------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        self._shown.overtaken(op)
        return self._outbox.add(session_id, seq, op)

    def _post_op(self, parcel: Parcel) -> bool:
        self._post(OpFrame(self.path, self.epoch, parcel.session_id, parcel.seq, parcel.op))
        return self._holder is not None

    def receive(self, window: Window, command: OpReceipt) -> None:
        """A receipt from the holder. Others, and those of an older epoch, are ignored."""
        if window is not self._holder or command.epoch != self.epoch:
            return
        session_id, seq = command.session_id, command.seq
        if self._outbox.receive(session_id, seq, command.receipt):
            applied = self._windows[window].applied
            applied[session_id] = max(applied.get(session_id, 0), seq)

    def forget(self, session_id: str) -> None:
        """The session's turn is over."""
        self._outbox.forget(session_id)
        self._shown.forget(session_id)

    def drop(self, session_id: str) -> None:
        """The session is no more."""
        self._outbox.give_up("the conversation was deleted", session_id)
        self._shown.forget(session_id)

    def give_up(self, reason: str) -> None:
        """This notebook is no more: ops that are still open are answered with ``reason``."""
        self._windows.clear()
        self._holder = None
        self._held.clear()
        self._outbox.give_up(reason)

    # --- reading and showing ---------------------------------------------------------

    async def read(self) -> Snapshot:
        """The notebook as the holder has it; waits while no window has it open.

        Raises DocumentError ``not_open`` if the window that has it does not answer.
        """
        self._readers += 1
        try:
            while True:
                await self._held.wait()
                snapshot = await asyncio.wait_for(self._ask(), SNAPSHOT_TIMEOUT)
                if snapshot is not None:
                    return snapshot
        except asyncio.TimeoutError:
            words = "The notebook's window does not answer. Reload it and try again."
            raise DocumentError("not_open", words) from None
        finally:
            self._readers -= 1

    async def _ask(self) -> Snapshot | None:
        """None if the lease has gone elsewhere meanwhile."""
        self._last_read += 1
        request_id = self._last_read
        answer: asyncio.Future[Union[Snapshot, None]] = asyncio.get_running_loop().create_future()
        self._reads[request_id] = answer
        self._post(ReadNotebook(self.path, self.epoch, request_id))
        try:
            return await answer
        finally:
            del self._reads[request_id]

    def _ask_again(self) -> None:
        for answer in self._reads.values():
            if not answer.done():
                answer.set_result(None)

    def answer(self, window: Window, command: SnapshotTaken) -> None:
        answer = self._reads.get(command.request_id)
        current = window is self._holder and command.epoch == self.epoch
        if answer is not None and not answer.done() and current:
            answer.set_result(Snapshot(self.path, command.cells, command.active_cell_id))

    def save(self) -> None:
        self._post(ReadNotebook(self.path, self.epoch, SAVE_ONLY, save=True))

    def stream(
        self, session_id: str, draft_id: str, cell_id: str, kind: StreamKind, start: int, text: str
    ) -> None:
        self._shown.write(session_id, draft_id, cell_id, kind, start, text)
        self._post(StreamFrame(self.path, self.epoch, draft_id, cell_id, kind, start, text))

    def outputs(
        self, session_id: str, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]
    ) -> None:
        self._shown.outputs(session_id, cell_id, run_id, start, outputs)
        self._post(OutputsFrame(self.path, self.epoch, cell_id, run_id, start, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._post(DisplayFrame(self.path, self.epoch, display_id, data, metadata))
