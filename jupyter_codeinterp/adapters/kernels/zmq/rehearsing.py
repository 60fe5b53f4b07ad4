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
from functools import cache
from hashlib import sha256
from typing import Any

from ....core.errors import KernelError
from ....kernel_side.forks import REHEARSE, REHEARSE_FILES
from ...kernel_wire import Message, execute_request
from .kernel_files import namespace
from .link import KernelLink

IDLE = 1.0
"""Seconds that a kernel may still need for what it does."""
MORE = 15.0
"""Seconds beyond the code's own within which the kernel should answer."""
CANCELLED = 3.0
"""Seconds in which an interrupted kernel should answer."""

Answer = dict[str, Any]
BUSY: Answer = {"refused": "busy", "detail": ""}


async def rehearse(link: KernelLink, code: str, seconds: float) -> Answer:
    """What ``kernel_side/forks/rehearse.py`` answers, or ``refused``: also other_language, busy,
    slow and failed. Raises KernelError."""
    info = await link.info()
    if info.language != "python":
        return {"refused": "other_language", "detail": info.language}
    if link.lock.locked():
        return BUSY
    request = execute_request("pass", silent=True)
    request["user_expressions"] = {"answer": f"{_function()}({code!r}, {seconds!r})"}
    async with link.lock:
        with link.connected():
            return await _asked(link, request, seconds)


@cache
def _function() -> str:
    """An expression for ``answer`` of ``kernel_side/forks/rehearse.py``: what the kernel keeps of
    an earlier request of this version."""
    files = namespace(REHEARSE_FILES, {"__name__": REHEARSE})
    name = f"{REHEARSE}.{sha256(files.encode()).hexdigest()[:16]}"
    known = f"__import__('sys').modules.get({name!r})"
    return f"({known} or __import__('sys').modules.setdefault({name!r}, {files}['answer']))"


async def _asked(link: KernelLink, request: dict[str, Any], seconds: float) -> Answer:
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


async def _end(link: KernelLink, msg_id: str, replied: asyncio.Task[Message]) -> None:
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
