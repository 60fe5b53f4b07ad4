"""The workbench of one program: the managers that a Jupyter server would have, without the server.

Kernels are this program's own: they end with it, and do not share its output or its keys. Or one
is used that a server has; that goes on.
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
from types import TracebackType
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
from jupyter_server.services.sessions.sessionmanager import ModelName, SessionManager
from traitlets.config import Config

from ...adapters.providers.replay.recording import Recording
from ...core.redaction.secrets import Secrets
from ...server.early import import_early
from ...server.files.beside import files_beside, read_beside
from ...server.files.rule_files import rule_files
from ...server.workbench.settings import CodeInterpSettings
from ...server.workbench.workbench import Workbench
from .existing import Existing, ServersKernel
from .problems import Problem

PATIENCE = 10.0
"""Seconds that kernels have to shut down by themselves."""
STARTS = 2
"""A kernel ends at once if one of its ports was taken as it was to use it."""
LOOK = 0.1
"""Seconds between two looks at whether its process still is there."""

log = logging.getLogger(__name__)


class Kernels(AsyncMappingKernelManager):
    """``folder`` is where kernels work, if it is not the notebook's own."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._made: list[Any] = []

    folder: Path | None = None
    without_keys: Callable[[dict[str, str]], dict[str, str]]

    async def start_kernel(self, *args: Any, **given: Any) -> Any:  # type: ignore[override]
        given["env"] = self.without_keys(given.get("env") or dict(os.environ))
        # What code writes past its cell must not reach a terminal, or stand between events.
        given.update(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return await super().start_kernel(*args, **given)

    def cwd_for_path(self, path: str, **given: Any) -> Any:
        if self.folder is not None:
            return str(self.folder)
        return super().cwd_for_path(path, **given)

    def pre_start_kernel(self, *args: Any, **given: Any) -> Any:
        """One whose start is broken off has a process, and is in no list of the manager's."""
        made = super().pre_start_kernel(*args, **given)
        self._made.append(made[0])
        return made

    def use(self, found: Existing) -> None:
        """Have a server's kernel among these, under its id."""
        kernel = ServersKernel(found, parent=self, log=self.log)
        self._kernels[found.kernel_id] = kernel
        self._kernel_connections[found.kernel_id] = 0

    def kill(self) -> None:
        """All of its own at once, waiting for nothing."""
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
    """Within ``async with``. ``root`` stands for a server's; ``recording`` is what plays as the
    offline demo's model, if it is not the package's own; ``existing`` is the kernel to use, if
    none is to be started."""

    def __init__(
        self,
        config: Config,
        settings: CodeInterpSettings,
        root: Path,
        recording: Recording | None = None,
        existing: Existing | None = None,
    ) -> None:
        self._existing = existing
        specs = KernelSpecManager(config=config)
        contents = AsyncLargeFileManager(config=config, root_dir=str(root), allow_hidden=True)
        self.contents = contents
        self.kernels = Kernels(config=config, root_dir=str(root), kernel_spec_manager=specs)
        self.kernels.without_keys = self._without_keys
        sessions = SessionManager(kernel_manager=self.kernels, contents_manager=contents)
        self._sessions = sessions
        super().__init__(settings, contents, self.kernels, sessions, {}, recording=recording)

    async def __aenter__(self) -> LocalBench:
        import_early()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            await self.close()
        finally:
            try:
                await asyncio.wait_for(self.kernels.shutdown_all(), PATIENCE)
            except Exception as error:
                # One that has never started is unknown to its own manager, for example.
                log.info("Kernels do not shut down by themselves: %r", error)
            self.kernels.kill()

    async def kernel_ready(self, path: str, name: str) -> None:
        """The notebook has a kernel, and that runs. Raises CommandError as ``ready`` does, and
        Problem."""
        if self._existing is not None:
            self.kernels.use(self._existing)
            await self._sessions.create_session(
                path, ModelName(Path(path).name), "notebook", kernel_id=self._existing.kernel_id
            )
        for _ in range(STARTS):
            await self.notebook_kernels.ready(path, name)
            kernel_id = await self.notebook_kernels.of(path) or ""
            kernel = self.kernels.get_kernel(kernel_id)
            code = await self._ended(kernel_id, kernel)
            if code is None:
                return
            await self.kernels.shutdown_kernel(kernel_id, now=True)
        command = " ".join(kernel.kernel_spec.argv if kernel.kernel_spec is not None else ())
        words = f"The kernel {kernel.kernel_name} ends as it is started, with the exit code {code}."
        raise Problem(f"{words} Its command: {command}")

    async def _ended(self, kernel_id: str, kernel: Any) -> int | None:
        """The exit code of a kernel that has ended before it has said a word."""
        process = getattr(kernel.provisioner, "process", None)
        if process is None:
            return None  # It runs elsewhere, and is waited for by whoever needs it.
        link, _ = self._kernels.get(kernel_id)
        info = asyncio.ensure_future(link.info())
        while not info.done() and process.poll() is None:
            await asyncio.wait({info}, timeout=LOOK)
        info.cancel()
        await asyncio.gather(info, return_exceptions=True)
        code: int | None = process.poll()
        return code

    def work_beside(self, notebook: Path) -> None:
        """Kernels work in this notebook's folder, and the model is told of the files there:
        the one that is worked in is a copy."""
        folder = notebook.parent
        self.kernels.folder = folder
        there = AsyncLargeFileManager(root_dir=str(folder))
        self.manager.files = lambda copy, most: files_beside(there, notebook.name, most)
        self.manager.read_file = lambda copy, name, most: read_beside(
            there, notebook.name, name, most
        )
        if self._reads_rules:
            self.manager.rule_files = lambda copy: rule_files(there, notebook.name)

    def _without_keys(self, environment: dict[str, str]) -> dict[str, str]:
        """A kernel has no need of the models' keys: no variable that holds one is passed on."""
        return without_keys(environment, self.models.key_variables(), self.secrets)

    @property
    def language(self) -> str:
        """Of the kernels, as a kernelspec says; "" if it is not known."""
        for kernel_id in self.kernels.list_kernel_ids():
            spec = self.kernels.get_kernel(kernel_id).kernel_spec
            return str(spec.language if spec is not None else "").lower()
        return ""


def without_keys(
    environment: dict[str, str], names: frozenset[str], secrets: Secrets
) -> dict[str, str]:
    return {
        name: value
        for name, value in environment.items()
        if name not in names and secrets.scrub(value) == value
    }
