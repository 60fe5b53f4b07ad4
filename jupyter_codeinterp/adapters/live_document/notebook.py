"""One notebook: its windows, which of them the agent works in, what goes to it.

While no window has it open, somebody stands in who works in its file (``StandIn``).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from typing import Any, Protocol, Union

import msgspec

from ...core.commands import (
    DisplayFrame,
    FileState,
    Lease,
    OpenNotebook,
    OpFrame,
    OpReceipt,
    OutputsFrame,
    ReadNotebook,
    ReloadNotebook,
    ServerFrame,
    SnapshotTaken,
    StreamFrame,
)
from ...core.document import Op, Output, Receipt, Snapshot
from ...core.errors import DocumentError
from ...core.ports import StoredOps
from .outbox import Outbox, Parcel
from .shown import Shown, StreamKind

SNAPSHOT_TIMEOUT = 10.0
"""Seconds that a window has to answer a read. A notebook of 1,000 cells takes 5 ms."""
RELOAD_TIMEOUT = 10.0
"""Seconds that a window has to read the notebook's file anew."""
SAVE_ONLY = 0
"""The number of a read whose answer nobody waits for: the window is only to save."""

CLOSED = "The notebook is not open in any window. Open it and try again."
IN_FILE = "No window has the notebook open: the work goes on in its file."
SILENT = "The notebook's window does not answer. Reload it and try again."
UNSAVED = (
    "The notebook has unsaved changes in a window that is out of reach. "
    "Bring that window back, or open the notebook anew."
)
COLLABORATIVE = (
    "The notebook is edited by several people at once (real-time collaboration is on). "
    "The code interpreter cannot work in it yet."
)

_epochs = itertools.count(1)
"""Over all notebooks: one that is closed and opened again, or takes another's path, must
not get an epoch that a window has seen before."""


class Window(Protocol):
    """One browser tab. ``send`` queues and never waits."""

    def send(self, frame: ServerFrame) -> None: ...


class StandIn(Window, Protocol):
    """Works in the notebook's file as a window does in its copy, while none has it open."""

    async def open(self) -> tuple[dict[str, int], str]:
        """The ops that the file holds, and what people must know of it ("": nothing). Raises
        DocumentError if it cannot be worked in."""

    async def close(self) -> None:
        """End. What has been begun is written and answered before."""

    async def look(self) -> tuple[str, dict[str, int]]:
        """The version of the file, opened or not, and the ops that it holds. Raises
        DocumentError."""


class Owner(Protocol):
    """What a notebook belongs to."""

    def stand_in(self, notebook: LiveNotebook) -> StandIn | None:
        """None if there can be none."""

    def ops(self, session_id: str, after: int) -> StoredOps:
        """The session's ops with higher numbers, as the journal has them."""

    def saved(self, saved: Mapping[str, int]) -> None:
        """The notebook's file holds the ops of each session up to these numbers, or they have
        been given up: they are not done again."""

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        """A receipt for an op that had been given up as pending."""

    def note(self, notebook: LiveNotebook, words: str) -> None:
        """For the conversations that are going on about the notebook."""


class Copy(msgspec.Struct):
    """What a window says of its copy of the notebook; as in ``OpenNotebook``."""

    applied: dict[str, int]
    kernel_id: str = ""
    saved: dict[str, int] = {}
    version: str = ""
    edited: bool = False
    collaborative: bool = False
    file: str = ""
    """The file's version as it was when somebody looked, to see how old the copy is."""
    lacks: dict[str, StoredOps] = {}
    """What it needs again, though it has been saved."""
    told_to_reload: bool = False

    @classmethod
    def of(cls, command: OpenNotebook) -> Copy:
        return cls(
            dict(command.applied),
            command.kernel_id,
            dict(command.saved),
            command.version,
            command.edited,
            command.collaborative,
        )


class LiveNotebook:
    def __init__(self, path: str, owner: Owner | None = None, grace: float = 30.0) -> None:
        """``grace`` is how long (seconds) a window may be away before another works in the
        file. Without an ``owner`` nobody does."""
        self.path = path
        self.epoch = 0
        self._owner = owner
        self._grace = grace
        self._windows: dict[Window, Copy] = {}
        self._holder: Window | None = None
        self._stand_in: StandIn | None = None
        self._version = ""
        """Names the file as the stand-in has written it last; "" where a window knows best."""
        self._left = asyncio.get_running_loop().time()
        self._left_edited = False
        """Whether a window has gone with changes of the person's own that the file lacks."""
        self._why_nobody = ""
        """Why nobody can work in the notebook, and nobody is being waited for."""
        self._change: asyncio.Task[None] | None = None
        """The stand-in's coming or going."""
        self._known = asyncio.Event()
        """Somebody works in the notebook, or it is known that nobody does."""
        self._saved: dict[str, int] = {}
        """The ops of each session that are known to have been saved."""
        self._outbox = Outbox(self._post_op, self._late)
        self._shown = Shown()
        self._reads: dict[int, asyncio.Future[Union[Snapshot, None]]] = {}
        self._last_read = SAVE_ONLY
        self._readers = 0

    # --- windows and the lease -------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._holder is not None

    @property
    def in_file(self) -> bool:
        """Whether the agent works in the file, no window having the notebook open."""
        return self._stand_in is not None and self._holder is self._stand_in

    @property
    def idle(self) -> bool:
        """Whether nothing would be lost without it."""
        waits = self._windows or self._outbox or self._readers or self._shown
        waits = waits or self._outbox.in_use
        return not (waits or self._stand_in or self._version or self._left_edited)

    @property
    def kernel_id(self) -> str:
        """The kernel as the window that the agent works in has it. No other window's word
        counts: a stale one must not send a turn's code elsewhere."""
        copy = self._windows.get(self._holder) if self._holder is not None else None
        return copy.kernel_id if copy is not None else ""

    def held_by(self, window: Window) -> bool:
        return window is self._holder

    def opened_by(self, window: Window) -> bool:
        return window in self._windows

    def open(self, window: Window, copy: Copy, *, reverted: bool = False) -> None:
        """A window has the notebook open; with no other holder it gets the lease.

        The holder may say so again, with another ``applied`` if its document was read from
        the file anew: it keeps its epoch and gets what it lacks now, but for what the person
        ``reverted``.
        """
        before = self._windows.get(window)
        copy.told_to_reload = before is not None and before.told_to_reload
        self._windows[window] = copy
        self._left_edited, self._why_nobody = False, ""
        if window is self._holder:
            self._is_in_file(copy.saved)
            if reverted:
                self._is_in_file(self._outbox.reverted(copy.applied))
            self._bring_up_to_date(window)
        elif self._holder is None:
            self._stop_change()
            self._offer(window)
        elif self.in_file:
            if self._change is None or self._change.done():
                self._change_to(self._hand_back())
        elif copy.told_to_reload:
            self._offer(window)
        else:
            window.send(Lease(self.path, self.epoch, False))

    def _offer(self, window: Window) -> None:
        """The lease to this window, unless it must read the file anew first."""
        copy = self._windows[window]
        newest = self._version or copy.file
        if copy.collaborative:
            window.send(Lease(self.path, self.epoch, False))
        elif not newest and self._owner is not None and self._is_behind(copy):
            self._stop_change()
            self._change_to(self._look(self._owner, window, copy))
        elif newest not in ("", copy.version) and not (copy.edited or copy.told_to_reload):
            copy.told_to_reload = True
            window.send(ReloadNotebook(self.path))
            loop = asyncio.get_running_loop()
            loop.call_later(RELOAD_TIMEOUT, self._offer_again, window)
        else:
            self._is_in_file(copy.saved)
            self._grant(window)

    def _is_behind(self, copy: Copy) -> bool:
        """Whether the copy lacks what is known to have been saved."""
        return any(copy.applied.get(key, 0) < seq for key, seq in self._saved.items())

    async def _look(self, owner: Owner, window: Window, copy: Copy) -> None:
        """Has the window an old copy, or has an old file been put back? An old copy that the
        person has edited gets what the file has since."""
        copy.file = copy.version
        holds: dict[str, int] = {}
        stand_in = owner.stand_in(self)
        if stand_in is not None:
            with contextlib.suppress(DocumentError):  # then the window knows best
                copy.file, holds = await stand_in.look()
        if copy.edited and copy.file != copy.version:
            for session_id in self._saved:
                above = owner.ops(session_id, copy.applied.get(session_id, 0))
                last = holds.get(session_id, 0)
                copy.lacks[session_id] = [op for op in above if op.seq <= last]
        self._change = None
        if self._windows.get(window) is copy and window is not self._holder:
            self._offer(window)
        else:
            self._offer_next()

    def _offer_next(self) -> None:
        if self._holder is None and self._windows and self._change is None:
            self._offer(next(iter(self._windows)))

    def _offer_again(self, window: Window) -> None:
        if self._holder is None and window in self._windows:
            self._offer(window)

    def file_state(self, window: Window, command: FileState) -> None:
        """How a window's copy stands to the file by now."""
        copy = self._windows.get(window)
        if copy is None:
            return
        copy.saved, copy.version = dict(command.saved), command.version
        copy.edited = command.edited
        if window is self._holder:
            self._is_in_file(copy.saved)

    def close(self, window: Window, *, for_good: bool = False) -> None:
        """The window is gone; the next one gets the lease and the ops it lacks. ``for_good``:
        the person has closed the notebook, and what was not saved is given up."""
        copy = self._windows.pop(window, None)
        if copy is None:
            return
        self._left = asyncio.get_running_loop().time()
        if copy.edited and not for_good:
            self._left_edited = True
        if window is not self._holder:
            return self._offer_next()
        self._vacate()
        if for_good and not self._windows:
            self._is_in_file(self._outbox.reverted(copy.saved))
        if self._windows:
            self._offer(next(iter(self._windows)))
        elif self._outbox or self._readers:
            self._need_somebody()

    def take(self, window: Window) -> None:
        """Give the lease to this window, if it has the notebook open."""
        if window in self._windows and window is not self._holder and not self._change:
            self._offer(window)

    def kernel_of(self, window: Window, kernel_id: str) -> None:
        if window in self._windows:
            self._windows[window].kernel_id = kernel_id

    def moved(self, path: str, window: Window) -> dict[Window, Copy]:
        """The notebook is at ``path`` now, in this window. The others, which are given back,
        still have it where it was."""
        ours = self._windows.pop(window)
        others, self._windows = self._windows, {window: ours}
        self.path = path
        self._grant(window)
        return others

    def _grant(self, holder: Window, applied: Mapping[str, int] | None = None) -> None:
        """``applied`` is what the holder's document has, if it is no window's."""
        # What was saved is done again for a copy that lacks it, and for no other.
        self._outbox.saved(self._saved)
        if holder in self._windows:
            for session_id, ops in self._windows[holder].lacks.items():
                self.restore(session_id, ops)
        before, self._holder = self._holder, holder
        self.epoch = next(_epochs)
        if before in self._windows and before is not holder:
            before.send(Lease(self.path, self.epoch, False))
        if not self.in_file:
            self._version = ""
        self._known.set()
        self._ask_again()
        self._bring_up_to_date(holder, applied)

    def _vacate(self) -> None:
        self._holder = None
        self._known.clear()
        self._outbox.hold()
        self._ask_again()

    def _bring_up_to_date(self, window: Window, applied: Mapping[str, int] | None = None) -> None:
        window.send(Lease(self.path, self.epoch, True))
        self._outbox.resend(self._windows[window].applied if applied is None else applied)
        for frame in self._shown.frames(self.path, self.epoch):
            self._post(frame)

    def _post(self, frame: ServerFrame) -> None:
        if self._holder is not None:
            self._holder.send(frame)

    # --- while no window has it open -------------------------------------------------

    def _need_somebody(self) -> None:
        """Something waits. If no window comes in time, somebody works in the file."""
        absent = self._holder is None and not self._windows and not self._why_nobody
        if absent and self._change is None and self._owner is not None:
            self._change_to(self._hand_over(self._owner))

    async def _hand_over(self, owner: Owner) -> None:
        now = asyncio.get_running_loop().time()
        await asyncio.sleep(self._left + self._grace - now)
        stand_in = owner.stand_in(self)
        if stand_in is None:
            return
        if self._left_edited:
            self._nobody(UNSAVED)
            return
        try:
            applied, known = await stand_in.open()
        except DocumentError as error:
            self._nobody(error.message)
            return
        owner.note(self, f"{IN_FILE} {known}".strip())
        self._stand_in = stand_in
        self._grant(stand_in, applied)

    async def _hand_back(self) -> None:
        """A window is there again."""
        if self._stand_in is not None:
            await self._stand_in.close()
        self._stand_in = None
        self._vacate()
        self._change = None
        self._offer_next()

    def written(self, version: str) -> None:
        """The stand-in has written the file. Its ops are kept until a window has read it: one
        that has an older copy, with edits of the person's own, needs them."""
        self._version = version

    def lost(self, reason: str) -> None:
        """The stand-in cannot work in the file any longer."""
        self._stand_in = None
        self._vacate()
        self._nobody(reason)

    def _nobody(self, reason: str) -> None:
        self._why_nobody = reason
        self._outbox.leave_pending(reason)
        self._known.set()

    def _change_to(self, work: Any) -> None:
        task = self._change = asyncio.ensure_future(work)

        def over(_: object) -> None:
            if self._change is task:
                self._change = None

        task.add_done_callback(over)

    def _stop_change(self) -> None:
        if self._change is not None:
            self._change.cancel()
            self._change = None

    def _is_in_file(self, saved: Mapping[str, int]) -> None:
        self._outbox.saved(saved)
        self.know_saved(saved)
        if saved and self._owner is not None:
            self._owner.saved(saved)

    # --- ops and receipts ------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        self._shown.overtaken(op)
        receipt = self._outbox.add(session_id, seq, op)
        if self._why_nobody:
            self._outbox.leave_pending(self._why_nobody)
        self._need_somebody()
        return receipt

    def _post_op(self, parcel: Parcel) -> bool:
        self._post(OpFrame(self.path, self.epoch, parcel.session_id, parcel.seq, parcel.op))
        return self._holder is not None

    def receive(self, window: Window, command: OpReceipt) -> None:
        """A receipt from the holder. Others, and those of an older epoch, are ignored."""
        if window is not self._holder or command.epoch != self.epoch:
            return
        session_id, seq = command.session_id, command.seq
        copy = self._windows.get(window)
        if self._outbox.receive(session_id, seq, command.receipt) and copy is not None:
            copy.applied[session_id] = max(copy.applied.get(session_id, 0), seq)

    def _late(self, parcel: Parcel, receipt: Receipt) -> None:
        if self._owner is not None:
            self._owner.late(parcel.session_id, parcel.seq, receipt)

    def know_saved(self, saved: Mapping[str, int]) -> None:
        for session_id, seq in saved.items():
            self._saved[session_id] = max(seq, self._saved.get(session_id, 0))

    def restore(self, session_id: str, ops: StoredOps) -> None:
        """Ops of an earlier life of the server that are not known to be in the file."""
        for stored in ops:
            if stored.receipt is not None and stored.receipt.status in ("done", "pending"):
                self._outbox.restore(session_id, stored.seq, stored.op, stored.receipt)

    def end_turn(self, session_id: str) -> None:
        self._outbox.end_turn(session_id)
        self._shown.forget(session_id)

    def drop(self, session_id: str) -> None:
        """The session is no more."""
        self._outbox.give_up("the conversation was deleted", session_id)
        self._shown.forget(session_id)

    def give_up(self, reason: str) -> None:
        """This notebook is no more: ops that are still open are answered with ``reason``."""
        self._windows.clear()
        self._stop_change()
        self._vacate()
        self._outbox.give_up(reason)

    async def aclose(self, reason: str) -> None:
        """Give up once what has been begun in the file is written."""
        if self._stand_in is not None:
            await self._stand_in.close()
        self.give_up(reason)

    # --- reading and showing ---------------------------------------------------------

    @property
    def why_not(self) -> DocumentError:
        """Why nothing can be read or done now."""
        if any(copy.collaborative for copy in self._windows.values()):
            return DocumentError("collaborative", COLLABORATIVE)
        return DocumentError("not_open", self._why_nobody or CLOSED)

    async def read(self) -> Snapshot:
        """The notebook as the holder has it; waits while no window has it open, until
        somebody works in its file.

        Raises DocumentError ``not_open`` if nobody can, or the window that has it does not
        answer.
        """
        self._readers += 1
        try:
            while True:
                self._need_somebody()
                await self._known.wait()
                if self._holder is None:
                    raise self.why_not
                snapshot = await asyncio.wait_for(self._ask(), SNAPSHOT_TIMEOUT)
                if snapshot is not None:
                    return snapshot
        except asyncio.TimeoutError:
            raise DocumentError("not_open", SILENT) from None
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
