"""Chooses the screen and the review of a turn."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any, Protocol, Union

from ...wire.events import Draft
from ..asking.typed import request
from ..turn.assistant import Assistant
from .choice import Choice
from .notebook import NotebookScreen
from .terminal import TerminalReview, TerminalScreen

NOBODY = "Not run: no one can be asked here. %%ai -y runs code without asking."
NO_BUTTONS = (
    "Not run: the buttons need ipywidgets (pip install ipywidgets). %%ai -y runs code without "
    "asking."
)
ALWAYS_ASKS = "Not run: this needs a review even with -y, and no one can be asked here."

Screen = Union[NotebookScreen, TerminalScreen]


class DraftReview(Protocol):
    def ask(self, draft: Draft) -> Choice | None:
        """Ask for a decision. None: it comes later, by a click."""

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        """Ask a question. None: nobody answers now."""


class NoReview:
    """Shows code without running it, because nobody can review it."""

    def __init__(self, screen: Screen, words: str, yes: bool) -> None:
        self._screen = screen
        self._words = ALWAYS_ASKS if yes else words
        self._choice = Choice("nobody" if yes else "stop")

    def ask(self, draft: Draft) -> Choice:
        self._screen.problem(self._words)
        return self._choice

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        return None


def screen_for(shell: Any) -> Screen:
    if getattr(shell, "kernel", None) is None:
        return TerminalScreen(shell)
    return NotebookScreen(shell)


def review_for(shell: Any, screen: Screen, assistant: Assistant, yes: bool) -> DraftReview:
    if isinstance(screen, TerminalScreen):
        if sys.stdin is not None and sys.stdin.isatty():
            return TerminalReview(shell, screen, assistant.main.breakable)
        return NoReview(screen, NOBODY, yes)
    # A client without stdin is a program, such as nbclient.
    if not request(shell).get("content", {}).get("allow_stdin"):
        return NoReview(screen, NOBODY, yes)
    if importlib.util.find_spec("ipywidgets") is None:
        return NoReview(screen, NO_BUTTONS, yes)
    from .widgets import CellInserter, WidgetReview

    return WidgetReview(screen, assistant, CellInserter(shell))
