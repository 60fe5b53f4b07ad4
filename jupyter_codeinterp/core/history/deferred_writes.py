"""Journal writes that failed and are repeated later, in order.

A full disk or a locked journal stops a turn. It must not lose what the person or the model has
already seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ..errors import StoreError

Write = Callable[[], object]

TAKEN, GONE = "repeated", "unknown_session"
"""Codes of writes that can never succeed: another server has taken over the session, or the
journal no longer has it."""


class DeferredWrites:
    def __init__(self, failed: Callable[[StoreError], None]) -> None:
        """Calls ``failed`` for each write that is deferred or given up."""
        self._failed = failed
        self._waiting: deque[Write] = deque()
        self.given_up = ""
        """``TAKEN`` or ``GONE`` after the final failure: no more writes."""

    def __bool__(self) -> bool:
        """Whether something waits."""
        return bool(self._waiting)

    def do(self, write: Write) -> None:
        """Write after all waiting writes, now or later. Raises nothing."""
        if self.given_up:
            return
        self._waiting.append(write)
        try:
            self.catch_up()
        except StoreError as error:
            self._failed(error)

    def catch_up(self) -> None:
        """Write what waits. Raises StoreError at the first failure, which goes on waiting."""
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
