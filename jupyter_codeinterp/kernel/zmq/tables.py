"""Pages of the tables in a Python kernel, also while a cell runs.

As in ``variables.py``, a silent request registers a comm target once, when the kernel is idle: at
the first request for a table, so other kernels never get this code.
"""

from __future__ import annotations

import asyncio
from typing import Any

from ...base.errors import KernelError
from ..wire import execute_request
from .link import KernelLink
from .variables import Variables, files

LIMIT = 1.0
"""Seconds to wait for a page."""
TARGET = "jupyter_codeinterp.tables"
_FILES = ("variables", "columns", "profiles", "tables")
"""In the order of their imports."""

Answer = dict[str, Any]
BUSY: Answer = {"refused": "busy", "detail": ""}
SLOW: Answer = {"refused": "slow", "detail": ""}
OTHER_LANGUAGE: Answer = {"refused": "other_language", "detail": ""}


class Tables:
    """The tables of the kernel behind one link. Answers as ``kernel/inside/tables.py``, or with
    ``refused``: ``busy``, ``slow`` or ``other_language``. Raises KernelError."""

    def __init__(self, link: KernelLink, variables: Variables) -> None:
        self.link = link
        self._variables = variables
        self._registered_at = 0
        self._registering: asyncio.Task[bool] | None = None

    async def ask(self, asked: dict[str, Any]) -> Answer:
        info = await self.link.info()
        if info.language != "python":
            return OTHER_LANGUAGE
        try:
            return await asyncio.wait_for(self._ask(asked, info.start), LIMIT)
        except asyncio.TimeoutError:
            return BUSY if self._is_blocked else SLOW
        except KernelError:
            # A restart dropped the request; the new process can answer the next one.
            if self.link.closed:
                raise
            return SLOW

    async def _ask(self, asked: dict[str, Any], start: int) -> Answer:
        if self._registered_at != start and not await self._register(start):
            return BUSY
        if self._is_blocked:
            return BUSY
        answer: Answer | None = await self._variables.ask(asked, TARGET)
        if answer:
            return answer
        # The kernel lost our comm target, for example to code that replaced the manager.
        self._registered_at = 0
        return BUSY

    @property
    def _is_blocked(self) -> bool:
        """Whether a cell blocks the only thread that can answer."""
        return self.link.busy and self._variables.subshell is None

    async def _register(self, start: int) -> bool:
        # It creates the subshell that answers while a cell runs.
        await self._variables.prepare()
        if self._registering is None or self._registering.done():
            if self.link.busy:
                return False
            self._registering = self.link.spawn(self._install(start))
        return await asyncio.shield(self._registering)

    async def _install(self, start: int) -> bool:
        request = execute_request(files(_FILES, __name__=TARGET), silent=True)
        reply = await self.link.wire.request("shell", "execute_request", request)
        if (reply.content or {}).get("status") != "ok":
            return False
        self._registered_at = start
        return True
