"""Messages sent while a turn runs. The journal keeps them; they reach the model with the next
results or begin the next turn (``input_routing.py``).
"""

from __future__ import annotations

from ..errors import CommandError
from ..events import MessageQueued, MessagesHeard, MessageTakenBack, Reference
from .persistence import PersistentSession

MOST_QUEUED = 20
MOST_CHARACTERS = 100_000
"""Of all queued messages together."""


class Queue:
    def __init__(self, session: PersistentSession) -> None:
        self._session = session
        self.goes_on = False
        """Whether queued messages begin a turn after this one."""

    @property
    def messages(self) -> tuple[MessageQueued, ...]:
        return tuple(self._session.replay.queued.values())

    def take_back(self, number: int, window: int = 0) -> None:
        """Raises CommandError ``not_queued`` or ``held_elsewhere``, and StoreError."""
        with self._session.here():
            if number not in self._session.replay.queued:
                words = "This message is no longer queued. The model already has it."
                raise CommandError("not_queued", words)
            self._session.publish(MessageTakenBack(number, window))

    def add(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        if len(self.messages) >= MOST_QUEUED:
            words = f"{MOST_QUEUED} messages are already queued. Remove one first."
            raise CommandError("too_many_queued", words)
        if sum(len(message.text) for message in self.messages) + len(text) > MOST_CHARACTERS:
            words = f"Queued messages may have {MOST_CHARACTERS:,} characters in total."
            raise CommandError("too_many_queued", words)
        with self._session.here():
            self._session.publish(
                MessageQueued(self._session.replay.said + 1, text, window, references)
            )
        if not self._session.may_cancel:
            # The turn is already stopping or ending.
            self.goes_on = True

    def with_text(self, text: str) -> str:
        parts = [*(message.text for message in self.messages), text]
        return "\n\n".join(part for part in parts if part)

    def with_references(self, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        """The references of queued messages, then these, each once."""
        queued = (named for message in self.messages for named in message.references)
        return tuple(dict.fromkeys((*queued, *references)))

    def delivery(self) -> MessagesHeard | None:
        if not self.messages:
            return None
        numbers = tuple(message.number for message in self.messages)
        return MessagesHeard(numbers, self.with_text(""), self.with_references(()))
