"""From the events of a turn to a screen, and from drafts to decisions. On the main thread."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

from ...core.errors import CommandError
from ...core.events import (
    Draft,
    DraftDecided,
    DraftWaiting,
    Event,
    Note,
    QuestionAsked,
    Retrying,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ToolDone,
    TurnEnded,
    UsageChanged,
)
from ..asking.options import Options
from ..turn.assistant import Assistant
from .choice import DISCARD, EDITED, INSERT, STOP, Choice
from .choose import Review, Screen

NOBODY_ANSWERS = (
    "Nobody can answer questions here. Decide as well as you can, and say what you took."
)
INSERTED = "The code is in a new cell below."
TIMEOUT = "This code was interrupted after {seconds:.0f} s, the time that unasked code may take."


class TurnFront:
    """``insert`` puts code into a new cell below; ``keep`` takes the answer of a turn that has
    come to its end."""

    def __init__(
        self,
        assistant: Assistant,
        screen: Screen,
        review: Review,
        options: Options,
        where: str,
        insert: Callable[[str], None],
        keep: Callable[[Any], None],
    ) -> None:
        self.parked = False
        self.done = False
        self.failed = False
        self.where = where
        self._assistant = assistant
        self._screen = screen
        self._review = review
        self._options = options
        self._insert = insert
        self._keep = keep
        self._step = 0
        self._texts: dict[str, str] = {}
        """Of the step that goes on, by key: the last step's are the answer."""
        self._inserted = False

    def around(self) -> contextlib.AbstractContextManager[None]:
        return self._screen.around()

    def show(self, event: Event) -> None:
        screen = self._screen
        if isinstance(event, StepStarted):
            self._step, self._texts = event.step, {}
        elif isinstance(event, TextDelta):
            key = f"{self._step}:{event.block}"
            self._text(key, self._texts.get(key, "") + event.text)
        elif isinstance(event, TextDone):
            self._text(f"{self._step}:{event.block}", event.text)
        elif isinstance(event, StepDiscarded):
            for key in self._texts:
                screen.drop(key)
            if event.reason:
                screen.note(event.reason)
        elif isinstance(event, DraftWaiting):
            self._ask(event.draft)
        elif isinstance(event, DraftDecided):
            # What waited for a decision has been shown, and is None here unless it was changed.
            if event.action == "run" and event.source is not None:
                screen.code(event.draft_id, event.source, "")
        elif isinstance(event, QuestionAsked):
            self._question(event)
        elif isinstance(event, ToolDone):
            self._tool_done(event)
        elif isinstance(event, UsageChanged):
            self._assistant.usage = event
        elif isinstance(event, Retrying):
            screen.note(f"{event.message} Trying again in {event.delay:.0f} s.")
        elif isinstance(event, Note):
            (screen.note if event.level == "info" else screen.problem)(event.text)
        elif isinstance(event, TurnEnded):
            self._end(event)

    # --- text ------------------------------------------------------------------------

    def _text(self, key: str, text: str) -> None:
        self._texts[key] = text
        if self._options.form in ("markdown", "text"):
            self._screen.text(key, text, plain=self._options.form == "text")

    @property
    def _answer(self) -> str:
        return "\n\n".join(text for text in self._texts.values() if text.strip())

    # --- code ------------------------------------------------------------------------

    def _ask(self, draft: Draft) -> None:
        if draft.kind == "delete":
            self._screen.note(f"The cell “{draft.title}” is to be deleted.")
        elif draft.runs:
            self._screen.code(draft.draft_id, draft.source, draft.title)
        else:
            self._screen.text(draft.draft_id, draft.source, plain=True)
        if self._options.cell:
            self._put(draft.source)
            return
        for notice in draft.notices:
            self._screen.note(f"! {notice}")
        choice = self._review.ask(draft)
        if choice is None:
            self.parked = True
        else:
            self.decide(draft, choice)

    def decide(self, draft: Draft, choice: Choice) -> None:
        """Carry out what the person has said."""
        try:
            if choice.action == STOP:
                self._assistant.stop()
            elif choice.action == INSERT:
                self._put(choice.source)
            elif choice.action == DISCARD:
                self._assistant.decide(draft, "reject", draft.source)
            else:
                if choice.action == EDITED:
                    self._screen.code(draft.draft_id, choice.source, draft.title)
                self._assistant.decide(draft, "run", choice.source)
        except CommandError as error:
            self._screen.problem(error.message)

    def _put(self, source: str) -> None:
        self._insert(source)
        self.inserted()

    def inserted(self) -> None:
        """The code is in a cell of the person's: the turn is over."""
        self._inserted = True
        self._assistant.stop()

    def _question(self, asked: QuestionAsked) -> None:
        answer = self._review.question(asked.question, asked.options)
        words = NOBODY_ANSWERS if answer is None else answer
        with contextlib.suppress(CommandError):  # It was stopped meanwhile.
            self._assistant.answer(asked.call_id, words)

    def _tool_done(self, event: ToolDone) -> None:
        if event.name == "add_markdown" and event.status == "ok":
            self._screen.text(event.call_id, self._assistant.source(event.cell_id))
        elif event.status == "timeout":
            self._screen.problem(TIMEOUT.format(seconds=event.elapsed))
        for note in event.notes:
            self._screen.note(note)

    # --- the end ---------------------------------------------------------------------

    def _end(self, event: TurnEnded) -> None:
        self.done = True
        self.failed = event.stop_reason not in ("end_turn", "cancelled")
        if self._inserted:
            self._screen.note(INSERTED)
        elif event.stop_reason == "cancelled":
            self._screen.note("Stopped.")
        elif event.stop_reason != "end_turn":
            self._screen.problem(event.message)
        else:
            self._finish()

    def _finish(self) -> None:
        answer, form = self._answer, self._options.form
        value: Any = answer
        if form == "code":
            value = code_in(answer)
            self._screen.code("answer", value, "")
        elif form == "json":
            try:
                value = json.loads(code_in(answer))
            except ValueError:
                self._screen.text("answer", answer, plain=True)
                self._screen.problem("The answer is no JSON. It was not stored.")
                return
            self._screen.value("answer", value)
        self._keep(value)


def code_in(answer: str) -> str:
    """The code of an answer: what is fenced in it, or all of it."""
    blocks: list[str] = []
    fence, lines = 0, answer.split("\n")
    for number, line in enumerate(lines):
        ticks = len(line) - len(line.lstrip("`"))
        if not fence and ticks >= 3:
            fence, first = ticks, number + 1
        elif fence and ticks >= fence and not line.strip("` "):
            blocks.append("\n".join(lines[first:number]))
            fence = 0
    return "\n\n".join(blocks) if blocks else answer.strip()
