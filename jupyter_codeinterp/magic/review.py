"""Asks the person for decisions and answers, at a prompt on the main thread.

In a kernel the front end shows the prompt below the cell, and Run All waits there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Union

from ..kernel import typed_ahead
from ..wire.events import Draft
from .screens import Screen, TerminalScreen
from .typed import request

NOBODY = "Not run: no one can be asked here. %%ai -y runs code without asking."
ALWAYS_ASKS = "Not run: this needs a review even with -y, and no one can be asked here."
ONE_LETTER = "Answer with one letter; only n takes a reason."
NO = ("n", "no", "d", "discard")
NOBODY_ANSWERED = (KeyboardInterrupt, EOFError, typed_ahead.NoTerminal)
Breakable = Callable[[], AbstractContextManager[Any]]
"""Returns a context manager in which Ctrl-C ends a prompt."""
EDIT_HELP = "Edit the code. Esc, then Enter: run it. Ctrl-C: stop."


@dataclass(frozen=True)
class Choice:
    """A decision on waiting code. ``source``: exactly the code to run; ``reason``: for the model,
    with a rejection; ``nobody``: rejected because nobody can be asked."""

    action: Literal["run", "reject", "stop"]
    source: str = ""
    reason: str = ""
    nobody: bool = False


class NoReview:
    """Shows code without running it, because nobody can review it."""

    def __init__(self, screen: Screen, yes: bool) -> None:
        self._screen = screen
        self._words = ALWAYS_ASKS if yes else NOBODY
        self._choice = Choice("reject", nobody=True) if yes else Choice("stop")

    def ask(self, draft: Draft) -> Choice:
        self._screen.problem(self._words)
        return self._choice

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        return None


class PromptReview:
    def __init__(
        self, screen: Screen, breakable: Callable[[], AbstractContextManager[Any]]
    ) -> None:
        self._screen = screen
        self._breakable = breakable
        self._in_terminal = isinstance(screen, TerminalScreen)

    def ask(self, draft: Draft) -> Choice:
        try:
            with self._breakable():
                return self._asked(draft)
        except NOBODY_ANSWERED:
            self._screen.note("")
            return Choice("stop")

    def _asked(self, draft: Draft) -> Choice:
        edits = self._in_terminal and draft.editable and draft.runs
        choices = ["[r]un" if draft.editable and draft.runs else "[y]es"]
        choices += ["[e]dit"] if edits else []
        prompt = f"{', '.join([*choices, '[n]o REASON'])}: "
        while True:
            answer, _, reason = self._line(prompt).partition(" ")
            answer = answer.lower()
            if answer in NO:
                return Choice("reject", draft.source, reason.strip())
            if answer in ("r", "run", "y", "yes") and not reason:
                return Choice("run", draft.source)
            if edits and answer in ("e", "edit") and not reason:
                return Choice("run", _edited(draft.source))
            self._screen.note(ONE_LETTER)

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        self._screen.note(question)
        for number, option in enumerate(options, 1):
            self._screen.note(f"  {number}. {option}")
        try:
            with self._breakable():
                answer = self._line("Your answer: ")
        except NOBODY_ANSWERED:
            self._screen.note("")
            return None
        chosen = answer.isdecimal() and answer.isascii() and 0 < int(answer) <= len(options)
        return options[int(answer) - 1] if chosen else answer

    def _line(self, prompt: str) -> str:
        """Read a line. Discards what was typed before; a kernel does that itself."""
        if self._in_terminal:
            typed_ahead.forget()
        return input(prompt).strip()


def _edited(source: str) -> str:
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


Review = Union[NoReview, PromptReview]


def review_for(shell: Any, screen: Screen, breakable: Breakable, yes: bool) -> Review:
    if isinstance(screen, TerminalScreen):
        answers = sys.stdin is not None and sys.stdin.isatty()
    else:
        # A client without stdin is a program, such as nbclient.
        answers = bool(request(shell).get("content", {}).get("allow_stdin"))
    return PromptReview(screen, breakable) if answers else NoReview(screen, yes)
