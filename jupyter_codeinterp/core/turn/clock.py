"""The time that a turn takes by itself: what it waits for the person is not its own."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Clock:
    def __init__(self) -> None:
        self._started = time.monotonic()
        self._attended = 0.0
        """Seconds that it has waited for the person."""
        self._waits = 0
        """How many answers it waits for: a question may come while a draft waits."""
        self._since = 0.0

    async def attend(self, answer: Awaitable[T]) -> T:
        """Wait for the person."""
        if not self._waits:
            self._since = time.monotonic()
        self._waits += 1
        try:
            return await answer
        finally:
            self._waits -= 1
            if not self._waits:
                self._attended += time.monotonic() - self._since

    @property
    def unattended(self) -> float:
        """Seconds that it has worked by itself."""
        return time.monotonic() - self._started - self._attended
