"""Chooses the screen and the review of a turn."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, Union

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

if TYPE_CHECKING:
    from .widgets import WidgetReview

Screen = Union[NotebookScreen, TerminalScreen]
DraftReview = Union["NoReview", TerminalReview, "WidgetReview"]
"""Asks for decisions and answers. None: the decision comes later, by a click; or nobody answers."""


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
        return TerminalScreen()
    return NotebookScreen(shell)


def review_for(shell: Any, screen: Screen, assistant: Assistant, yes: bool) -> DraftReview:
    if isinstance(screen, TerminalScreen):
        if sys.stdin is not None and sys.stdin.isatty():
            return TerminalReview(screen, assistant.main.breakable)
        return NoReview(screen, NOBODY, yes)
    # A client without stdin is a program, such as nbclient.
    if not request(shell).get("content", {}).get("allow_stdin"):
        return NoReview(screen, NOBODY, yes)
    if importlib.util.find_spec("ipywidgets") is None:
        return NoReview(screen, NO_BUTTONS, yes)
    from .widgets import WidgetReview

    return WidgetReview(screen, assistant)
