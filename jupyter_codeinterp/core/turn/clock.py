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

    async def attend(self, answer: Awaitable[T]) -> T:
        """Wait for the person."""
        began = time.monotonic()
        try:
            return await answer
        finally:
            self._attended += time.monotonic() - began

    @property
    def unattended(self) -> float:
        """Seconds that it has worked by itself."""
        return time.monotonic() - self._started - self._attended
