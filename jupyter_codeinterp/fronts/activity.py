"""Tells the server that it is in use while a turn works, though nobody clicks anywhere.

What watches a server from outside (a hub that stops idle ones) asks ``/api/status`` for the
last activity, which is the latest of all settings whose names end in ``_last_activity``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from datetime import datetime, timezone
from typing import Any

SETTING = "codeinterp_last_activity"
INTERVAL = 20.0
"""Seconds between two looks; servers are stopped after minutes or hours."""


class Activity:
    def __init__(self, settings: MutableMapping[str, Any]) -> None:
        self._settings = settings
        self._task: asyncio.Task[None] | None = None

    def follow(self, running: Callable[[], bool], working: Callable[[], bool]) -> None:
        """While ``running()``, whenever ``working()``, it is noted."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow(running, working))

    async def _follow(self, running: Callable[[], bool], working: Callable[[], bool]) -> None:
        while running():
            if working():
                self._settings[SETTING] = datetime.now(timezone.utc)
            await asyncio.sleep(INTERVAL)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
