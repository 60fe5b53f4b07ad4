"""The arguments of ``bwrap`` for a sandbox, as a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..network.gate import SOCKET
from ..shared.folders import Folders

ETC = (
    "alternatives", "ca-certificates", "ca-certificates.conf", "debian_version", "fonts",
    "host.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf",
    "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "pki/tls/certs",
    "protocols", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone",
)  # fmt: skip
"""The readable part of /etc. The rest holds secrets of the machine."""
LINKS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
SECRETS_OF_PROC = ("kcore", "keys", "key-users", "kallsyms", "kmsg", "timer_list", "sysrq-trigger")
PROC = ("sys", "irq", "bus", "fs")
"""Read-only parts of /proc. Bubblewrap leaves /proc/sys writable for root."""
INSIDE = "/run/kernel"
"""The folder of the kernel's sockets, in the sandbox."""


class Sandbox(NamedTuple):
    """``links``: symbolic links to make; ``sockets``: the folder that becomes ``INSIDE``;
    ``files``: paths in the sandbox and the open descriptors that their content comes from;
    ``scratch``: bytes of each temporary file system; ``proxy``: its socket, or None; ``overlay``:
    the folder that stands for the notebook's, or None for itself."""

    folders: Folders
    home: Path
    links: Sequence[tuple[Path, str]]
    sockets: Path
    files: Mapping[str, int]
    environment: Mapping[str, str]
    scratch: int
    command: Sequence[str]
    info: int
    block: int
    filter: int
    proxy: Path | None = None
    overlay: Path | None = None


def arguments(box: Sandbox) -> list[str]:
    """The arguments without the program's name. Later mounts cover earlier ones: parents first."""
    return [
        *_isolation(box),
        *_system(box.scratch),
        *_temporary(box.scratch, box.home),
        *_folders(box),
        *(part for path, number in box.files.items() for part in _file(path, number)),
        *("--bind", str(box.sockets), INSIDE),
        *(("--ro-bind", str(box.proxy), SOCKET) if box.proxy is not None else ()),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--clearenv",),
        *(part for name, value in box.environment.items() for part in ("--setenv", name, value)),
        *("--chdir", str(box.folders.notebook)),
        *("--", *box.command),
    ]


def _isolation(box: Sandbox) -> list[str]:
    return [
        *("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-net"),
        *("--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *("--info-fd", str(box.info), "--block-fd", str(box.block)),
        *("--seccomp", str(box.filter)),
    ]


def _system(scratch: int) -> list[str]:
    made = ["--ro-bind", "/usr", "/usr"]
    for name in LINKS:
        path = Path("/", name)
        if path.is_symlink():
            made += ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            made += ("--ro-bind", str(path), str(path))
    for name in ETC:
        made += ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    for name in ("/nix/store", "/gnu/store", "/sys/devices/system/cpu", "/sys/devices/system/node"):
        made += ("--ro-bind-try", name, name)
    made += ("--proc", "/proc")
    for name in PROC:
        made += ("--ro-bind-try", f"/proc/{name}", f"/proc/{name}")
    for name in SECRETS_OF_PROC:
        if Path("/proc", name).exists():
            made += ("--ro-bind", "/dev/null", f"/proc/{name}")
    return [*made, "--dev", "/dev", "--size", str(scratch), "--tmpfs", "/dev/shm"]


def _temporary(scratch: int, home: Path) -> list[str]:
    made = ["--size", str(scratch), "--tmpfs", "/tmp"]
    return [*made, "--size", str(scratch), "--perms", "0700", "--tmpfs", str(home)]


def _folders(box: Sandbox) -> list[str]:
    folders = box.folders
    mounts = {path: ["--ro-bind", str(path), str(path)] for path in folders.readable}
    for path in (folders.notebook, *folders.fixed):
        mounts[path] = ["--bind", str(_written(box, path)), str(path)]
    mounts |= {path: ["--ro-bind", str(path), str(path)] for path in folders.protected}
    empty = ("--perms", "0500", "--size", "4096", "--tmpfs")
    mounts |= {path: [*empty, str(path), "--remount-ro", str(path)] for path in folders.hidden}
    made = [part for path in sorted(mounts, key=_depth) for part in mounts[path]]
    seen = [Path("/usr"), *mounts]
    for path, target in box.links:
        if not any(one == path or one in path.parents for one in seen):
            made += ("--symlink", target, str(path))
    return made


def _written(box: Sandbox, path: Path) -> Path:
    """The folder outside that becomes ``path`` in the sandbox."""
    if box.overlay is None:
        return path
    return box.overlay / path.relative_to(box.folders.notebook)


def _depth(path: Path) -> tuple[int, str]:
    return len(path.parts), str(path)


def _file(path: str, number: int) -> tuple[str, ...]:
    return ("--perms", "0444", "--ro-bind-data", str(number), path)
