"""Runs a notebook's cells in a new kernel of the server's kernel manager, which ends after that."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from jupyter_client.kernelspec import NoSuchKernel
from jupyter_core.utils import ensure_async
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode, from_dict

from ..base.errors import KernelError
from ..base.sentences import Sentence
from ..wire.ops import weight

READY = 60.0
"""Seconds that a kernel has to answer."""
MOST_OUTPUT = 4_000_000
"""Characters of one cell's outputs that are kept; the rest is dropped."""

log = logging.getLogger(__name__)


TOO_LONG = "The cell ran longer than the limit of {limit} s."


class Ran(msgspec.Struct, frozen=True):
    """The result of a cell. ``words``: why it was ``stopped``. ``ended``: the cell ended the
    kernel, so no more cells can run."""

    status: Literal["ok", "error", "stopped"]
    outputs: tuple[dict[str, Any], ...] = ()
    words: Sentence = msgspec.field(default_factory=Sentence)
    ended: bool = False


class FreshKernel:
    """``start``, then ``run`` for each cell in order, then ``close`` in any case."""

    def __init__(
        self, kernels: Any, spec: str, place: dict[str, str], sources: Sequence[str]
    ) -> None:
        """``kernels`` is jupyter_server's kernel manager. ``place``: ``cwd``, a folder of this
        machine, or ``path``, a notebook's path."""
        self._kernels = kernels
        self._spec = spec
        self._place = place
        self._client: _Client | None = None
        self._kernel_id = ""
        cells = [_cell(source) for source in sources]
        self._notebook = from_dict(  # type: ignore[no-untyped-call]
            {"cells": cells, "metadata": {}}
        )

    @property
    def language(self) -> str:
        spec = self._kernels.get_kernel(self._kernel_id).kernel_spec
        return str(spec.language if spec is not None else "").lower()

    async def start(self, timeout: float | None) -> None:
        """``timeout``: seconds for each cell. Raises KernelError ``no_kernel``."""
        # Imported here, because a command line, which has no gateway, does not need it.
        from jupyter_server.gateway.managers import GatewayMappingKernelManager

        if isinstance(self._kernels, GatewayMappingKernelManager):
            # A gateway's blocking clients use the processor while they wait, and miss a kernel's
            # death.
            words = "A fresh kernel is not available where kernels run on a gateway."
            raise KernelError("no_kernel", words)
        try:
            name = self._spec or None
            starting = self._kernels.start_kernel(kernel_name=name, **self._place)
            await self._learn_id(asyncio.ensure_future(ensure_async(starting)))
            kernel = self._kernels.get_kernel(self._kernel_id)
            # A kernel that ends has lost its variables. A restart would hide that.
            kernel.stop_restarter()
            client = kernel.client()
            # Heartbeats are not needed. A heartbeat thread that is stopped before it has begun
            # never ends, opens sockets until there are no more, and keeps the server from stopping.
            client.start_channels(hb=False)
            self._client = _Client(self._notebook, kernel, client, timeout)
            await client.wait_for_ready(timeout=READY)
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

    def will_cancel(self) -> None:
        """The task that runs a cell is about to be cancelled."""
        if self._client is not None:
            self._client.cancelled = True

    async def run(self, index: int) -> Ran:
        """Run the cell with this index. To cancel it, call ``will_cancel`` first."""
        client = self._client
        if client is None:
            raise KernelError("no_kernel", "The kernel has not started.")
        cell = self._notebook.cells[index]
        try:
            await client.run(cell, index)
        except CellExecutionError:
            return Ran("error", tuple(cell.outputs))
        except CellTimeoutError:
            words = Sentence(TOO_LONG, limit=client.timeout)
            return Ran("stopped", tuple(cell.outputs), words)
        except DeadKernelError:
            return Ran("stopped", tuple(cell.outputs), Sentence("The kernel died."), ended=True)
        return Ran("ok", tuple(cell.outputs), ended=client.exits)

    async def close(self) -> None:
        """End the kernel at once."""
        if self._client is not None:
            self._client.kc.stop_channels()
        if self._kernel_id and self._kernel_id in self._kernels:
            await ensure_async(self._kernels.shutdown_kernel(self._kernel_id, now=True))


class _Client(NotebookClient):
    """Drives cells in a running kernel. ``NotebookClient.async_execute`` is not used: it replaces
    the process's signal handlers."""

    def __init__(
        self, notebook: NotebookNode, kernel: Any, client: Any, timeout: float | None
    ) -> None:
        limit = None if timeout is None else max(1, round(timeout))
        super().__init__(notebook, kernel, timeout=limit, record_timing=False)
        self.kc: Any = client
        client.allow_stdin = False
        self.cancelled = False
        self.exits = False
        """Whether a cell told the kernel to exit, which takes a moment."""
        self.on_cell_executed = self._learn_exit
        self._kept = 0
        self._watches: asyncio.Task[Any] | None = None

    async def run(self, cell: NotebookNode, index: int) -> None:
        """Raises nbclient's errors, and CancelledError."""
        self._kept = 0
        try:
            await self.async_execute_cell(cell, index, store_history=True)
        except DeadKernelError:
            if self.cancelled:  # nbclient reports a cancelled task like a dead kernel.
                raise asyncio.CancelledError from None
            raise
        finally:
            if self._watches is not None:
                self._watches.cancel()

    def _learn_exit(self, execute_reply: Any, **_: Any) -> None:
        payload = execute_reply["content"].get("payload") or ()
        self.exits = any(one.get("source") == "ask_exit" for one in payload)

    async def _async_poll_kernel_alive(self) -> None:
        self._watches = asyncio.current_task()
        await super()._async_poll_kernel_alive()

    def process_message(self, msg: Any, cell: NotebookNode, cell_index: int) -> Any:
        if msg["msg_type"] != "status":
            self._kept += weight(msg["content"], MOST_OUTPUT)
            if self._kept > MOST_OUTPUT:
                return None
        return super().process_message(msg, cell, cell_index)


def _cell(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "outputs": [],
        "execution_count": None,
        "metadata": {},
    }
