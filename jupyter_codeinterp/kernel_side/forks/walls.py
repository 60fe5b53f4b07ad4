"""What holds a fork from outside effects. This file's text runs **in the kernel**.

Open files, sockets and pipes of a fork are the kernel's own: a read would move the kernel's
place in the file, and a message would go out as if the kernel had sent it. So the fork gets files
of its own, for reading, and of everything else only dead ends. Standard library only.
"""

from __future__ import annotations

import os
import resource
import signal
import stat
from contextlib import suppress

from .filter import die_with_parent, install
from .preflight import free_memory, text_of

LEAST_MEMORY = 256 * 1024 * 1024


def build(keep: set[int], seconds: float) -> None:
    """Hold this process for good. ``keep`` are descriptors to leave as they are. Raises OSError
    or ValueError where this system cannot."""
    os.setpgid(0, 0)  # The person's interrupt is for the kernel.
    die_with_parent(signal.SIGKILL)
    first_to_end()
    cut(keep)
    limit(resource.RLIMIT_FSIZE, 0)  # Native code, too, writes no file.
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + 5)
    pages = int(text_of("/proc/self/statm").split()[0])
    extra = max(LEAST_MEMORY, free_memory() // 2)
    limit(resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + extra)
    install()


def first_to_end() -> None:
    """Where memory runs out, the system ends this process and not the kernel."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write("1000")
    except OSError:
        pass  # A system without one. The limit of memory stays.


def limit(what: int, most: int) -> None:
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def cut(keep: set[int]) -> None:
    """Put own files and folders, and dead ends in place of all descriptors but ``keep``."""
    nothing = os.open("/dev/null", os.O_RDONLY)
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
        if number in keep or number == nothing:
            continue
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue  # The listing's own.
        own = reopened(number) if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else -1
        os.dup2(own if own >= 0 else nothing, number, inheritable=False)
        if own >= 0:
            os.close(own)


def reopened(number: int) -> int:
    """The same file or folder at the same place, for reading; -1 if that is not allowed."""
    try:
        own = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
    except OSError:
        return -1
    with suppress(OSError):  # A folder that is open as a place alone has none.
        os.lseek(own, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
    return own
