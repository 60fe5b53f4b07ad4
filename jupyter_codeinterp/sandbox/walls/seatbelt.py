"""What macOS lets a sandboxed kernel do: the arguments of ``sandbox-exec``, as a pure function.

Untested: no one has started a kernel with them on a Mac. No path is in the profile's text. Each is
a parameter, which macOS does not parse. Of two rules that match, the later one holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..shared.folders import Folders
from ..shared.protected import PROTECTED

PROGRAM = "/usr/bin/sandbox-exec"
_PROGRAMS = ("bin", "lib", "libexec", "sbin", "share")
_HOMEBREW = ("bin", "lib", "opt", "share", "Cellar", "Frameworks")
"""Not its ``var`` and ``etc``: databases and settings."""
SYSTEM = tuple(
    map(
        Path,
        (
            "/bin", "/sbin", "/System/Library", "/System/iOSSupport", "/System/Cryptexes",
            "/System/Volumes/Preboot/Cryptexes", "/Library/Apple", "/Library/Frameworks",
            "/Library/Fonts", "/Library/Developer/CommandLineTools", "/private/etc/ssl",
            "/private/var/db/dyld", "/private/var/db/timezone",
            *(f"/usr/{name}" for name in _PROGRAMS),
            *(f"/usr/local/{name}" for name in (*_PROGRAMS, *_HOMEBREW)),
            *(f"/opt/homebrew/{name}" for name in _HOMEBREW),
        ),
    )
)  # fmt: skip
"""Never ``/System`` as a whole: all volumes are below it, by a second path."""
_BASE = """\
(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read
  (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.cpu.") (sysctl-name-prefix "kern.os")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64") (sysctl-name "kern.version")
  (sysctl-name "vm.loadavg"))
(allow mach-lookup
  (global-name "com.apple.dyld") (global-name "com.apple.system.logger")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow ipc-posix-sem (ipc-posix-name-prefix "/mp-"))
(allow ipc-posix-shm-read-data ipc-posix-shm-write-create ipc-posix-shm-write-unlink
  (ipc-posix-name-prefix "/__KMP_REGISTERED_LIB_"))
(allow file-read* (literal "/") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/private/etc/localtime") (literal "/private/etc/protocols")
  (literal "/private/etc/services"))
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-read-metadata (literal "/dev") (literal "/etc") (literal "/tmp") (literal "/var"))
(allow system-socket (socket-domain AF_UNIX))
"""
"""``sysctl`` by name alone: another of its names has the variables of all your programs. A mach
service acts outside of the sandbox: these four look up users and write to the system's log."""
_LAST = """\
(deny file-link)
(deny system-fcntl (fcntl-command 80 110))
(deny mach-lookup (xpc-service-name-prefix ""))
"""
"""A second name in a folder to write would open a file to write that may only be read. The two
requests of ``fcntl`` change a file that is open for reading."""
GAPS = (
    "Untested: no one has started a kernel with it on a Mac. Apple calls sandbox-exec deprecated.",
    "It is not sandboxed for auto_needs_sandbox and for the agent, unless the server's "
    "configuration sets SandboxProvisioner.wall to it.",
    "It sees whether a folder above those that it may read is there. Process ids, the machine's "
    "name and the users' names are visible.",
    "HOME and the temporary folder are on the disk, without a limit of their total size.",
    "Memory and the number of processes have no limit. A kernel with `memory` does not start.",
    "A program that leaves the kernel's process group goes on when the kernel ends. It stays in "
    "the sandbox.",
    "It has no network at all, and no list of allowed hosts. Its terminals do not work.",
    "There is no overlay. Cells cannot be tried first, and an undo brings back no variables.",
    "No one sees from outside what a run did.",
)
"""What is weaker than in bubblewrap, or missing."""


def arguments(
    folders: Folders, own: Sequence[Path], sockets: Path, file: Path, command: Sequence[str]
) -> list[str]:
    """Of ``sandbox-exec``. ``own``: HOME and the temporary folder; ``sockets``: the kernel's folder
    for them; ``file``: its connection file. All paths are real ones, without links."""
    names: dict[Path, str] = {}

    def named(path: Path) -> str:
        return f'(param "{names.setdefault(path, f"P{len(names)}")}")'

    def literals(paths: Iterable[Path]) -> str:
        return " ".join(f"(literal {named(one)})" for one in paths)

    def below(path: Path, without: Iterable[Path]) -> str:
        parts = [f"(subpath {named(path)})"]
        inside = (one for one in without if one == path or path in one.parents)
        parts += [f"(require-not (subpath {named(one)}))" for one in inside]
        return f"(require-all {' '.join(parts)})"

    notebook = folders.notebook
    read = [*SYSTEM, *folders.readable, notebook, *own]
    kept = _kept(folders)
    ancestors = dict.fromkeys(one for path in (*read, sockets, file) for one in path.parents)
    pinned = dict.fromkeys(
        (notebook, *own, sockets, *(one for path in kept for one in _between(notebook, path)))
    )
    rules = [
        *(
            f"(allow file-read* file-map-executable process-exec {below(one, folders.hidden)})"
            for one in read
        ),
        f"(allow file-read* {literals([file])})",
        f"(allow file-read-metadata {literals(ancestors)})",
        f"(allow file-write* {below(notebook, kept)})",
        *(f"(allow file-write* {below(one, ())})" for one in (*own, sockets)),
        *(_sockets(f"(subpath {named(one)})") for one in (sockets, *own)),
        f"(deny file-write-unlink {literals(pinned)})",
    ]
    text = "\n".join([_BASE, *rules, _LAST])
    defined = [f"-D{name}={path}" for path, name in names.items()]
    return [*defined, "-p", text, "--", *command]


def _kept(folders: Folders) -> list[Path]:
    """What stays read-only in the notebook's folder. What has such a name directly in it may also
    not be there yet."""
    inside = [
        path
        for path in (*folders.protected, *folders.hidden, *folders.readable)
        if folders.notebook in path.parents
    ]
    return list(dict.fromkeys((*inside, *(folders.notebook / name for name in PROTECTED))))


def _between(notebook: Path, path: Path) -> list[Path]:
    """The folders that lead to it: under another name, they would bring it along unprotected."""
    return [one for one in path.parents if notebook in one.parents]


def _sockets(folder: str) -> str:
    return (
        f"(allow network-bind network-inbound (local unix-socket {folder}))\n"
        f"(allow network-outbound (remote unix-socket {folder}))"
    )
