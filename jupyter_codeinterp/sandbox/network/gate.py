"""Starts the proxy of one sandboxed kernel, and ends it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .book import ConnectionLog
from .rules import AllowedHosts

SOCKET = "/run/network"
"""The proxy's socket, in the sandbox."""
FIRST = "/run/first.py"
"""The program ``first.py``, in the sandbox."""
_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.append(sys.argv.pop(1));"
    " from jupyter_codeinterp.sandbox.network import proxy; proxy.main()"
)
WAITING = 64


class Gate:
    """``path``: the Unix socket, made at once. Raises ValueError for a malformed list, and
    OSError."""

    def __init__(self, path: Path, allow: Sequence[str]) -> None:
        self._allowed = AllowedHosts(allow).targets
        self.path = path
        path.unlink(missing_ok=True)
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(WAITING)
        self.log = ConnectionLog(os.memfd_create("connections", os.MFD_CLOEXEC))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, sandbox: int) -> None:
        """Start the proxy, which ends with ``sandbox``, a pidfd. Raises OSError."""
        if self._listener is None:
            raise OSError("the proxy was closed")
        given = (self._listener.fileno(), sandbox, self.log.number)
        command = [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)]
        self._process = subprocess.Popen(
            [*command, *map(str, (*given, *self._allowed))],
            # The proxy reads hostile data, so it gets nothing else of the server.
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=given,
            start_new_session=True,
        )
        self._listener.close()
        self._listener = None

    def variables(self) -> dict[str, str]:
        """Variables for the kernel: loopback hosts bypass the proxy, unless the list has them."""
        named = {one.host for one in self._allowed}
        own = ",".join(one for one in ("localhost", "127.0.0.1", "::1") if one not in named)
        return {"NO_PROXY": own, "no_proxy": own}

    def close(self) -> None:
        """End the proxy. May be called again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self.log.close()
