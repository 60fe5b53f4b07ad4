"""The kernel of a notebook as the core knows it, and the pool of links behind all of them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from jupyter_server.gateway.managers import GatewayMappingKernelManager
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

from ....core.errors import KernelError
from ....core.ports import ExecutionDone, ExecutionEvent, ExternalRun, KernelInfo
from .external_run import ZmqExternalRun
from .link import KernelLink
from .run import Run
from .variables import Variables
from .wire import new_context

STOP_LIMIT = 0.8
"""Seconds in which a stopped run should end: "Stop" has a second in all."""

LOOK = 1.0
"""Seconds between two looks at which kernel a notebook has while a draft waits."""

CurrentKernelId = Callable[[], Awaitable["str | None"]]
"""The id of the kernel that a notebook has now; None or "" for none."""


class KernelPool:
    """One link a kernel, for all notebooks and sessions of a server. Close it at the end."""

    def __init__(self, kernels: MappingKernelManager) -> None:
        self.kernels = kernels
        self._context = new_context()
        self._links: dict[str, tuple[KernelLink, Variables]] = {}

    def get(self, kernel_id: str) -> tuple[KernelLink, Variables]:
        """KernelError ``no_kernel`` if there is no such kernel, or none that is local."""
        if isinstance(self.kernels, GatewayMappingKernelManager):
            raise KernelError(
                "no_kernel",
                "This notebook's kernel runs on a gateway. "
                "Remote kernels through a gateway are not supported yet.",
            )
        if kernel_id not in self.kernels:
            raise KernelError("no_kernel", "The notebook's kernel has been shut down.")
        known = self._links.get(kernel_id)
        if known is not None and not known[0].closed:
            return known
        # The same id may come back with a new process: its starts go on counting.
        start = known[0].start + 1 if known else 1
        link = KernelLink(self.kernels, kernel_id, self._context, start)
        self._links[kernel_id] = (link, Variables(link))
        return self._links[kernel_id]

    def close(self) -> None:
        for link, _ in self._links.values():
            link.close()
        self._context.destroy(linger=0)


class ZmqKernel:
    """The kernel of one notebook, whichever that is from time to time."""

    def __init__(self, pool: KernelPool, current_id: CurrentKernelId) -> None:
        self._pool = pool
        self._current_id = current_id
        self._link: KernelLink | None = None

    async def info(self) -> KernelInfo:
        link, _ = await self._current()
        return await link.info()

    @property
    def kernel_id(self) -> str:
        return self._link.kernel_id if self._link is not None else ""

    def expect(self) -> None:
        if self._link is not None:
            self._link.expect()

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[ZmqSlot]:
        while True:
            link, variables = await self._current()
            async with link.lock:
                with link.connected():
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

    async def external_run(self, source: str) -> ZmqExternalRun:
        while True:
            try:
                link, _ = await self._current()
                run = await self._seen_in(link, source)
            except KernelError:
                run = None
                await asyncio.sleep(LOOK)
            if run is not None:
                return run

    async def _seen_in(self, link: KernelLink, source: str) -> ZmqExternalRun | None:
        """None once the notebook has another kernel."""
        with link.external_runs.watch(source) as seen:
            while link.kernel_id == await self._current_id():
                link.connect()
                await asyncio.wait({seen}, timeout=LOOK)
                if seen.done():
                    return seen.result()
        return None

    async def variables(self, names: tuple[str, ...] = ()) -> list[dict[str, Any]] | None:
        _, variables = await self._current()
        return await variables.read(names)

    async def outline(self) -> list[dict[str, Any]] | None:
        """Name, type, and length or shape of at most 2,000 variables, within 1 s; None where
        not available. Raises KernelError ``no_kernel``."""
        _, variables = await self._current()
        return await variables.outline()

    async def _current(self) -> tuple[KernelLink, Variables]:
        kernel_id = await self._current_id()
        if not kernel_id:
            raise KernelError("no_kernel", "The notebook has no kernel.")
        found = self._pool.get(kernel_id)
        self._link = found[0]
        return found


class ZmqSlot:
    def __init__(self, link: KernelLink, info: KernelInfo, current_id: CurrentKernelId) -> None:
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
        unless: asyncio.Future[ExternalRun] | None = None,
    ) -> AsyncGenerator[ExecutionEvent, None]:
        """As the port says. Waits for idle once more, as a person may have run a cell since
        ``hold`` returned. Raises KernelError, with nothing sent, if the kernel is another
        (``kernel_changed``) or gone (``kernel_dead``)."""
        if await self._current_id() != self.info.kernel_id:
            raise KernelError("kernel_changed", "The notebook has another kernel now.")
        self._run = Run(self._link, source, msg_id, timeout)
        try:
            async with aclosing(self._run.events(self.info.start, unless)) as events:
                async for event in events:
                    yield event
        finally:
            self.close()

    async def stopped(self) -> ExecutionDone | None:
        if self._stopping is not None:
            await asyncio.wait({self._stopping}, timeout=STOP_LIMIT)
        return self._run.done if self._run is not None else None

    def close(self) -> None:
        """Stop what still runs."""
        run = self._run
        if run is not None and run.sent and run.done is None and self._stopping is None:
            self._stopping = self._link.spawn(run.stop())
