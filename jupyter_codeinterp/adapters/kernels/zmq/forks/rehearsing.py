"""Tries code in a fork of a kernel; see ``kernel_side/forks``.

The kernel's main thread waits meanwhile, so only an idle kernel is asked, and our own runs wait.
The code of the fork comes with each request, and runs once in a kernel: one that never rehearses
never gets it.
"""

from __future__ import annotations

import ast
import asyncio
import json
import uuid
from collections.abc import Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol

from .....core.errors import KernelError
from .....core.ports import KernelInfo
from ....kernel_wire import Message, Wire, execute_request

IDLE = 1.0
"""Seconds that a kernel may still need for what it does."""
MORE = 15.0
"""Seconds beyond the code's own within which the kernel should answer."""
CANCELLED = 3.0
"""Seconds in which an interrupted kernel should answer."""

Answer = dict[str, Any]
BUSY: Answer = {"refused": "busy", "detail": ""}


class Link(Protocol):
    """What a rehearsal needs of ``KernelLink``."""

    lock: asyncio.Lock

    @property
    def wire(self) -> Wire: ...

    async def info(self) -> KernelInfo: ...

    async def settle(self) -> None: ...

    async def interrupt(self) -> None: ...

    def is_running(self, msg_id: str) -> bool: ...

    def connected(self) -> AbstractContextManager[None]: ...

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]: ...


async def rehearse(link: Link, function: str, code: str, seconds: float) -> Answer:
    """What ``kernel_side/forks/rehearse.py`` answers, or ``refused``: also other_language, busy,
    slow and failed. ``function`` is an expression for its ``answer``. Raises KernelError."""
    info = await link.info()
    if info.language != "python":
        return {"refused": "other_language", "detail": info.language}
    if link.lock.locked():
        return BUSY
    request = execute_request("pass", silent=True)
    request["user_expressions"] = {"answer": f"{function}({code!r}, {seconds!r})"}
    async with link.lock:
        with link.connected():
            return await _asked(link, request, seconds)


async def _asked(link: Link, request: dict[str, Any], seconds: float) -> Answer:
    try:
        await asyncio.wait_for(link.settle(), IDLE)
    except asyncio.TimeoutError:
        return BUSY
    msg_id = uuid.uuid4().hex
    replied = link.spawn(link.wire.request("shell", "execute_request", request, msg_id=msg_id))
    try:
        reply = await asyncio.wait_for(asyncio.shield(replied), seconds + MORE)
    except asyncio.TimeoutError:
        return {"refused": "slow", "detail": ""}
    except asyncio.CancelledError:
        await _end(link, msg_id, replied)
        raise
    return await asyncio.to_thread(_read, reply)


async def _end(link: Link, msg_id: str, replied: asyncio.Task[Message]) -> None:
    """Have the kernel end the fork. It must not hit what somebody runs after it."""
    if link.is_running(msg_id) and not replied.done():
        await link.interrupt()
        await asyncio.wait({replied}, timeout=CANCELLED)


def _read(reply: Message) -> Answer:
    told = ((reply.content or {}).get("user_expressions") or {}).get("answer") or {}
    if told.get("status") != "ok":
        return {"refused": "failed", "detail": str(told.get("ename", ""))[:100]}
    try:
        found = json.loads(ast.literal_eval(told["data"]["text/plain"]))
    except (KeyError, SyntaxError, TypeError, ValueError, RecursionError) as error:
        raise KernelError("unreadable", "The kernel's answer is not readable.") from error
    return found if isinstance(found, dict) else {"refused": "failed", "detail": ""}
