"""Makes a running overlay look at its folder again: ``python refreshing.py PID MERGED``.

Linux caches which files exist, so a new or replaced file stays unseen. A remount clears the cache.
It needs the namespaces of the mount, which a process with threads, like a server, cannot enter.
Standard library only.
"""

import ctypes
import os
import sys

NO_SETUID, NO_DEVICES, REMOUNT = 0x2, 0x4, 0x20


def main() -> None:
    process, merged = sys.argv[1:]
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
