"""Starts a kernel in bubblewrap."""

from __future__ import annotations

import os
import shutil

from ..network.gate import Gate
from ..shared import folders, interpreter, seccomp
from ..shared.descriptor import data
from .arguments import INSIDE, Sandbox, arguments
from .launching import LaunchError, Process, launch
from .starting import Kernel

CONNECTION = "/run/connection.json"
"""The connection file, in the sandbox."""


def start(kernel: Kernel, bwrap: str, way: Gate | None) -> Process:
    """``bwrap``: the program; ``way`` to the hosts of the list. Raises LaunchError."""
    program = shutil.which(bwrap)
    if program is None:
        raise LaunchError("bubblewrap is not installed. See: jupyter codeinterp sandbox doctor")
    home, layer = folders.home(), kernel.layer
    user = f"user:x:{os.getuid()}:{os.getgid()}::{home}:/bin/sh\n"
    files = {
        "/etc/passwd": data(user.encode()),
        "/etc/group": data(f"user:x:{os.getgid()}:\n".encode()),
        "/etc/hosts": data(b"127.0.0.1 localhost sandbox\n::1 localhost\n"),
        CONNECTION: data(kernel.told(f"{INSIDE}/s")),
    }
    filtered = data(seccomp.compiled())
    command = kernel.command(CONNECTION)
    environment = {"HOME": str(home), "USER": "user", "TMPDIR": "/tmp", **kernel.environment}
    if way is not None:
        files |= {path: data(content) for path, content in way.files.items()}
        command = way.command(kernel.python, command, home)
        environment |= way.variables()

    def made(info: int, block: int) -> list[str]:
        return arguments(
            Sandbox(
                folders=kernel.folders,
                home=home,
                links=interpreter.links(kernel.python),
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
        return launch([program], made, inherited, kernel.limits, kernel.folders.notebook, way)
    # A person decides what an overlay's files become, so no rule needs to know of them.
    return launch([*layer.command(), program], made, inherited, kernel.limits, None, way)
