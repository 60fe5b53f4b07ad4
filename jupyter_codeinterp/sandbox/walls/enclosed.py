"""Starts a kernel behind Landlock. What it may do with files is a pure function of its folders.

Landlock only adds rights: what lies below a folder has the folder's. So a folder to read is named
without what must stay hidden in it, and a folder to write must hold nothing to protect.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..shared import seccomp
from ..shared.descriptor import data
from ..shared.folders import FolderError, Folders
from . import landlock
from .arguments import ETC, LINKS
from .launching import LaunchError, Process, launch
from .starting import Kernel

KEPT = (".ipynb_checkpoints",)
"""What may be writable in the notebook's folder: no program runs it."""
STORES = ("/nix/store", "/gnu/store")
DEVICES = {
    "/dev/null": landlock.READ_FILE | landlock.WRITE_FILE,
    "/dev/zero": landlock.READ_FILE | landlock.WRITE_FILE,
    "/dev/full": landlock.READ_FILE | landlock.WRITE_FILE,
    "/dev/random": landlock.READ_FILE,
    "/dev/urandom": landlock.READ_FILE,
}
FACTS = (
    "/sys/devices/system/cpu", "/sys/devices/system/node", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/filesystems",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max",
)  # fmt: skip
"""Of the machine. All else of /proc would show the programs of the person."""
OWN = "/proc/self"
"""Of the process that opens it: the kernel."""
GAPS = (
    "It sees whether a file is there, its size and its times, and can go to any folder. It reads "
    "and lists none that it should not.",
    "It sees the machine's name, and which process ids are in use, with their priorities.",
    "HOME and the temporary folder are on the disk. Only `disk` limits their total size.",
    "It can write in `.ipynb_checkpoints`. A folder with other things to protect is refused.",
    "It has no network at all, also none of its own, and no list of allowed hosts.",
    "Its programs cannot connect by sockets, and have no terminal and no /dev/shm: "
    "`multiprocessing` has no locks.",
    "`chmod` changes no mode, and `touch` no time. Owners, attributes and flags of files stay.",
    "Cells cannot be tried first, and an undo brings back no variables.",
)
"""What is weaker than in bubblewrap, or missing."""


_ROOT = Path(__file__).parents[3]
_START = (
    "import sys; sys.path.append(sys.argv.pop(1));"
    " from jupyter_codeinterp.sandbox.walls import watcher; watcher.main()"
)


def start(kernel: Kernel) -> Process:
    """Raises LaunchError."""
    if landlock.version() < landlock.OLDEST:
        raise LaunchError("Landlock cannot hold it. See: jupyter codeinterp sandbox doctor")
    home, temporary, file = kernel.on_disk()
    try:
        given = rules(kernel.folders, [home, temporary], kernel.place.inner, file)
    except FolderError as error:
        raise LaunchError(str(error)) from None
    own = {"HOME": str(home), "USER": "user", "TMPDIR": str(temporary)}
    policy = {
        "server": os.getpid(),
        "folder": str(kernel.folders.notebook),
        "rules": given,
        "filter": seccomp.compiled(namespaces=False).hex(),
        "command": kernel.command(str(file)),
        "environment": {**own, **kernel.environment},
    }
    number = data(json.dumps(policy).encode())

    def made(info: int, block: int) -> list[str]:
        return ["-I", "-S", "-c", _START, str(_ROOT), *map(str, (number, info, block))]

    return launch([sys.executable], made, [number], kernel.limits, watched=True)


def rules(
    folders: Folders, writable: list[Path], sockets: Path, file: Path
) -> list[tuple[str, int]]:
    """Each a path and its rights. ``writable``: HOME and the temporary folder; ``file``: the
    connection. Raises FolderError."""
    _check(folders)
    system = [Path("/usr"), *(Path("/", name) for name in LINKS), *map(Path, STORES)]
    system += [Path("/etc", name) for name in ETC]
    readable = [path for path in system if not path.is_symlink() or path.parts[1] == "etc"]
    given = {
        str(part): landlock.READ
        for path in (*readable, *folders.readable)
        if path.exists()
        for part in _without(path, folders.hidden)
    }
    given |= dict.fromkeys(FACTS, landlock.READ_FILE | landlock.READ_DIR)
    given |= {**DEVICES, OWN: landlock.READ_FILE | landlock.READ_DIR}
    given |= dict.fromkeys(map(str, (folders.notebook, *writable)), landlock.READ | landlock.WRITE)
    given[str(sockets)] = landlock.MAKE_SOCK | landlock.REMOVE_FILE
    given[str(file)] = landlock.READ_FILE
    return [(path, rights) for path, rights in given.items() if Path(path).exists()]


def _check(folders: Folders) -> None:
    notebook = folders.notebook
    for path in (*folders.protected, *folders.hidden, *folders.readable):
        if notebook in path.parents and path.name not in KEPT:
            raise FolderError(
                f"{notebook} is writable in the sandbox. Without bubblewrap, {path.name} in it "
                f"would be, too. Move the notebook to a folder without {path}."
            )


def _without(path: Path, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """The path, or, where something in it is hidden, all else in it."""
    if path in hidden:
        return
    if not any(path in one.parents for one in hidden):
        yield path
        return
    for part in sorted(path.iterdir()):
        yield from _without(part, hidden)
