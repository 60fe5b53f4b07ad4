"""Starts a kernel by ``sandbox-exec`` of macOS. Untested: see ``seatbelt.GAPS``."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

from . import seatbelt
from .launching import LaunchError, Process
from .starting import Kernel

_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.append(sys.argv.pop(1));"
    " from jupyter_codeinterp.sandbox.walls import supervisor; supervisor.main()"
)
_NOTHING = "/usr/bin/true"
TIMEOUT = 20.0


class Supervised(Process):
    """``popen`` is the supervisor. Nothing is seen of its processes from outside."""

    def __init__(self, popen: subprocess.Popen[bytes], alive: IO[bytes]) -> None:
        """``alive``: the supervisor's input. Its end ends the kernel."""
        self.popen, self.init = popen, popen.pid
        self.group = self.gate = None
        self.said, self.watched = b"", True
        self._handle = -1
        self._alive = alive
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def send(self, number: int) -> None:
        self.popen.send_signal(number)

    def kill(self) -> None:
        with suppress(OSError):  # the supervisor has ended
            self._alive.close()

    close = kill


def start(kernel: Kernel) -> Process:
    """Raises LaunchError."""
    if kernel.limits.memory:
        raise LaunchError(
            "macOS has no limit of memory that holds. Leave out SandboxProvisioner.memory."
        )
    own = kernel.on_disk()
    sockets = Path(kernel.place.inner).resolve()
    folders = [one.resolve() for one in (own.home, own.temporary)]
    file = own.file.resolve()

    def made(command: list[str]) -> list[str]:
        given = seatbelt.arguments(kernel.folders, folders, sockets, file, command)
        return [seatbelt.PROGRAM, *given]

    _try(made([_NOTHING]))
    bounds = kernel.limits
    limits = [
        (resource.RLIMIT_NOFILE, bounds.open_files),
        (resource.RLIMIT_FSIZE, bounds.file_size),
        (resource.RLIMIT_CPU, bounds.cpu),
    ]
    home, temporary = map(str, folders)
    wanted = {
        "folder": str(kernel.folders.notebook),
        "command": made(kernel.command(str(file))),
        "environment": {"HOME": home, "USER": "user", "TMPDIR": temporary, **kernel.environment},
        "limits": [*((kind, most) for kind, most in limits if most), (resource.RLIMIT_CORE, 0)],
    }
    popen = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)],
        env={},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    if popen.stdin is None:
        raise LaunchError("The supervisor has no input.")
    popen.stdin.write(json.dumps(wanted).encode() + b"\n")
    popen.stdin.flush()
    return Supervised(popen, popen.stdin)


def _try(command: list[str]) -> None:
    """Whether macOS takes the profile. Later it could only say so in the kernel's output."""
    try:
        subprocess.run(
            command,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        said = error.stdout.decode(errors="replace").strip()
        raise LaunchError(f"sandbox-exec does not take the profile: {said}") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"sandbox-exec did not start: {error}") from None
