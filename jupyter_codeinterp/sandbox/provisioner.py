"""Launches a kernel in a sandbox, as jupyter_client's kernel provisioner."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import threading
from concurrent.futures import Future
from pathlib import Path
from subprocess import SubprocessError
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Bool, Integer, List, Unicode

from . import folders, interpreter, seccomp
from .arguments import INSIDE, Sandbox, arguments
from .launching import LAUNCHER, LaunchError, Process, launch
from .limits import Limits, what_was_hit, why_ended
from .network import gate, refusals
from .overlay.layer import LayerError, new
from .overlay.layer import place as place_of_layers
from .overlay.written import Written
from .place import Place, sweep

GIB = 1024**3
PASSED = (
    "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "MPLBACKEND", "JPY_SESSION_NAME",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_MAX_THREADS",
)  # fmt: skip
"""Variables that a kernel gets, and LC_*."""
CONNECTION = "/run/connection.json"
"""The connection file, in the sandbox."""


class SandboxProvisioner(LocalProvisioner):
    """Its traits are set in Jupyter's configuration, or in a kernelspec's
    ``metadata.kernel_provisioner.config``."""

    bwrap = Unicode("bwrap", config=True, help="bubblewrap's program.")
    readable = List(Unicode(), config=True, help="Further folders that the kernel may read.")
    allow = List(Unicode(), config=True, help="What it may connect to: each a host:port, or pypi.")
    overlay = Bool(False, config=True, help="Keep what it writes out of the notebook's folder.")
    overlay_folder = Unicode(
        "", config=True, help="Where that waits; by default in Jupyter's data."
    )
    variables = List(Unicode(), config=True, help="Further environment variables that it gets.")
    entries = Integer(folders.ENTRIES, config=True, help="Files searched for read-only folders.")
    scratch = Integer(GIB, config=True, help="Bytes of HOME, of /tmp and of /dev/shm, each.")
    memory = Integer(0, config=True, help="Bytes of memory; 0 for no limit.")
    processes = Integer(512, config=True, help="Processes and threads.")
    open_files = Integer(4096, config=True, help="Open files of each process.")
    file_size = Integer(10 * GIB, config=True, help="Bytes of each file that it writes.")
    cpu = Integer(0, config=True, help="CPU seconds of each process; 0 for no limit.")

    place: Place | None = None
    written: Written | None = None
    """What the kernel has written, with an overlay."""
    why_ended = ""
    """Why the last process ended by itself; "" if unknown, or if somebody ended it."""
    _sandbox: Process | None = None
    _asked = False
    _environment: dict[str, str]

    @property
    def launched(self) -> bool:
        """Whether a process runs that this object put into a sandbox."""
        return self._sandbox is not None and self.process is self._sandbox.popen

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        await asyncio.wrap_future(LAUNCHER.submit(sweep))
        if self.place is None:
            self.place = Place()
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
        self._asked = False
        environment = dict(kwargs.get("env") or os.environ)
        started = LAUNCHER.submit(self._launch, cmd, environment, cwd, place)
        try:
            self._sandbox = await asyncio.wrap_future(started)
        except BaseException:
            # A cancelled launch may still go on in its thread.
            started.add_done_callback(_kill)
            self._remove_place()
            self._leave_layer()
            raise
        self.process = self._sandbox.popen
        self.pid = self.pgid = self.process.pid
        info: dict[str, Any] = {**self.connection_info}
        ports = [info[f"{one}_port"] for one in CHANNELS]
        naming = (tuple(ports), lambda popen=self.process: popen.returncode is None)
        threading.Thread(target=place.name_sockets, args=naming, daemon=True).start()
        return self.connection_info

    def _launch(
        self, cmd: list[str], environment: dict[str, str], cwd: str, place: Place
    ) -> Process:
        program = shutil.which(self.bwrap)
        if program is None:
            raise LaunchError("bubblewrap is not installed. See: jupyter codeinterp sandbox doctor")
        python = shutil.which(cmd[0])
        if python is None:
            raise LaunchError(f"There is no program {cmd[0]}.")
        # The sandbox has only the real folder. The file stays a link: it leads to the environment.
        python = str(Path(os.path.realpath(Path(python).parent), Path(python).name))
        try:
            needed = interpreter.folders(python)
            seen = folders.folders_of(cwd, needed, self.readable, self.entries)
            written = self._overlaid(seen.notebook)
        except (interpreter.InterpreterError, folders.FolderError, LayerError) as error:
            raise LaunchError(str(error)) from None
        connection = {**self.connection_info, "ip": f"{INSIDE}/s"}
        key = connection["key"]
        connection["key"] = key.decode() if isinstance(key, bytes) else key
        user = f"user:x:{os.getuid()}:{os.getgid()}::{folders.home()}:/bin/sh\n"
        files = {
            "/etc/passwd": _data(user.encode()),
            "/etc/group": _data(f"user:x:{os.getgid()}:\n".encode()),
            "/etc/hosts": _data(b"127.0.0.1 localhost sandbox\n::1 localhost\n"),
            CONNECTION: _data(json.dumps(connection).encode()),
        }
        filtered = _data(seccomp.compiled())
        manager: Any = self.parent
        # jupyter_client puts the real path into the command, not the one that it was given.
        outside = os.path.realpath(manager.connection_file)
        if not any(outside in one for one in cmd[1:]):
            # The kernel would listen where nobody connects.
            raise LaunchError("The kernelspec's command does not name {connection_file}.")
        command = [python, *(one.replace(outside, CONNECTION) for one in cmd[1:])]
        inside = self._inside(environment, python)
        way = self._way(place)
        if way is not None:
            files |= {path: _data(content) for path, content in way.files.items()}
            command = way.command(python, command, folders.home())
            inside |= way.variables()

        def made(info: int, block: int) -> list[str]:
            return arguments(
                Sandbox(
                    folders=seen,
                    home=folders.home(),
                    links=interpreter.links(python),
                    sockets=place.inner,
                    files=files,
                    environment=inside,
                    scratch=self.scratch,
                    command=command,
                    info=info,
                    block=block,
                    filter=filtered,
                    proxy=way.path if way is not None else None,
                    overlay=written.layer.merged if written is not None else None,
                )
            )

        try:
            programs = [*(written.layer.command() if written is not None else ()), program]
            return launch(programs, made, [*files.values(), filtered], self._limits, way)
        except BaseException:
            if way is not None:
                way.close()
            raise

    def _overlaid(self, notebook: Path) -> Written | None:
        """The layer for what it writes, which stays the same when it restarts; None without an
        overlay. Raises LayerError."""
        if not self.overlay:
            return None
        if self.written is None or self.written.layer.folder != notebook:
            self._leave_layer()
            layer = new(place_of_layers(self.overlay_folder), notebook)
            self.written = Written(layer, self._root, lambda: self.pid if self.launched else None)
        self.written.layer.begin(self.entries)
        return self.written

    def _root(self) -> int:
        """Open the root folder of the running sandbox. Raises OSError."""
        if self._sandbox is None:
            raise OSError(errno.ESRCH, "The kernel does not run")
        return self._sandbox.root()

    def _leave_layer(self) -> None:
        if self.written is not None:
            self.written.leave()
            self.written = None

    def _way(self, place: Place) -> gate.Gate | None:
        """To the hosts of the list; None for none."""
        if not self.allow:
            return None
        try:
            return gate.Gate(place.path / "network", self.allow)
        except (ValueError, OSError, SubprocessError) as error:
            raise LaunchError(str(error)) from None

    def hit(self, error: str, since: float) -> str:
        """What the sandbox held back in a run, while the kernel goes on: the limit that made it
        fail, and connections since this time of ``time.monotonic``. "" for nothing. ``error`` is
        the exception's name and text."""
        limit = what_was_hit(error, self._limits, self._out_of_memory)
        way = self._sandbox.gate if self._sandbox is not None else None
        refused = refusals.sentence(way.refused(since)) if way is not None else ""
        return " ".join(filter(None, (limit, refused)))

    @property
    def _out_of_memory(self) -> bool:
        """Whether a process was ended for its memory since this was last asked."""
        group = self._sandbox.group if self._sandbox is not None else None
        return group is not None and group.killed()

    @property
    def _limits(self) -> Limits:
        return Limits(self.memory, self.processes, self.open_files, self.file_size, self.cpu)

    def _inside(self, environment: dict[str, str], python: str) -> dict[str, str]:
        named = {*PASSED, *self.variables, *(self.kernel_spec.env or {})}
        kept = {
            name: value
            for name, value in environment.items()
            if name in named or name.startswith("LC_")
        }
        home = str(folders.home())
        path = f"{Path(python).parent}:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": home, "USER": "user", "TMPDIR": "/tmp", **kept, "PATH": path}

    async def poll(self) -> int | None:
        code = await super().poll()
        if code is not None and self._sandbox is not None:
            self.why_ended = (
                "" if self._asked else why_ended(code, self._limits, self._out_of_memory)
            )
            self._sandbox.close()
            self._sandbox = None
        return code

    async def send_signal(self, signum: int) -> None:
        if self._sandbox is None:
            return
        if signum == signal.SIGKILL:
            self._asked = True
            self._sandbox.kill()
        else:
            self._asked = self._asked or signum == signal.SIGTERM
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


CHANNELS = ("shell", "iopub", "stdin", "control", "hb")


def _kill(started: Future[Process]) -> None:
    if not started.cancelled() and started.exception() is None:
        started.result().kill()


def _data(content: bytes) -> int:
    """A descriptor that ``bwrap`` reads this from."""
    number = os.memfd_create("sandbox", os.MFD_CLOEXEC)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number
