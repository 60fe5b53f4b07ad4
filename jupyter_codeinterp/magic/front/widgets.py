"""Buttons for waiting code. The magic has returned by then, and a click continues the turn.

The only model text in a widget is code in a plain text field. A decision removes the buttons; code
and outputs stay in the cell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets

from ...base.visible import visible
from ...wire.events import Draft
from ..asking.typed import request
from .choice import Action, Choice
from .notebook import NotebookScreen

if TYPE_CHECKING:
    from ..turn.assistant import Assistant


# -------------------------------------------------------------------------------------------------
# Stops "Run All" at a prompt that waits for a click: later cells may need its result.

HELD = (
    "If you chose Run All, it stops here: the cells below did not run. Run them after your "
    "decision."
)


def hold_back(shell: Any) -> None:
    """Abort the cells that wait in the kernel, as after an error, though the prompt has not
    failed."""
    kernel = shell.kernel
    abort = getattr(kernel, "_abort_queues", None)
    if abort is None:
        return
    if hasattr(kernel, "shell_channel_thread"):  # ipykernel 7
        abort(request(shell).get("header", {}).get("subshell_id"))
    else:
        abort()


WAITING = "This code is waiting for your decision. Use the buttons here."
VANISHED = {"text/plain": ""}


class WidgetReview:
    """Implements ``Review`` with buttons."""

    def __init__(self, screen: NotebookScreen, assistant: Assistant) -> None:
        self._screen = screen
        self._assistant = assistant
        self._clicked: set[str] = set()

    def ask(self, draft: Draft) -> None:
        front = self._assistant.front
        if front is None:
            return
        field = ipywidgets.Textarea(draft.source, layout={"width": "99%"})
        field.rows = min(24, draft.source.count("\n") + 2)
        field.add_class("jp-codeinterp-magic-code")

        def decided(action: Action) -> Callable[[Any], None]:
            def click(_: Any) -> None:
                edited = action == "edited"
                choice = Choice(action, field.value if edited else draft.source)
                self._go_on(key, box, lambda: front.decide(draft, choice))

            return click

        def edit(_: Any) -> None:
            run_edited = _button("Run", "Run the code shown here", decided("edited"), "primary")
            box.children = (field, _row(run_edited, *others), held)

        label = "Run" if draft.runs else "Accept"
        run = _button(label, "", decided("run"), "primary")
        others = [
            _button("Discard", "Reject this code; the model continues", decided("discard")),
            _button("Stop", "Stop this prompt", decided("stop")),
        ]
        edits = draft.runs and draft.editable
        buttons = [run, _button("Edit", "Edit the code first", edit)] if edits else [run]
        held = ipywidgets.Label(HELD)
        box = ipywidgets.VBox((_row(*buttons, *others), held))
        key = f"{draft.draft_id}-{draft.nonce}"
        self._show(key, box)

    def question(self, question: str, options: tuple[str, ...]) -> str | None:
        """Show the question without waiting: the person answers with the next prompt."""
        self._screen.note(question)
        return None

    # --- inside ----------------------------------------------------------------------

    def _show(self, key: str, box: Any) -> None:
        data = dict(box._repr_mimebundle_())
        self._screen.show(key, {**data, "text/plain": visible(f"{WAITING} {HELD}")})

    def _go_on(self, key: str, box: Any, decide: Callable[[], None]) -> None:
        if key not in self._clicked:
            self._clicked.add(key)
            box.close()
            self._screen.on_main_thread(lambda: self._carry_out(key, decide))

    def _carry_out(self, key: str, decide: Callable[[], None]) -> None:
        front = self._assistant.front
        self._screen.show(key, VANISHED)
        if front is None or not front.awaits_click:
            self._screen.note("This was already stopped or decided.")
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
