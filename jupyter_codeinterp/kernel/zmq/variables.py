"""What we install in a Python kernel: a list of its variables, also while a cell runs, a guard
that keeps it usable after the agent's cells, and a watch that reports what they did.

A subshell could list them, but at its end IPython fires ``post_execute``. That closes the
plots of the running cell and clears that cell's payloads. So we send the snippet once, when
the kernel is idle, and it registers a comm target. Opening a comm to it runs no hooks. The
answer comes as a message on that comm; a kernel that lost the target closes it instead.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Union

import msgspec

from ...base.errors import KernelError
from ...wire.ports import KernelState
from ...wiring import FEATURES
from .. import inside as kernel_side
from ..inside.mark import ANSWERS, WATCH
from ..wire import execute_request
from .link import KernelLink

# -------------------------------------------------------------------------------------------------
# Code that runs our own files in a kernel and adds no name to the person's namespace.

FOLDER = Path(kernel_side.__file__).parent
"""The folder of the files that run in the kernel."""
_OWN_IMPORT = re.compile(r"^from \.+[\w.]+ import (?:\([^)]*\)|.*)$", re.MULTILINE)


def files(paths: Sequence[str], **names: str) -> str:
    """Code that runs files without the imports between them, in the order of their imports. Each
    has its own namespace, which starts with the names of the files before it."""
    texts = [
        _OWN_IMPORT.sub("", (FOLDER / f"{path}.py").read_text(encoding="utf-8")) for path in paths
    ]
    return (
        "((lambda b, reduce, texts, names: reduce(lambda earlier, text:"
        " (lambda own: b.exec(text, own) or own)({**earlier}), texts, names))"
        f"(__import__('builtins'), __import__('functools').reduce, {texts!r}, {names!r}) and None)"
    )


def _of_features() -> list[str]:
    """The files of features that run after ``watch``."""
    paths = [f"../../features/{name}/in_kernel" for name in FEATURES]
    return [path for path in paths if (FOLDER / f"{path}.py").exists()]


MOST_PACKAGES = 30
LIMIT = 1.0
"""Seconds to wait for an answer."""
_ANSWERING = ("mark", "engine_facts", "variables", "columns", "tables")
_WATCHING = (*_ANSWERING[:3], "absent", "expected", "watch")
"""In the order of their imports."""


class Variables:
    """The variables of the kernel behind one link. A kernel that cannot answer gives None."""

    def __init__(self, link: KernelLink) -> None:
        self._link = link
        self._registered = 0
        """The kernel's start that has our code; 0 for none."""
        self._registering: asyncio.Task[bool] | None = None
        self._subshell: str | None = None

    async def read(self, names: tuple[str, ...]) -> list[dict[str, Any]] | None:
        return await self._within_limit({"names": list(names)})

    async def outline(self, names: tuple[str, ...], keys: bool) -> list[dict[str, Any]] | None:
        """Name, type, and length or shape of at most 2,000 variables, or of these; with ``keys``
        also the columns of tables and dictionaries."""
        return await self._within_limit({"outline": True, "names": list(names), "keys": keys})

    async def state(self) -> KernelState:
        """Wait for a kernel that has never answered until it is idle, within the limit. Raises
        KernelError."""
        try:
            found = await asyncio.wait_for(self._state(), LIMIT)
        except asyncio.TimeoutError:
            found = _State()
        ran = None if self._link.busy else found.inputs
        packages = dict(islice(found.packages.items(), MOST_PACKAGES))
        return KernelState(False, self._link.busy, found.cells_run, packages, ran)

    async def _state(self) -> _State:
        info = await self._link.info()
        registered = self._registered == info.start
        if info.language == "python" and not registered and self._link.busy:
            await self._link.settle()
        try:
            return msgspec.convert(await self._read({"names": [""], "packages": True}), _State)
        except msgspec.ValidationError:
            return _State()

    async def _within_limit(self, asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        try:
            return (await asyncio.wait_for(self._read(asked), LIMIT)).get("variables")
        except (asyncio.TimeoutError, KernelError):
            return None

    async def table(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Answers as ``kernel/inside/tables.py``, or with ``refused``: ``busy``, ``slow`` or
        ``other_language``. Raises KernelError."""
        info = await self._link.info()
        if info.language != "python":
            return {"refused": "other_language"}
        try:
            return await asyncio.wait_for(self._table(asked), LIMIT) or {"refused": "busy"}
        except asyncio.TimeoutError:
            return {"refused": "busy" if self._is_blocked else "slow"}
        except KernelError:
            # A restart dropped the request; the new process can answer the next one.
            if self._link.closed:
                raise
            return {"refused": "slow"}

    async def _table(self, asked: dict[str, Any]) -> dict[str, Any]:
        await self.prepare()  # It creates the subshell that answers while a cell runs.
        return await self._read({"table": asked})

    async def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer; {} if the kernel cannot answer now."""
        info = await self._link.info()
        if info.language != "python" or not await self._register(info.start):
            return {}
        if self._is_blocked:
            return {}
        answer = await self._ask(asked)
        if not answer:
            # The kernel lost our comm target, for example to code that replaced the manager.
            self._registered = 0
        return answer

    @property
    def _is_blocked(self) -> bool:
        """Whether a cell blocks the only thread that can answer."""
        return self._link.busy and self._subshell is None

    async def prepare(self) -> None:
        """Install the guard before code runs."""
        if self._link.language == "python":
            with suppress(asyncio.TimeoutError, KernelError):
                await asyncio.wait_for(self._register(self._link.start), LIMIT)

    async def _register(self, start: int) -> bool:
        """Send our code once. A caller who gives up waiting leaves the request to the next
        caller."""
        if self._registered == start:
            return True
        task = self._registering
        if task is None or task.done():
            if self._link.busy:
                return False
            task = self._registering = self._link.spawn(self._install(start))
        return await asyncio.shield(task)

    async def _install(self, start: int) -> bool:
        wire = self._link.wire
        session = wire.session_id
        asking = files(_ANSWERING, __name__=ANSWERS)
        guarding = files(("guard",), __name__="jupyter_codeinterp.guard", SESSION=session)
        watching = files((*_WATCHING, *_of_features()), __name__=WATCH, SESSION=session)
        request = execute_request("\n".join((asking, guarding, watching)), silent=True)
        reply = await wire.request("shell", "execute_request", request)
        if (reply.content or {}).get("status") != "ok":
            return False
        self._subshell = None
        await self._link.info()  # A kernel that was starting may not have told its features.
        if "kernel subshells" in self._link.features:
            created = await wire.request("control", "create_subshell_request", {})
            self._subshell = (created.content or {}).get("subshell_id")
        self._registered = start
        return True

    async def _ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The answer of our comm target; {} if the kernel has lost it."""
        comm_id = uuid.uuid4().hex
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._link.comm_answers[comm_id] = answer
        opening = {"comm_id": comm_id, "target_name": ANSWERS, "data": asked}
        try:
            await self._link.wire.send("shell", "comm_open", opening, subshell=self._subshell)
            return await answer
        finally:
            del self._link.comm_answers[comm_id]


class _State(msgspec.Struct, frozen=True):
    """Code in the kernel may answer anything."""

    cells_run: Union[int, None] = None
    packages: dict[str, str] = {}
    inputs: Union[tuple[int, ...], None] = None
