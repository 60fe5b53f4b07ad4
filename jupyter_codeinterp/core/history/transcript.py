"""What happened in a session, turn by turn: its events put together again.

Nothing of a void step counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Union

from ..events import (
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
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
    TurnStarted,
    TurnUndone,
)


@dataclass
class Card:
    """A tool call. ``waiting`` is what the person was asked about, ``source`` what was decided
    on, "" while nothing was; ``edited`` whether the person had changed it; ``ran`` whether it
    was sent to the kernel, ``language`` the kernel's, "" where that is not known; ``done`` is
    None where the end is not in the journal."""

    call_id: str
    name: str
    title: str
    kind: str = ""
    waiting: str = ""
    source: str = ""
    edited: bool = False
    ran: bool = False
    language: str = ""
    question: str = ""
    answer: str = ""
    done: Union[ToolDone, None] = None

    @property
    def status(self) -> str:
        return self.done.status if self.done is not None else "not_started"

    @property
    def result(self) -> str:
        """The text of the result without its first line, the facts for the model."""
        return self.done.detail.partition("\n")[2] if self.done is not None else ""


@dataclass
class Said:
    """Text of the model's; ``whole`` unless only ``parts`` of it are in the journal."""

    parts: list[str]
    whole: bool = True

    @property
    def text(self) -> str:
        return "".join(self.parts)


@dataclass
class Asked:
    """What the person has said while the model worked, and the files that came with it."""

    text: str
    files: tuple[str, ...] = ()


@dataclass
class Line:
    """What happened besides."""

    text: str


Item = Union[Said, Card, Asked, Line]


@dataclass
class Step:
    items: list[Item] = field(default_factory=list)


@dataclass
class Turn:
    """``asked`` is "" where the person had the model try again; ``files`` are names of those
    that came with it."""

    asked: str
    steps: list[Step] = field(default_factory=list)
    files: tuple[str, ...] = ()


def _files(event: TurnStarted | MessagesHeard) -> tuple[str, ...]:
    return tuple(one.name for one in event.references if one.kind == "file")


def turns(events: Iterable[Event]) -> list[Turn]:
    """The conversation, turn by turn and step by step. What comes before the first step of a
    turn, or after its last, is in a step of its own."""
    told: list[Turn] = []
    cards: dict[str, Card] = {}
    for event in events:
        if isinstance(event, TurnStarted):
            told.append(Turn(event.text, [Step()], _files(event)))
        elif not told:
            continue
        elif isinstance(event, StepStarted):
            told[-1].steps.append(Step())
        elif isinstance(event, StepDiscarded):
            told[-1].steps[-1] = Step()
        elif isinstance(event, ToolStarted):
            card = cards[event.call_id] = Card(event.call_id, event.name, event.title)
            told[-1].steps[-1].items.append(card)
        elif call_id := _call_of(event):
            if call_id in cards:
                _note(cards[call_id], event)
        else:
            _add(told[-1].steps[-1].items, event)
    return told


def _call_of(event: Event) -> str:
    """ "" if it is about no tool call."""
    call_id: str = getattr(getattr(event, "draft", event), "call_id", "")
    return call_id


def _note(card: Card, event: Event) -> None:
    """What an event says of a card."""
    if isinstance(event, DraftOpened):
        card.kind, card.title = event.kind, event.title or card.title
    elif isinstance(event, DraftWaiting):
        card.waiting = event.draft.source
    elif isinstance(event, DraftDecided) and event.action == "run":
        card.source = card.waiting if event.source is None else event.source
        card.edited = event.edited
    elif isinstance(event, RunStarted):
        card.ran, card.language = True, event.language
    elif isinstance(event, QuestionAsked):
        card.question = event.question
    elif isinstance(event, QuestionAnswered):
        card.answer = event.answer
    elif isinstance(event, ToolDone):
        card.done, card.title = event, event.title or card.title


def _add(items: list[Item], event: Event) -> None:
    last = items[-1] if items else None
    if isinstance(event, TextDelta) and isinstance(last, Said) and not last.whole:
        last.parts.append(event.text)
    elif isinstance(event, (TextDelta, TextDone)):
        items.append(Said([event.text], whole=isinstance(event, TextDone)))
    elif isinstance(event, MessagesHeard):
        items.append(Asked(event.text, _files(event)))
    elif isinstance(event, Note):
        items.append(Line(event.text))
    elif isinstance(event, TurnUndone):
        items.append(Line("The cells of a turn were put back."))
    elif isinstance(event, TurnEnded) and event.stop_reason != "end_turn":
        items.append(Line(event.message))
