"""Buttons under code that waits. The magic has returned by then: a click goes on with the turn.

Nothing of the model's is shown by a widget but code in a field that shows text as text. When a
decision is made the buttons go; code and outputs stay in the cell like any others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from ...core.events import Draft
from .below import Below
from .choice import DISCARD, EDITED, RUN, STOP, Choice
from .harmless import visible
from .notebook import NotebookScreen

if TYPE_CHECKING:
    from ..turn.assistant import Assistant

WAITING = "This code waits for your decision, by the buttons here."
NOT_INSERTED = "This page cannot put it into a cell. Edit shows the code, to be copied."
VANISHED = {"text/plain": ""}


class WidgetReview:
    """Fulfils ``Review``. ``front`` is set when there is one."""

    def __init__(self, screen: NotebookScreen, assistant: Assistant, below: Below) -> None:
        self._screen = screen
        self._below = below
        self._assistant = assistant
        self._clicked: set[str] = set()

    def ask(self, draft: Draft) -> None:
        front = self._assistant.front
        if front is None:
            return
        field = ipywidgets.Textarea(draft.source, layout={"width": "99%"})
        field.rows = min(24, draft.source.count("\n") + 2)
        field.add_class("jp-codeinterp-magic-code")

        def decided(action: str) -> Callable[[Any], None]:
            def click(_: Any) -> None:
                edited = action == EDITED
                choice = Choice(action, field.value if edited else draft.source)  # type: ignore[arg-type]
                self._go_on(key, box, lambda: front.decide(draft, choice))

            return click

        def insert(_: Any) -> None:
            self._below.put(field.value, inserted)

        def inserted(done: bool) -> None:
            if done:
                self._go_on(key, box, front.inserted)
            else:
                self._screen.note(NOT_INSERTED)

        def edit(_: Any) -> None:
            run_edited = _button(
                "Run", "Run the code as it stands here", decided(EDITED), "primary"
            )
            box.children = (field, _row(run_edited, *others))

        label = "Run" if draft.runs else "Accept"
        run = _button(label, "", decided(RUN), "primary")
        others = [
            _button("Discard", "Do without this code; the model goes on", decided(DISCARD)),
            _button("Stop", "End this prompt", decided(STOP)),
        ]
        buttons = [run, _button("Edit", "Change the code first", edit)] if draft.runs else [run]
        if draft.runs and self._below.is_there:
            others.insert(0, _button("Insert below", "Into a new cell, and run nothing", insert))
        box = ipywidgets.VBox((_row(*buttons, *others),))
        key = f"{draft.draft_id}-{draft.nonce}"
        self._show(key, box)

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        """Nobody is waited for here: the answer is what comes next in the conversation."""
        self._screen.text(question, question, plain=True)
        return None

    # --- inside ----------------------------------------------------------------------

    def _show(self, key: str, box: Any) -> None:
        data = dict(box._repr_mimebundle_())
        self._screen.show(key, {**data, "text/plain": visible(WAITING)})

    def _go_on(self, key: str, box: Any, decide: Callable[[], None]) -> None:
        if key not in self._clicked:
            self._clicked.add(key)
            box.close()
            self._screen.on_main_thread(lambda: self._carry_out(key, decide))

    def _carry_out(self, key: str, decide: Callable[[], None]) -> None:
        front = self._assistant.front
        self._screen.show(key, VANISHED)
        if front is None or not front.parked:
            self._screen.note("This was stopped, or decided on before.")
            return
        with contextlib.suppress(KeyboardInterrupt):
            decide()
            self._assistant.resume(front)


def _button(label: str, tip: str, click: Callable[[Any], None], style: str = "") -> Any:
    layout = {"width": "auto", "min_width": "7em"}
    button = ipywidgets.Button(description=label, tooltip=tip, button_style=style, layout=layout)
    button.on_click(click)
    return button


def _row(*buttons: Any) -> Any:
    return ipywidgets.HBox(buttons, layout={"flex_flow": "row wrap"})
