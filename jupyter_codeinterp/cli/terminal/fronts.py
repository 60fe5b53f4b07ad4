"""What a command that lets a model work needs of whoever has called it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, Protocol

from ...core.events import Draft, Event, QuestionAsked
from .inert import line

NO_ANSWER = "Nobody is there to answer. Choose what is safest, and say what you have assumed."


@dataclass(frozen=True)
class Word:
    """On a draft. ``source`` is all that is to run; ``reason`` why it is rejected."""

    action: Literal["run", "reject"]
    source: str
    run_all: bool = False
    reason: str = ""


class Front(Protocol):
    def show(self, event: Event, raw: bytes) -> None:
        """What has happened; ``raw`` is the event's JSON. Raises OSError if nobody reads."""

    async def decide(self, draft: Draft) -> Word:
        """Raises NobodyThere."""

    async def answer(self, question: QuestionAsked) -> str:
        """Raises NobodyThere."""

    def pause(self) -> None:
        """Nothing moves on the screen."""


class Program:
    """Events as lines of JSON. Whatever must be asked is refused: nobody is there."""

    def show(self, event: Event, raw: bytes) -> None:
        sys.stdout.buffer.write(raw + b"\n")
        sys.stdout.buffer.flush()

    async def decide(self, draft: Draft) -> Word:
        return refused(draft)

    async def answer(self, question: QuestionAsked) -> str:
        return NO_ANSWER

    def pause(self) -> None:
        """Nothing moves."""


def refused(draft: Draft) -> Word:
    """Nobody is there to be asked, and what is asked for in every mode must be."""
    why = f" ({' '.join(draft.notices)})" if draft.notices else ""
    words = "Not done, because nobody was there to be asked"
    print(line(f"{words}: {draft.title}{why}"), file=sys.stderr, flush=True)
    return Word("reject", draft.source)
