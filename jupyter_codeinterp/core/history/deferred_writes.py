"""What could not be journaled when it happened, and is journaled later, in order.

A disk that is full, or a journal that somebody locks, stops a turn; it must not take back
what a person has seen, nor what the model has been told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..errors import StoreError

Write = Callable[[], None]

TAKEN, GONE = "repeated", "unknown_session"
"""Codes of writes that can never succeed: another server has gone on with the session, or it
is in the journal no longer."""


class DeferredWrites:
    def __init__(self, failed: Callable[[StoreError], None]) -> None:
        """``failed`` is told of each write that had to be put off, or can never be done."""
        self._failed = failed
        self._waiting: deque[Write] = deque()
        self.given_up = ""
        """``TAKEN`` or ``GONE``: nothing is written any more."""

    def __bool__(self) -> bool:
        """Whether something waits."""
        return bool(self._waiting)

    def do(self, write: Write) -> None:
        """Write now, after all that waits, or else later. Raises nothing."""
        if self.given_up:
            return
        self._waiting.append(write)
        try:
            self.catch_up()
        except StoreError as error:
            self._failed(error)

    def catch_up(self) -> None:
        """Write what waits. Raises StoreError at the first that fails; it goes on waiting."""
        while self._waiting:
            try:
                self._waiting[0]()
            except StoreError as error:
                if error.code in (TAKEN, GONE):
                    self.give_up(error.code)
                raise
            self._waiting.popleft()

    def give_up(self, why: str = TAKEN) -> None:
        self.given_up = why
        self._waiting.clear()
