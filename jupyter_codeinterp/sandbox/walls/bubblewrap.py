"""Starts a kernel in bubblewrap."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..network import first
from ..network.gate import FIRST, SOCKET, Gate
from ..overlay.layer import Layer
from ..shared import folders, interpreter, seccomp
from ..shared.folders import Folders
from ..shared.limits import KernelLimits
from ..shared.place import SandboxPlace, data
from .arguments import INSIDE, Sandbox, arguments
from .launching import LaunchError, SandboxProcess, launch

CONNECTION = "/run/connection.json"
"""The connection file, in the sandbox."""


class KernelStart(NamedTuple):
    """``arguments``: of the interpreter, with ``file``, the connection file's path outside, in one
    of them; ``connection``: its content; ``scratch``: bytes of each temporary file system;
    ``layer``: receives its files instead of the notebook's folder."""

    python: str
    arguments: Sequence[str]
    file: str
    connection: Mapping[str, Any]
    environment: Mapping[str, str]
    folders: Folders
    place: SandboxPlace
    scratch: int
    limits: KernelLimits
    layer: Layer | None = None

    def command(self) -> list[str]:
        return [self.python, *(one.replace(self.file, CONNECTION) for one in self.arguments)]

    def connection_file(self) -> bytes:
        """The content of the connection file, with the sockets' path in the sandbox."""
        key = self.connection["key"]
        text = key.decode() if isinstance(key, bytes) else key
        return json.dumps({**self.connection, "ip": f"{INSIDE}/s", "key": text}).encode()


def start(kernel: KernelStart, way: Gate | None) -> SandboxProcess:
    """``way``: the gate to the allowed hosts. Raises LaunchError."""
    program = shutil.which("bwrap")
    if program is None:
        raise LaunchError("bubblewrap is not installed. See: jupyter codeinterp sandbox doctor")
    home, layer = folders.home(), kernel.layer
    user = f"user:x:{os.getuid()}:{os.getgid()}::{home}:/bin/sh\n"
    files = {
        "/etc/passwd": data(user.encode()),
        "/etc/group": data(f"user:x:{os.getgid()}:\n".encode()),
        "/etc/hosts": data(b"127.0.0.1 localhost sandbox\n::1 localhost\n"),
        CONNECTION: data(kernel.connection_file()),
    }
    filtered = data(seccomp.compiled(links=layer is not None))
    command, links = kernel.command(), interpreter.links(kernel.python)
    environment = {"HOME": str(home), "USER": "user", "TMPDIR": "/tmp", **kernel.environment}
    if way is not None:
        files[FIRST] = data(Path(first.__file__).read_bytes())
        command = [kernel.python, "-I", "-S", FIRST, SOCKET, *command]
        environment |= way.variables()

    def made(info: int, block: int) -> list[str]:
        return arguments(
            Sandbox(
                folders=kernel.folders,
                home=home,
                links=links,
                sockets=kernel.place.inner,
                files=files,
                environment=environment,
                scratch=kernel.scratch,
                command=command,
                info=info,
                block=block,
                filter=filtered,
                proxy=way.path if way is not None else None,
                overlay=layer.merged if layer is not None else None,
            )
        )

    inherited = [*files.values(), filtered]
    if layer is None:
        return launch([program], made, inherited, kernel.limits, way)
    return launch([*layer.command(), program], made, inherited, kernel.limits, way)
