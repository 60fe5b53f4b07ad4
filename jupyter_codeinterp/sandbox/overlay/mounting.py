"""Mounts an overlay. Standard library only.

``python mounting.py mount LOWER UPPER WORK MERGED COMMAND…`` runs before bubblewrap. It mounts the
overlay in namespaces of its own, so that nobody else sees it and it ends with its processes. Then
``COMMAND`` takes its place.

``python mounting.py refresh PID MERGED`` makes a running overlay look at its folder again: Linux
caches which files exist, so a new or replaced file stays unseen. A remount clears the cache. It
needs the namespaces of the mount, which a process with threads, like a server, cannot enter.
"""

import ctypes
import os
import sys
from pathlib import Path

NEW_MOUNTS, NEW_USER = 0x20000, 0x10000000
NO_SETUID, NO_DEVICES, REMOUNT, ALL_BELOW, PRIVATE = 0x2, 0x4, 0x20, 0x4000, 0x40000


def main() -> None:
    if sys.argv[1] == "refresh":
        return refresh(*sys.argv[2:])
    places, command = sys.argv[2:6], sys.argv[6:]
    try:
        mount(*places)
    except OSError as error:
        sys.exit(
            f"Linux cannot put an overlay over {places[0]}: {error.strerror}. It needs Linux 5.11 "
            f"or newer, and a local file system such as ext4, XFS or Btrfs for {places[1]}."
        )
    os.execv(command[0], command)


def mount(lower: str, upper: str, work: str, merged: str) -> None:
    """Raises OSError."""
    user, group = os.getuid(), os.getgid()
    _call("unshare", NEW_USER | NEW_MOUNTS)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    _call("mount", b"none", b"/", None, ALL_BELOW | PRIVATE, None)
    options = ["userxattr"]
    for name, path in (("lower", lower), ("upper", upper), ("work", work)):
        # A path could contain characters that separate options.
        number = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
        options.append(f"{name}dir=/proc/self/fd/{number}")
    flags, data = NO_SETUID | NO_DEVICES, ",".join(options).encode()
    _call("mount", b"overlay", os.fsencode(merged), b"overlay", flags, data)


def refresh(process: str, merged: str) -> None:
    """Raises OSError."""
    spaces = [os.open(f"/proc/{process}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt")]
    for space in spaces:
        _call("setns", space, 0)
    flags = REMOUNT | NO_SETUID | NO_DEVICES
    _call("mount", b"none", os.fsencode(merged), None, flags, b"")


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
