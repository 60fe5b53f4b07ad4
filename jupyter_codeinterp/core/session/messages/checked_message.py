"""What a person's message may be, and how it reaches model, journal, lists and windows."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import CommandError
from ...events import Reference
from ...own_commands.own_command import arguments_in
from ...redaction.pasted_keys import looks_like_key

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
