"""Which screen a turn is shown on, and who is asked."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any, Protocol, Union

from ...core.events import Draft
from ..asking.typed import request
from ..turn.assistant import Assistant
from .choice import STOP, Choice
from .notebook import NotebookScreen
from .terminal import TerminalReview, TerminalScreen

NOBODY = "Not run: nobody can be asked here. %%ai -y runs code without asking."
NO_BUTTONS = (
    "Not run: the buttons to decide by need ipywidgets (pip install ipywidgets). "
    "%%ai -y runs code without asking."
)
ALWAYS_ASKS = "Not run: this code must be looked at first, also with -y, and nobody can be asked."

Screen = Union[NotebookScreen, TerminalScreen]


class Review(Protocol):
    def ask(self, draft: Draft) -> Choice | None:
        """None: the answer comes later, by a click."""

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        """None: nobody answers, or later."""


class NoReview:
    """Nobody is there: code is shown and not run."""

    def __init__(self, screen: Screen, words: str) -> None:
        self._screen = screen
        self._words = words

    def ask(self, draft: Draft) -> Choice:
        self._screen.problem(self._words)
        return Choice(STOP)

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        return None


def screen_for(shell: Any) -> Screen:
    if getattr(shell, "kernel", None) is None:
        return TerminalScreen(shell)
    return NotebookScreen(shell)


def review_for(shell: Any, screen: Screen, assistant: Assistant, yes: bool) -> Review:
    if isinstance(screen, TerminalScreen):
        if sys.stdin is not None and sys.stdin.isatty():
            return TerminalReview(shell, screen, assistant.main.breakable)
        return NoReview(screen, ALWAYS_ASKS if yes else NOBODY)
    # Who sends code and answers no questions is a program, such as nbclient.
    if not request(shell).get("content", {}).get("allow_stdin"):
        return NoReview(screen, ALWAYS_ASKS if yes else NOBODY)
    if importlib.util.find_spec("ipywidgets") is None:
        return NoReview(screen, ALWAYS_ASKS if yes else NO_BUTTONS)
    from .below import Below
    from .widgets import WidgetReview

    return WidgetReview(screen, assistant, Below(shell))
