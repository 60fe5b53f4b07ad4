"""One notebook: its windows, which of them the agent works in, what goes to it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping
from typing import Any

from ....core.commands import (
    DisplayFrame,
    FileState,
    Lease,
    OpFrame,
    OpReceipt,
    OutputsFrame,
    ReadNotebook,
    ReloadNotebook,
    ServerFrame,
    SnapshotTaken,
    StreamFrame,
)
from ....core.document.ops import Op, Output, Receipt, Snapshot
from ....core.errors import DocumentError
from ....core.stores import StoredOps
from .file_holds import FileHolds
from .hand_over import HandOver
from .live_preview import LivePreview, StreamKind
from .outbox import Outbox, Parcel
from .parties import Owner, Window, WindowState
from .reads import SAVE_ONLY, CellIds, Reads

NEWS = 5.0
"""Seconds in which it is heard that a file was renamed, which happens just before: at once, but
on a busy machine."""
RELOAD_TIMEOUT = 10.0
"""Seconds that a window has to read the notebook's file anew."""
CLOSED = "The notebook is not open in any window. Open it and try again."
COLLABORATIVE = (
    "The notebook is edited by several people at once (real-time collaboration is on). "
    "The code interpreter cannot work in it yet."
)

_epochs = itertools.count(1)
"""Over all notebooks: one that is closed and opened again, or takes another's path, must
not get an epoch that a window has seen before."""


class LiveNotebook:
    def __init__(
        self,
        path: str,
        owner: Owner[LiveNotebook] | None = None,
        grace: float = 30.0,
        leave_grace: float = 5.0,
    ) -> None:
        """``grace`` is how long (seconds) a window may be away before another works in the
        file; ``leave_grace``, no longer than that, if it has said that it goes. Without an
        ``owner`` nobody does."""
        self.path = path
        self.epoch = 0
        self._owner = owner
        self._windows: dict[Window, WindowState] = {}
        self._holder: Window | None = None
        self._hand_over = HandOver(self, owner, grace, leave_grace)
        self._known = asyncio.Event()
        """Somebody works in the notebook, or it is known that nobody does."""
        self._outbox = Outbox(self._post_op, self._late)
        self._file_holds = FileHolds(self._outbox, owner)
        self._preview = LivePreview()
        self._reads = Reads(self._ask, self._somebody)
        self._elsewhere = asyncio.Event()

    # --- windows and the lease -------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self._holder is not None

    @property
    def may_begin(self) -> bool:
        """Whether a turn may begin: in a window, or in the file where none is waited for."""
        return self.is_open or self._hand_over.headless

    @property
    def in_a_window(self) -> bool:
        """Whether a window has it open, be it the one that the agent works in or not."""
        return bool(self._windows)

    @property
    def in_file(self) -> bool:
        """Whether the agent works in the file, no window having the notebook open."""
        return self._holder is not None and self._holder is self._hand_over.file_writer

    @property
    def idle(self) -> bool:
        """Whether nothing would be lost without it."""
        waits = self._windows or self._outbox or self._reads or self._preview
        return not (waits or self._outbox.in_use) and self._hand_over.idle

    @property
    def kernel_id(self) -> str:
        """The kernel as the window that the agent works in has it. No other window's word
        counts: a stale one must not send a turn's code elsewhere."""
        state = self._windows.get(self._holder) if self._holder is not None else None
        return state.kernel_id if state is not None else ""

    def held_by(self, window: Window) -> bool:
        return window is self._holder

    def opened_by(self, window: Window) -> bool:
        return window in self._windows

    def open(self, window: Window, state: WindowState, *, reverted: bool = False) -> None:
        """A window has the notebook open; with no other holder it gets the lease.

        The holder may say so again, with another ``applied`` if its document was read from
        the file anew: it keeps its epoch and gets what it lacks now, but for what the person
        ``reverted``.
        """
        before = self._windows.get(window)
        state.told_to_reload = before is not None and before.told_to_reload
        self._windows[window] = state
        self._hand_over.window_came()
        if window is self._holder:
            self._file_holds.hear(state.saved)
            if reverted:
                self._file_holds.hear(self._outbox.reverted(state.applied))
            self._bring_up_to_date(window)
        elif self._holder is None:
            self._hand_over.stop()
            self._offer(window)
        elif self.in_file:
            self._hand_over.to_window()
        elif state.told_to_reload:
            self._offer(window)
        else:
            self._tell(window, held=False)

    def _offer(self, window: Window) -> None:
        """The lease to this window, unless it must read the file anew first."""
        state = self._windows[window]
        newest = self._hand_over.version or state.file
        if state.collaborative:
            self._tell(window, held=False)
        elif not newest and self._owner is not None and self._file_holds.more_than(state):
            self._hand_over.look(window, state, self._file_holds.ops)
        elif newest not in ("", state.version) and not (state.edited or state.told_to_reload):
            state.told_to_reload = True
            window.send(ReloadNotebook(self.path))
            loop = asyncio.get_running_loop()
            loop.call_later(RELOAD_TIMEOUT, self._offer_again, window)
        else:
            self._file_holds.hear(state.saved)
            self.grant(window)

    def offer_to(self, window: Window, state: WindowState) -> None:
        """It is known by now how old the window's copy is."""
        if self._windows.get(window) is state and window is not self._holder:
            self._offer(window)
        else:
            self.offer_next()

    def offer_next(self) -> None:
        """The lease, if nobody has it, to the window that has been here longest."""
        if self._holder is None and self._windows and not self._hand_over.under_way:
            self._offer(next(iter(self._windows)))

    def _offer_again(self, window: Window) -> None:
        if self._holder is None and window in self._windows:
            self._offer(window)

    def file_state(self, window: Window, command: FileState) -> None:
        """How a window's copy stands to the file by now."""
        state = self._windows.get(window)
        if state is None:
            return
        state.saved, state.version = dict(command.saved), command.version
        state.edited = command.edited
        if window is self._holder:
            self._file_holds.hear(state.saved)

    def close(self, window: Window, *, for_good: bool = False, said_so: bool = False) -> None:
        """The window is gone; the next one gets the lease and the ops it lacks. ``for_good``:
        the person has closed the notebook, and what was not saved is given up. ``said_so``:
        the page goes, and not only its socket."""
        state = self._windows.pop(window, None)
        if state is None:
            return
        self._hand_over.window_left(
            window, edited=state.edited and not for_good, said_so=said_so or for_good
        )
        if window is not self._holder:
            return self.offer_next()
        self.vacate()
        if for_good and not self._windows:
            self._file_holds.hear(self._outbox.reverted(state.saved))
        if self._windows:
            self._offer(next(iter(self._windows)))
        elif self._outbox or self._reads:
            self._need_somebody()

    def goes(self, window: Window) -> None:
        """A window whose socket is gone says that its page goes, too."""
        self._hand_over.window_goes(window)

    def nobody_comes(self) -> None:
        """Whoever works here next shows no notebook: if no window has it open, it is worked on
        in its file at once."""
        if not self._windows:
            self._hand_over.nobody_comes()

    def take(self, window: Window) -> None:
        """Give the lease to this window, if it has the notebook open."""
        if window in self._windows and window is not self._holder and not self._hand_over.under_way:
            self._offer(window)

    def kernel_of(self, window: Window, kernel_id: str) -> None:
        if window in self._windows:
            self._windows[window].kernel_id = kernel_id

    def moved(self, path: str, window: Window) -> dict[Window, WindowState]:
        """The notebook is at ``path`` now, in this window. The others, which are given back,
        still have it where it was."""
        ours = self._windows.pop(window)
        others, self._windows = self._windows, {window: ours}
        self.move(path)
        self.grant(window)
        return others

    def move(self, path: str) -> None:
        self.path = path
        self._elsewhere.set()
        self._elsewhere = asyncio.Event()

    async def is_elsewhere(self, path: str) -> bool:
        """Whether the notebook is not at ``path``, where there is no file of it. That it has
        been moved may be known only in a moment."""
        if self.path == path and not self._hand_over.why_nobody:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._elsewhere.wait(), NEWS)
        return self.path != path

    def grant(self, holder: Window, applied: Mapping[str, int] | None = None) -> None:
        """The lease to this holder, under a new epoch. ``applied`` is what the holder's
        document has, if it is no window's."""
        # What was saved is done again for a copy that lacks it, and for no other.
        self._outbox.saved(self._file_holds.ops)
        state = self._windows.get(holder)
        if state is not None:
            for session_id, ops in state.lacks.items():
                self.restore(session_id, ops)
            # It is another file when somebody else has had the lease.
            state.file, state.lacks = "", {}
        before, self._holder = self._holder, holder
        self.epoch = next(_epochs)
        if before in self._windows and before is not holder:
            self._tell(before, held=False)
        if not self.in_file:
            self._hand_over.version = ""
        self._known.set()
        self._reads.ask_elsewhere()
        self._bring_up_to_date(holder, applied)

    def vacate(self) -> None:
        """Nobody has the lease for now."""
        self._holder = None
        self._known.clear()
        self._outbox.hold()
        self._reads.ask_elsewhere()

    def _bring_up_to_date(self, window: Window, applied: Mapping[str, int] | None = None) -> None:
        self._tell(window, held=True)
        self._outbox.resend(self._windows[window].applied if applied is None else applied)
        for frame in self._preview.frames(self.path, self.epoch):
            self._post(frame)

    def _tell(self, window: Window, *, held: bool) -> None:
        state = self._windows.get(window)
        announcement = state.announcement if state is not None else 0
        window.send(Lease(self.path, self.epoch, held, announcement))

    def _post(self, frame: ServerFrame) -> None:
        if self._holder is not None:
            self._holder.send(frame)

    # --- the file --------------------------------------------------------------------

    def _need_somebody(self) -> None:
        """Something waits."""
        if self._holder is None and not self._windows:
            self._hand_over.to_file()

    def nobody_works(self, reason: str) -> None:
        self._outbox.leave_pending(reason)
        self._known.set()

    def written(self, version: str) -> None:
        """The file writer has written the file. Its ops are kept until a window has read it: one
        that has an older copy, with edits of the person's own, needs them."""
        self._hand_over.version = version

    def lost(self, reason: str, gone: bool = False) -> None:
        """The file writer cannot work in the file any longer; ``gone``: there is none."""
        self._hand_over.lost(reason, gone)

    # --- ops and receipts ------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        self._preview.overtaken(op)
        receipt = self._outbox.add(session_id, seq, op)
        if self._hand_over.why_nobody:
            self._outbox.leave_pending(self._hand_over.why_nobody)
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
        state = self._windows.get(window)
        if self._outbox.receive(session_id, seq, command.receipt) and state is not None:
            state.applied[session_id] = max(state.applied.get(session_id, 0), seq)

    def _late(self, parcel: Parcel, receipt: Receipt) -> None:
        if self._owner is not None:
            self._owner.late(parcel.session_id, parcel.seq, receipt)

    def know_saved(self, saved: Mapping[str, int]) -> None:
        self._file_holds.know(saved)

    def restore(self, session_id: str, ops: StoredOps) -> None:
        """Ops of an earlier life of the server that are not known to be in the file."""
        self._outbox.restore(session_id, ops)

    def end_turn(self, session_id: str) -> None:
        self._outbox.end_turn(session_id)
        self._preview.forget(session_id)

    def drop(self, session_id: str) -> None:
        """The session is no more."""
        self._outbox.give_up("the conversation was deleted", session_id)
        self._preview.forget(session_id)

    def give_up(self, reason: str) -> None:
        """This notebook is no more: ops that are still open are answered with ``reason``."""
        self._windows.clear()
        self._hand_over.give_up(reason)
        self._outbox.give_up(reason)
        self._elsewhere.set()

    async def aclose(self, reason: str) -> None:
        """Give up once what has been begun in the file is written."""
        await self._hand_over.aclose()
        self.give_up(reason)

    # --- reading and showing ---------------------------------------------------------

    @property
    def why_not(self) -> DocumentError:
        """Why nothing can be read or done now."""
        if any(state.collaborative for state in self._windows.values()):
            return DocumentError("collaborative", COLLABORATIVE)
        return DocumentError("not_open", self._hand_over.why_nobody or CLOSED)

    async def read(self, cell_ids: CellIds = ()) -> Snapshot:
        """The notebook as the holder has it, or only these cells of it. Waits while no window
        has it open, until somebody works in its file.

        Raises DocumentError ``not_open`` if nobody can, or the window that has it does not
        answer.
        """
        return await self._reads.read(cell_ids)

    async def _somebody(self) -> None:
        self._need_somebody()
        await self._known.wait()
        if self._holder is None:
            raise self.why_not

    def _ask(self, number: int, cell_ids: CellIds) -> None:
        self._post(ReadNotebook(self.path, self.epoch, number, cell_ids=cell_ids))

    def answer(self, window: Window, command: SnapshotTaken) -> None:
        if window is self._holder and command.epoch == self.epoch:
            active, gone_to = command.active_cell_id, command.gone_to
            snapshot = Snapshot(self.path, command.cells, active, gone_to)
            self._reads.answer(command.request_id, snapshot)

    def save(self) -> None:
        self._post(ReadNotebook(self.path, self.epoch, SAVE_ONLY, save=True))

    def stream(
        self, session_id: str, draft_id: str, cell_id: str, kind: StreamKind, start: int, text: str
    ) -> None:
        self._preview.write(session_id, draft_id, cell_id, kind, start, text)
        self._post(StreamFrame(self.path, self.epoch, draft_id, cell_id, kind, start, text))

    def outputs(
        self, session_id: str, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]
    ) -> None:
        self._preview.outputs(session_id, cell_id, run_id, start, outputs)
        self._post(OutputsFrame(self.path, self.epoch, cell_id, run_id, start, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._post(DisplayFrame(self.path, self.epoch, display_id, data, metadata))
