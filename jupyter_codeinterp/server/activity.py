"""Tells the server that it and its kernels are in use while a turn works, though nobody
clicks anywhere and the kernel is idle while the model thinks.

What watches a server from outside (a hub that stops idle ones) asks ``/api/status`` for the
last activity, which is the latest of all settings whose names end in ``_last_activity``. The
server itself shuts down kernels by their own ``last_activity`` (``cull_idle_timeout``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

if TYPE_CHECKING:
    from ..core.session.session import Session

SETTING = "codeinterp_last_activity"
INTERVAL = 0.4
"""Seconds between two looks. The shortest timeout that a kernel may have is one second."""


class Activity:
    def __init__(
        self,
        settings: MutableMapping[str, Any],
        kernels: MappingKernelManager,
        wait_keeps_kernel: float,
    ) -> None:
        """For ``wait_keeps_kernel`` seconds a turn that waits for a person counts as work."""
        self._settings = settings
        self._kernels = kernels
        self._wait_keeps_kernel = wait_keeps_kernel
        self._task: asyncio.Task[None] | None = None

    def counts(self, session: Session) -> bool:
        """Whether its turn does something, or has not waited for a person for long."""
        waited = session.decisions.waited
        return session.running and (not session.waiting or waited < self._wait_keeps_kernel)

    def follow(self, running: Callable[[], bool], at_work: Callable[[], Iterable[str]]) -> None:
        """While ``running()``, whenever a turn is ``at_work()``, that is noted for the server
        and for the turn's kernel (by its id, "" for none)."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow(running, at_work))

    async def _follow(
        self, running: Callable[[], bool], at_work: Callable[[], Iterable[str]]
    ) -> None:
        while running():
            for kernel_id in at_work():
                now = self._settings[SETTING] = datetime.now(timezone.utc)
                if kernel_id in self._kernels:
                    kernel: Any = self._kernels.get_kernel(kernel_id)
                    kernel.last_activity = now
            await asyncio.sleep(INTERVAL)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
