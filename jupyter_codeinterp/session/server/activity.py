"""Marks the server and its kernels as active while a turn works, even without clicks or running
code. A turn that waits for a person does not count.

A hub that culls idle servers reads the last activity from ``/api/status``: the latest of all
settings whose names end in ``_last_activity``. The server culls kernels by their own
``last_activity`` (``cull_idle_timeout``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from datetime import datetime, timezone
from typing import Any

from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

SETTING = "codeinterp_last_activity"
INTERVAL = 0.4
"""Seconds between updates. The shortest kernel timeout is one second."""


class Activity:
    def __init__(
        self,
        settings: MutableMapping[str, Any],
        kernels: MappingKernelManager,
    ) -> None:
        self._settings = settings
        self._kernels = kernels
        self._task: asyncio.Task[None] | None = None

    def follow(self, at_work: Callable[[], tuple[str, ...]]) -> None:
        """Mark the server and the kernels of ``at_work()`` as active until there are none. A
        kernel id "" marks only the server."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow(at_work))

    async def _follow(self, at_work: Callable[[], tuple[str, ...]]) -> None:
        while kernel_ids := at_work():
            now = self._settings[SETTING] = datetime.now(timezone.utc)
            for kernel_id in kernel_ids:
                if kernel_id in self._kernels:
                    kernel: Any = self._kernels.get_kernel(kernel_id)
                    kernel.last_activity = now
            await asyncio.sleep(INTERVAL)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
