"""Starts the proxy of one sandboxed kernel, and ends it."""

from __future__ import annotations

import ast
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from .book import ConnectionLog
from .rules import AllowedHosts, target

# -------------------------------------------------------------------------------------------------
# ``pypi`` in an allow list: the package index that the server's pip uses.

PRESET = "pypi"
INDEX = "https://pypi.org/simple"
FILES = {"pypi.org:443": "files.pythonhosted.org:443"}
"""The file hosts of indexes that have one."""
PORTS = {"https": 443, "http": 80}
TIMEOUT = 20.0
_SECTIONS = ("global", "install", ":env:")
"""Sections of pip's configuration; later ones win."""
_LINE = re.compile(r"(global|install|:env:)\.([a-z-]+)=(.+)")


class Index(NamedTuple):
    """``allow``: its hosts. ``variables``: for pip in the sandbox. ``certificates``: pip's file of
    certificates, or None."""

    allow: tuple[str, ...]
    variables: dict[str, str]
    certificates: Path | None


def index() -> Index:
    """The index of the server's pip, whose settings are read once per process."""
    return index_of(_configured())


def index_of(settings: Mapping[str, str]) -> Index:
    """The index of these pip settings. Raises ValueError for a malformed address."""
    main = settings.get("index-url", INDEX)
    urls = [urlsplit(one) for one in (main, *settings.get("extra-index-url", "").split())]
    urls = [one for one in urls if one.scheme in PORTS]
    if not urls:
        raise ValueError("SandboxProvisioner.allow: pip's index is not on a web server.")
    hosts = [str(target(_place(one), PORTS[one.scheme])) for one in urls]
    allow = dict.fromkeys([*hosts, *(FILES[one] for one in hosts if one in FILES)])
    first, *more = (urlunsplit(one._replace(netloc=_place(one))) for one in urls)
    variables = {"PIP_INDEX_URL": first, "PIP_EXTRA_INDEX_URL": " ".join(more)}
    variables["PIP_TRUSTED_HOST"] = settings.get("trusted-host", "")
    certificates = settings.get("cert")
    return Index(
        tuple(allow),
        {name: value for name, value in variables.items() if value},
        Path(certificates) if certificates else None,
    )


def _place(url: SplitResult) -> str:
    """Host and port without user and password, which the sandbox must not hold."""
    return url.netloc.rpartition("@")[2]


@lru_cache(maxsize=1)
def _configured() -> Mapping[str, str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    ran = subprocess.run(
        command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT
    )
    # Nothing in an environment without pip.
    return parsed(ran.stdout.splitlines())


def parsed(lines: Sequence[str]) -> dict[str, str]:
    """Settings by name from the lines of ``pip config list``."""
    found = [match for match in map(_LINE.fullmatch, lines) if match is not None]
    found.sort(key=lambda one: _SECTIONS.index(one[1]))
    return {one[2]: str(ast.literal_eval(one[3])) for one in found}


SOCKET = "/run/network"
"""The proxy's socket, in the sandbox."""
FIRST = "/run/first.py"
"""The program ``first.py``, in the sandbox."""
CERTIFICATES = "/run/certificates.pem"
PACKAGES = ".packages"
PIP = {
    # pip's configuration files may name things that the sandbox does not have.
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


class Gate:
    """``path``: the Unix socket, made at once. ``files``: content by path in the sandbox. Raises
    ValueError for a malformed list, OSError and SubprocessError."""

    def __init__(self, path: Path, allow: Sequence[str]) -> None:
        self._index = index() if PRESET in allow else None
        hosts = [one for one in allow if one != PRESET]
        self._allow = [str(one) for one in AllowedHosts(hosts).targets]
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
        self.log = ConnectionLog(os.memfd_create("connections", os.MFD_CLOEXEC))
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, sandbox: int) -> None:
        """Start the proxy, which ends with ``sandbox``, a pidfd. Raises OSError."""
        if self._listener is None:
            raise OSError("the proxy was closed")
        given = (self._listener.fileno(), sandbox, self.log.number)
        command = [sys.executable, "-I", "-S", "-c", _START, str(_ROOT)]
        self._process = subprocess.Popen(
            [*command, *map(str, given), *self._allow],
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
        """Environment variables for the kernel."""
        made = variables(self._allow)
        if self._index is not None:
            made |= {**PIP, **self._index.variables}
            if CERTIFICATES in self.files:
                made["PIP_CERT"] = CERTIFICATES
        return made

    def command(self, python: str, inner: Sequence[str], home: Path) -> list[str]:
        """The command that runs ``inner`` in the sandbox after ``first.py``. Packages go into
        ``home`` there."""
        packages = self.packages(home)
        alone = [] if packages else ["-S"]
        return [python, "-I", *alone, FIRST, SOCKET, packages, *inner]

    def packages(self, home: Path) -> str:
        """The folder that pip installs into, in the sandbox; "" without an index."""
        return str(home / PACKAGES) if self._index is not None else ""

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


def variables(allow: Sequence[str]) -> dict[str, str]:
    """Variables for the kernel: loopback hosts bypass the proxy, unless the list has them."""
    named = {one.host for one in AllowedHosts(allow).targets}
    own = ",".join(one for one in ("localhost", "127.0.0.1", "::1") if one not in named)
    return {"NO_PROXY": own, "no_proxy": own}
