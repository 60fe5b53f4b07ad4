"""A session in memory: one conversation bound to one notebook, and its commands.

It has a log (``log.py``: the journal, and other servers), turns (``turns.py``), and a queue of
messages (``messages.py``).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Literal

from ..base.errors import CommandError
from ..base.visible import visible_line
from ..run.approval import modes
from ..run.approval.decisions import Alone, Decisions
from ..run.turn.ending import Ending
from ..run.turn.workplace import Workplace
from ..view.context import Context
from ..view.redaction.found_secrets import without_keys
from ..view.redaction.private_names import PrivateNames
from ..wire.commands import SessionInfo
from ..wire.events import (
    Draft,
    FindingSilenced,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    Reference,
    TitleChanged,
)
from ..wire.messages import Text, user
from . import turns
from .late_outputs import LateOutputs
from .log import Services, SessionLog
from .messages import Does, Queue, from_question, route
from .reviews import Reviews
from .turn_task import TurnTask
from .waiting_files import WaitingFiles

MOST_WORKED = 20
"""Cells of the agent that are listed for a window, so that it finds one if others are deleted."""
GOES_ON_FROM = (
    "[The conversation above was in the notebook {notebook}. Now you are in a new notebook in the "
    "same folder, with a kernel of its own: its variables and cells are not here.]"
)
LONGEST_TITLE = 200
"""Characters of a person's title."""
_NOT_IN_A_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories: controls (line ends included), surrogates, line separators."""
NO_LONGER = (
    "The cell or question that you answered is no longer open. Check the conversation and send "
    "again."
)


__all__ = ["Services", "Session"]


class Session:
    def __init__(
        self,
        info: SessionInfo,
        services: Services,
        workplace: Workplace,
        changed: Callable[[Session], None] = lambda session: None,
        waits: Callable[[Session], None] = lambda session: None,
    ) -> None:
        """Calls ``changed`` with itself when it starts or stops running, when its title, model,
        mode or notebook changes, and when another server begins or stops working on it. Calls
        ``waits`` when it begins or stops waiting for a person."""
        self.services = services
        self.workplace = workplace
        self.kept = False
        """Whether a caller keeps the session in memory between turns without following it."""
        self.private_names = PrivateNames()
        """Names that private cells assign, as far as the conversation has seen them."""
        self.decisions = Decisions(lambda: waits(self))
        self.task = TurnTask()
        self.log = SessionLog(info, services, workplace, self.task, lambda: changed(self))
        self.event_log = self.log.events
        self.queue = Queue(self.log)
        self.waiting_files = WaitingFiles(self.log, services.rules.scrub)
        self.reviews = Reviews(self.log)
        self.late_outputs = LateOutputs(self.log)
        self.tools = turns.TurnTools(services.tools, workplace)
        self.options = turns.TurnOptions()
        self.answer_references: tuple[Reference, ...] = ()
        self.unread_rule_files: set[str] = set()
        self.end_explains = False
        self.task.ended = lambda: turns.ended(self)
        self.log.open()

    @property
    def info(self) -> SessionInfo:
        return self.log.info

    @property
    def running(self) -> bool:
        return self.task.running

    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    @property
    def at_rest(self) -> bool:
        """Whether the session is idle, saved, and nobody needs it in memory."""
        return self.log.at_rest and not self.kept

    @property
    def stop_reason(self) -> str:
        """Why the latest turn ended; "" while one runs, and before the first."""
        ended = self.log.replay.ended
        return ended.stop_reason if ended is not None and not self.running else ""

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self.log.replay.turns

    @property
    def worked(self) -> tuple[str, ...]:
        """Cells that the agent inserted, the latest last."""
        return tuple(self.log.ledger.added[-MOST_WORKED:])

    async def idle(self) -> None:
        """Wait for the end of the running turn."""
        await self.task.idle()

    # --- a turn ----------------------------------------------------------------------

    def send(
        self,
        text: str,
        mode: Mode,
        model: str,
        window: int = 0,
        about: str = "",
        source: str | None = None,
        after: str = "",
        references: tuple[Reference, ...] = (),
        rule_files: bool = True,
        alone: Alone = "",
    ) -> Does:
        """Route a message by ``messages.py``. Returns where it went. ``source``: the current source
        of the draft's cell, for a message about a draft. ``after``, ``rule_files`` and
        ``alone`` apply to a turn that begins.

        Raises CommandError ``busy``, ``empty_message``, ``no_longer_waits``,
        ``too_many_queued`` or ``held_elsewhere``, and StoreError."""
        does = self.would(text, about)
        if does == "begin":
            options = turns.TurnOptions(after, rule_files, alone)
            self._begin(text, mode, model, window, references, options)
        elif does == "queue":
            self.queue.add(text, window, references)
        elif does == "answer":
            self.decisions.answer(about, text, window)
            self.answer_references += references
        else:
            self.queue.add(text, window, references)
            self.decisions.discuss(source)
        return does

    def would(self, text: str, about: str) -> Does:
        """Where ``send`` would put the message. Raises CommandError ``empty_message`` or
        ``no_longer_waits``."""
        does = route(self.running, self.decisions.asked, about)
        if does is None:
            raise CommandError("no_longer_waits", NO_LONGER)
        if not text.strip() and not (does == "begin" and self.queue.messages):
            raise CommandError("empty_message", "The message is empty.")
        return does

    def _begin(
        self,
        text: str,
        mode: Mode,
        model: str,
        window: int,
        references: tuple[Reference, ...],
        options: turns.TurnOptions,
    ) -> None:
        self.log.need_idle()
        with self.log.here():
            self.log.update(mode=modes.cap(mode, self.services.rules.highest_mode))
            if model and model != self.info.model:
                self._change_model(model, window)
            if not self.info.title:
                title = from_question(without_keys(text))
                self.log.publish(TitleChanged(title, window, "question"))
                self.log.update(title=title)
            text, references = self.queue.with_text(text), self.queue.with_references(references)
            turns.start(self, text, window, references, options)

    def retry(self, window: int = 0) -> None:
        """Continue after an error with the same history. Raises CommandError ``busy``,
        ``nothing_to_retry`` or ``held_elsewhere``, and StoreError."""
        self.log.need_idle()
        with self.log.here():
            self.need_retry()
            turns.start(self, "", window, self.log.replay.undelivered_references)

    def need_retry(self) -> None:
        """Raises CommandError ``busy`` or ``nothing_to_retry``."""
        self.log.need_idle()
        if self.log.replay.ended is None or not self.log.replay.ended.retry:
            raise CommandError("nothing_to_retry", "Nothing to retry.")

    # --- while it runs ---------------------------------------------------------------

    def decide(
        self,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool,
        window: int = 0,
        said: str = "",
        person: str = "",
        nobody: bool = False,
    ) -> Draft:
        """Decide on a draft, and return it. Raises as ``Decisions.decide``."""
        allowed = run_all and modes.may_run_all(self.services.rules.highest_mode)
        return self.decisions.decide(
            draft_id, nonce, action, source, allowed, window, said, person, nobody
        )

    def set_mode(self, mode: Mode, window: int = 0) -> bool:
        """Set the mode from the next decision on, also in a running turn. Returns whether it
        changed."""
        mode = modes.cap(mode, self.services.rules.highest_mode)
        other = mode != self.info.mode
        turn = self.task.turn
        if turn is not None and self.running:
            other = other or mode != turn.mode
            turn.set_mode(mode)
        if mode != self.info.mode:
            with self.log.here():
                self.log.update(mode=mode)
                self.log.show(ModeChanged(mode, window))
        return other

    def set_model(self, model: str, window: int = 0) -> bool:
        """Continue with this model, in a new conversation with a summary. Returns whether it
        changed."""
        self.log.need_idle()
        other = model != self.info.model
        if other:
            with self.log.here():
                self._change_model(model, window)
        return other

    def _change_model(self, model: str, window: int) -> None:
        self.log.publish(ModelChanged(model, window))
        self.log.update(model=model)
        if not self.log.talk.empty:
            self.log.talk.restart(user(Text(self.services.rules.scrub(self.log.talk.summary()))))
            self.log.context = Context()
            self.log.meter.new_conversation()
            self.log.show(Note(f"Continuing with {model} and a summary of the conversation."))

    def continue_from(self, other: Session) -> None:
        """Begin with a summary of a conversation about another notebook."""
        name = visible_line(other.info.notebook)
        told = GOES_ON_FROM.format(notebook=other.log.talk.untrusted.inert(name))
        self.log.talk.continue_from(other.log.talk, told)
        self.log.update(goes_on_from=other.info.session_id)
        self.note(f"Goes on from {name.rpartition('/')[2]}.")

    # --- afterwards ------------------------------------------------------------------

    def rename(self, title: str, window: int = 0) -> None:
        """Set the title, also while a turn runs. Raises CommandError ``bad_title``."""
        title = self.services.rules.scrub(title.strip())
        if not title:
            raise CommandError("bad_title", "The title is empty.")
        if len(title) > LONGEST_TITLE:
            words = "The title is longer than {limit} characters."
            raise CommandError("bad_title", words, limit=LONGEST_TITLE)
        if any(unicodedata.category(character) in _NOT_IN_A_LINE for character in title):
            raise CommandError("bad_title", "The title must be one line of text.")
        if title != self.info.title:
            # Keep ``changed``, so that the session keeps its place in lists.
            with self.log.here():
                self.log.update(title=title, changed=self.info.changed)
                self.log.show(TitleChanged(title, window))

    def silence(self, key: str, silenced: bool, window: int = 0) -> str:
        """Hide findings with this key, or show them again; also while a turn runs. Returns the
        check's name. Raises CommandError ``unknown_finding``."""
        check = self.log.replay.findings.get(key)
        if check is None:
            raise CommandError("unknown_finding", "This conversation has no such finding.")
        with self.log.here():
            self.log.store.set_silenced(self.workplace.document.path, key, silenced)
            self.log.show(FindingSilenced(key, silenced, window))
        return check

    def confirmed_late(self, seq: int) -> None:
        """Record an op whose receipt came after the turn had stopped waiting."""
        for stored in self.log.store.ops(self.info.session_id, seq - 1)[:1]:
            self.log.ledger.take(stored)

    def note(self, words: str, level: Literal["info", "warning"] = "info") -> None:
        self.log.show_unasked(Note(words, level))

    # --- ending ----------------------------------------------------------------------

    def cancel(self, window: int = 0) -> None:
        """Stop the turn, unless none runs or it is already stopping."""
        self.task.cancel(window)

    def halt(self, ending: Ending) -> None:
        """Stop the turn with this ending."""
        self.task.halt(ending)

    async def close(self) -> None:
        """Stop for good: the server is shutting down, or the session is deleted. An undo ends
        first, because it needs the lease and the journal."""
        self.log.closing = True
        await self.reviews.finish()
        await self.log.close()
