"""An answer that a person took: its texts, and the code that ran."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from ...core.events import (
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    QuestionAsked,
    RunStarted,
    StepDiscarded,
    StepStarted,
    TextDone,
    ToolDone,
)


class Part(msgspec.Struct, frozen=True):
    """A text or a cell. ``reviewed``: the person decided on exactly this code."""

    kind: Literal["text", "code"]
    text: str
    title: str = ""
    reviewed: bool = False


class Answer(msgspec.Struct, frozen=True):
    """``time``: when it was taken, in seconds since 1970."""

    parts: tuple[Part, ...]
    time: float
    version: Literal[1] = 1


def answer_of(events: Iterable[Event], time: float) -> Answer | None:
    """The answer of a completed turn: its texts, and the cells that ran without an error. A cell
    that failed was replaced by a later one. None if the person was asked a question, or rejected
    code: then the answer depends on that too."""
    parts: list[Part] = []
    cells: dict[str, Part] = {}
    ran: set[str] = set()
    before_step = 0
    for event in events:
        if isinstance(event, StepStarted):
            before_step = len(parts)
        elif isinstance(event, StepDiscarded):
            del parts[before_step:]
        elif isinstance(event, TextDone):
            parts.append(Part("text", event.text))
        elif isinstance(event, DraftOpened):
            cells[event.call_id] = Part("code", "", event.title)
        elif isinstance(event, DraftWaiting):
            draft = event.draft
            cells[draft.call_id] = Part("code", draft.source, draft.title)
        elif isinstance(event, QuestionAsked) or _is_rejected(event):
            return None
        elif isinstance(event, DraftDecided) and event.call_id in cells:
            cells[event.call_id] = _decided(cells[event.call_id], event)
        elif isinstance(event, RunStarted):
            ran.add(event.call_id)
        elif isinstance(event, ToolDone) and event.status == "ok" and event.call_id in cells:
            cell = cells[event.call_id]
            if event.call_id in ran:
                parts.append(cell)
            elif event.name == "add_markdown":
                parts.append(Part("text", cell.text))
    return Answer(tuple(parts), time)


def _is_rejected(event: Event) -> bool:
    return isinstance(event, DraftDecided) and event.action == "reject" and event.by == "person"


def _decided(cell: Part, decided: DraftDecided) -> Part:
    source = cell.text if decided.source is None else decided.source
    return msgspec.structs.replace(cell, text=source, reviewed=decided.by == "person")
