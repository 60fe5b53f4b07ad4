"""What code in a fork tries to reach, and where it stops. This file's text runs **in the kernel**.

An audit hook of Python raises before the effect happens, and names it: ``filter.py`` also holds
native code, but could not say which file or host it was. Standard library only.
"""

from __future__ import annotations

import os
import sys
from typing import Any

MOST = 20
LONGEST = 200
FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EVENTS = {
    # of Python's audit table: what it would do, and the places of the arguments that name it
    "os.remove": ("delete", (0,)),
    "os.rmdir": ("delete", (0,)),
    "shutil.rmtree": ("delete", (0,)),
    "os.rename": ("move", (0, 1)),
    "shutil.move": ("move", (0, 1)),
    "os.mkdir": ("write", (0,)),
    "os.truncate": ("write", (0,)),
    "os.link": ("write", (1,)),
    "os.symlink": ("write", (1,)),
    "os.chmod": ("change", (0,)),
    "os.chown": ("change", (0,)),
    "os.utime": ("change", (0,)),
    "os.setxattr": ("change", (0,)),
    "os.removexattr": ("change", (0,)),
    "socket.connect": ("connect", (1,)),
    "socket.getaddrinfo": ("connect", (0, 1)),
    "socket.gethostbyname": ("connect", (0,)),
    "socket.gethostbyaddr": ("connect", (0,)),
    "socket.sendto": ("connect", (1,)),
    "socket.sendmsg": ("connect", (1,)),
    "socket.bind": ("listen", (1,)),
    "subprocess.Popen": ("start", (1,)),
    "os.system": ("start", (0,)),
    "os.exec": ("start", (0,)),
    "os.posix_spawn": ("start", (0,)),
    "os.spawn": ("start", (1,)),
    "os.fork": ("start", ()),
    "os.forkpty": ("start", ()),
    "pty.spawn": ("start", (0,)),
    "os.kill": ("signal", (0,)),
    "os.killpg": ("signal", (0,)),
}


class Stopped(PermissionError):
    """A rehearsal does not do this. Libraries that can do without go on."""


class Reached:
    """What the code tried, in order: ``{what, name}``."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self.on = False

    def install(self) -> None:
        """For good: Python has no way to remove an audit hook."""
        self.on = True
        sys.addaudithook(self.see)

    def see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open":
            if writes(arguments):
                self.stop("write", (arguments[0],))
        elif event == "os.mkdir" and os.path.isdir(arguments[0]):  # noqa: PTH112
            return  # Made already: the call fails, as it would in the kernel.
        elif event in EVENTS:
            what, places = EVENTS[event]
            self.stop(what, [arguments[place] for place in places if place < len(arguments)])

    def stop(self, what: str, parts: Any) -> None:
        self.on = False
        try:
            name = (
                " \u2192 ".join(map(told, parts)) if what == "move" else ":".join(map(told, parts))
            )
        finally:
            self.on = True
        one = {"what": what, "name": name[:LONGEST]}
        if one not in self.found and len(self.found) < MOST:
            self.found.append(one)
        raise Stopped(f"A rehearsal does not {what} anything: {one['name']}")


def writes(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    # A number is a descriptor that is open already.
    return not isinstance(path, int) and isinstance(flags, int) and bool(flags & FOR_WRITING)


def told(part: Any) -> str:
    """A path, an address or a command, as text. No code of other types runs."""
    kind = type(part)
    if kind is str:
        return str(part)
    if kind is bytes:
        return os.fsdecode(part)
    if kind is int:
        return str(part)
    if kind is tuple:
        return ":".join(map(told, part[:2]))
    if kind is list:
        return " ".join(map(told, part[:20]))
    return os.fspath(part) if type(part).__module__.startswith("pathlib") else ""
