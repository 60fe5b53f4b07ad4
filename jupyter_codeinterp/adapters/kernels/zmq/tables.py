"""Pages of the tables in a Python kernel, also while a cell runs.

It works as ``variables.py`` does: a silent request registers a comm target once, when the kernel
is idle. That happens at the first table, so kernels without one never get this code.
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from .link import KernelLink
from .variables import FOLDER, Variables
from .wire import execute_request

LIMIT = 1.0
"""Seconds to wait for a page."""
TARGET = "jupyter_codeinterp.tables"
_FILES = ("variables", "columns", "profiles", "tables")
"""In the order of their imports."""
_OWN_IMPORT = re.compile(r"^from \.\w+ import (?:\([^)]*\)|.*)$", re.MULTILINE)

Answer = dict[str, Any]
BUSY: Answer = {"refused": "busy", "detail": ""}
SLOW: Answer = {"refused": "slow", "detail": ""}
OTHER_LANGUAGE: Answer = {"refused": "other_language", "detail": ""}


class Tables:
    """The tables of the kernel behind one link. Answers as ``kernel_side/tables.py``, or with
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
        """Whether a cell runs in the only thread that could answer."""
        return self.link.busy and self._variables.subshell is None

    async def _register(self, start: int) -> bool:
        # For the subshell, in which we answer while a cell runs.
        await self._variables.prepare()
        if self._registering is None or self._registering.done():
            if self.link.busy:
                return False
            self._registering = self.link.spawn(self._install(start))
        return await asyncio.shield(self._registering)

    async def _install(self, start: int) -> bool:
        request = execute_request(source(), silent=True)
        reply = await self.link.wire.request("shell", "execute_request", request)
        if (reply.content or {}).get("status") != "ok":
            return False
        self._registered_at = start
        return True


def source() -> str:
    """Code that runs our files without the imports between them. Each has a namespace of its own,
    which begins with the names of those before it: a name of two files stays two."""
    texts = [(FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in _FILES]
    plain = [_OWN_IMPORT.sub("", text) for text in texts]
    return (
        "(lambda b, reduce, texts, names: reduce(lambda earlier, text:"
        " (lambda own: b.exec(text, own) or own)({**earlier}), texts, names) and None)"
        f"(__import__('builtins'), __import__('functools').reduce, {plain!r},"
        f" {{'__name__': {TARGET!r}}})"
    )
