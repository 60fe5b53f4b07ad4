"""The folder of a kernel's sockets, outside of the sandbox.

The kernel makes its sockets in ``inner``. Each then gets a second name in the folder above, which
the kernel cannot change: no link can redirect a server that connects to it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

# -------------------------------------------------------------------------------------------------
# Data for another program, through an open descriptor.


def data(content: bytes) -> int:
    """A descriptor from which another program can read ``content``."""
    number = os.memfd_create("sandbox", os.MFD_CLOEXEC)
    os.write(number, content)
    os.lseek(number, 0, os.SEEK_SET)
    return number


NAME = "codeinterp-sandbox-"
LONGEST = 90
"""Bytes of a path. A socket's path with its number may have 107."""
SOCKETS = 60.0
"""Seconds that a kernel has to make its sockets."""


class SandboxPlace:
    """``prefix`` and a port number make the path of a socket."""

    def __init__(self) -> None:
        """Make the folder. Raises OSError."""
        start = start_of(os.getpid())
        self.path = Path(tempfile.mkdtemp(prefix=f"{NAME}{os.getpid()}-{start}-", dir=_root()))
        # Also if a launch fails, or the program ends without shutting down its kernels.
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.inner = self.path / "k"
        self.prefix = str(self.path / "s")
        self.inner.mkdir(mode=0o700)

    def empty(self) -> None:
        """Remove old sockets before a launch."""
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        self.inner.mkdir(mode=0o700)

    def name_sockets(self, ports: tuple[int, ...], alive: Callable[[], bool]) -> bool:
        """Wait for the kernel's sockets and give each its second name. False if the process ends
        first. Only sockets are named: never a link."""
        deadline = time.monotonic() + SOCKETS
        waiting = list(ports)
        while waiting and alive() and time.monotonic() < deadline:
            for port in list(waiting):
                made = self.inner / f"s-{port}"
                try:
                    if not stat.S_ISSOCK(made.lstat().st_mode):
                        continue
                    os.link(made, f"{self.prefix}-{port}", follow_symlinks=False)
                except FileNotFoundError:
                    continue  # not made yet, or removed with its kernel
                waiting.remove(port)
            if waiting:
                time.sleep(0.005)
        return not waiting


def sweep() -> None:
    """Remove the folders of processes that were killed before they could."""
    for path, runs in _mine():
        if not runs:
            shutil.rmtree(path, ignore_errors=True)


def _mine() -> Iterator[tuple[Path, bool]]:
    """This user's folders, each with whether its program runs."""
    for path in Path(_root()).glob(f"{NAME}*-*-*"):
        pid, start = path.name[len(NAME) :].split("-")[:2]
        with suppress(FileNotFoundError):  # another program sweeps, too
            if path.lstat().st_uid == os.getuid() and pid.isdigit():
                yield path, start_of(int(pid)) == start


def _root() -> str:
    root = tempfile.gettempdir()
    return root if len(os.fsencode(root)) + len(NAME) + 40 < LONGEST else "/tmp"


def start_of(pid: int) -> str:
    """The process's start time in ticks; "" if it does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]
