"""Control groups: limits that all processes of a sandbox share.

A group is a folder of Linux, which this module makes if the user may. If systemd manages the groups
of version 2, it asks systemd for a scope.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

NAME = "codeinterp-"
WAITS = 2.0
"""Seconds for systemd to move a process."""
_SYSTEMD = (
    "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
    "StartTransientUnit", "ssa(sv)a(sa(sv))",
)  # fmt: skip
_numbers = iter(range(1, 1 << 62))


class Group:
    """``folders``: its folder for each kind of limit; one and the same in version 2."""

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders

    def remove(self) -> None:
        """Remove the group after its processes ended. systemd removes its own."""
        for folder in set(self._folders.values()):
            with suppress(OSError):  # a process still ends; the next start removes the folder
                folder.rmdir()


class _Mount(NamedTuple):
    version: int
    controllers: tuple[str, ...]
    folder: Path
    """This program's own group."""


def join(pid: int, memory: int, processes: int) -> Group | None:
    """Put a process and its later children into a new group. ``memory`` in bytes; 0: no limit. None
    without a limit, or if this user cannot make a group."""
    wanted = {"memory": memory, "pids": processes}
    wanted = {name: most for name, most in wanted.items() if most}
    if not wanted:
        return None
    mounts = list(_mounts())
    old = [one for one in mounts if one.version == 1]
    if all(any(name in one.controllers for one in old) for name in wanted):
        of = {name: one.folder for one in old for name in one.controllers if name in wanted}
        return _made(pid, of, wanted, _OLD)
    new = next((one for one in mounts if one.version == 2), None)
    if new is None:
        return None
    if re.search(r"\.(scope|service|slice)$", new.folder.name):
        return _scope(pid, wanted)
    for parent in (new.folder, new.folder.parent):
        group = _made(pid, dict.fromkeys(wanted, parent), wanted, _NEW)
        if group is not None:
            return group
    return None


def _mounts() -> Iterator[_Mount]:
    own: dict[str, str] = {}
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        own[controllers] = path
    for line in _lines("/proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        root, place = before.split()[3:5]
        if kind == "cgroup2" and "" in own:
            yield _Mount(2, (), _inside(place, root, own[""]))
        elif kind == "cgroup":
            for controllers, path in own.items():
                if controllers and set(controllers.split(",")) <= set(options.split(",")):
                    yield _Mount(1, tuple(controllers.split(",")), _inside(place, root, path))


def _inside(place: str, root: str, path: str) -> Path:
    return Path(place, path.removeprefix(root).lstrip("/"))


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


_OLD = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}
_NEW = {"memory": "memory.max", "pids": "pids.max"}


def _made(
    pid: int, of: dict[str, Path], wanted: dict[str, int], files: dict[str, str]
) -> Group | None:
    """Make a group in these folders; None if Linux refuses."""
    name = f"{NAME}{os.getpid()}-{next(_numbers)}"
    group = Group({kind: folder / name for kind, folder in of.items()})
    try:
        for kind, folder in of.items():
            _sweep(folder)
            made = folder / name
            made.mkdir(exist_ok=True)
            _write(made / files[kind], wanted[kind])
            if (made / "memory.swap.max").exists():
                _write(made / "memory.swap.max", 0)
        for folder in {folder / name for folder in of.values()}:
            _write(folder / "cgroup.procs", pid)
    except OSError:
        group.remove()
        return None
    return group


def _write(path: Path, value: int) -> None:
    # Not Path.write_text, which would make a missing file.
    number = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(number, str(value).encode())
    finally:
        os.close(number)


def _sweep(parent: Path) -> None:
    """Remove the groups of servers that are gone."""
    for path in parent.glob(f"{NAME}*-*"):
        pid = path.name[len(NAME) :].partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            with suppress(OSError):
                path.rmdir()


def _scope(pid: int, wanted: dict[str, int]) -> Group | None:
    """Ask systemd for a scope: the user's own systemd unless the user is root."""
    program = shutil.which("busctl")
    if program is None:
        return None
    name = f"{NAME}{os.getpid()}-{next(_numbers)}.scope"
    limits: list[tuple[str, ...]] = [("PIDs", "au", "1", str(pid))]
    if "memory" in wanted:
        limits += [("MemoryMax", "t", str(wanted["memory"])), ("MemorySwapMax", "t", "0")]
    if "pids" in wanted:
        limits += [("TasksMax", "t", str(wanted["pids"]))]
    given = [part for one in limits for part in one]
    manager = [] if os.getuid() == 0 else ["--user"]
    call = [program, *manager, "call", *_SYSTEMD, name, "fail", str(len(limits)), *given, "0"]
    try:
        subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    deadline = time.monotonic() + WAITS
    while time.monotonic() < deadline:
        folder = _group_of(pid, name)
        if folder is not None:
            return Group(dict.fromkeys(wanted, folder))
        time.sleep(0.01)
    return None


def _group_of(pid: int, name: str) -> Path | None:
    """The folder of this scope; None until the process is in it."""
    mount = next((one for one in _mounts() if one.version == 2), None)
    own = next((line[3:] for line in _lines("/proc/self/cgroup") if line[:3] == "0::"), "")
    for line in _lines(f"/proc/{pid}/cgroup"):
        if mount is not None and line[:3] == "0::" and line.rpartition("/")[2] == name:
            above = str(mount.folder).removesuffix(own.rstrip("/"))
            return Path(above, line[3:].lstrip("/"))
    return None
