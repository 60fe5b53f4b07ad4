"""What the person says while a turn is running: it is journaled, and reaches the model with the
next results, or begins the next turn (``enter.py``).
"""

from __future__ import annotations

import logging

from ..errors import CommandError, StoreError
from ..events import MessageQueued, MessagesHeard, MessageTakenBack, Reference
from .persistence import PersistentSession

MOST_QUEUED = 20
MOST_CHARACTERS = 100_000
"""Of all queued messages."""

log = logging.getLogger(__name__)


class QueueingSession(PersistentSession):
    _goes_on = False
    """Whether what is queued begins a turn when this one is over."""
    _closing = False

    @property
    def queued(self) -> tuple[MessageQueued, ...]:
        """In the order in which they were said."""
        return tuple(self._replay.queued.values())

    def take_back(self, number: int) -> None:
        """Raises CommandError ``not_queued`` or ``held_elsewhere``, and StoreError."""
        with self._here():
            if number not in self._replay.queued:
                words = "This message is not queued any more: the model has it by now."
                raise CommandError("not_queued", words)
            self._publish(MessageTakenBack(number))

    def take_back_of_others(self, window: int) -> None:
        """What was not said in this window. Raises as ``take_back``."""
        for message in self.queued:
            if message.window != window:
                self.take_back(message.number)

    def _queue(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        if len(self.queued) >= MOST_QUEUED:
            words = f"{MOST_QUEUED} messages are queued already. Take one back first."
            raise CommandError("too_many_queued", words)
        if sum(len(message.text) for message in self.queued) + len(text) > MOST_CHARACTERS:
            words = f"Queued messages have at most {MOST_CHARACTERS:,} characters together."
            raise CommandError("too_many_queued", words)
        with self._here():
            self._publish(MessageQueued(self._replay.said + 1, text, window, references))
        if not self._may_cancel:
            # Said after Stop was pressed, or at the very end of the turn.
            self._goes_on = True

    def _with_queued(self, text: str) -> str:
        parts = [*(message.text for message in self.queued), text]
        return "\n\n".join(part for part in parts if part)

    def _named_too(self, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        """With what queued messages name."""
        queued = (named for message in self.queued for named in message.references)
        return tuple(dict.fromkeys((*queued, *references)))

    def _hear_queued(self) -> MessagesHeard | None:
        if not self.queued:
            return None
        numbers = tuple(message.number for message in self.queued)
        return MessagesHeard(numbers, self._with_queued(""), self._named_too(()))

    def _begin_queued(self) -> None:
        """After a turn: the next one, if that is to be."""
        if not (self._goes_on and self.queued) or self.running or self._closing:
            return
        try:
            with self._here():
                self._start(self._with_queued(""), self.queued[-1].window, self._named_too(()))
        except (CommandError, StoreError) as error:
            log.warning("Messages stay queued in %s: %s", self.info.session_id, error.message)

    def _start(self, text: str, window: int, references: tuple[Reference, ...] = ()) -> None:
        """Begin a turn with ``text``, which has all that was queued, or with "", which goes
        on as it is."""
        raise NotImplementedError
