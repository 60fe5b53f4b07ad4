"""Running requests by window. "Not me" cancels those of all other windows before they take
effect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from ...core.errors import CommandError
from .windows import CLOSED

T = TypeVar("T")


class InFlight:
    def __init__(self) -> None:
        self._tasks: dict[asyncio.Future[Any], int] = {}
        self._ended: set[asyncio.Future[Any]] = set()

    async def run(self, window: int, work: Awaitable[T]) -> T:
        """Await the work. Raises CommandError ``closed_window`` if another window cancels it."""
        task = asyncio.ensure_future(work)
        self._tasks[task] = window
        try:
            return await task
        except asyncio.CancelledError:
            if task in self._ended:
                raise CommandError("closed_window", CLOSED) from None
            raise
        finally:
            del self._tasks[task]
            self._ended.discard(task)

    def end_others(self, window: int) -> None:
        """Cancel requests, except those of this window and those without a window (0)."""
        for task, number in self._tasks.items():
            if number not in (0, window):
                self._ended.add(task)
                task.cancel()
