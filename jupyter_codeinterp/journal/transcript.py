"""A session turn by turn, rebuilt from its events without void steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Union

from ..view.injection.caution import BEGINS
from ..wire.events import (
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    FilesKept,
    MessagesHeard,
    Note,
    QuestionAnswered,
    QuestionAsked,
    RunStarted,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnRedone,
    TurnStarted,
    TurnUndone,
)


@dataclass
class Card:
    """A tool call. ``waiting``: the source that the person was asked about; ``source``: the decided
    one, "" before. ``edited``: the person changed the source. ``runs``: run ids. ``language``: the
    kernel's, "" if unknown. ``done``: None if the journal has no end."""

    call_id: str
    name: str
    title: str
    kind: str = ""
    waiting: str = ""
    source: str = ""
    edited: bool = False
    runs: list[str] = field(default_factory=list)
    language: str = ""
    question: str = ""
    answer: str = ""
    done: Union[ToolDone, None] = None

    @property
    def ran(self) -> bool:
        return bool(self.runs)

    @property
    def status(self) -> str:
        return self.done.status if self.done is not None else "not_started"

    @property
    def result(self) -> str:
        return for_people(self.done) if self.done is not None else ""


@dataclass
class AnswerText:
    """Text of the model; ``whole`` unless the journal has only ``parts``."""

    parts: list[str]
    whole: bool = True

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass
class PersonMessage:
    """A message sent while the model worked, and its files."""

    text: str
    files: tuple[str, ...] = ()


@dataclass
class Line:
    """A line of text for any other event."""

    text: str


Item = Union[AnswerText, Card, PersonMessage, Line]


@dataclass
class PastTurn:
    """``asked`` is "" for a retry; ``files`` are names of the message's files. ``steps``: the items
    of each step."""

    asked: str
    files: tuple[str, ...]
    steps: list[list[Item]]


def _files(event: TurnStarted | MessagesHeard) -> tuple[str, ...]:
    return tuple(one.name for one in event.references if one.kind == "file")


def turns(events: Iterable[Event]) -> list[PastTurn]:
    """The conversation by turns and steps. Events before the first step of a turn get a step of
    their own."""
    found: list[PastTurn] = []
    cards: dict[str, Card] = {}
    for event in events:
        if isinstance(event, TurnStarted):
            found.append(PastTurn(event.text, _files(event), [[]]))
        elif not found:
            continue
        elif isinstance(event, StepStarted):
            found[-1].steps.append([])
        elif isinstance(event, StepDiscarded):
            found[-1].steps[-1] = []
        elif isinstance(event, ToolStarted):
            card = cards[event.call_id] = Card(event.call_id, event.name, event.title)
            found[-1].steps[-1].append(card)
        elif call_id := _call_of(event):
            if call_id in cards:
                _note(cards[call_id], event)
        else:
            _add(found[-1].steps[-1], event)
    return found


def _call_of(event: Event) -> str:
    """The event's tool call; "" if none."""
    call_id: str = getattr(getattr(event, "draft", event), "call_id", "")
    return call_id


def _note(card: Card, event: Event) -> None:
    """Update a card from an event."""
    if isinstance(event, DraftOpened):
        card.kind, card.title = event.kind, event.title or card.title
    elif isinstance(event, DraftWaiting):
        card.waiting = event.draft.source
    elif isinstance(event, DraftDecided) and event.action == "run":
        card.source = card.waiting if event.source is None else event.source
        card.edited = event.edited
    elif isinstance(event, RunStarted):
        card.runs.append(event.run_id)
        card.language = event.language
    elif isinstance(event, QuestionAsked):
        card.question = event.question
    elif isinstance(event, QuestionAnswered):
        card.answer = event.answer
    elif isinstance(event, ToolDone):
        card.done, card.title = event, event.title or card.title


def _add(items: list[Item], event: Event) -> None:
    last = items[-1] if items else None
    if isinstance(event, TextDelta) and isinstance(last, AnswerText) and not last.whole:
        last.parts.append(event.text)
    elif isinstance(event, (TextDelta, TextDone)):
        items.append(AnswerText([event.text], whole=isinstance(event, TextDone)))
    elif isinstance(event, MessagesHeard):
        items.append(PersonMessage(event.text, _files(event)))
    elif isinstance(event, Note):
        items.append(Line(event.text))
    elif isinstance(event, (TurnUndone, TurnRedone)):
        did = "restored" if isinstance(event, TurnUndone) else "redone"
        items.append(Line(f"The cells of a turn were {did}."))
    elif isinstance(event, FilesKept) and event.files:
        items.append(Line("Files were copied into the notebook's folder."))
    elif isinstance(event, TurnEnded) and event.stop_reason != "end_turn":
        items.append(Line(event.message))


# --- findings of hooks --------------------------------------------------------------------

FACTS = "Checked facts about this run (fix the code if one matters for the task):"
"""Heads the checks' findings, which depend on the versions of packages in the kernel, so that
comparisons and exports of results leave them out."""


def is_report(part: str) -> bool:
    """Whether a part of a result is the checks' findings or a caution. Outputs are between
    delimiters, so their part never begins like this."""
    return part.startswith((f"\n{FACTS}\n", f"\n{BEGINS}"))


_FOR_MODEL = re.compile(
    r"(?<=\[)not shown to you: |(?<=\[image) not shown: [^\]\n]{1,200}(?=\])|"
    r"; read_output\([^)\n]{1,60}\) reads on, of [\d,]{1,20} kept"
)
"""Words of ``view/outputs.py`` that are for the model alone."""


def for_people(done: ToolDone) -> str:
    """The text of a result without its first line and without what is for the model alone."""
    before, found, _ = done.detail.rpartition(f"\n{FACTS}\n")
    text = (before if found else done.detail).partition("\n")[2]
    return _FOR_MODEL.sub("", text)
