"""A kernel of a gateway, through the server's kernel manager."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from jupyter_client.session import Session
from jupyter_core.utils import ensure_async
from jupyter_server.gateway.gateway_client import gateway_request
from tornado.web import HTTPError

from ...base.errors import KernelError
from ...base.sentences import Sentence
from ..wire import KernelMessage, Process, Spec
from ..wire.port import GONE
from .wire import NOT_FOUND, SHUT_DOWN, GatewayWire

AGAIN = 5.0
"""Seconds before the next attempt to reach a kernel."""

log = logging.getLogger(__name__)


class GatewayProcess(Process):
    """A gateway reports nothing about a kernel's process. It restarts a kernel that died, and says
    so on the wire."""

    is_here = False

    def __init__(self, kernels: Any, kernel_id: str) -> None:
        """``kernels`` is jupyter_server's ``GatewayMappingKernelManager``."""
        super().__init__(kernels, kernel_id)
        self._restarted: Callable[[], None] = lambda: None
        self._spec: Spec | None = None
        self._ended = Sentence()
        self._ended_at = 0.0

    @property
    def gone(self) -> Sentence:
        return self._ended or GONE

    async def spec(self) -> Spec | None:
        if self._spec is None:
            name = (self._km.kernel or {}).get("name", "")
            try:
                found = await self._kernels.kernel_spec_manager.get_kernel_spec(name)
            except (HTTPError, KeyError):
                return Spec(name, "") if name else None
            spec = found.get("spec", {})
            self._spec = Spec(spec.get("display_name", name), spec.get("language", ""))
        return self._spec

    async def is_alive(self) -> bool:
        return not self._ended or asyncio.get_running_loop().time() > self._ended_at + AGAIN

    async def check(self) -> None:
        try:
            await gateway_request(self._km.kernel_url, method="GET")
        except HTTPError as error:
            if error.status_code == NOT_FOUND:
                self._end(SHUT_DOWN)

    async def interrupt(self) -> None:
        try:
            await ensure_async(self._km.interrupt_kernel())
        except HTTPError as error:
            words = Sentence("The gateway did not interrupt the kernel: {why}", why=_why(error))
            raise KernelError("kernel_dead", words) from None

    async def restart(self) -> None:
        try:
            await ensure_async(self._kernels.restart_kernel(self._kernel_id))
        except HTTPError as error:
            raise RuntimeError(_why(error)) from None

    async def kill(self) -> None:
        await self.restart()

    def on_restart(self, restarted: Callable[[], None]) -> None:
        self._restarted = restarted

    def connect(self, on_iopub: Callable[[KernelMessage], None]) -> GatewayWire:
        self._ended = Sentence()
        session = Session(config=self._km.config)
        return GatewayWire(self._kernel_id, session, on_iopub, lambda: self._restarted(), self._end)

    def _end(self, why: Sentence) -> None:
        log.info("Kernel %s: %s", self._kernel_id, why)
        self._ended = why
        self._ended_at = asyncio.get_running_loop().time()

    def close(self) -> None:
        self._restarted = lambda: None


def _why(error: HTTPError) -> str:
    return str(error.log_message or error.reason or error.status_code)
