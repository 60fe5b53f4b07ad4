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
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Union

import msgspec

from ...base.errors import KernelError
from ...wire.events import EngineWork
from ...wire.ports import EnginesWork, KernelState
from ...wiring import FEATURES
from .. import inside as kernel_side
from ..inside.mark import WATCH
from ..inside.progress import PROGRESS
from ..wire import execute_request
from .link import KernelLink

# -------------------------------------------------------------------------------------------------
# Code that runs our own files in a kernel and adds no name to the person's namespace.

FOLDER = Path(kernel_side.__file__).parent
"""The folder of the files that run in the kernel."""
_OWN_IMPORT = re.compile(r"^from \.+[\w.]+ import (?:\([^)]*\)|.*)$", re.MULTILINE)


def one_file(name: str, **names: str) -> str:
    """Code that runs one of our files in its own namespace."""
    return f"__import__('builtins').exec({_text(name)!r}, {names!r})"


def files(paths: Sequence[str], **names: str) -> str:
    """Code that runs files without the imports between them, in the order of their imports. Each
    has its own namespace, which starts with the names of the files before it."""
    return f"({namespace(paths, names)} and None)"


def answer_of(paths: Sequence[str], **names: str) -> str:
    """An expression that runs files as ``files`` does; its value is the last one's ``ANSWER``."""
    return f"{namespace(paths, names)}['ANSWER']"


def namespace(paths: Sequence[str], names: dict[str, str]) -> str:
    """An expression that runs files as ``files`` does; its value is the last one's namespace."""
    plain = list(map(plain_text, paths))
    return (
        "(lambda b, reduce, texts, names: reduce(lambda earlier, text:"
        " (lambda own: b.exec(text, own) or own)({**earlier}), texts, names))"
        f"(__import__('builtins'), __import__('functools').reduce, {plain!r}, {names!r})"
    )


def plain_text(path: str) -> str:
    """The text of a file without its imports of our other files: it runs with their names."""
    return _OWN_IMPORT.sub("", _text(path))


def _text(path: str) -> str:
    return (FOLDER / f"{path}.py").read_text(encoding="utf-8")


def _of_features() -> list[str]:
    """The files of features that run after ``watch``."""
    paths = [f"../../features/{name}/in_kernel" for name in FEATURES]
    return [path for path in paths if (FOLDER / f"{path}.py").exists()]


LIMIT = 1.0
"""Seconds to wait for a list of variables."""
FIRST = 3.0
"""Seconds of a run before the first request for the progress of engines (Spark, Dask). A kernel
without an engine gets only this one."""
MOST_PACKAGES = 30
PAUSE = 2.0
LATER = 10.0
"""Seconds between requests, in the first minute and after it."""
TARGET = "jupyter_codeinterp.variables"
_LISTING = ("engine_facts", "variables")
_WATCHING = ("mark", *_LISTING, "absent", "expected", "changes", "watch")
"""In the order of their imports."""


class Variables:
    """The variables of the kernel behind one link. A kernel that cannot answer gives None."""

    def __init__(self, link: KernelLink) -> None:
        self._link = link
        self._registered_at = 0
        self._subshell: str | None = None
        self._registering: asyncio.Task[bool] | None = None
        self._packages: tuple[int, dict[str, str]] = (0, {})
        """The kernel's start, and the packages that it has reported since."""

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
        return KernelState(False, self._link.busy, found.cells_run, found.packages, ran)

    async def _state(self) -> _State:
        info = await self._link.info()
        if info.language == "python" and self._registered_at != info.start and self._link.busy:
            await self._link.settle()
        start, packages = self._packages
        asked = {"names": [""], "packages": start != info.start}
        try:
            found = msgspec.convert(await self._read(asked), _State)
        except msgspec.ValidationError:
            return _State()
        if found.packages:
            self._packages = (info.start, dict(list(found.packages.items())[:MOST_PACKAGES]))
        elif start == info.start:
            found = msgspec.structs.replace(found, packages=packages)
        return found

    async def _within_limit(self, asked: dict[str, Any]) -> list[dict[str, Any]] | None:
        try:
            return (await asyncio.wait_for(self._read(asked), LIMIT)).get("variables")
        except (asyncio.TimeoutError, KernelError):
            return None

    async def _read(self, asked: dict[str, Any]) -> dict[str, Any]:
        info = await self._link.info()
        if info.language != "python":
            return {}
        if self._registered_at != info.start and not await self._register(info.start):
            return {}
        if self._link.busy and self._subshell is None:
            return {}
        answer = await self.ask(asked, TARGET)
        if not answer:
            self._registered_at = 0
        return answer

    async def progress(self) -> dict[str, Any] | None:
        """The answer of ``progress.py`` while a cell runs; None without one."""
        if self._subshell is None or self._registered_at != self._link.start:
            return None
        try:
            return await asyncio.wait_for(self.ask({}, PROGRESS), LIMIT) or None
        except (asyncio.TimeoutError, KernelError):
            return None

    @property
    def subshell(self) -> str | None:
        """The thread that answers while a cell runs; None if the kernel has none."""
        return self._subshell

    async def prepare(self) -> None:
        """Install the guard before code runs."""
        start = self._link.start
        if self._link.language == "python" and self._registered_at != start:
            with suppress(asyncio.TimeoutError, KernelError):
                await asyncio.wait_for(self._register(start), LIMIT)

    async def _register(self, start: int) -> bool:
        """Send the snippet once. A caller who gives up waiting leaves the request to the next
        caller."""
        if self._registering is None or self._registering.done():
            if self._link.busy:
                return False
            self._registering = self._link.spawn(self._install(start))
        return await asyncio.shield(self._registering)

    async def _install(self, start: int) -> bool:
        wire = self._link.wire
        session = wire.session_id
        asking = files(_LISTING, __name__=TARGET)
        guarding = one_file("guard", __name__="jupyter_codeinterp.guard", SESSION=session)
        watching = files((*_WATCHING, *_of_features()), __name__=WATCH, SESSION=session)
        following = files(("progress",), __name__=PROGRESS)
        code = "\n".join((asking, guarding, watching, following))
        request = execute_request(code, silent=True)
        reply = await wire.request("shell", "execute_request", request)
        if (reply.content or {}).get("status") != "ok":
            return False
        self._subshell = None
        if "kernel subshells" in self._link.features:
            created = await wire.request("control", "create_subshell_request", {})
            self._subshell = (created.content or {}).get("subshell_id")
        self._registered_at = start
        return True

    async def ask(self, asked: dict[str, Any], target: str) -> dict[str, Any]:
        """The answer of one of our comm targets; {} if the kernel has lost the target."""
        comm_id = uuid.uuid4().hex
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._link.comm_answers[comm_id] = answer
        opening = {"comm_id": comm_id, "target_name": target, "data": asked}
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


class _Answer(msgspec.Struct, frozen=True):
    """Code in the kernel may answer anything."""

    progress: tuple[EngineWork, ...]
    loaded: bool = False


async def follow_engines(
    variables: Variables, begun: Callable[[], bool], tell: Callable[[EnginesWork], None]
) -> None:
    """Call ``tell`` at each change in the work of engines during a run, until cancelled."""
    loop = asyncio.get_running_loop()
    shown = EnginesWork(())
    await asyncio.sleep(FIRST)
    began = loop.time()
    while variables.subshell is not None:
        answer = _read(await variables.progress()) if begun() else None
        if answer is not None:
            if not answer.loaded:
                return
            work = EnginesWork(answer.progress[:2])
            if work != shown:
                shown = work
                tell(work)
        await asyncio.sleep(PAUSE if loop.time() < began + 60 else LATER)


def _read(answer: object) -> _Answer | None:
    """The answer; None if it did not come in time or has another form."""
    try:
        return msgspec.convert(answer, _Answer)
    except msgspec.ValidationError:
        return None
