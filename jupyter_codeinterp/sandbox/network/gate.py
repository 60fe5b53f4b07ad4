"""Starts the proxy of one sandboxed kernel, and ends it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..shared.descriptor import data
from . import credentials, pypi
from .book import Book, Connection
from .rules import Rules

SOCKET = "/run/network"
"""The proxy's, in the sandbox."""
FIRST = "/run/first.py"
"""What runs in the sandbox before the kernel."""
CERTIFICATES = "/run/certificates.pem"
PACKAGES = ".packages"
PIP = {
    # Settings that it finds in files lead to what the sandbox does not have.
    "PIP_CONFIG_FILE": "/dev/null",
    "PIP_NO_CACHE_DIR": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.append(sys.argv.pop(1));"
    " from jupyter_codeinterp.sandbox.network import proxy; proxy.main()"
)
WAITING = 64
TRUSTED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Certificates that hosts are checked with, if not the system's."""


class Gate:
    """``path``: of the Unix socket, which is there at once. ``wanted``: credentials that the proxy
    adds, as in the setting. ``files`` are for the sandbox: paths
    there, and what is in them. Raises ValueError for a list that cannot be read, OSError and
    SubprocessError."""

    def __init__(
        self, path: Path, allow: Sequence[str], wanted: Mapping[str, Any] | None = None
    ) -> None:
        self._credentials = credentials.headers(wanted or {})
        self._index = pypi.index() if pypi.PRESET in allow else None
        hosts = [one for one in allow if one != pypi.PRESET]
        self._allow = [str(one) for one in Rules(hosts).targets]
        self.files = {FIRST: Path(__file__).with_name("first.py").read_bytes()}
        if self._index is not None:
            self._allow += self._index.allow
            if self._index.certificates is not None:
                self.files[CERTIFICATES] = self._index.certificates.read_bytes()
        self.path = path
        path.unlink(missing_ok=True)
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(WAITING)
        self._refused = Book(os.memfd_create("refused", os.MFD_CLOEXEC))
        self._made = Book(os.memfd_create("made", os.MFD_CLOEXEC))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, sandbox: int) -> None:
        """``sandbox``: a pidfd of its first process, with which the proxy ends. Raises OSError."""
        if self._listener is None:
            raise OSError("the proxy was closed")
        added = [[*place, *header] for place, header in self._credentials.items()]
        # Not in its arguments, which every program on this machine can read.
        policy = data(json.dumps({"allow": self._allow, "credentials": added}).encode())
        books = (self._refused.number, self._made.number)
        given = (self._listener.fileno(), sandbox, *books, policy)
        command = [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)]
        trusted = {one: os.environ[one] for one in TRUSTED if one in os.environ}
        try:
            self._process = subprocess.Popen(
                [*command, *map(str, given)],
                # It reads what the kernel sends, so it holds nothing else of the server.
                env=trusted if added else {},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=given,
                start_new_session=True,
            )
        finally:
            os.close(policy)
        self._listener.close()
        self._listener = None

    def variables(self) -> dict[str, str]:
        """For the kernel."""
        made = variables([*self._allow, *map(str, self._credentials)])
        if self._index is not None:
            made |= {**PIP, **self._index.variables}
            if CERTIFICATES in self.files:
                made["PIP_CERT"] = CERTIFICATES
        return made

    def command(self, python: str, inner: Sequence[str], home: Path) -> list[str]:
        """Runs ``inner`` in the sandbox, with the way to the proxy open and a place for packages
        in the home folder there."""
        packages = self.packages(home)
        alone = [] if packages else ["-S"]
        return [python, "-I", *alone, FIRST, SOCKET, packages, *inner]

    def packages(self, home: Path) -> str:
        """The folder that pip installs into, in the sandbox; "" without an index."""
        return str(home / PACKAGES) if self._index is not None else ""

    def refused(self, since: float) -> list[Connection]:
        """Since this time of ``time.monotonic``."""
        return self._refused.since(since)

    def made(self, since: float) -> list[Connection]:
        """The same of connections to hosts of the list on which data passed."""
        return self._made.since(since)

    def has_lost(self, since: float) -> tuple[bool, bool]:
        """Whether there were others, which are lost: of those refused, and of those made."""
        return self._refused.has_lost(since), self._made.has_lost(since)

    def close(self) -> None:
        """End the proxy. May be called again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._refused.close()
        self._made.close()


def variables(allow: Sequence[str]) -> dict[str, str]:
    """For the kernel, beside the proxy's address: a loopback host of the list is outside, any other
    is the sandbox's own."""
    named = {one.host for one in Rules(allow).targets}
    own = ",".join(one for one in ("localhost", "127.0.0.1", "::1") if one not in named)
    return {"NO_PROXY": own, "no_proxy": own}
