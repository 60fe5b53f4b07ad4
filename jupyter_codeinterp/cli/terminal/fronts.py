"""The interface between a turn and its caller, a person or a program."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from ...base.visible import visible_line
from ...run.approval.decisions import Alone
from ...run.approval.policy import NEEDS_SANDBOX, is_barred
from ...wire.events import Draft, Event, QuestionAsked, TurnEnded

# -------------------------------------------------------------------------------------------------
# What ``--yes`` allows without a question.

EVERYTHING: Alone = "all"
_EDITS = {"edits": ("edit",)}
"""By ``--yes``: kinds of drafts besides code that need no question."""

UNASKED = {
    "edits": "Code and changes of your cells run without asking. Installs and deletions ask.",
    EVERYTHING: "Everything runs without asking, except what an admin's settings bar.",
}
ASKED = "Code runs without asking. Changes of your cells, installs and deletions ask."
"""A sentence for people: Auto mode, without a wider ``--yes``."""


def covers(yes: Alone, draft: Draft) -> bool:
    """Whether ``yes`` decides on this draft, which the server asks about."""
    if NEEDS_SANDBOX in draft.notices:
        return False
    return yes == EVERYTHING or (draft.kind in _EDITS.get(yes, ()) and not draft.always)


def more(draft: Draft) -> str:
    """The options that would allow the draft; "" for none."""
    wider: tuple[Alone, ...] = ("edits", EVERYTHING)
    option = next((f"--yes={yes}" for yes in wider if covers(yes, draft)), "")
    return " or ".join(filter(None, ("--sandbox" if is_barred(draft) else "", option)))


NO_ANSWER = "No one can answer. Choose the safest option and state your assumptions."


@dataclass(frozen=True)
class Verdict:
    """A decision on a draft. ``source``: exactly the code to run; ``reason``: for a rejection.
    ``nobody``: rejected because nobody can be asked."""

    action: Literal["run", "reject"]
    source: str
    run_all: bool = False
    reason: str = ""
    nobody: bool = False


class Front:
    """Shows a turn, where nobody can be asked. ``alone``: what is allowed there; "" if a person
    can be asked, which ``Person`` does."""

    def __init__(self, alone: Alone) -> None:
        self.alone = alone

    def show(self, event: Event, raw: bytes) -> None:
        """Show an event; ``raw`` is its JSON. Raises OSError if the output is closed."""

    async def decide(self, draft: Draft) -> Verdict:
        """Raises InputClosed."""
        return Verdict("run", draft.source) if covers(self.alone, draft) else refused(draft)

    async def answer(self, question: QuestionAsked) -> str | None:
        """None: nobody can answer. Raises InputClosed."""
        return None

    async def go_on(self, ended: TurnEnded) -> bool:
        """Whether the work goes on after a limit."""
        return False

    def progress(self, line: str) -> None:
        """Show the last line that the running cell has printed."""

    def pause(self) -> None:
        """Stop animations."""


class JsonFront(Front):
    """Prints events as lines of JSON."""

    def show(self, event: Event, raw: bytes) -> None:
        sys.stdout.buffer.write(raw + b"\n")
        sys.stdout.buffer.flush()


def refused(draft: Draft) -> Verdict:
    """Reject a draft that needs a review, because nobody can review it."""
    why = f" ({' '.join(draft.notices)})" if draft.notices else ""
    words = f"Not done, because no one could be asked: {draft.title}{why}"
    words += f". To allow it: {option}" if (option := more(draft)) else ""
    print(visible_line(words), file=sys.stderr, flush=True)
    return Verdict("reject", draft.source, nobody=True)
