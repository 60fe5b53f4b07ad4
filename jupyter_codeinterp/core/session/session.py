"""A session in memory: one conversation bound to one notebook, and its commands.

``turns.py`` runs its turns. ``persistence.py`` handles the journal and other servers.
"""

from __future__ import annotations

import unicodedata
from typing import Literal

import msgspec

from ..approval import modes
from ..approval.decisions import Alone
from ..errors import CommandError
from ..messages import Text, user
from ..model_view.context import Context
from ..redaction.found_secrets import without_keys
from ..turn.limits import Limits
from ..visible import visible_line
from ..wire.events import (
    Draft,
    FindingSilenced,
    Mode,
    ModeChanged,
    ModelChanged,
    Note,
    NotebookMoved,
    Reference,
    TitleChanged,
)
from .messages import Does, from_question, route
from .turns import Services, TurnRunner

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


class Session(TurnRunner):
    @property
    def waiting(self) -> bool:
        return self.decisions.waiting

    @property
    def stop_reason(self) -> str:
        """Why the latest turn ended; "" while one runs, and before the first."""
        ended = self.replay.ended
        return ended.stop_reason if ended is not None and not self.running else ""

    @property
    def turn(self) -> int:
        """The number of the latest turn; 0 before the first."""
        return self.replay.turns

    @property
    def worked(self) -> tuple[str, ...]:
        """Cells that the agent inserted, the latest last."""
        return tuple(self.ledger.added[-MOST_WORKED:])

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
        second_look: str | None = None,
        alone: Alone = "",
    ) -> Does:
        """Route a message by ``messages.py``. Returns where it went. ``source``: the current source
        of the draft's cell, for a message about a draft. ``after``, ``rule_files``,
        ``second_look`` and ``alone`` apply to a turn that begins.

        Raises CommandError ``busy``, ``empty_message``, ``no_longer_waits``,
        ``too_many_queued`` or ``held_elsewhere``, and StoreError."""
        does = self.would(text, about)
        if does == "begin":
            self._begin(text, mode, model, window, references)
            self._put_after = after
            self.reads_rules = rule_files
            self.second_look = second_look
            self.unattended = alone
        elif does == "queue":
            self.queue.add(text, window, references)
        elif does == "answer":
            self.decisions.answer(about, text, window)
            self._answer_references += references
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
        self, text: str, mode: Mode, model: str, window: int, references: tuple[Reference, ...]
    ) -> None:
        self.need_idle()
        with self.here():
            self._set(mode=modes.cap(mode, self._rules.highest_mode))
            if model and model != self.info.model:
                self._change_model(model, window)
            if not self.info.title:
                title = from_question(without_keys(text))
                self.publish(TitleChanged(title, window, "question"))
                self._set(title=title)
            self._start(self.queue.with_text(text), window, self.queue.with_references(references))

    def retry(self, window: int = 0) -> None:
        """Continue after an error with the same history. Raises CommandError ``busy``,
        ``nothing_to_retry`` or ``held_elsewhere``, and StoreError."""
        self.need_idle()
        with self.here():
            self.need_retry()
            self._start("", window, self.replay.undelivered_references)

    def need_retry(self) -> None:
        """Raises CommandError ``busy`` or ``nothing_to_retry``."""
        self.need_idle()
        if self.replay.ended is None or not self.replay.ended.retry:
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
        allowed = run_all and modes.may_run_all(self._rules.highest_mode)
        return self.decisions.decide(
            draft_id, nonce, action, source, allowed, window, said, person, nobody
        )

    def set_mode(self, mode: Mode, window: int = 0) -> bool:
        """Set the mode from the next decision on, also in a running turn. Returns whether it
        changed."""
        mode = modes.cap(mode, self._rules.highest_mode)
        other = mode != self.info.mode
        if self._turn is not None and self.running:
            other = other or mode != self._turn.mode
            self._turn.set_mode(mode)
        if mode != self.info.mode:
            with self.here():
                self._set(mode=mode)
                self.show(ModeChanged(mode, window))
        return other

    def set_model(self, model: str, window: int = 0) -> bool:
        """Continue with this model, in a new conversation with a summary. Returns whether it
        changed."""
        self.need_idle()
        other = model != self.info.model
        if other:
            with self.here():
                self._change_model(model, window)
        return other

    def _change_model(self, model: str, window: int) -> None:
        self.publish(ModelChanged(model, window))
        self._set(model=model)
        if not self._talk.empty:
            self._talk.restart(user(Text(self._rules.scrub(self._talk.summary()))))
            self._context = Context()
            self._meter.new_conversation()
            self.show(Note(f"Continuing with {model} and a summary of the conversation."))

    def continue_from(self, other: Session) -> None:
        """Begin with a summary of a conversation about another notebook."""
        name = visible_line(other.info.notebook)
        told = GOES_ON_FROM.format(notebook=other._talk.untrusted.inert(name))
        self._talk.continue_from(other._talk, told)
        self._set(goes_on_from=other.info.session_id)
        self.note(f"Goes on from {name.rpartition('/')[2]}.")

    def set_limits(self, limits: Limits) -> None:
        """Set the limits from the next turn on."""
        self._rules = msgspec.structs.replace(self._rules, limits=limits)

    # --- afterwards ------------------------------------------------------------------

    def rename(self, title: str, window: int = 0) -> None:
        """Set the title, also while a turn runs. Raises CommandError ``bad_title``."""
        title = self._rules.scrub(title.strip())
        if not title:
            raise CommandError("bad_title", "The title is empty.")
        if len(title) > LONGEST_TITLE:
            words = "The title is longer than {limit} characters."
            raise CommandError("bad_title", words, limit=LONGEST_TITLE)
        if any(unicodedata.category(character) in _NOT_IN_A_LINE for character in title):
            raise CommandError("bad_title", "The title must be one line of text.")
        if title != self.info.title:
            # Keep ``changed``, so that the session keeps its place in lists.
            with self.here():
                self._set(title=title, changed=self.info.changed)
                self.show(TitleChanged(title, window))

    def silence(self, key: str, silenced: bool, window: int = 0) -> str:
        """Hide findings with this key, or show them again; also while a turn runs. Returns the
        check's name. Raises CommandError ``unknown_finding``."""
        check = self.replay.findings.get(key)
        if check is None:
            raise CommandError("unknown_finding", "This conversation has no such finding.")
        with self.here():
            self.store.set_silenced(self.workplace.document.path, key, silenced)
            self.show(FindingSilenced(key, silenced, window))
        return check

    def confirmed_late(self, seq: int) -> None:
        """Record an op whose receipt came after the turn had stopped waiting."""
        for stored in self.store.ops(self.info.session_id, seq - 1)[:1]:
            self.ledger.take(stored)

    def note(self, words: str, level: Literal["info", "warning"] = "info") -> None:
        self._show_unasked(Note(words, level))

    def moved(self, notebook: str) -> None:
        self.info = msgspec.structs.replace(self.info, notebook=notebook)
        self._show_unasked(NotebookMoved(notebook))
        self._changed()
