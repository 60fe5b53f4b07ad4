"""Programs, sockets and files outside the sandboxes."""

from __future__ import annotations

import asyncio
import ctypes
import os
import platform
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_codeinterp.sandbox.shared import bpf, seccomp

SECRET = "a secret of a program"
CLONE = {"x86_64": 56, "aarch64": 220}


@dataclass
class Outside:
    names: dict[str, Any]
    """Names for the code of the attempts."""
    owned_by_another: bool
    """Whether files of other users exist: only root can make them."""
    datagrams: list[bytes] = field(default_factory=list)


@asynccontextmanager
async def outside(home: Path) -> AsyncIterator[Outside]:
    root = os.getuid() == 0
    with ExitStack() as stack:
        victim = stack.enter_context(_victim())
        made = Outside(
            {
                "VICTIM": victim,
                "SECRET": SECRET,
                "MACHINE": socket.gethostname(),
                "CALLS": _calls(),
                "CLONE": CLONE[platform.machine()],
                "SEGMENT": stack.enter_context(_segment()),
                **{name: str(stack.enter_context(_file(folder, root))) for name, folder in PLACES},
                "ROOTS": str(stack.enter_context(_file("/root", False)))
                if root
                else "/root/.bashrc",
                "USER_SITE": str(_user_site(home)),
            },
            root,
        )
        made.names |= await _listeners(home, stack, made)
        yield made


PLACES = (("OTHERS", "/var/tmp"), ("TEMPORARY", "/tmp"), ("SHARED", "/dev/shm"))


def marked(mark: str) -> list[int]:
    """Processes that were started with this mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def _calls() -> dict[str, int | None]:
    place = list(bpf.ARCHITECTURES).index(platform.machine())
    return {name: bpf.CALLS[name][place] for name in (*seccomp.DENIED, "fallocate")}


def _user_site(home: Path) -> Path:
    """The folder in which the system's Python looks for the user's packages."""
    return home / ".local" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"


@contextmanager
def _victim() -> Iterator[int]:
    with subprocess.Popen(["sleep", "3600"], env={"SECRET": SECRET}) as process:
        try:
            yield process.pid
        finally:
            process.kill()


@contextmanager
def _file(folder: str, by_another: bool) -> Iterator[Path]:
    """Make a file that everyone may read."""
    number, name = tempfile.mkstemp(prefix="codeinterp-escape-", dir=folder)
    path = Path(name)
    os.write(number, b"a secret")
    os.fchmod(number, 0o644)
    if by_another:
        os.fchown(number, 65534, -1)
    os.close(number)
    try:
        yield path
    finally:
        path.unlink()


@contextmanager
def _segment() -> Iterator[int]:
    """Make System V shared memory that everyone may read; return its number."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    number = libc.shmget(0, 4096, 0o1644)
    place = libc.shmat(number, None, 0)
    if number < 0 or place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "shared memory")
    ctypes.memmove(place, b"hello", 5)
    try:
        yield number
    finally:
        libc.shmdt(ctypes.c_void_p(place))
        libc.shmctl(number, 0, None)


async def _listeners(home: Path, stack: ExitStack, made: Outside) -> dict[str, Any]:
    """Listeners that send "hello" to each connection."""
    abstract = f"\0codeinterp-{os.getpid()}"
    address = _address()
    on = {
        "LISTED": await asyncio.start_server(_greet, "127.0.0.1"),
        "LISTENER": await asyncio.start_server(_greet, "127.0.0.1"),
        "EVERYWHERE": await asyncio.start_server(_greet, address or "127.0.0.1"),
    }
    with suppress(OSError):  # this machine has no IPv6
        on["LISTENER_6"] = await asyncio.start_server(_greet, "::1")
    for path in (abstract, str(home / "agent")):
        server = await asyncio.start_unix_server(_greet, path)
        stack.callback(server.close)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: _Datagrams(made.datagrams), ("127.0.0.1", 0)
    )
    stack.callback(transport.close)
    for server in on.values():
        stack.callback(server.close)
    ports = {name: server.sockets[0].getsockname()[1] for name, server in on.items()}
    return {
        "LISTENER_6": 9,
        **ports,
        "ADDRESS": address or "192.0.2.1",
        "ABSTRACT": abstract,
        "DATAGRAMS": transport.get_extra_info("sockname")[1],
    }


def _address() -> str:
    """This machine's own address besides the loopback, if any; sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, suppress(OSError):
        one.connect(("192.0.2.1", 9))
        return str(one.getsockname()[0])
    return ""


async def _greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"hello")
    writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, kept: list[bytes]) -> None:
        self._kept = kept

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._kept.append(data)
