"""Where a message goes: two tables.

The sender says what was waiting as they wrote (``about``). So a message meant for the queue cannot
answer a question that came up a moment before. No message decides on a draft.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ...events import StopReason

State = Literal["idle", "working", "asks", "offers"]
"""No turn runs; one runs; the agent's question waits; a draft waits."""
About = Literal["nothing", "this", "another"]
"""The message is about nothing in particular, what waits, or what no longer waits."""
Does = Literal["begin", "queue", "answer", "discuss"]
"""Begin a turn, wait for the next results, answer the question, or go to the model at once while
the draft goes on waiting (after the reply that the model is writing, if any)."""

TABLE: dict[tuple[State, About], Does | None] = {
    ("idle", "nothing"): "begin",
    ("idle", "another"): None,
    ("working", "nothing"): "queue",
    ("working", "another"): None,
    ("asks", "nothing"): "queue",
    ("asks", "this"): "answer",
    ("asks", "another"): None,
    ("offers", "nothing"): "queue",
    ("offers", "this"): "discuss",
    ("offers", "another"): None,
}
"""None: the sender gets an error."""

GOES_ON: dict[StopReason, bool] = {
    "end_turn": True,
    "cancelled": False,
    "max_steps": False,
    "budget": False,
    "refusal": False,
    "error": False,
}
"""Whether queued messages begin the next turn after such an end. Else they wait until the person
sends something: Stop means stop, a limit is a limit, and what failed would fail again."""


def route(
    running: bool, asked: Mapping[str, Literal["question", "draft"]], about: str
) -> Does | None:
    """``asked`` are the waiting questions (by call id) and drafts (by nonce)."""
    # A question may come up while a draft waits: what the message is about says which is meant.
    kinds = {asked[about]} if about in asked else set(asked.values())
    state: State = "idle"
    if running:
        state = "asks" if "question" in kinds else "offers" if "draft" in kinds else "working"
    this: About = "this" if running and about in asked else "another"
    return TABLE[state, this if about else "nothing"]
