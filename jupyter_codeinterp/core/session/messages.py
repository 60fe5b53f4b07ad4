"""What becomes of a person's message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ..errors import CommandError
from ..own_command import arguments_in
from ..redaction.found_secrets import looks_like_key
from ..wire.events import Reference, StopReason

# -------------------------------------------------------------------------------------------------
# What a person's message may be, and how it reaches model, journal, lists and windows.

MAX_MESSAGE = 100_000
"""Characters of a person's message."""
MOST_REFERENCES = 20
"""References in a message."""
LOOKS_LIKE_KEY = (
    "This looks like an API key, so it was not sent. To connect a model with it, enter it as a "
    "key. Otherwise, remove it from the message."
)
LONGEST_NAME = 300
"""Characters of a name in a reference; a file's has at most 255 bytes."""
LONGEST_CALL = 4_000
"""Characters of a command with the words that its placeholders get; the message has all."""


def checked(
    text: str, references: tuple[Reference, ...], with_key: bool, scrub: Callable[[str], str]
) -> tuple[str, tuple[Reference, ...]]:
    """The message without known keys, and what it names. Raises CommandError ``too_long``,
    ``too_many_references``, or ``looks_like_key`` unless ``with_key``."""
    need_short(text)
    words = scrub(text)
    if not with_key and looks_like_key(words):
        raise CommandError("looks_like_key", LOOKS_LIKE_KEY)
    return words, _with_arguments(_few(references), words)


def need_short(text: str) -> None:
    if len(text) > MAX_MESSAGE:
        words = f"The message is too long. The limit is {MAX_MESSAGE:,} characters."
        raise CommandError("too_long", words)


def _few(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The references without duplicates. Raises CommandError beyond the limits."""
    found = tuple(dict.fromkeys(references))
    if len(found) > MOST_REFERENCES:
        words = f"A message can mention at most {MOST_REFERENCES} things. Remove some."
        raise CommandError("too_many_references", words)
    if any(len(reference.name) > LONGEST_NAME for reference in found):
        raise CommandError("too_long", "The message mentions something whose name is too long.")
    return found


def _with_arguments(references: tuple[Reference, ...], text: str) -> tuple[Reference, ...]:
    """The references; commands with the words that follow them in the message (without keys)."""
    return tuple(
        Reference(one.kind, f"{one.name} {arguments_in(text, one.name)}"[:LONGEST_CALL].rstrip())
        if one.kind in ("command", "skill")
        else one
        for one in references
    )


# -------------------------------------------------------------------------------------------------
# Where a message goes: two tables.
#
# The sender says what was waiting as they wrote (``about``). So a message meant for the queue
# cannot answer a question that came up a moment before. No message decides on a draft.

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


# -------------------------------------------------------------------------------------------------
# Names a conversation: by its question, until a person renames it.

TITLE_LENGTH = 60
"""Characters of an automatic title."""


def from_question(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
