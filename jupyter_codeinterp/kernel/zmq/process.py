"""A kernel process of this machine, through the server's kernel manager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import zmq.asyncio
from jupyter_core.utils import ensure_async
from jupyter_server.services.kernels.kernelmanager import MappingKernelManager

from ...base.sentences import Sentence, together
from ...sandbox import is_sandboxed
from ..wire import KernelMessage, Process, Spec
from ..wire.port import GONE
from .wire import ZmqWire


class LocalProcess(Process):
    def __init__(
        self, kernels: MappingKernelManager, kernel_id: str, context: zmq.asyncio.Context
    ) -> None:
        super().__init__(kernels, kernel_id)
        self._context = context
        self._restarted: Callable[[], None] | None = None

    @property
    def sandbox(self) -> Any:
        return self._km.provisioner if is_sandboxed(self._km) else None

    @property
    def is_ending(self) -> bool:
        # A shutdown or restart begins with an interrupt, which may end a run normally just before.
        return bool(self._km.shutting_down)

    @property
    def number(self) -> int | None:
        pid: int | None = getattr(self._km.provisioner, "pid", None)
        return pid

    @property
    def autorestarts(self) -> bool:
        return bool(self._km.autorestart)

    @property
    def gone(self) -> Sentence:
        # A sandbox knows which limit the kernel hit.
        why = getattr(self._km.provisioner, "why_ended", "")
        return together(why, GONE) if isinstance(why, str) and why else GONE

    async def spec(self) -> Spec | None:
        spec = self._km.kernel_spec
        return Spec(str(spec.display_name), str(spec.language)) if spec else None

    async def is_alive(self) -> bool:
        return bool(await ensure_async(self._km.is_alive()))

    async def check(self) -> None:
        """Do nothing: ``is_alive`` asks the operating system."""

    async def interrupt(self) -> None:
        await ensure_async(self._km.interrupt_kernel())

    async def restart(self) -> None:
        answered = await ensure_async(self._kernels.restart_kernel(self._kernel_id))
        if answered is not None:
            await answered

    async def kill(self) -> None:
        if self._km.provisioner is not None:
            await self._km.provisioner.kill()

    def on_restart(self, restarted: Callable[[], None]) -> None:
        self._restarted = restarted
        self._kernels.add_restart_callback(self._kernel_id, restarted)

    def connect(self, on_iopub: Callable[[KernelMessage], None]) -> ZmqWire:
        return ZmqWire(self._km, self._context, on_iopub)

    def close(self) -> None:
        if self._restarted is not None:
            self._km.remove_restart_callback(self._restarted)
