"""A session and its journal: loaded, shared with other servers, appended to.

A failed write stops the turn. The session still shows the event and writes it later
(``event_log.py``). A lease keeps other servers out meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from ..errors import CommandError, StoreError
from ..history.event_log import GONE, TAKEN, DeferredWrites, EventLog
from ..history.ledger import Ledger
from ..history.replay import Replay, ends_of_runs
from ..loop.conversation import Conversation
from ..loop.figure_origins import not_found
from ..messages import Text, user
from ..model_view.context import BRANCHED, Context
from ..redaction.private_names import PrivateNames
from ..stores import INHERITED, LEASE_TIME, Holder, LeaseStore, SessionStore
from ..turn.ending import Ending, not_journaled
from ..turn.files import NOTHING_WAITS, OverlayFiles
from ..turn.limits import Rules
from ..turn.meter import Meter
from ..turn.turn import Turn
from ..turn.workplace import Workplace
from ..wire.commands import SessionInfo
from ..wire.events import Cleared, Event, MadeFile, Note, TurnEnded

# -------------------------------------------------------------------------------------------------
# This server's exclusive right to work on a session, among servers with the same journal.

RENEWED_EVERY = LEASE_TIME / 3

log = logging.getLogger(__name__)


class SessionLease:
    def __init__(self, store: LeaseStore, session_id: str, lost: Callable[[], None]) -> None:
        """Calls ``lost`` if another server has the lease at a renewal."""
        self._store = store
        self._session_id = session_id
        self._lost = lost
        self._renewing: asyncio.Task[None] | None = None

    @property
    def held(self) -> bool:
        return self._renewing is not None

    def take(self) -> None:
        """Take the lease until ``release``. Raises CommandError ``held_elsewhere``, StoreError."""
        holder = self._store.take_lease(self._session_id)
        if holder is not None:
            raise held_elsewhere(holder)
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().create_task(self._renew())

    def release(self) -> None:
        if self._renewing is None:
            return
        self._renewing.cancel()
        self._renewing = None
        try:
            self._store.release_lease(self._session_id)
        except StoreError as error:
            log.info("The lease of %s is about to expire: %s", self._session_id, error.message)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY)
            try:
                kept = self._store.renew_lease(self._session_id)
            except StoreError as error:
                # Try again. If the lease runs out, the store refuses writes (``repeated``).
                log.warning("Could not renew a lease: %s", error.message)
                continue
            if not kept:
                self._renewing = None
                self._lost()
                return


def named(holder: Holder) -> str:
    return f"{holder.host} (process {holder.pid})"


def held_elsewhere(holder: Holder) -> CommandError:
    words = (
        "This conversation is open on the server {server}. It is read-only here until "
        "that server finishes or stops."
    )
    return CommandError("held_elsewhere", words, server=named(holder))


AGAIN = 5.0
"""Seconds between attempts to write events that the journal refused."""
STOPPED_NOTE = "[The person stopped the previous turn.]"
SAVED_NOW = "Saved what could not be saved before."
NOT_SAVED = "Could not save the end of this turn. Retrying."


class PersistentSession:
    def __init__(
        self,
        info: SessionInfo,
        store: SessionStore,
        workplace: Workplace,
        rules: Rules,
        changed: Callable[[], None],
    ) -> None:
        """Calls ``changed`` when ``info`` changes."""
        self.info = msgspec.structs.replace(info, running=False)
        self.workplace = workplace
        self.store = store
        self._rules = rules
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._private = PrivateNames()
        self.may_cancel = False
        self._stopped_by = 0
        self._begun = False
        """Whether the turn's task has started. A task cancelled before that never runs."""
        self.undoing = False
        self.kept = False
        """Whether a caller keeps the session in memory between turns without following it."""
        self._tasks: set[asyncio.Task[None]] = set()
        """Background tasks besides the turn."""
        self._saving: asyncio.Task[None] | None = None
        self._lease = SessionLease(store, info.session_id, self._lost)
        self._halted: Ending | None = None
        """The ending forced on the running turn, if the journal fails or the notebook is gone."""
        self._end_explains = False
        """Whether the turn's end shows ``_halted`` to the person."""
        self._deferred = DeferredWrites(self._journal_failed)
        self.event_log = EventLog(
            store, info.session_id, store.last_seq(info.session_id), self._deferred
        )
        self._take_up()
        if info.running and not self.info.held:
            self._set(changed=info.changed)  # A killed server left the mark.

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def at_rest(self) -> bool:
        """Whether the session is idle, saved and without followers."""
        active = self.running or self.undoing or self._tasks or self._lease.held or self.kept
        waits = self._unsaved or self.replay.queued or self._deferred.given_up
        return not (active or waits or self.event_log.followers)

    def release(self) -> None:
        """Free large data without waiting for garbage collection. The session ends with this."""
        self._turn = None
        self._talk.release()
        self.event_log.release()

    @property
    def private_names(self) -> PrivateNames:
        return self._private

    async def idle(self) -> None:
        """Wait for the end of the running turn."""
        while self.running and self._task is not None:
            await asyncio.wait({self._task})

    def is_private(self, name: str) -> bool:
        """Whether a private cell that this conversation has seen assigns the name."""
        return name in self._private

    # --- the journal -----------------------------------------------------------------

    def _take_up(self) -> None:
        """Load the session from the journal. A turn without an end gets one."""
        store, session_id = self.store, self.info.session_id
        # Not stored: the next turn describes the notebook in full again.
        self._context = Context()
        self._talk = Conversation(store, session_id, self._deferred, self._rules.scrub)
        self.ledger = Ledger(store.ops(session_id, INHERITED))
        replay = self.replay = Replay()
        for _, event in store.events(session_id):
            replay.add(event)
        self._meter = Meter(replay.usage)
        self._note = replay.lost or not_found(replay.figures)
        """A note to the model about the turn before."""
        if replay.ended is not None and replay.ended.stop_reason == "cancelled":
            self._note = replay.lost or STOPPED_NOTE
        if self.info.branches and replay.turns < self.info.branches[-1].turn:
            self._note = "\n".join(filter(None, (self._note, BRANCHED)))
        self._learn_holder()
        if replay.unfinished and not self.info.held:
            self._end_unfinished()

    def _learn_holder(self) -> None:
        holder = self.store.holder(self.info.session_id)
        self.info = msgspec.structs.replace(self.info, held=named(holder) if holder else "")

    def _end_unfinished(self) -> None:
        """End a turn whose server is gone."""
        had = self._lease.held
        try:
            self._lease.take()
        except CommandError:
            return self._learn_holder()  # Another server is ending it.
        except StoreError as error:
            log.warning("Showing a turn's end before it is saved: %s", error.message)
        self._keep_undelivered()
        self._end_runs()
        lost = self.replay.lost
        for onward in tuple(self.replay.onward(self.info.session_id, self.store)):
            self.show(onward)
        for event in self.replay.ends():
            self.show(event)
        words = "The server stopped during this turn. Variables may be gone."
        self._show_end(Ending("error", "server_stopped", words))
        self._note = self._note.replace(lost, self.replay.lost)
        self._set(changed=self.info.changed)
        if not had:
            self._release_lease()

    def _end_runs(self) -> None:
        """End the unfinished runs in the notebook, so that no cell stays marked as running."""
        turn, session_id = self.replay.turns, self.info.session_id
        first = next((one.seq for one in self.store.ops(session_id) if one.turn == turn), None)
        if first is None:
            return
        for op in ends_of_runs(self.store.whole_ops(session_id, first - 1)):
            self._deferred.do(partial(self.workplace.document.apply_later, turn, op))

    def refresh(self) -> None:
        """Load events that another server has journaled."""
        if self.running or self.undoing or self._deferred or self._deferred.given_up == GONE:
            return
        held = self.info.held
        if (
            self._deferred.given_up
            or self.store.last_seq(self.info.session_id) != self.event_log.last_seq
        ):
            self._deferred = DeferredWrites(self._journal_failed)
            self.event_log.catch_up(self._deferred)
            self._take_up()
        else:
            self._learn_holder()
            if self.replay.unfinished and not self.info.held:
                self._end_unfinished()
        if self.info.held != held:
            self._changed()

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Hold the session's lease, with the journal's latest state loaded.
        Raises CommandError ``held_elsewhere``, and StoreError if the journal is not writable."""
        if not (self.running or self.undoing):
            self._catch_up()
            self._lease.take()
            self.refresh()
        try:
            yield
        finally:
            self._release_lease()

    @contextlib.contextmanager
    def alone(self, turn: int = 0) -> Iterator[None]:
        """Keep turns out while ops undo or redo ``turn``. Raises as ``need_idle`` and
        ``here``."""
        self.need_idle()
        with self.here():
            self.undoing = True
            self.workplace.begin_turn(-turn)
            try:
                yield
            finally:
                self.undoing = False
                self.workplace.end_turn()

    def _release_lease(self) -> None:
        """Let other servers continue, unless work remains here."""
        if not (self.running or self.undoing or self._unsaved):
            self._lease.release()

    def need_here(self) -> None:
        """Raises CommandError ``held_elsewhere`` if another server works on the session."""
        holder = None if self.running else self.store.holder(self.info.session_id)
        if holder is not None:
            raise held_elsewhere(holder)

    def _lost(self) -> None:
        """Stop because another server has taken over: this one was silent too long, for example
        while the machine slept. The other server's events count."""
        self._deferred.give_up()
        self.cancel()

    def _journal_failed(self, error: StoreError) -> None:
        """Stop the turn as Stop does. Show its remaining events now, and save them later."""
        if error.code == TAKEN:
            return self._lost()
        if not self.running:
            return self._save_later()
        if self._halted is None:
            log.warning("The conversation %s: %s", self.info.session_id, error.message)
            self._halted = not_journaled(error)
            self.cancel()

    @property
    def _unsaved(self) -> bool:
        ops_deferred = self._turn is not None and bool(self._turn.notebook.deferred)
        return not self._deferred.given_up and (bool(self._deferred) or ops_deferred)

    def _catch_up(self) -> None:
        """Journal deferred events. Raises StoreError if the journal still fails."""
        if not self._unsaved:
            return
        try:
            self._deferred.catch_up()
        except StoreError:
            if self._deferred.given_up != TAKEN:
                raise
            return  # Another server has taken over; `refresh` loads its events.
        if self._turn is not None:
            self._turn.notebook.flush_deferred()
        if not self._unsaved:
            self.publish(Note(SAVED_NOW))

    def _save_later(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = self._in_background(self._keep_trying())

    async def _keep_trying(self) -> None:
        while self._unsaved and not self.running:
            await asyncio.sleep(AGAIN)
            with contextlib.suppress(StoreError):  # Reported at the first failure.
                self._catch_up()
        self._release_lease()

    def need_idle(self) -> None:
        if self.running:
            raise CommandError("busy", "A turn is running. Stop it first, or wait.")
        if self.undoing:
            raise CommandError("busy", "Restoring cells or files. Wait a moment.")

    # --- events ----------------------------------------------------------------------

    def publish(self, event: Event) -> None:
        """Journal an event before its effect, then show it. After a StoreError, the effect must
        not follow."""
        self.event_log.publish(event)
        self.replay.add(event)

    def show(self, event: Event) -> None:
        """Show an event whose effect has happened; journal it now or as soon as possible."""
        self.event_log.show(event)
        self.replay.add(event)

    def _show_unasked(self, event: Event) -> None:
        """Show an event that no command caused, unless another server has the session."""
        try:
            with self.here():
                self.show(event)
        except StoreError:
            self.show(event)  # Deferred writes journal it later.
        except CommandError as error:
            log.info("Could not publish to %s: %s", self.info.session_id, error.message)

    def _set(self, **changes: Any) -> None:
        now = {"running": self.running, "changed": time.time(), "last_seq": self.event_log.last_seq}
        self.info = msgspec.structs.replace(self.info, **{**now, **changes})
        stored = msgspec.structs.replace(self.info, held="")
        self._deferred.do(lambda: self.store.update(stored))
        self._changed()

    # --- ending ----------------------------------------------------------------------

    def cancel(self, window: int = 0) -> None:
        """Stop the turn, unless none runs or it is already stopping."""
        if self._task is not None and self.may_cancel:
            self._stopped_by = window
            self.may_cancel = False
            if self._begun:
                self._task.cancel()

    def halt(self, ending: Ending) -> None:
        """Stop the turn with this ending."""
        if self.running and self._halted is None:
            self._halted = ending
            self.cancel()

    def _keep_undelivered(self) -> None:
        """Add a message that never reached the model to the conversation."""
        words = self._rules.scrub(self.replay.undelivered)
        if words and not self._talk.ends_with(words):
            self._talk.add(user(Text(words)))
        self.replay.undelivered = ""

    def _show_end(
        self,
        ending: Ending,
        cleared: Iterable[Cleared] = (),
        files: tuple[tuple[MadeFile, ...], int] = ((), 0),
        waiting: OverlayFiles = NOTHING_WAITS,
        variables: bool = False,
    ) -> None:
        turn = self.replay.turns
        changes = self.ledger.changes(turn)

        def changed(*kinds: str) -> tuple[str, ...]:
            return tuple(
                change.cell_id
                for change in changes
                if change.kind in kinds and not change.was_replaced and not change.only_ran
            )

        self.show(
            TurnEnded(
                turn=turn,
                stop_reason=ending.reason,
                code=ending.code,
                message=ending.message,
                added=changed("added"),
                edited=changed("edited", "moved"),
                removed=changed("removed"),
                run_again=tuple(change.cell_id for change in changes if change.only_ran),
                failed=tuple(self.ledger.failed_since(turn)),
                retry=ending.retry,
                cost=self.replay.cost,
                cleared=tuple(cleared),
                files=files[0],
                files_left_out=files[1],
                waiting_files=waiting.count,
                waiting=waiting.named,
                overlay=waiting.overlay,
                window=self._stopped_by,
                variables=variables,
            )
        )

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
