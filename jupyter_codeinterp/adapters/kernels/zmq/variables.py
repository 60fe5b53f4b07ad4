"""What is left in a Python kernel: an answer to who asks for its variables, also while a
cell runs, and a guard that keeps it usable after cells of the agent.

Code sent to a subshell would do that, but at its end IPython fires ``post_execute``, which
closes the figures that the running cell has just begun, and clears that cell's payloads.
So the snippet is sent once, when the kernel is idle, and leaves a comm target behind;
opening a comm to it runs no hooks. The answer is the comm's ``comm_close``.
"""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from .... import kernel_side
from ....core.errors import KernelError
from .link import KernelLink

LIMIT = 1.0
"""Seconds; a list of variables that takes longer is not worth waiting for."""
TARGET = "jupyter_codeinterp.variables"
_FOLDER = Path(kernel_side.__file__).parent


class Variables:
    """The variables of the kernel behind one link. ``read`` never raises for a kernel that
    cannot answer: it gives None."""

    def __init__(self, link: KernelLink) -> None:
        self._link = link
        self._registered_at = 0
        self._subshell: str | None = None
        self._registering: asyncio.Task[bool] | None = None

    async def read(self, names: tuple[str, ...]) -> list[dict[str, Any]] | None:
        return await self._within_limit({"names": list(names)})

    async def outline(self) -> list[dict[str, Any]] | None:
        """Of at most 2,000: name, type, and length or shape."""
        return await self._within_limit({"outline": True})

    async def _within_limit(self, asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        try:
            return await asyncio.wait_for(self._read(asked), LIMIT)
        except (asyncio.TimeoutError, KernelError):
            return None

    async def _read(self, asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        info = await self._link.info()
        if info.language != "python":
            return None
        if self._registered_at != info.start and not await self._register(info.start):
            return None
        if self._link.busy and self._subshell is None:
            return None
        answer = await self._ask(asked)
        if answer is None:
            self._registered_at = 0
        return answer

    async def prepare(self) -> None:
        """Before code runs: see to it that the guard is there."""
        start = self._link.start
        if self._link.language == "python" and self._registered_at != start:
            with suppress(asyncio.TimeoutError, KernelError):
                await asyncio.wait_for(self._register(start), LIMIT)

    async def _register(self, start: int) -> bool:
        """Who has no more time to wait for it leaves it to the next: it is sent once."""
        if self._registering is None or self._registering.done():
            if self._link.busy:
                return False
            self._registering = self._link.spawn(self._leave(start))
        return await asyncio.shield(self._registering)

    async def _leave(self, start: int) -> bool:
        wire = self._link.wire
        asking = _exec("variables", __name__=TARGET)
        guarding = _exec("guard", __name__="jupyter_codeinterp.guard", SESSION=wire.session_id)
        request = {
            "code": f"{asking}\n{guarding}",
            "silent": True,
            "store_history": False,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        reply = await wire.request("shell", "execute_request", request)
        if (reply.content or {}).get("status") != "ok":
            return False
        self._subshell = None
        if "kernel subshells" in self._link.features:
            created = await wire.request("control", "create_subshell_request", {})
            self._subshell = (created.content or {}).get("subshell_id")
        self._registered_at = start
        return True

    async def _ask(self, asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        comm_id = uuid.uuid4().hex
        end: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._link.comm_ends[comm_id] = end
        opening = {"comm_id": comm_id, "target_name": TARGET, "data": asked}
        try:
            await self._link.wire.send("shell", "comm_open", opening, subshell=self._subshell)
            return (await end).get("variables")
        finally:
            del self._link.comm_ends[comm_id]


def _exec(name: str, **names: str) -> str:
    """Code that runs one of our files: ``exec`` in a namespace of its own leaves no name in
    the person's."""
    source = (_FOLDER / f"{name}.py").read_text(encoding="utf-8")
    return f"__import__('builtins').exec({source!r}, {names!r})"
