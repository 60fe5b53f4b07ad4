"""A kernel provisioner of jupyter_client that launches kernels in a sandbox."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Bool, Integer, List, Unicode

from ..base.sentences import Sentence
from .network import gate
from .network.book import ConnectionRecord
from .overlay.layer import LayerError, new
from .overlay.layer import place as place_of_layers
from .overlay.written import Written
from .shared import folders, interpreter, open_folders
from .shared.limits import (
    NO_NETWORK,
    KernelLimits,
    is_out_of_memory,
    is_without_network,
    memory_limit,
    went_on_writing,
    wrote_too_much,
)
from .shared.place import SandboxPlace, sweep
from .walls import bubblewrap
from .walls.bubblewrap import KernelStart
from .walls.disk import BytesWritten, DiskGuard
from .walls.launching import LAUNCHER, LaunchError, SandboxProcess, launched

GIB = 1024**3
PASSED = (
    "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "MPLBACKEND", "JPY_SESSION_NAME",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_MAX_THREADS",
)  # fmt: skip
"""Environment variables that a kernel gets, besides LC_*."""


class SandboxProvisioner(LocalProvisioner):
    """Its traits are set in Jupyter's configuration, or in a kernelspec's
    ``metadata.kernel_provisioner.config``."""

    readable = List(Unicode(), config=True, help="Further folders that the kernel may read.")
    allow = List(Unicode(), config=True, help="What it may connect to: each a host:port.")
    overlay = Bool(False, config=True, help="Keep its files outside the notebook's folder.")
    overlay_folder = Unicode(
        "", config=True, help="The folder for its files then; by default in Jupyter's data."
    )
    variables = List(Unicode(), config=True, help="Further environment variables for it.")
    scratch = Integer(GIB, config=True, help="Bytes of HOME, of /tmp and of /dev/shm, each.")
    memory = Integer(0, config=True, help="Bytes of memory; 0 for no limit.")
    processes = Integer(512, config=True, help="Processes and threads.")
    open_files = Integer(4096, config=True, help="Open files of each process.")
    file_size = Integer(10 * GIB, config=True, help="Bytes of each file that it writes.")
    disk = Integer(
        20 * GIB, config=True, help="Bytes that it writes to disks in all; 0 for no limit."
    )

    place: SandboxPlace | None = None
    written: Written | None = None
    """The files that the kernel wrote; None without an overlay."""
    why_ended = Sentence()
    """Why the sandbox ended the last process; "" if it did not."""
    _sandbox: SandboxProcess | None = None
    _guard: DiskGuard | None = None
    _environment: dict[str, str]

    @property
    def launched(self) -> bool:
        """Whether a process runs that this object put into a sandbox."""
        return self._sandbox is not None and self.process is self._sandbox.popen

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        await asyncio.wrap_future(LAUNCHER.submit(sweep))
        if self.place is None:
            self.place = SandboxPlace()
        else:
            self.place.empty()
        manager = self.parent
        if manager is None:
            raise LaunchError("A sandboxed kernel needs a kernel manager.")
        manager.transport, manager.ip, manager.cache_ports = "ipc", self.place.prefix, False
        return dict(await super().pre_launch(**kwargs))

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        place, cwd = self.place, str(kwargs.get("cwd") or Path.cwd())
        if place is None:
            raise LaunchError("The kernel was not prepared.")
        self.cwd: Any = cwd
        environment = dict(kwargs.get("env") or os.environ)
        try:
            self._sandbox = await self._started(cmd, environment, cwd, place)
        except BaseException:
            self._remove_place()
            # In the launcher's thread, after its work: this reads and removes files.
            LAUNCHER.submit(self._leave_layer)
            raise
        self._guard = self._guarded(self._sandbox)
        self.process = self._sandbox.popen
        self.pid = self.pgid = self.process.pid
        return self.connection_info

    async def _started(
        self, cmd: list[str], environment: dict[str, str], cwd: str, place: SandboxPlace
    ) -> SandboxProcess:
        sandbox = await launched(lambda: self._launch(cmd, environment, cwd, place))
        info: dict[str, Any] = {**self.connection_info}
        ports = tuple(info[f"{one}_port"] for one in CHANNELS)
        naming = (ports, lambda: sandbox.popen.returncode is None)
        threading.Thread(target=place.name_sockets, args=naming, daemon=True).start()
        return sandbox

    def _guarded(self, sandbox: SandboxProcess) -> DiskGuard | None:
        if not self.disk:
            return None
        layer = self.written.layer.upper if self.written is not None else None
        written = BytesWritten(sandbox.init, layer)
        return DiskGuard(written, self.disk, sandbox.send, sandbox.kill)

    def _launch(
        self,
        cmd: list[str],
        environment: dict[str, str],
        cwd: str,
        place: SandboxPlace,
    ) -> SandboxProcess:
        python = shutil.which(cmd[0])
        if python is None:
            raise LaunchError(f"There is no program {cmd[0]}.")
        # The sandbox has only the real folder. The file stays a link: it leads to the environment.
        python = str(Path(os.path.realpath(Path(python).parent), Path(python).name))
        try:
            needed = interpreter.folders(python)
            seen = folders.folders_of(cwd, needed, self.readable)
            written = self._overlaid(seen.notebook)
            if written is None:
                seen = _opened(seen)
        except (interpreter.InterpreterError, folders.FolderError, LayerError, OSError) as error:
            raise LaunchError(str(error)) from None
        manager: Any = self.parent
        # jupyter_client puts the real path into the command, not the one that it was given.
        outside = os.path.realpath(manager.connection_file)
        if not any(outside in one for one in cmd[1:]):
            # The kernel would listen on other sockets.
            raise LaunchError("The kernelspec's command does not name {connection_file}.")
        kernel = KernelStart(
            python=python,
            arguments=cmd[1:],
            file=outside,
            connection={**self.connection_info},
            environment=self._inside(environment, python),
            folders=seen,
            place=place,
            scratch=self.scratch,
            limits=self._limits,
            layer=written.layer if written is not None else None,
        )
        way = self._way(place)
        try:
            return bubblewrap.start(kernel, way)
        except BaseException:
            if way is not None:
                way.close()
            raise

    def _overlaid(self, notebook: Path) -> Written | None:
        """The kernel's layer, which survives restarts; None without an overlay. Raises
        LayerError."""
        if not self.overlay:
            return None
        if self.written is None or self.written.layer.folder != notebook:
            self._leave_layer()
            layer = new(place_of_layers(self.overlay_folder), notebook)
            self.written = Written(layer, lambda: self.pid if self.launched else None)
        self.written.start()
        return self.written

    def _leave_layer(self) -> None:
        if self.written is not None:
            self.written.leave()
            self.written = None

    def _way(self, place: SandboxPlace) -> gate.Gate | None:
        """The gate to the allowed hosts; None without any."""
        if not self.allow:
            return None
        try:
            return gate.Gate(place.path / "network", self.allow)
        except (ValueError, OSError) as error:
            raise LaunchError(str(error)) from None

    def hit(self, error: str, since: float) -> Sentence:
        """A sentence about the limit, or the missing network, that made a run fail; "" for none.
        ``error``: the exception's name and text. ``since``: the run's start by
        ``time.monotonic``."""
        guard, overlay = self._guard, self.written is not None
        if guard is not None and guard.hit(since):
            return wrote_too_much(self._limits, overlay=overlay, hides=guard.hides)
        if self.memory and is_out_of_memory(error):
            return memory_limit(self._limits)
        return NO_NETWORK if not self.allow and is_without_network(error) else Sentence()

    def connections(self, since: float) -> tuple[list[ConnectionRecord], bool]:
        """The connections that were refused or made since this time of ``time.monotonic``, and
        whether there were more."""
        way = self._sandbox.gate if self._sandbox is not None else None
        return ([], False) if way is None else (way.log.since(since), way.log.has_lost(since))

    @property
    def _limits(self) -> KernelLimits:
        return KernelLimits(self.memory, self.processes, self.open_files, self.file_size, self.disk)

    def _inside(self, environment: dict[str, str], python: str) -> dict[str, str]:
        named = {*PASSED, *self.variables, *(self.kernel_spec.env or {})}
        kept = {
            name: value
            for name, value in environment.items()
            if name in named or name.startswith("LC_")
        }
        return {**kept, "PATH": f"{Path(python).parent}:/usr/local/bin:/usr/bin:/bin"}

    async def poll(self) -> int | None:
        code = await super().poll()
        if code is not None and self._sandbox is not None:
            guard, self.why_ended = self._guard, Sentence()
            if guard is not None and guard.has_ended_it:
                self.why_ended = went_on_writing(self._limits, hides=guard.hides)
            self._sandbox.close()
            self._sandbox = None
        return code

    async def send_signal(self, signum: int) -> None:
        if self._sandbox is None:
            return
        if signum == signal.SIGKILL:
            self._sandbox.kill()
        else:
            self._sandbox.send(signum)

    async def cleanup(self, restart: bool = False) -> None:
        if self._sandbox is not None:
            self._sandbox.kill()
        if not restart:
            self._remove_place()
            await asyncio.to_thread(self._leave_layer)

    def _remove_place(self) -> None:
        if self.place is not None:
            self.place.remove()
            self.place = None


def _opened(seen: folders.Folders) -> folders.Folders:
    """Remember that a kernel may write directly in the notebook's folder. Make Jupyter's folder of
    checkpoints before the kernel can. Raises OSError."""
    checkpoints = seen.notebook / ".ipynb_checkpoints"
    with suppress(OSError):  # it is there, or the folder is read-only
        checkpoints.mkdir()
        seen = seen._replace(protected=(*seen.protected, checkpoints))
    open_folders.add(seen.notebook, seen.instructions)
    return seen


CHANNELS = ("shell", "iopub", "stdin", "control", "hb")
