"""The workbench of one program, with a Jupyter server's managers but without the server.

Kernels belong to this program: they end with it, and get neither its output nor its keys. A
server's existing kernel keeps running.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.paths import jupyter_runtime_dir
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.services.sessions.sessionmanager import ModelName, SessionManager
from traitlets.config import Config

from ...app.settings import CodeInterpSettings
from ...app.workbench import Workbench
from ...base.preload import preload
from .existing import Existing, ServersKernel
from .problems import Problem

SHUTDOWN_TIMEOUT = 10.0
"""Seconds that kernels have to shut down."""
POLL = 0.1
"""Seconds between checks of a kernel's process."""

log = logging.getLogger(__name__)


class Kernels(AsyncMappingKernelManager):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._made: list[Any] = []

    without_keys: Callable[[dict[str, str]], dict[str, str]]

    async def start_kernel(self, *args: Any, **given: Any) -> Any:  # type: ignore[override]
        given["env"] = self.without_keys(given.get("env") or dict(os.environ))
        # Output past the cell must not reach the terminal or mix with JSON events.
        given.update(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return await super().start_kernel(*args, **given)

    def pre_start_kernel(self, *args: Any, **given: Any) -> Any:
        """Remember the kernel: a cancelled start leaves a process that the manager forgets."""
        made = super().pre_start_kernel(*args, **given)
        self._made.append(made[0])
        return made

    def use(self, found: Existing) -> None:
        """Add a server's kernel, under its id."""
        kernel = ServersKernel(found, parent=self, log=self.log)
        self._kernels[found.kernel_id] = kernel
        self._kernel_connections[found.kernel_id] = 0

    def kill(self) -> None:
        """Kill all own kernels without waiting."""
        for kernel in self._made:
            process = getattr(getattr(kernel, "provisioner", None), "process", None)
            if process is not None and process.poll() is None:
                with suppress(OSError):
                    _kill(process.pid)


def _kill(pid: int) -> None:
    if hasattr(os, "killpg") and os.getpgid(pid) != os.getpgrp():
        os.killpg(pid, signal.SIGKILL)
    else:
        os.kill(pid, signal.SIGTERM)


class LocalBench(Workbench):
    """An async context manager. ``root``: the root folder, as of a server; ``existing``: the
    kernel to use instead of a new one."""

    def __init__(
        self,
        config: Config,
        settings: CodeInterpSettings,
        root: Path,
        existing: Existing | None = None,
    ) -> None:
        self._existing = existing
        specs = KernelSpecManager(config=config)
        contents = AsyncLargeFileManager(config=config, root_dir=str(root), allow_hidden=True)
        # Not the current folder: a connection file there could stay, and the kernel can change it.
        runtime = Path(jupyter_runtime_dir())
        runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.kernels = Kernels(
            config=config,
            root_dir=str(root),
            kernel_spec_manager=specs,
            connection_dir=str(runtime),
        )
        self.kernels.without_keys = self._without_keys
        sessions = SessionManager(kernel_manager=self.kernels, contents_manager=contents)
        self._sessions = sessions
        super().__init__(settings, contents, self.kernels, sessions, {})

    async def __aenter__(self) -> LocalBench:
        preload()
        return self

    async def __aexit__(self, *raised: object) -> None:
        try:
            await self.close()
        finally:
            try:
                await asyncio.wait_for(self.kernels.shutdown_all(), SHUTDOWN_TIMEOUT)
            except Exception as error:
                # For example, the manager does not know a kernel that never started.
                log.info("Could not shut down kernels: %r", error)
            self.kernels.kill()
            self.kernels.context.destroy(linger=0)

    async def kernel_ready(self, path: str, name: str) -> None:
        """Make sure that the notebook has a running kernel. Raises Problem, and CommandError as
        ``NotebookKernels.ready``."""
        if self._existing is not None:
            self.kernels.use(self._existing)
            await self._sessions.create_session(
                path, ModelName(Path(path).name), "notebook", kernel_id=self._existing.kernel_id
            )
        await self.notebook_kernels.ready(path, name)
        kernel_id = await self.notebook_kernels.of(path) or ""
        kernel = self.kernels.get_kernel(kernel_id)
        code = await self._ended(kernel_id, kernel)
        if code is None:
            return
        await self.kernels.shutdown_kernel(kernel_id, now=True)
        command = " ".join(kernel.kernel_spec.argv if kernel.kernel_spec is not None else ())
        words = f"The kernel {kernel.kernel_name} exits at start, with exit code {code}."
        raise Problem(f"{words} Its command: {command}")

    async def _ended(self, kernel_id: str, kernel: Any) -> int | None:
        """Wait for a kernel's first reply, or its exit code if it ends before."""
        process = getattr(kernel.provisioner, "process", None)
        if process is None:
            return None  # It runs elsewhere.
        link, _ = self._kernels.get(kernel_id)
        info = asyncio.ensure_future(link.info())
        while not info.done() and process.poll() is None:
            await asyncio.wait({info}, timeout=POLL)
        info.cancel()
        await asyncio.gather(info, return_exceptions=True)
        code: int | None = process.poll()
        return code

    def _without_keys(self, environment: dict[str, str]) -> dict[str, str]:
        """The environment for kernels, without variables that hold a model key."""
        names = self.models.key_variables()
        return {
            name: value
            for name, value in environment.items()
            if name not in names and self.scrub(value) == value
        }
