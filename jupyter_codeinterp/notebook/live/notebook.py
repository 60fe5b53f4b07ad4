"""One open notebook: its windows, the holder of its lease, its ops and reads."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Mapping

import msgspec

from ...base.errors import DocumentError
from ...base.sentences import as_it_is
from ...wire.commands import (
    FileState,
    Lease,
    OpFrame,
    OpReceipt,
    ReadNotebook,
    ServerFrame,
    SnapshotTaken,
)
from ...wire.ops import Insert, Op, Receipt, SetSource, Snapshot
from ...wire.stores import StoredOps
from .hand_over import HandOver
from .holder import State
from .live_preview import LivePreview
from .outbox import FileHolds, Outbox, PendingOp
from .protocols import Owner, Window, WindowState
from .reads import SAVE_ONLY, CellIds, Reads

MOVE_TIMEOUT = 5.0
"""Seconds to wait for the news of a rename. It comes at once, except on a busy machine."""
CLOSED = "The notebook is not open in any window. Open it and try again."
COLLABORATIVE = (
    "Several people are editing this notebook (real-time collaboration is on). The code "
    "interpreter does not support that yet."
)

_epochs = itertools.count(1)
"""Shared by all notebooks: a reopened or renamed notebook must not reuse an epoch."""


class LiveNotebook:
    def __init__(
        self,
        path: str,
        owner: Owner[LiveNotebook] | None = None,
        grace: float = 30.0,
    ) -> None:
        """``grace``: seconds that a window may be away before the agent works in the file.
        Without an ``owner`` the agent never works in the file."""
        self.path = path
        self.epoch = 0
        self.acts = 0
        """Counts the person's runs and changes of cells, at most one between two full reads."""
        self.cells: dict[str, str] = {}
        self._owner = owner
        self._outbox = Outbox(self._post_op, self._late)
        self._file_holds = FileHolds(self._outbox, owner)
        self.hand_over = HandOver(self, owner, self._file_holds, grace)
        self.sharing = self.hand_over.sharing
        self.preview = LivePreview(self)
        self._reads = Reads(self._ask, self._wait_for_holder)
        self._moved = asyncio.Event()

    # --- windows and the lease -------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return self.hand_over.holder is not None

    @property
    def has_window(self) -> bool:
        """Whether any window has the notebook open."""
        return bool(self.hand_over.windows)

    @property
    def in_file(self) -> bool:
        """Whether the agent works in the file."""
        return self.hand_over.state is State.FILE

    @property
    def waits(self) -> bool:
        """Whether an op or a read waits."""
        return bool(self._outbox or self._reads)

    @property
    def has_unsaved(self) -> bool:
        """Whether there are ops that the file may lack."""
        return self._outbox.has_any

    @property
    def idle(self) -> bool:
        """Whether it can be dropped without loss."""
        used = self.has_window or self.waits or self.preview or self._outbox.in_use
        return not used and self.hand_over.idle

    @property
    def kernel_id(self) -> str:
        """The kernel that the holder reports. Other windows may be stale and must not redirect a
        turn's code."""
        holder = self.hand_over.holder
        return self.kernel_in(holder) if holder is not None else ""

    def held_by(self, window: Window) -> bool:
        return window is self.hand_over.holder

    def opened_by(self, window: Window) -> bool:
        return window in self.hand_over.windows

    def open(self, window: Window, state: WindowState, *, reverted: bool = False) -> None:
        """A window has the notebook open; without another holder it gets the lease.

        The holder may call again, with a new ``applied`` if it reloaded its document. It keeps
        its epoch and gets the missing ops, except those that the person ``reverted``.
        """
        again = self.held_by(window)
        self._note_saved(state)
        self.hand_over.window_came(window, state)
        if again:
            if reverted:
                self._file_holds.saved(self._outbox.reverted(state.applied))
            self._bring_up_to_date(window, state.applied)

    def file_state(self, window: Window, command: FileState) -> None:
        """A window reports how its copy relates to the file."""
        state = self.hand_over.windows.get(window)
        if state is None:
            return
        state.saved, state.version = dict(command.saved), command.version
        state.edited = command.edited
        self._note_saved(state)

    def _note_saved(self, state: WindowState) -> None:
        """Every window knows which ops the file has held. Views do not save; their room does."""
        if not state.collaborative:
            self._file_holds.saved(state.saved)

    def close(self, window: Window, *, for_good: bool = False) -> None:
        """The window is gone; the next one gets the lease and the missing ops. ``for_good``: the
        person closed the notebook and gave up unsaved changes."""
        state = self.hand_over.windows.get(window)
        if state is None:
            return
        last_word = for_good and self.held_by(window)
        edited = state.edited and not for_good and not self.sharing.by(window)
        self.hand_over.window_left(window, edited=edited, for_good=for_good)
        if last_word and not self.has_window:
            self._file_holds.saved(self._outbox.reverted(state.saved))

    def take(self, window: Window) -> None:
        self.hand_over.take(window)

    def kernel_of(self, window: Window, kernel_id: str) -> None:
        if self.opened_by(window):
            self.hand_over.windows[window].kernel_id = kernel_id

    def kernel_in(self, window: Window) -> str:
        """The kernel that the window reports; "" without one."""
        state = self.hand_over.windows.get(window)
        return state.kernel_id if state is not None else ""

    def person_acted(self, window: Window) -> None:
        if self.held_by(window):
            self.acts += 1

    def moved(self, path: str, window: Window) -> dict[Window, WindowState]:
        """The notebook is at ``path`` now, in this window. Return the others, which still have
        the old path."""
        self.move(path)
        return self.hand_over.moved(window)

    def move(self, path: str) -> None:
        self.path = path
        self._moved.set()
        self._moved = asyncio.Event()

    async def is_elsewhere(self, path: str) -> bool:
        """Whether the notebook has left ``path``, where its file is missing. The news of a move
        may follow within ``MOVE_TIMEOUT``."""
        if self.path == path and self.hand_over.blocked is None:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._moved.wait(), MOVE_TIMEOUT)
        return self.path != path

    # --- calls from the hand-over --------------------------------------------------

    def begin(self, holder: Window, applied: Mapping[str, int]) -> None:
        """Start a new epoch with this holder."""
        # Only a copy that lacks saved ops gets them again.
        self._outbox.saved(self._file_holds.ops)
        state = self.hand_over.windows.get(holder)
        if state is not None:
            for session_id, ops in state.missing_ops:
                self.restore(session_id, ops)
            state.missing_ops = []
        self.epoch = next(_epochs)
        # The person may have edited while nobody held the lease.
        self.acts += 1
        self._reads.lease_moved()
        self._bring_up_to_date(holder, applied)

    def pause(self) -> None:
        self._outbox.hold()
        self._reads.lease_moved()

    def block(self, reason: str) -> None:
        self._outbox.leave_pending(reason)

    def look(self) -> None:
        self.post(ReadNotebook(self.path, self.epoch, SAVE_ONLY))

    def notify(self, window: Window, *, held: bool) -> None:
        state = self.hand_over.windows.get(window)
        announcement = state.announcement if state is not None else 0
        shared = self.sharing.by(window)
        window.send(Lease(self.path, self.epoch, held, announcement, shared))

    def _bring_up_to_date(self, holder: Window, applied: Mapping[str, int]) -> None:
        self.notify(holder, held=True)
        self._outbox.resend(applied)
        self.preview.show_again()

    def post(self, frame: ServerFrame) -> None:
        if self.hand_over.holder is not None:
            self.hand_over.holder.send(frame)

    # --- the file --------------------------------------------------------------------

    def written(self, version: str, applied: Mapping[str, int]) -> None:
        """The file writer has written the file, with these ops. They are never sent again, even
        if a person puts an older file in its place."""
        self.hand_over.file_written(version)
        self._file_holds.saved(applied)

    def reopened(self, writer: Window, applied: Mapping[str, int]) -> None:
        """The room has a new document, which holds only these ops."""
        if self.held_by(writer):
            self.begin(writer, applied)

    def changed_by_others(self, writer: Window) -> None:
        """Somebody has changed the room's document."""
        if self.held_by(writer):
            self.acts += 1

    def cells_gone(self, cell_ids: frozenset[str]) -> None:
        """People have deleted these cells in the room."""
        if self._owner is not None:
            self._owner.cells_gone(self, cell_ids)

    def not_saved(self, words: str) -> None:
        """The room cannot be saved. ``words`` say why; every conversation with unsaved ops gets
        them."""
        if self._owner is not None:
            self._owner.not_saved(self._outbox.sessions, words)

    def saved_in_room(self, applied: Mapping[str, int]) -> None:
        """The room has saved these ops."""
        self._file_holds.saved(applied)

    def lost(self, reason: str, gone: bool = False) -> None:
        """The file writer can no longer use the file; ``gone``: it does not exist."""
        self.hand_over.file_failed(reason, gone=gone)

    # --- ops and receipts ------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        self.preview.overtaken(op)
        if isinstance(op, (Insert, SetSource)):
            self.cells[op.cell_id] = op.source
        receipt = self._outbox.add(session_id, seq, op)
        self.hand_over.need()
        if self.hand_over.blocked is not None:
            self._outbox.leave_pending(self.hand_over.blocked.reason)
        return receipt

    def apply_later(self, session_id: str, seq: int, op: Op) -> None:
        """Add an op that nobody waits for. It opens no file."""
        self._outbox.add_later(session_id, seq, op)
        if self.has_window:
            self.hand_over.need()

    def _post_op(self, pending: PendingOp) -> bool:
        self.post(OpFrame(self.path, self.epoch, pending.session_id, pending.seq, pending.op))
        return self.is_open

    def receive(self, window: Window, command: OpReceipt) -> None:
        """Take a receipt from the holder, in the current epoch only."""
        if not self.held_by(window) or command.epoch != self.epoch:
            return
        session_id, seq = command.session_id, command.seq
        state = self.hand_over.windows.get(window)
        receipt = msgspec.structs.replace(command.receipt, outputs="")  # only the journal sets it
        if self._outbox.receive(session_id, seq, receipt) and state is not None:
            state.applied[session_id] = max(state.applied.get(session_id, 0), seq)

    def _late(self, pending: PendingOp, receipt: Receipt) -> None:
        if self._owner is not None:
            self._owner.late(pending.session_id, pending.seq, receipt)

    def know_saved(self, saved: Mapping[str, int]) -> None:
        self._file_holds.add(saved)

    def restore(self, session_id: str, ops: StoredOps) -> None:
        """Take back ops from the journal that may be missing in the file."""
        self._outbox.restore(session_id, ops)

    def end_turn(self, session_id: str) -> None:
        self._outbox.end_turn(session_id)
        self.preview.forget(session_id)

    def drop(self, session_id: str) -> None:
        """Forget the deleted session."""
        self._outbox.give_up("the conversation was deleted", session_id)
        self.preview.forget(session_id)

    def give_up(self, reason: str) -> None:
        """The notebook no longer exists: answer open ops with ``reason``."""
        self.hand_over.give_up(reason)
        self._outbox.give_up(reason)
        self._moved.set()

    async def aclose(self, reason: str) -> None:
        """Give up after the file writer has finished."""
        await self.hand_over.aclose()
        self.give_up(reason)

    # --- reading and showing ---------------------------------------------------------

    @property
    def why_not(self) -> DocumentError:
        """Why nothing can be read or done now."""
        if self.sharing.elsewhere:
            return DocumentError("collaborative", COLLABORATIVE)
        blocked = self.hand_over.blocked
        return DocumentError(
            "not_open", as_it_is(blocked.reason) if blocked is not None else CLOSED
        )

    async def read(self, cell_ids: CellIds = ()) -> Snapshot:
        """The holder's notebook, or only these cells of it. Waits for a window or the file
        writer.

        Raises DocumentError ``not_open`` if neither comes or the window does not answer.
        """
        return await self._reads.read(cell_ids)

    async def _wait_for_holder(self) -> None:
        self.hand_over.need()
        while not self.hand_over.settled.is_set():
            await self.hand_over.settled.wait()
        if self.hand_over.blocked is not None:
            raise self.why_not

    def _ask(self, number: int, cell_ids: CellIds) -> None:
        self.post(ReadNotebook(self.path, self.epoch, number, cell_ids=cell_ids))

    def answer(self, window: Window, command: SnapshotTaken) -> None:
        if not self.held_by(window) or command.epoch != self.epoch:
            return
        if command.too_large:
            self._reads.refuse(command.request_id)
        else:
            active, gone_to = command.active_cell_id, command.gone_to
            snapshot = Snapshot(self.path, command.cells, active, gone_to, command.acted_in)
            self.cells.update({cell.cell_id: cell.source for cell in command.cells})
            self._reads.answer(command.request_id, snapshot)

    def save(self) -> None:
        self.post(ReadNotebook(self.path, self.epoch, SAVE_ONLY, save=True))
