"""The log of a session: loads it from the journal, shares it with other servers, appends to it.

A failed write stops the turn. The log still shows the event and writes it later
(``event_log.py``). A lease keeps other servers out meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from ..agent.conversation import Conversation
from ..agent.final_answer import not_found
from ..agent.tools.shared.base import ToolRegistry
from ..base.errors import CommandError, StoreError
from ..base.sentences import Sentence
from ..journal.event_log import GONE, TAKEN, DeferredWrites, EventLog
from ..journal.ledger import Ledger
from ..journal.replay import Replay, ends_of_runs
from ..journal.sqlite.store import SqliteStore
from ..run.turn.ending import Ending, not_journaled
from ..run.turn.hooks import Hook
from ..run.turn.limits import Rules
from ..run.turn.meter import Meter
from ..run.turn.workplace import Workplace
from ..view.context import BRANCHED, Context
from ..wire.commands import SessionInfo
from ..wire.events import Event, Note, NotebookMoved, TurnEnded
from ..wire.messages import Text, user
from ..wire.ports import Model
from ..wire.stores import INHERITED, LEASE_TIME
from .turn_task import TurnTask

# -------------------------------------------------------------------------------------------------
# This server's exclusive right to work on a session, among servers with the same journal.

RENEWED_EVERY = LEASE_TIME / 3

log = logging.getLogger(__name__)


class SessionLease:
    def __init__(self, store: SqliteStore, session_id: str, lost: Callable[[], None]) -> None:
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
        if holder:
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


def held_elsewhere(server: Sentence) -> CommandError:
    words = (
        "This conversation is open on the server {server}. It is read-only here until "
        "that server finishes or stops."
    )
    return CommandError("held_elsewhere", words, server=server)


AGAIN = 5.0
"""Seconds between attempts to write events that the journal refused."""
STOPPED_NOTE = "[The person stopped the previous turn.]"
SAVED_NOW = Sentence("Saved what could not be saved before.")


@dataclass
class Services:
    """What the sessions of a program share."""

    store: SqliteStore
    rules: Rules
    model: Callable[[str], Awaitable[Model]]
    """The model of a name, for one turn. Raises ModelError."""
    tools: ToolRegistry
    hooks: Sequence[Hook]


class SessionLog:
    replay: Replay
    ledger: Ledger
    talk: Conversation
    context: Context
    """What the model knows of the notebook."""
    meter: Meter
    note: str
    """A note to the model about the turn before."""

    def __init__(
        self,
        info: SessionInfo,
        services: Services,
        workplace: Workplace,
        task: TurnTask,
        changed: Callable[[], None],
    ) -> None:
        """Empty until ``open``. Calls ``changed`` when ``info`` changes."""
        self.info = info
        store = self.store = services.store
        self.workplace = workplace
        self.task = task
        self._scrub = services.rules.scrub
        self._changed = changed
        self.undoing = False
        self.closing = False
        self.background: set[asyncio.Task[None]] = set()
        """Tasks besides the turn."""
        self._saving: asyncio.Task[None] | None = None
        self.lease = SessionLease(store, info.session_id, self._lost)
        self.deferred = DeferredWrites(self.journal_failed)
        self.events = EventLog(store, info.session_id, self.deferred)

    def open(self) -> None:
        """Load the journal. A turn that a killed server left gets an end."""
        left_running = self.info.running
        self.info = msgspec.structs.replace(self.info, running=False)
        self._load()
        if left_running and not self.info.held:
            self.update(changed=self.info.changed)

    @property
    def session_id(self) -> str:
        return self.info.session_id

    @property
    def at_rest(self) -> bool:
        """Whether the session is idle, saved and without followers."""
        active = self.task.running or self.undoing or self.background or self.lease.held
        waits = self.unsaved or self.replay.queued or self.deferred.given_up
        return not (active or waits or self.events.followers)

    # --- the journal -----------------------------------------------------------------

    def _load(self) -> None:
        """Load the session from the journal. A turn without an end gets one."""
        store, session_id = self.store, self.session_id
        # Not stored: the next turn describes the notebook in full again.
        self.context = Context()
        self.talk = Conversation(store, session_id, self.deferred, self._scrub)
        self.ledger = Ledger(store.ops(session_id, INHERITED))
        replay = self.replay = Replay()
        for _, event in store.events(session_id):
            replay.add(event)
        self.meter = Meter(replay.usage)
        self.note = replay.lost or not_found(replay.figures)
        if replay.ended is not None and replay.ended.stop_reason == "cancelled":
            self.note = replay.lost or STOPPED_NOTE
        if self.info.branches and replay.turns < self.info.branches[-1].turn:
            self.note = "\n".join(filter(None, (self.note, BRANCHED)))
        self._learn_holder()
        if replay.unfinished and not self.info.held:
            self._end_unfinished()

    def _learn_settings(self) -> None:
        """Take over what a person has set on another server."""
        stored = self.store.get(self.session_id)
        if stored is not None:
            chosen = {"title": stored.title, "model": stored.model, "mode": stored.mode}
            self.info = msgspec.structs.replace(self.info, **chosen)

    def _learn_holder(self) -> None:
        self.info = msgspec.structs.replace(self.info, held=self.store.holder(self.session_id))

    def _end_unfinished(self) -> None:
        """End a turn whose server is gone."""
        had = self.lease.held
        try:
            self.lease.take()
        except CommandError:
            return self._learn_holder()  # Another server is ending the turn.
        except StoreError as error:
            log.warning("Showing a turn's end before it is saved: %s", error.message)
        self.keep_undelivered()
        self._end_runs()
        lost = self.replay.lost
        for event in self.replay.ends():
            self.show(event)
        words = Sentence("The server stopped during this turn. Variables may be gone.")
        self.show(self.turn_ended(Ending("error", "server_stopped", words)))
        self.note = self.note.replace(lost, self.replay.lost)
        self.update(changed=self.info.changed)
        if not had:
            self.release_lease()

    def _end_runs(self) -> None:
        """End the unfinished runs in the notebook, so that no cell stays marked as running."""
        turn, session_id = self.replay.turns, self.session_id
        first = next((one.seq for one in self.store.ops(session_id) if one.turn == turn), None)
        if first is None:
            return
        for op in ends_of_runs(self.store.whole_ops(session_id, first - 1)):
            self.deferred.do(partial(self.workplace.document.apply_later, turn, op))

    def refresh(self) -> None:
        """Load events that another server has journaled."""
        busy = self.task.running or self.undoing
        if busy or self.deferred or self.deferred.given_up == GONE:
            return
        before = self.info
        if self.deferred.given_up or self.store.last_seq(self.session_id) != self.events.last_seq:
            self.deferred = DeferredWrites(self.journal_failed)
            self.events.catch_up(self.deferred)
            self._learn_settings()
            self._load()
        else:
            self._learn_holder()
            if self.replay.unfinished and not self.info.held:
                self._end_unfinished()
        if self.info != before:
            self._changed()

    async def close(self) -> None:
        """Stop the turn and all other work for good, and write what waits."""
        self.task.cancel()
        for task in self.background:
            task.cancel()
        tasks = [task for task in (self.task.task, *self.background) if task is not None]
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            self.deferred.catch_up()
        except StoreError as error:
            words = "Lost the end of the conversation %s: %s"
            log.error(words, self.session_id, error.message)
        self.lease.release()

    # --- the right to write ----------------------------------------------------------

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Hold the session's lease, with the journal's latest state loaded.
        Raises CommandError ``held_elsewhere``, and StoreError if the journal is not writable."""
        try:
            if not (self.task.running or self.undoing):
                self._catch_up()
                self.lease.take()
                self.refresh()
            yield
        finally:
            self.release_lease()

    @contextlib.contextmanager
    def alone(self, turn: int = 0) -> Iterator[None]:
        """Keep turns out while ops undo or redo ``turn``. Raises as ``need_idle`` and
        ``here``."""
        self.need_idle()
        with self.here():
            self.undoing = True
            try:
                self.workplace.begin_turn(-turn)
                yield
            finally:
                self.undoing = False
                self.workplace.end_turn()

    def release_lease(self) -> None:
        """Let other servers continue, unless work remains here."""
        if not (self.task.running or self.undoing or self.unsaved):
            self.lease.release()

    def need_here(self) -> None:
        """Raises CommandError ``held_elsewhere`` if another server works on the session."""
        if not self.task.running and (holder := self.store.holder(self.session_id)):
            raise held_elsewhere(holder)

    def need_idle(self) -> None:
        """Raises CommandError ``busy``."""
        if self.task.running:
            raise CommandError("busy", "A turn is running. Stop it first, or wait.")
        if self.undoing:
            raise CommandError("busy", "Restoring cells or files. Wait a moment.")

    def _lost(self) -> None:
        """Stop because another server has taken over: this one was silent too long, for example
        while the machine slept. The other server's events count."""
        self.deferred.give_up()
        self.task.cancel()

    # --- failed writes ---------------------------------------------------------------

    def journal_failed(self, error: StoreError) -> None:
        """Stop the turn as Stop does. Show its remaining events now, and save them later."""
        if error.code == TAKEN:
            return self._lost()
        if not self.task.running:
            return self.save_later()
        if self.task.forced_ending is None:
            log.warning("The conversation %s: %s", self.session_id, error.message)
            self.task.halt(not_journaled(error))

    @property
    def unsaved(self) -> bool:
        writes_wait = bool(self.deferred) or self.task.has_deferred_ops
        return not self.deferred.given_up and writes_wait

    def _catch_up(self) -> None:
        """Journal deferred events. Raises StoreError if the journal still fails."""
        if not self.unsaved:
            return
        try:
            self.deferred.catch_up()
        except StoreError:
            if self.deferred.given_up != TAKEN:
                raise
            return  # Another server has taken over; `refresh` loads its events.
        if self.task.turn is not None:
            self.task.turn.notebook.flush_deferred()
        if not self.unsaved:
            self.publish(Note(SAVED_NOW))

    def save_later(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = self.in_background(self._keep_trying())

    async def _keep_trying(self) -> None:
        while self.unsaved and not self.task.running:
            await asyncio.sleep(AGAIN)
            with contextlib.suppress(StoreError):  # The first failure was reported.
                self._catch_up()
        self.release_lease()

    def in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task

    # --- events ----------------------------------------------------------------------

    def publish(self, event: Event) -> None:
        """Journal an event before its effect, then show it. After a StoreError, the effect must
        not follow."""
        self.events.publish(event)
        self.replay.add(event)

    def show(self, event: Event) -> None:
        """Show an event whose effect has happened; journal it now or as soon as possible."""
        self.events.show(event)
        self.replay.add(event)

    def show_unasked(self, event: Event) -> None:
        """Show an event that no command caused, unless another server has the session."""
        try:
            with self.here():
                self.show(event)
        except StoreError:
            self.show(event)  # Deferred writes journal it later.
        except CommandError as error:
            log.info("Could not publish to %s: %s", self.session_id, error.message)

    def update(self, **changes: Any) -> None:
        """Change fields of ``info``, and journal it."""
        now = {
            "running": self.task.running,
            "changed": time.time(),
            "last_seq": self.events.last_seq,
        }
        self.info = msgspec.structs.replace(self.info, **{**now, **changes})
        stored = msgspec.structs.replace(self.info, held="")
        self.deferred.do(lambda: self.store.update(stored))
        self._changed()

    def moved(self, notebook: str) -> None:
        self.info = msgspec.structs.replace(self.info, notebook=notebook)
        self.show_unasked(NotebookMoved(notebook))
        self._changed()

    def keep_undelivered(self) -> None:
        """Add a message that never reached the model to the conversation."""
        words = self._scrub(self.replay.undelivered)
        if words and not self.talk.ends_with(words):
            self.talk.add(user(Text(words)))
        self.replay.undelivered = ""

    def turn_ended(self, ending: Ending) -> TurnEnded:
        """The end of the latest turn, with the cells that it changed."""
        turn = self.replay.turns
        changes = self.ledger.changes(turn)

        def changed(*kinds: str) -> tuple[str, ...]:
            return tuple(
                change.cell_id
                for change in changes
                if change.kind in kinds and not change.was_replaced and not change.only_ran
            )

        again = tuple(change.cell_id for change in changes if change.only_ran)
        return TurnEnded(
            turn=turn,
            stop_reason=ending.reason,
            code=ending.code,
            message=ending.message,
            added=changed("added"),
            edited=changed("edited", "moved"),
            removed=changed("removed"),
            run_again=again,
            failed_again=tuple(one for one in again if one in self.ledger.failed),
            failed=tuple(self.ledger.failed_since(turn)),
            retry=ending.retry,
            cost=self.replay.cost,
        )
