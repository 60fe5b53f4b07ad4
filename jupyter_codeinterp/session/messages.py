"""Checks, routes and queues a person's message, and names a conversation by it."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..base.errors import CommandError
from ..run.approval.decisions import Alone
from ..view.redaction.found_secrets import looks_like_key
from ..view.skills import arguments_in
from ..wire.events import CALLED, MessageQueued, MessagesHeard, MessageTakenBack, Reference

if TYPE_CHECKING:
    from .log import SessionLog


@dataclass(frozen=True)
class Sender:
    """Who sends a command. ``number``: of the window or client, 0 for a program; the resulting
    event carries it.

    ``headless``: it shows no notebook. Unless a window has it open, the work goes on in its file.
    ``alone``: what may run in a turn that begins, if nobody can be asked. ``nobody``: it rejects a
    draft or answers a question because it has nobody to ask. ``ready`` makes sure that a notebook
    has a kernel; it is awaited before a turn begins, once the command is valid.
    """

    number: int = 0
    headless: bool = False
    alone: Alone = ""
    nobody: bool = False
    ready: Callable[[str], Awaitable[None]] | None = None

    async def prepare(self, notebook: str) -> None:
        if self.ready is not None:
            await self.ready(notebook)


# -------------------------------------------------------------------------------------------------
# Limits of a person's message, and its check for keys.

MAX_MESSAGE = 100_000
"""Characters of a person's message."""
MOST_REFERENCES = 20
"""References in a message."""
LOOKS_LIKE_KEY = (
    "This looks like an API key, so it was not sent. To connect a model with it, enter it as a "
    "key. Otherwise, remove it from the message."
)
LONGEST_NAME = 300
"""Characters of a name in a reference. A file name has at most 255 bytes."""
LONGEST_CALL = 4_000
"""Characters of a command with its arguments; the message has the rest."""


def checked(
    text: str, references: tuple[Reference, ...], with_key: bool, scrub: Callable[[str], str]
) -> tuple[str, tuple[Reference, ...]]:
    """The message without known keys, and its references. Raises CommandError ``too_long``,
    ``too_many_references``, or ``looks_like_key`` unless ``with_key``."""
    need_short(text)
    words = scrub(text)
    if not with_key and looks_like_key(words):
        raise CommandError("looks_like_key", LOOKS_LIKE_KEY)
    return words, _with_arguments(_few(references), words)


def need_short(text: str) -> None:
    if len(text) > MAX_MESSAGE:
        words = "The message is too long. The limit is {limit:,} characters."
        raise CommandError("too_long", words, limit=MAX_MESSAGE)


def _few(references: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The references without duplicates. Raises CommandError beyond the limits."""
    found = tuple(dict.fromkeys(references))
    if len(found) > MOST_REFERENCES:
        words = "A message can mention at most {limit} things. Remove some."
        raise CommandError("too_many_references", words, limit=MOST_REFERENCES)
    if any(len(reference.name) > LONGEST_NAME for reference in found):
        raise CommandError("too_long", "The message mentions something whose name is too long.")
    return found


def _with_arguments(references: tuple[Reference, ...], text: str) -> tuple[Reference, ...]:
    """The references; each called skill with its arguments in the message (without keys)."""
    return tuple(
        Reference(one.kind, f"{one.name} {arguments_in(text, one.name)}"[:LONGEST_CALL].rstrip())
        if one.kind in CALLED
        else one
        for one in references
    )


# -------------------------------------------------------------------------------------------------
# Where a message goes.

Does = Literal["begin", "queue", "answer"]
"""Begin a turn, wait for the next results, or answer the question."""


def route(running: bool, questions: Collection[str], about: str) -> Does | None:
    """``questions``: the call ids of those that wait. ``about``: the question that waited when the
    person wrote. So a message meant for the queue cannot answer a question that came up a moment
    before. None if the question is no longer open. No message decides on a draft."""
    if about:
        return "answer" if running and about in questions else None
    return "queue" if running else "begin"


# -------------------------------------------------------------------------------------------------
# Messages sent while a turn runs. The journal keeps them; they reach the model with the next
# results or begin the next turn.

MOST_QUEUED = 20
MOST_CHARACTERS = 100_000
"""Characters of all queued messages together."""


class Queue:
    def __init__(self, log: SessionLog) -> None:
        self._log = log
        self.goes_on = False
        """Whether queued messages begin a turn after this one."""

    @property
    def messages(self) -> tuple[MessageQueued, ...]:
        return tuple(self._log.replay.queued.values())

    def take_back(self, number: int, window: int = 0) -> None:
        """Raises CommandError ``not_queued`` or ``held_elsewhere``, and StoreError."""
        with self._log.here():
            if number not in self._log.replay.queued:
                words = "This message is no longer queued. The model already has it."
                raise CommandError("not_queued", words)
            self._log.publish(MessageTakenBack(number, window))

    def add(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        if len(self.messages) >= MOST_QUEUED:
            words = "{limit} messages are already queued. Remove one first."
            raise CommandError("too_many_queued", words, limit=MOST_QUEUED)
        if sum(len(message.text) for message in self.messages) + len(text) > MOST_CHARACTERS:
            words = "Queued messages may have {limit:,} characters in total."
            raise CommandError("too_many_queued", words, limit=MOST_CHARACTERS)
        with self._log.here():
            self._log.publish(MessageQueued(self._log.replay.said + 1, text, window, references))
        if not self._log.task.may_cancel:
            # The turn is already stopping or ending.
            self.goes_on = True

    def with_text(self, text: str) -> str:
        parts = [*(message.text for message in self.messages), text]
        return "\n\n".join(part for part in parts if part)

    def with_references(self, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        """The references of queued messages, then ``references``, each once."""
        queued = (named for message in self.messages for named in message.references)
        return tuple(dict.fromkeys((*queued, *references)))

    def delivery(self) -> MessagesHeard | None:
        if not self.messages:
            return None
        numbers = tuple(message.number for message in self.messages)
        return MessagesHeard(numbers, self.with_text(""), self.with_references(()))


# -------------------------------------------------------------------------------------------------
# Names a conversation: by its question, until a person renames it.

TITLE_LENGTH = 60
"""Characters of an automatic title."""
LONGEST_TITLE = 200
"""Characters of a person's title."""
_NOT_IN_A_LINE = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories: controls (line ends included), surrogates, line separators."""


def from_question(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"


def checked_title(title: str) -> str:
    """A person's title. Raises CommandError ``bad_title``."""
    if not title:
        raise CommandError("bad_title", "The title is empty.")
    if len(title) > LONGEST_TITLE:
        words = "The title is longer than {limit} characters."
        raise CommandError("bad_title", words, limit=LONGEST_TITLE)
    if any(unicodedata.category(character) in _NOT_IN_A_LINE for character in title):
        raise CommandError("bad_title", "The title must be one line of text.")
    return title
