"""Shows a turn in a terminal: streamed text, marked code, and a prompt before each run."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from ...base.visible import visible
from ...kernel import typed_ahead
from ...wire.events import Draft
from .choice import Choice
from .harmless import prose

BAR = "  │ "
NO = ("n", "no", "d", "discard")
PROMPT = "[r]un, [e]dit, [n]o REASON: "
SHORT_PROMPT = "[y]es, [n]o REASON: "
"""The prompt if there is no code to edit."""
NOBODY_ANSWERED = (KeyboardInterrupt, EOFError, typed_ahead.NoTerminal)
EDIT_HELP = "Edit the code. Esc, then Enter: run it. Ctrl-C: stop."


class TerminalScreen:
    def __init__(self) -> None:
        self._key = ""
        """Key of the text now being printed."""
        self._printed = ""
        self._shown: dict[str, str] = {}

    def around(self) -> contextlib.AbstractContextManager[None]:
        self._close()
        return contextlib.nullcontext()

    def text(self, key: str, text: str, grows: bool = False) -> None:
        text = visible(prose(text))
        if key != self._key:
            self._close()
            self._key, self._printed = key, self._shown.pop(key, "")
        if text.startswith(self._printed):
            self._write(text[len(self._printed) :])
            self._printed = self._shown[key] = text
        # A complete link is shown differently from its beginning, so only the rest is added.

    def drop(self, key: str) -> None:
        self._close()

    def code(self, key: str, source: str) -> None:
        if self._shown.get(key) == source:
            return
        self._shown[key] = source
        self._close()
        lines = visible(source, code=True).rstrip("\n").split("\n")
        self._write("".join(f"{BAR}{line}\n" for line in lines))

    def note(self, words: str) -> None:
        self._close()
        self._write(f"{visible(words)}\n")

    def problem(self, words: str) -> None:
        self._close()
        print(visible(words), file=sys.stderr)

    def _close(self) -> None:
        if self._key and self._printed and not self._printed.endswith("\n"):
            self._write("\n")
        self._key = self._printed = ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


class TerminalReview:
    """Asks directly, on the main thread."""

    def __init__(self, screen: TerminalScreen, breakable: Callable[[], Any]) -> None:
        """``breakable`` returns a context manager in which Ctrl-C ends a prompt."""
        self._screen = screen
        self._breakable = breakable

    def ask(self, draft: Draft) -> Choice:
        try:
            with self._breakable():
                return self._asked(draft)
        except NOBODY_ANSWERED:
            self._screen.note("")
            return Choice("stop")

    def _asked(self, draft: Draft) -> Choice:
        while True:
            edits = draft.editable and draft.runs
            answer, _, reason = _line(PROMPT if edits else SHORT_PROMPT).partition(" ")
            answer = answer.lower()
            if reason and answer not in NO:
                continue
            if answer in ("r", "run", "y", "yes"):
                return Choice("run", draft.source)
            if answer in NO:
                return Choice("discard", draft.source, reason.strip())
            if edits and answer in ("e", "edit"):
                return Choice("edited", self._edited(draft.source))
            self._screen.note(f"Answer with {'r, e or n' if edits else 'y or n'}.")

    def _edited(self, source: str) -> str:
        from prompt_toolkit import prompt
        from prompt_toolkit.application import get_app_session
        from prompt_toolkit.input.typeahead import clear_typeahead

        typed_ahead.forget()
        # prompt_toolkit keeps input that followed the last Enter for its next prompt.
        clear_typeahead(get_app_session().input)
        edited: str = prompt(
            "", default=source, multiline=True, bottom_toolbar=EDIT_HELP, handle_sigint=False
        )
        return edited

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        self._screen.note(question)
        for number, option in enumerate(options, 1):
            self._screen.note(f"  {number}. {option}")
        try:
            with self._breakable():
                answer = _line("Your answer: ")
        except NOBODY_ANSWERED:
            self._screen.note("")
            return None
        chosen = answer.isdecimal() and answer.isascii() and 0 < int(answer) <= len(options)
        return options[int(answer) - 1] if chosen else answer


def _line(prompt: str) -> str:
    """Read a line. Discards what was typed before."""
    typed_ahead.forget()
    return input(prompt).strip()
