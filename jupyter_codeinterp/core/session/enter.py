"""What becomes of what a person says: two tables.

Whoever sends a message says what was before them as they wrote (``about``). So a word that was
meant for the queue answers no question, and rejects no cell, that came up a moment before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..events import StopReason

State = Literal["idle", "working", "asks", "offers"]
"""Of the session: no turn is running; one is; a question of the agent's waits; a draft does."""
About = Literal["nothing", "this", "another"]
"""What the message is about: nothing in particular, what waits, or what waits no longer."""
Does = Literal["begin", "queue", "answer", "reject"]
"""It begins a turn, waits for the next results, answers the question, or is the reason why the
draft is rejected."""

TABLE: dict[tuple[State, About], Does | None] = {
    ("idle", "nothing"): "begin",
    ("idle", "another"): None,
    ("working", "nothing"): "queue",
    ("working", "another"): None,
    ("asks", "nothing"): "queue",
    ("asks", "this"): "answer",
    ("asks", "another"): None,
    ("offers", "nothing"): "queue",
    ("offers", "this"): "reject",
    ("offers", "another"): None,
}
"""None: nothing is done, and whoever sent it is told."""

GOES_ON: dict[StopReason, bool] = {
    "end_turn": True,
    "cancelled": False,
    "max_steps": False,
    "budget": False,
    "refusal": False,
    "error": False,
}
"""Whether the end of a turn begins the next one with what is queued. Else it stays queued until
the person sends it, or something else: Stop means stop, a bound is a bound, and what failed
would fail again."""


def enter(
    running: bool, asked: Mapping[str, Literal["question", "draft"]], about: str
) -> Does | None:
    """``asked`` is what waits for the person, by what ``about`` calls it."""
    kinds = set(asked.values()) if running else set()
    state: State = "idle"
    if running:
        state = "asks" if "question" in kinds else "offers" if "draft" in kinds else "working"
    this: About = "this" if running and about in asked else "another"
    return TABLE[state, this if about else "nothing"]
