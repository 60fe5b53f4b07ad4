"""The workbench of one program: the managers that a Jupyter server would have, without the server.

Kernels are this program's own. They end with it, and do not share its output or its keys.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from traitlets.config import Config

from . import grammar

grammar.leave_out()

from jupyter_client.kernelspec import KernelSpecManager  # noqa: E402
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager  # noqa: E402
from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager  # noqa: E402
from jupyter_server.services.sessions.sessionmanager import SessionManager  # noqa: E402

from ...adapters.providers.replay.recording import Recording  # noqa: E402
from ...core.redaction.secrets import Secrets  # noqa: E402
from ...server.early import import_early  # noqa: E402
from ...server.workbench.settings import CodeInterpSettings  # noqa: E402
from ...server.workbench.workbench import Workbench, files_beside  # noqa: E402

PATIENCE = 10.0
"""Seconds that kernels have to shut down by themselves."""


class Kernels(AsyncMappingKernelManager):
    """``folder`` is where kernels work, if it is not the notebook's own."""

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

    def kill(self) -> None:
        """All at once, waiting for nothing."""
        for kernel in list(self._kernels.values()):
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
    offline demo's model, if it is not the package's own."""

    def __init__(
        self,
        config: Config,
        settings: CodeInterpSettings,
        root: Path,
        recording: Recording | None = None,
    ) -> None:
        specs = KernelSpecManager(config=config)
        contents = AsyncLargeFileManager(config=config, root_dir=str(root), allow_hidden=True)
        self.kernels = Kernels(config=config, root_dir=str(root), kernel_spec_manager=specs)
        self.kernels.without_keys = self._without_keys
        sessions = SessionManager(kernel_manager=self.kernels, contents_manager=contents)
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
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.kernels.shutdown_all(), PATIENCE)
            self.kernels.kill()

    def work_beside(self, notebook: Path) -> None:
        """Kernels work in this notebook's folder, and the model is told of the files there:
        the one that is worked in is a copy."""
        folder = notebook.parent
        self.kernels.folder = folder
        there = AsyncLargeFileManager(root_dir=str(folder))
        self.manager.files = lambda copy: files_beside(there, notebook.name)

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
