"""Copies of a sandboxed kernel: one before each turn's first run, for an undo with variables.

A kernel keeps its copies itself (``kernel_side/forks/keeping.py``). This module knows which there
are, and why there is none. Going back is a new start of the kernel: approvals end, and the
connection is new.
"""

from __future__ import annotations

import ast
import asyncio
import json
from contextlib import suppress
from typing import Any

import msgspec

from ....core.errors import KernelError
from ....core.visible import visible_line
from ...kernel_wire import execute_request
from .kernel_files import answer_of
from .link import KernelLink

LIMIT = 5.0
"""Seconds that a copy may take before the turn goes on without it."""
LOOKS = 1.0
"""Seconds that the kernel has to say which copies it still has."""
WAKES = 15.0
OTHERS = 0.3
"""Seconds after which all other clients of the kernel are connected to the copy: ZMQ tries again
within 0.2 s."""
LONGEST = 500
"""Characters of the kernel's reason."""
MOST = 200
"""Turns of which we know why there is no copy."""
KEEPING = "jupyter_codeinterp.keeping"
NAME = "codeinterp_copies"
"""The attribute of the kernel's shell that holds them."""
FILES = ("forks/preflight", "forks/refusing", "forks/reviving", "forks/keeping")
"""In the order of their imports."""
NEVER = "The kernel has no copy of them from before this turn."
RESTARTED = "The kernel was restarted since."
TOO_MANY = "The kernel keeps few copies, and little memory for them. This one is gone."
WENT_BACK = "An undo has put them back to before this turn already."
FAILED = "The kernel did not answer when it should have copied them."
SLOW = "The kernel did not answer in time."


class _Told(msgspec.Struct):
    """As ``kernel_side/forks/keeping.py`` answers. ``why`` it did not do what was asked."""

    kept: list[str] = []
    why: str = ""


class Copies:
    """Those of the kernel behind one link. Use ``keep`` and ``go_back`` while you hold it."""

    def __init__(self, link: KernelLink) -> None:
        self.link = link
        self._start = link.start
        self._known: dict[str, str] = {}
        """By key: why there is no copy, or ""."""

    async def why_not(self, key: str) -> str | None:
        """Why variables cannot go back to this copy; "" if they can. None for a kernel that keeps
        none at all. Asks a kernel that is idle, which may have ended a copy since."""
        if not self.link.copies[0]:
            return None
        self._check_start()
        if self._known.get(key) == "" and not self.link.busy:
            with suppress(KernelError, asyncio.TimeoutError):
                self._learn(await self._ask(LOOKS, "look"))
        return self._known.get(key, NEVER)

    async def keep(self, key: str) -> str | None:
        """Make a copy, unless there is one of this key. Answers as ``why_not``; never fails."""
        most, most_bytes = self.link.copies
        if not most or self.link.language != "python":
            return None
        self._check_start()
        try:
            told = await self._ask(LIMIT, "keep", key=key, most=most, most_bytes=most_bytes)
        except (KernelError, asyncio.TimeoutError):
            told = _Told(why=FAILED)
        self._known.pop(key, None)
        self._known[key] = told.why
        self._learn(told)
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return self._known[key]

    async def go_back(self, key: str) -> None:
        """Put a copy in the kernel's place. Raises KernelError ``no_copy``, with the kernel as
        before, or ``kernel_dead``."""
        why = await self.why_not(key)
        if why is None or why:
            raise KernelError("no_copy", why or "This kernel keeps no copies.")
        try:
            woke = await self._ask(WAKES, "wake", key=key)
        except asyncio.TimeoutError:
            raise await self._stays(key, SLOW) from None
        if woke.why:
            # Also where it woke: an interrupt may hit the answer.
            raise await self._stays(key, woke.why)
        try:
            take_back = self.link.replaced()
        except OSError as error:
            why = f"Its sockets could not be found: {error}."
            raise await self._stays(key, why) from None
        if why := await self._does_not_leave(key):
            with suppress(OSError):  # the kernel has ended, and its sockets with it
                take_back()
            raise await self._stays(key, why)
        self.link.went_back()
        later = list(self._known)[list(self._known).index(key) :]
        self._known.update(dict.fromkeys(later, WENT_BACK))
        self._start = self.link.start
        await self.link.settle()
        await asyncio.sleep(OTHERS)

    async def _does_not_leave(self, key: str) -> str:
        """Why the kernel does not make way for the copy; "" if it does, maybe before its answer
        arrives."""
        for last in (False, True):
            try:
                told = await self._ask(LIMIT, "leave", key=key)
            except (KernelError, asyncio.TimeoutError):
                return ""
            if told.why != FAILED or last:  # an interrupt may hit the answer once
                break
        return told.why

    async def _stays(self, key: str, why: str) -> KernelError:
        """Have the kernel end a copy that has woken, or will. It answers requests in order."""
        with suppress(KernelError, asyncio.TimeoutError):
            await self._ask(LIMIT, "stay", key=key)
        return self._without(key, why)

    def _without(self, key: str, why: str) -> KernelError:
        self._known[key] = why
        return KernelError("no_copy", why)

    def _learn(self, told: _Told) -> None:
        for key, why in self._known.items():
            if not why and key not in told.kept:
                self._known[key] = TOO_MANY

    def _check_start(self) -> None:
        self.link.observe()
        if self._start != self.link.start:
            self._start = self.link.start
            self._known = dict.fromkeys(self._known, RESTARTED)

    async def _ask(self, limit: float, do: str, **given: Any) -> _Told:
        """Raises KernelError and TimeoutError."""
        asked = json.dumps({"do": do, "with": given})
        told = await self._told(limit, _KNOWN.format(name=NAME, asked=asked))
        if told.get("status") != "ok" and told.get("ename") == "KeyError":
            # The first time in this kernel.
            told = await self._told(limit, answer_of(FILES, __name__=KEEPING, ASKED=asked))
        if told.get("status") != "ok":
            return _Told(why=FAILED)
        try:
            # Written in the kernel, where any code may have changed it.
            answer = json.loads(ast.literal_eval(told["data"]["text/plain"]))
            found = msgspec.convert(answer, _Told)
        except (KeyError, TypeError, ValueError, SyntaxError, RecursionError, MemoryError):
            return _Told(why=FAILED)
        return _Told(found.kept, visible_line(found.why[:LONGEST]))

    async def _told(self, limit: float, expression: str) -> dict[str, Any]:
        request = execute_request("pass", silent=True)
        request["user_expressions"] = {"answer": expression}
        replied = self.link.wire.request("shell", "execute_request", request)
        reply = await asyncio.wait_for(replied, limit)
        return ((reply.content or {}).get("user_expressions") or {}).get("answer") or {}


_KNOWN = (
    "(lambda b: b.vars(b.__import__('sys').modules['IPython'].get_ipython())['{name}']"
    ".answer({asked!r}))(__import__('builtins'))"
)
