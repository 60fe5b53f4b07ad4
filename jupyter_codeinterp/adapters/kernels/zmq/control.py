"""Restarts, interrupts and changes a notebook's kernel, through the server's managers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Protocol

from ....core.errors import KernelError
from .link import KernelLink

INTERRUPT_TIMEOUT = 5.0
"""Seconds within which an interrupted kernel should be idle."""


class KernelSpecs(Protocol):
    """The installed kernelspecs, and the kernel that a notebook has."""

    async def names(self) -> dict[str, str]:
        """Display names by name."""

    async def change(self, kernel_id: str, spec: str) -> None:
        """Put a new kernel in place of this one. Raises KernelError ``no_kernel``."""


class Control:
    """Implements the core's ``KernelControl``."""

    def __init__(self, link: Callable[[], Awaitable[KernelLink]], specs: KernelSpecs) -> None:
        self._link = link
        self._specs = specs

    async def name(self) -> str:
        try:
            return await (await self._link()).spec_name()
        except KernelError:
            return ""

    async def specs(self) -> dict[str, str]:
        return await self._specs.names()

    async def restart(self) -> None:
        link = await self._link()
        try:
            await link.restart()
        except (RuntimeError, TimeoutError, asyncio.TimeoutError) as error:
            # jupyter_server raises them for a kernel that does not come up.
            raise KernelError("kernel_dead", f"The kernel did not restart: {error}") from None
        await link.settle()

    async def interrupt(self) -> bool:
        link = await self._link()
        await link.interrupt()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(link.settle(), INTERRUPT_TIMEOUT)
            return True
        return False

    async def change(self, spec: str) -> None:
        await self._specs.change((await self._link()).kernel_id, spec)
        # The new one answers.
        await (await self._link()).settle()
