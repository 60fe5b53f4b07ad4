"""The kernel of a notebook as the core sees it, and the pool of links."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

from ...base.errors import KernelError
from ...wire.ports import ExecutionDone, ExecutionEvent, KernelControl, KernelInfo, KernelState
from ..wire import Process
from .late import Hear
from .link import KernelLink
from .process import LocalProcess
from .run import Run
from .variables import Variables
from .wire import new_context

if TYPE_CHECKING:
    from .overlay import KernelOverlay


INTERRUPT_TIMEOUT = 5.0
"""Seconds within which an interrupted kernel should be idle."""


class KernelSpecs(NamedTuple):
    """The kernels that a notebook can have. ``names``: the display names of the installed
    kernelspecs. ``change`` puts a new kernel of a spec in place of the one with this id; it raises
    KernelError ``no_kernel``."""

    names: Callable[[], Awaitable[dict[str, str]]]
    change: Callable[[str, str], Awaitable[None]]


class Control:
    """Implements the core's ``KernelControl`` through the server's managers."""

    def __init__(self, link: Callable[[], Awaitable[KernelLink]], specs: KernelSpecs) -> None:
        self._link = link
        self._specs = specs

    async def name(self) -> str:
        try:
            spec = await (await self._link()).process.spec()
        except KernelError:
            return ""
        return spec.display_name if spec else ""

    async def specs(self) -> dict[str, str]:
        return await self._specs.names()

    async def restart(self) -> None:
        link = await self._link()
        try:
            await link.restart()
        except (RuntimeError, TimeoutError, asyncio.TimeoutError) as error:
            # jupyter_server raises them for a kernel that does not come up.
            raise KernelError(
                "kernel_dead", "The kernel did not restart: {error}", error=error
            ) from None
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
        # The new kernel answers.
        await (await self._link()).settle()


STOP_LIMIT = 0.8
"""Seconds within which a stopped run should end: "Stop" has one second in all."""
BUSY = "The kernel is busy. Interrupt it, or wait for its cell."

CurrentKernelId = Callable[[], Awaitable["str | None"]]
"""The id of the notebook's current kernel; None or "" for none."""


class KernelPool:
    """One link per kernel, for all notebooks and sessions of a server. Close it at the end."""

    def __init__(
        self,
        kernels: MappingKernelManager,
        make_process: Callable[[Any, str], Process] | None = None,
    ) -> None:
        """``make_process`` gets the manager and a kernel's id. Without it, the kernels are
        processes of this machine."""
        self.kernels = kernels
        self._make_process = make_process
        self._context = new_context()
        self._links: dict[str, tuple[KernelLink, Variables]] = {}
        self._starts: dict[str, int] = {}
        """Start counts of kernels that have ended."""

    def get(self, kernel_id: str) -> tuple[KernelLink, Variables]:
        """Raises KernelError ``no_kernel`` if there is no such kernel."""
        if kernel_id not in self.kernels:
            raise KernelError("no_kernel", "The notebook's kernel has been shut down.")
        known = self._links.get(kernel_id)
        if known is not None and not known[0].closed:
            return known
        self._forget_ended()
        # The same id may return with a new process: keep counting its starts.
        start = self._starts.pop(kernel_id, 0) + 1
        link = KernelLink(self._process(kernel_id), kernel_id, start)
        self._links[kernel_id] = (link, Variables(link))
        return self._links[kernel_id]

    def _process(self, kernel_id: str) -> Process:
        if self._make_process is not None:
            return self._make_process(self.kernels, kernel_id)
        return LocalProcess(self.kernels, kernel_id, self._context)

    def _forget_ended(self) -> None:
        """Drop ended kernels, but keep their start counts."""
        for kernel_id, (link, _) in list(self._links.items()):
            if link.closed:
                self._starts[kernel_id] = link.start
                del self._links[kernel_id]

    def close(self) -> None:
        for link, _ in self._links.values():
            link.close()
        self._context.destroy(linger=0)


class ZmqKernel:
    """The current kernel of one notebook."""

    def __init__(self, pool: KernelPool, current_id: CurrentKernelId, specs: KernelSpecs) -> None:
        self.control: KernelControl = Control(self._current_link, specs)
        self._pool = pool
        self._current_id = current_id
        self._link: KernelLink | None = None

    async def info(self) -> KernelInfo:
        link, _ = await self.current()
        return await link.info()

    @property
    def kernel_id(self) -> str:
        return self._link.kernel_id if self._link is not None else ""

    async def overlay(self) -> KernelOverlay | None:
        link, _ = await self.current()
        written = link.process.sandbox.written if link.process.sandbox is not None else None
        if written is None:
            return None
        from .overlay import KernelOverlay  # Imported here, because few kernels have an overlay.

        return KernelOverlay(written)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[ZmqSlot]:
        while True:
            link, variables = await self.current()
            async with link.lock:
                with link.process.counted():
                    try:
                        await link.settle()
                    except KernelError:
                        if link.kernel_id == await self._current_id():
                            raise
                    if link.kernel_id != await self._current_id():
                        continue
                    info = await link.info()
                    await variables.prepare()
                    slot = ZmqSlot(link, info, self._current_id)
                    try:
                        yield slot
                    finally:
                        slot.close()
                    return

    async def state(self) -> KernelState:
        try:
            link, variables = await self.current()
            if not await link.process.is_alive():
                return KernelState(dead=True)
            return await variables.state()
        except KernelError as error:
            return KernelState(dead=error.code == "kernel_dead")

    async def variables(self, names: tuple[str, ...] = ()) -> list[dict[str, Any]] | None:
        _, variables = await self.current()
        return await variables.read(names)

    async def outline(
        self, names: tuple[str, ...] = (), keys: bool = False
    ) -> list[dict[str, Any]] | None:
        """Name, type, and length or shape of at most 2,000 variables, or of these, within 1 s;
        with ``keys`` also columns. None where not available. Raises KernelError ``no_kernel``."""
        _, variables = await self.current()
        return await variables.outline(names, keys)

    async def _current_link(self) -> KernelLink:
        return (await self.current())[0]

    async def table(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A page of a table, within 1 s; see ``Variables``. Raises KernelError ``no_kernel`` or
        ``kernel_dead``."""
        _, variables = await self.current()
        return await variables.table(asked)

    async def current(self) -> tuple[KernelLink, Variables]:
        kernel_id = await self._current_id()
        if not kernel_id:
            raise KernelError("no_kernel", "The notebook has no kernel.")
        found = self._pool.get(kernel_id)
        self._link = found[0]
        return found


class ZmqSlot:
    def __init__(
        self,
        link: KernelLink,
        info: KernelInfo,
        current_id: CurrentKernelId,
    ) -> None:
        self.info = info
        self._link = link
        self._current_id = current_id
        self._run: Run | None = None
        self._stopping: asyncio.Task[None] | None = None

    @property
    def sent(self) -> bool:
        return self._run is not None and self._run.sent

    @property
    def begun(self) -> bool:
        return self._run is not None and self._run.begun

    def new_msg_id(self) -> str:
        return uuid.uuid4().hex

    async def execute(
        self,
        source: str,
        *,
        msg_id: str,
        timeout: float | None = None,
        looks_at: dict[str, Any] | None = None,
    ) -> AsyncGenerator[ExecutionEvent, None]:
        """Run code as the port says. Wait for idle again: a person may have run a cell since
        ``hold`` returned. Raises KernelError, with nothing sent: ``kernel_changed`` or
        ``kernel_dead``."""
        if await self._current_id() != self.info.kernel_id:
            raise KernelError("kernel_changed", "The notebook has another kernel now.")
        run = self._run = Run(self._link, source, msg_id, timeout, looks_at)
        try:
            async with aclosing(run.events(self._is_same)) as events:
                async for event in events:
                    yield event
        finally:
            self.close()

    async def _is_same(self) -> bool:
        """Whether the notebook still has this kernel, and this start of it."""
        same = await self._current_id() == self.info.kernel_id
        return same and self._link.start == self.info.start

    def listen_on(self, hear: Hear) -> None:
        if self._run is not None:
            self._run.listen_on(hear)

    async def stopped(self) -> ExecutionDone | None:
        if self._stopping is not None:
            await asyncio.wait({self._stopping}, timeout=STOP_LIMIT)
        return self._run.done if self._run is not None else None

    def close(self) -> None:
        run = self._run
        if run is not None and run.sent and run.done is None and self._stopping is None:
            self._stopping = self._link.spawn(run.stop())
