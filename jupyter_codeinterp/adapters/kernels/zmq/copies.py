"""Copies of a sandboxed kernel: one before each turn's first run, for an undo with variables, and
one from before each such undo, for a redo.

A kernel keeps its copies itself (``kernel_side/copies/keeping.py``). This module knows which there
are, and why there is none. Either change is a new start of the kernel: approvals end, and the
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
FILES = (
    "forks/preflight",
    *(f"copies/{name}" for name in ("refusing", "sleeping", "reviving", "keeping")),
)
"""In the order of their imports."""
NEVER = "The kernel has no copy of them from before this turn."
RESTARTED = "The kernel was restarted since."
TOO_MANY = "The kernel keeps few copies, and little memory for them. This one is gone."
WENT_BACK = "The copy from before this turn ended with an undo."
LAST_FIRST = "Redo the turn that you undid last, with its variables, first."
GONE = "The kernel's copy of them is gone."
FAILED = "The kernel did not answer when it should have copied them."
SLOW = "The kernel did not answer in time."


class _Told(msgspec.Struct):
    """As ``kernel_side/copies/keeping.py`` answers. ``why`` it did not do what was asked."""

    kept: list[str] = []
    undone: list[str] = []
    lost: str = ""
    other: str = ""
    why: str = ""


class Copies:
    """Those of the kernel behind one link. Use ``keep``, ``go_back`` and ``redo`` while you hold
    it."""

    def __init__(self, link: KernelLink) -> None:
        self.link = link
        self._start = link.start
        self._kept: dict[str, str] = {}
        """By key: why there is no copy from before the turn, or ""."""
        self._undone: dict[str, str] = {}
        """By key, the newest undo last: why there is no copy of what it left, or ""."""

    async def offers(self, key: str) -> tuple[str | None, str | None]:
        """Why no undo, and why no redo, can bring back variables; "" if it can. None for a kernel
        that keeps none at all, and for a redo without such an undo. Asks a kernel that is idle,
        which may have ended a copy since."""
        if not self.link.copies[0]:
            return None, None
        self._check_start()
        known = (self._kept.get(key), self._undone.get(key))
        if "" in known and not self.link.busy:
            with suppress(KernelError, asyncio.TimeoutError):
                self._learn(await self._ask(LOOKS, "look"))
        redo = self._undone.get(key)
        if redo == "" and key != (newest := next(reversed(self._undone))):
            redo = self._undone[newest] or LAST_FIRST
        return self._kept.get(key, NEVER), redo

    async def keep(self, key: str) -> str | None:
        """Make a copy, unless there is one of this key. Answers as ``offers`` for an undo; never
        fails."""
        most, most_bytes = self.link.copies
        if not most or self.link.language != "python":
            return None
        self._check_start()
        try:
            told = await self._ask(LIMIT, "keep", key=key, most=most, most_bytes=most_bytes)
        except (KernelError, asyncio.TimeoutError):
            told = _Told(why=FAILED)
        _put(self._kept, key, told.why)
        self._learn(told)
        return self._kept[key]

    async def go_back(self, key: str) -> None:
        """Put a copy from before a turn in the kernel's place. Raises KernelError ``no_copy``, with
        the kernel as before, or ``kernel_dead``."""
        why, _ = await self.offers(key)
        other = await self._change(key, self._kept, why)
        later = list(self._kept)[list(self._kept).index(key) :]
        self._kept.update(dict.fromkeys(later, WENT_BACK))
        _put(self._undone, key, other)

    async def redo(self, key: str) -> None:
        """Put the copy that an undo left in the kernel's place. Raises as ``go_back``."""
        _, why = await self.offers(key)
        other = await self._change(key, self._undone, why)
        del self._undone[key]
        _put(self._kept, key, other)

    async def _change(self, key: str, known: dict[str, str], why: str | None) -> str:
        """Put a copy in the kernel's place, unless there is a reason not to. Returns why nothing is
        left of the kernel that was, or ""."""
        if why is None or why:
            raise KernelError("no_copy", why or "This kernel keeps no copies.")
        try:
            woke = await self._ask(WAKES, "wake", key=key)
        except asyncio.TimeoutError:
            raise await self._stays(key, known, SLOW) from None
        if woke.why:
            # Also where it woke: an interrupt may hit the answer.
            raise await self._stays(key, known, woke.why)
        try:
            take_back = self.link.replaced()
        except OSError as error:
            why = f"Its sockets could not be found: {error}."
            raise await self._stays(key, known, why) from None
        if why := await self._does_not_leave(key):
            with suppress(OSError):  # the kernel has ended, and its sockets with it
                take_back()
            raise await self._stays(key, known, why)
        self.link.went_back()
        self._start = self.link.start
        await self.link.settle()
        await asyncio.sleep(OTHERS)
        return woke.other

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

    async def _stays(self, key: str, known: dict[str, str], why: str) -> KernelError:
        """Have the kernel end a copy that has woken, or will. It answers requests in order."""
        with suppress(KernelError, asyncio.TimeoutError):
            await self._ask(LIMIT, "stay", key=key)
        known[key] = why
        return KernelError("no_copy", why)

    def _learn(self, told: _Told) -> None:
        if told.why == FAILED:
            return  # it says nothing of the copies, which may live
        lists = ((self._kept, told.kept, TOO_MANY), (self._undone, told.undone, told.lost or GONE))
        for known, living, lost in lists:
            for key, why in known.items():
                if not why and key not in living:
                    known[key] = lost

    def _check_start(self) -> None:
        self.link.observe()
        if self._start != self.link.start:
            self._start = self.link.start
            self._kept = dict.fromkeys(self._kept, RESTARTED)
            self._undone = dict.fromkeys(self._undone, RESTARTED)

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
        words = (visible_line(text[:LONGEST]) for text in (found.lost, found.other, found.why))
        return _Told(found.kept, found.undone, *words)

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


def _put(known: dict[str, str], key: str, why: str) -> None:
    """As the newest of at most ``MOST``."""
    known.pop(key, None)
    known[key] = why
    while len(known) > MOST:
        del known[next(iter(known))]
