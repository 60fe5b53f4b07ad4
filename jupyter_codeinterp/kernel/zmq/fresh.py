"""Runs a notebook's cells in a new kernel of the server's kernel manager, which ends after that."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import aclosing
from typing import Any, Literal

import msgspec
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_core.utils import ensure_async

from ...base.errors import KernelError
from ...base.sentences import Sentence
from .link import KernelLink
from .process import LocalProcess
from .run import Run
from .unusable import EXITED
from .wire import new_context

READY = 60.0
"""Seconds that a kernel has to answer."""
TOO_LONG = "The cell ran longer than the limit of {limit} s."
DIED = Sentence("The kernel died.")

log = logging.getLogger(__name__)


class Ran(msgspec.Struct, frozen=True):
    """The result of a cell. ``words``: why it was ``stopped``. ``ended``: the cell ended the
    kernel, so no more cells can run."""

    status: Literal["ok", "error", "stopped"]
    outputs: tuple[dict[str, Any], ...] = ()
    words: Sentence = msgspec.field(default_factory=Sentence)
    ended: bool = False


class _Process(LocalProcess):
    """A process that nobody starts again: its successor would lack the variables."""

    autorestarts = False

    async def restart(self) -> None:
        await self.kill()


class FreshKernel:
    """``start``, then ``run`` for each cell in order, then ``close`` in any case."""

    def __init__(self, kernels: Any, spec: str, place: dict[str, str]) -> None:
        """``kernels`` is jupyter_server's kernel manager. ``place``: ``cwd``, a folder of this
        machine, or ``path``, a notebook's path."""
        self._kernels = kernels
        self._spec = spec
        self._place = place
        self._kernel_id = ""
        self._context = new_context()
        self._link: KernelLink | None = None
        self._timeout: float | None = None

    async def start(self, timeout: float | None) -> None:
        """``timeout``: seconds for each cell. Raises KernelError ``no_kernel``."""
        # Imported here, because a command line, which has no gateway, does not need it.
        from jupyter_server.gateway.managers import GatewayMappingKernelManager

        if isinstance(self._kernels, GatewayMappingKernelManager):
            words = "A fresh kernel is not available where kernels run on a gateway."
            raise KernelError("no_kernel", words)
        self._timeout = timeout
        try:
            name = self._spec or None
            starting = self._kernels.start_kernel(kernel_name=name, **self._place)
            await self._learn_id(asyncio.ensure_future(ensure_async(starting)))
            # A kernel that ends has lost its variables. A restart would hide that.
            self._kernels.get_kernel(self._kernel_id).stop_restarter()
            process = _Process(self._kernels, self._kernel_id, self._context)
            self._link = KernelLink(process, self._kernel_id, 1)
            await asyncio.wait_for(self._link.settle(), READY)
        except NoSuchKernel as error:
            raise KernelError(
                "no_kernel", "There is no kernel {name!r} here.", name=error.name
            ) from None
        except Exception as error:
            # A kernelspec's program may be missing, and managers may raise anything.
            log.info("Could not start a fresh kernel", exc_info=True)
            words = Sentence("Could not start a fresh kernel: {error}", error=error)
            raise KernelError("no_kernel", words) from None

    async def _learn_id(self, starting: asyncio.Future[Any]) -> None:
        """Wait for the start even when cancelled: a cancelled start would leave an unknown
        kernel."""
        try:
            self._kernel_id = str(await asyncio.shield(starting))
        except asyncio.CancelledError:
            self._kernel_id = str(await starting)
            raise

    async def run(self, source: str) -> Ran:
        if self._link is None:
            raise KernelError("no_kernel", "The kernel has not started.")
        link, start = self._link, self._link.start

        async def is_same() -> bool:
            return link.start == start

        run = Run(link, source, uuid.uuid4().hex, self._timeout)
        try:
            async with aclosing(run.events(is_same)) as events:
                async for _ in events:
                    pass
        except KernelError:
            return Ran("stopped", words=DIED, ended=True)
        done = run.done
        assert done is not None
        if done.status == "dead":
            # The last output says so, too.
            exits, outputs = done.note.startswith(EXITED), done.outputs[:-1]
            return Ran("ok" if exits else "stopped", outputs, Sentence() if exits else DIED, True)
        if done.status == "timeout":
            return Ran("stopped", done.outputs, Sentence(TOO_LONG, limit=round(self._timeout or 0)))
        return Ran("ok" if done.status == "ok" else "error", done.outputs)

    async def close(self) -> None:
        """End the kernel at once."""
        if self._link is not None:
            self._link.close()
        if self._kernel_id and self._kernel_id in self._kernels:
            await ensure_async(self._kernels.shutdown_kernel(self._kernel_id, now=True))
        self._context.destroy(linger=0)
