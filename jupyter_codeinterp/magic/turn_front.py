"""Shows a turn's events on a screen and carries out decisions, on the main thread."""

from __future__ import annotations

import contextlib

from ..base.errors import CommandError
from ..wire.events import (
    Draft,
    DraftDecided,
    DraftOpened,
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
)
from ..wire.findings import sentence
from .assistant import Assistant
from .review import Choice, Review
from .screens import Screen

NOBODY_ANSWERS = "No one can answer questions here. Decide yourself, and say what you chose."
TIMEOUT = (
    "This code was interrupted after {seconds:.0f} s, the time limit for code that runs "
    "without asking."
)


class TurnFront:
    def __init__(self, assistant: Assistant, screen: Screen, review: Review) -> None:
        self.fault = ""
        """Why the prompt failed; "" if it did not."""
        self._assistant = assistant
        self._screen = screen
        self._review = review
        self._step = 0
        self._texts: dict[str, str] = {}
        """Texts of the current step, by key."""
        self._kinds: dict[str, str] = {}
        """Kinds of drafts, by id."""

    def show(self, event: Event) -> None:
        screen = self._screen
        if isinstance(event, StepStarted):
            self._step, self._texts = event.step, {}
        elif isinstance(event, TextDelta):
            key = f"{self._step}:{event.block}"
            self._texts[key] = self._texts.get(key, "") + event.text
            screen.text(key, self._texts[key], grows=True)
        elif isinstance(event, TextDone):
            screen.text(f"{self._step}:{event.block}", event.text)
        elif isinstance(event, StepDiscarded):
            for key in self._texts:
                screen.drop(key)
            if event.reason:
                screen.note(event.reason)
        elif isinstance(event, DraftOpened):
            self._kinds[event.draft_id] = event.kind
        elif isinstance(event, DraftWaiting):
            self._ask(event.draft)
        elif isinstance(event, DraftDecided):
            # Reviewed code was shown already; ``source`` is None unless the person changed it.
            shows = self._kinds.get(event.draft_id) not in ("markdown", "delete", "move")
            if event.action == "run" and event.source is not None and shows:
                screen.code(event.draft_id, event.source)
        elif isinstance(event, QuestionAsked):
            self._question(event)
        elif isinstance(event, ToolDone):
            self._tool_done(event)
        elif isinstance(event, Retrying):
            screen.note(f"{event.message} Retrying in {event.delay:.0f} s.")
        elif isinstance(event, Note):
            (screen.note if event.level == "info" else screen.problem)(event.text)
        elif isinstance(event, TurnEnded):
            self._end(event)

    # --- code ------------------------------------------------------------------------

    def _ask(self, draft: Draft) -> None:
        if draft.kind == "delete":
            self._screen.note(f"Proposal: delete the cell “{draft.title}”.")
        elif draft.kind == "edit" and not draft.runs:
            self._screen.note(f"Proposal: change the cell “{draft.title}”, and leave it unrun:")
            self._screen.code(draft.draft_id, draft.source)
        elif draft.runs and draft.editable:
            self._screen.code(draft.draft_id, draft.source)
        else:
            self._screen.note(draft.source)
        for notice in draft.notices:
            self._screen.note(f"! {notice}")
        self._decide(draft, self._review.ask(draft))

    def _decide(self, draft: Draft, choice: Choice) -> None:
        try:
            if choice.action == "stop":
                self._assistant.stop()
            elif choice.action == "reject":
                self._assistant.decide(draft, "reject", draft.source, choice.reason, choice.nobody)
            else:
                if choice.source != draft.source:
                    self._screen.code(draft.draft_id, choice.source)
                self._assistant.decide(draft, "run", choice.source)
        except CommandError as error:
            self._screen.problem(error.message)

    def _question(self, asked: QuestionAsked) -> None:
        answer = self._review.question(asked.question, asked.options)
        words = NOBODY_ANSWERS if answer is None else answer
        with contextlib.suppress(CommandError):  # Stopped meanwhile.
            self._assistant.answer(asked.call_id, words, nobody=answer is None)

    def _tool_done(self, event: ToolDone) -> None:
        if event.name == "add_markdown" and event.status == "ok":
            self._screen.text(event.call_id, self._assistant.source(event.cell_id))
        elif event.status == "timeout":
            self._screen.problem(TIMEOUT.format(seconds=event.elapsed))
        if did := sentence(event.sandbox):
            self._screen.note(did)

    # --- the end ---------------------------------------------------------------------

    def _end(self, event: TurnEnded) -> None:
        if event.stop_reason == "cancelled":
            self.fault = "The prompt was stopped."
            self._screen.note("Stopped.")
        elif event.stop_reason != "end_turn":
            self.fault = event.message
            self._screen.problem(event.message)
