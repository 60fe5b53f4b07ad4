"""A session as the journal has it: taken up, shared with other servers, written on.

What cannot be journaled now stops the turn; it is shown all the same, and written later
(``deferred_writes.py``). What is done here, no other server does at the same time (``lease.py``).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import Any, Protocol

import msgspec

from ..commands import SessionInfo
from ..errors import CommandError, StoreError
from ..events import Cleared, Event, MadeFile, Note, TurnEnded
from ..history.deferred_writes import GONE, TAKEN, DeferredWrites
from ..history.event_log import EventLog
from ..history.ledger import Ledger
from ..history.replay import Replay
from ..loop.conversation import Conversation
from ..messages import Text, user
from ..model_view.context import BRANCHED, Context
from ..model_view.rule_files import RuleFile
from ..ports import Document, Kernel
from ..redaction.private_names import PrivateNames
from ..stores import INHERITED, SessionStore
from ..turn.ending import Ending, not_journaled
from ..turn.files import Seen
from ..turn.limits import MAX_FILES, Rules
from ..turn.meter import Meter
from ..turn.turn import Turn
from .lease import SessionLease, held_elsewhere, named

AGAIN = 5.0
"""Seconds until it is tried again to write what the journal would not take."""
STOPPED_NOTE = "[The person stopped the previous turn.]"
SAVED_NOW = "What could not be saved before is saved now."
NOT_SAVED = "The end of this turn could not be saved. It is saved as soon as possible."

log = logging.getLogger(__name__)


class Workplace(Protocol):
    """The notebook that a session works on, and what belongs to it."""

    @property
    def document(self) -> Document: ...

    @property
    def kernel(self) -> Kernel: ...

    def begin_turn(self, turn: int) -> None:
        """Ops from now on belong to this turn: a window that reloads gets them again."""

    def end_turn(self) -> None: ...

    def nobody_comes(self) -> None:
        """No window is waited for: where none has the notebook open, the work is done in its
        file at once."""

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        """Names and sizes (bytes) of at most so many files beside the notebook."""

    async def read_file(self, name: str, most: int) -> bytes | None:
        """One beside the notebook; None if it has more than ``most`` bytes, or cannot be read."""

    async def rule_files(self) -> list[RuleFile]:
        """In which the person keeps wishes; from the root down to the notebook."""

    async def look_around(self) -> Seen | None:
        """What lies under the notebook's folder; None where that cannot be told."""


class PersistentSession:
    def __init__(
        self,
        info: SessionInfo,
        store: SessionStore,
        workplace: Workplace,
        rules: Rules,
        changed: Callable[[], None],
    ) -> None:
        """``changed`` is called when ``info`` is another."""
        self.info = msgspec.structs.replace(info, running=False)
        self.workplace = workplace
        self._store = store
        self._rules = rules
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._turn: Turn | None = None
        self._private = PrivateNames()
        self._may_cancel = False
        self._begun = False
        """Whether the turn's task has taken its first step: one that is cancelled before that
        takes none at all."""
        self._undoing = False
        self._tasks: set[asyncio.Task[None]] = set()
        """What goes on besides the turn."""
        self._saving: asyncio.Task[None] | None = None
        self._lease = SessionLease(store, info.session_id, self._lost)
        self._halted: Ending | None = None
        """How the running turn ends: it cannot be journaled any more, or has no notebook."""
        self._told = False
        """Whether the turn's end says so."""
        self._deferred = DeferredWrites(self._journal_failed)
        self.event_log = EventLog(
            store, info.session_id, store.last_seq(info.session_id), self._deferred
        )
        self._take_up()

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def is_private(self, name: str) -> bool:
        """Whether a private cell that this conversation has seen assigns the name."""
        return name in self._private

    # --- the journal -----------------------------------------------------------------

    def _take_up(self) -> None:
        """Go on from what the journal says; a turn that has no end gets one."""
        store, session_id = self._store, self.info.session_id
        # What the model was told of the notebook is not kept: it is told anew.
        self._context = Context()
        self._talk = Conversation(store, session_id, self._deferred, self._rules.scrub)
        self._ledger = Ledger(store.ops(session_id, INHERITED))
        replay = self._replay = Replay()
        for _, event in store.events(session_id):
            replay.add(event)
        self._meter = Meter(replay.usage)
        self._note = replay.lost
        """What the model must know of the turn before."""
        if replay.ended is not None and replay.ended.stop_reason == "cancelled":
            self._note = replay.lost or STOPPED_NOTE
        if self.info.branches and replay.turns < self.info.branches[-1].turn:
            self._note = "\n".join(filter(None, (self._note, BRANCHED)))
        self._learn_holder()
        if replay.unfinished and not self.info.held:
            self._end_unfinished()

    def _learn_holder(self) -> None:
        holder = self._store.holder(self.info.session_id)
        self.info = msgspec.structs.replace(self.info, held=named(holder) if holder else "")

    def _end_unfinished(self) -> None:
        """The server that ran this turn is gone."""
        had = self._lease.held
        try:
            self._lease.take()
        except CommandError:
            return self._learn_holder()  # Another one is ending it.
        except StoreError as error:
            log.warning("A turn's end is shown, and saved later: %s", error.message)
        self._keep_unheard()
        for event in self._replay.ends():
            self._show(event)
        words = "The server stopped while this was going on. Variables may be gone."
        self._show_end(Ending("error", "server_stopped", words))
        if not had:
            self._let_go()

    def look_again(self) -> None:
        """What another server has journaled since is part of this session, too."""
        if self.running or self._undoing or self._deferred or self._deferred.given_up == GONE:
            return
        held = self.info.held
        if (
            self._deferred.given_up
            or self._store.last_seq(self.info.session_id) != self.event_log.last_seq
        ):
            self._deferred = DeferredWrites(self._journal_failed)
            self.event_log.catch_up(self._deferred)
            self._take_up()
        else:
            self._learn_holder()
            if self._replay.unfinished and not self.info.held:
                self._end_unfinished()
        if self.info.held != held:
            self._changed()

    @contextlib.contextmanager
    def _here(self) -> Iterator[None]:
        """What is done within is done by this server alone, and goes on from what the
        journal says. Raises CommandError ``held_elsewhere``, and StoreError if the journal
        cannot be written."""
        if not (self.running or self._undoing):
            self._catch_up()
            self._lease.take()
            self.look_again()
        try:
            yield
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Other servers may go on with the session, if nothing is left to do here."""
        if not (self.running or self._undoing or self._unsaved):
            self._lease.release()

    def need_here(self) -> None:
        """Raises CommandError ``held_elsewhere`` if another server works on the session."""
        holder = None if self.running else self._store.holder(self.info.session_id)
        if holder is not None:
            raise held_elsewhere(holder)

    def _lost(self) -> None:
        """Another server has taken the session over: nothing was heard of this one for too
        long (the machine slept, say). What it says of the turn is what holds."""
        self._deferred.give_up()
        self.cancel()

    def _journal_failed(self, error: StoreError) -> None:
        """The turn stops like by Stop. What it still has to say is shown, and saved later."""
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
        owed = self._turn is not None and bool(self._turn.notebook.owed)
        return not self._deferred.given_up and (bool(self._deferred) or owed)

    def _catch_up(self) -> None:
        """Journal what waits for it. Raises StoreError if that cannot be done yet."""
        if not self._unsaved:
            return
        try:
            self._deferred.catch_up()
        except StoreError:
            if self._deferred.given_up != TAKEN:
                raise
            return  # Another server has gone on; `look_again` tells how.
        if self._turn is not None:
            self._turn.notebook.pay()
        if not self._unsaved:
            self._publish(Note(SAVED_NOW))

    def _save_later(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = self._in_background(self._keep_trying())

    async def _keep_trying(self) -> None:
        while self._unsaved and not self.running:
            await asyncio.sleep(AGAIN)
            with contextlib.suppress(StoreError):  # Told when it happened first.
                self._catch_up()
        self._let_go()

    def _need_idle(self) -> None:
        if self.running:
            raise CommandError("busy", "A turn is running. Stop it first, or wait.")
        if self._undoing:
            raise CommandError("busy", "Cells are being put back. Wait a moment.")

    # --- telling ---------------------------------------------------------------------

    def _publish(self, event: Event) -> None:
        """Journal and show what begins with this. Raises StoreError; then it does not begin."""
        self.event_log.publish(event)
        self._replay.add(event)

    def _show(self, event: Event) -> None:
        """Show what has happened, and journal it as soon as that is possible."""
        self.event_log.show(event)
        self._replay.add(event)

    def _say(self, event: Event) -> None:
        """Show what no command has asked for, unless another server has the session now."""
        try:
            with self._here():
                self._show(event)
        except StoreError:
            self._show(event)  # It happened; it is journaled later.
        except CommandError as error:
            log.info("Not said in %s: %s", self.info.session_id, error.message)

    def _set(self, **changes: Any) -> None:
        now = {"running": self.running, "changed": time.time(), "last_seq": self.event_log.last_seq}
        self.info = msgspec.structs.replace(self.info, **{**now, **changes})
        stored = msgspec.structs.replace(self.info, held="")
        self._deferred.do(lambda: self._store.update(stored))
        self._changed()

    # --- ending ----------------------------------------------------------------------

    def cancel(self) -> None:
        """Stop the turn; nothing happens if none is running, or if it is stopping already."""
        if self._task is not None and self._may_cancel:
            self._may_cancel = False
            if self._begun:
                self._task.cancel()

    def halt(self, ending: Ending) -> None:
        """Stop the turn like ``cancel``, and say why."""
        if self.running and self._halted is None:
            self._halted = ending
            self.cancel()

    def _keep_unheard(self) -> None:
        """A message that did not get as far as the model is part of the conversation too."""
        words = self._rules.scrub(self._replay.unheard)
        if words and not self._talk.ends_with(words):
            self._talk.add(user(Text(words)))
        self._replay.unheard = ""

    def _show_end(
        self,
        ending: Ending,
        cleared: Iterable[Cleared] = (),
        files: tuple[tuple[MadeFile, ...], int] = ((), 0),
    ) -> None:
        turn = self._replay.turns
        changes = self._ledger.changes(turn)

        def changed(kind: str) -> tuple[str, ...]:
            return tuple(
                change.cell_id for change in changes if change.kind == kind and not change.gave_way
            )

        self._show(
            TurnEnded(
                turn=turn,
                stop_reason=ending.reason,
                code=ending.code,
                message=ending.message,
                added=changed("added"),
                edited=changed("edited"),
                removed=changed("removed"),
                failed=tuple(self._ledger.failed_since(turn)),
                retry=ending.retry,
                cost=self._replay.cost,
                cleared=tuple(cleared),
                files=files[0],
                files_left_out=files[1],
            )
        )

    def _in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
