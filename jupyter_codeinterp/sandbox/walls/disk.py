"""Measures from outside how much a sandbox writes to disks, and stops code that writes too much.

Linux counts the bytes that each process and its ended children wrote. It does not count folders,
links, empty files, and ended children that a parent does not wait for, so a layer is measured, too.
A program that hides its count from other programs of its user is stopped.
"""

from __future__ import annotations

import logging
import math
import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from ..shared import trees
from ..shared.place import start_of

# -------------------------------------------------------------------------------------------------
# Lists a sandbox's processes, from outside.


def processes(first: int) -> Iterator[int]:
    """The pids of a sandbox's first process and its descendants."""
    waiting = [first]
    while waiting:
        number = waiting.pop()
        yield number
        with suppress(OSError):
            # Each thread lists the children that it started.
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                with suppress(OSError):
                    waiting += map(int, read(number, f"task/{thread}/children").split())


def read(number: int, name: str) -> str:
    """A file of a process in /proc. Raises OSError."""
    path = f"/proc/{number}/{name}"
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()


EVERY, SELDOM = 0.5, 10.0
"""Minimum and maximum seconds between two looks."""
SPEED = 4 * 1024**3
"""Assumed maximum speed of writing in bytes per second, for the time to the next look."""
GRACE = 1.0
"""Seconds for the code to end after an interrupt."""
STOPS = 3
"""The number of the stop that ends the kernel. Earlier ones interrupt its code."""
MORE = 1024**2
"""Bytes that a kernel may still write after an interrupt, for a small result."""
ENTRY = 4096
"""Minimum bytes that a file or folder of a layer counts as."""
SHARE = 50
"""Looks at the layer take at most one part in 50 of the time."""

log = logging.getLogger(__name__)


class BytesWritten:
    """How much one sandbox has written since its start. ``first``: its first process; ``layer``:
    the folder of its overlay, or None."""

    def __init__(self, first: int, layer: Path | None) -> None:
        self._first = first
        self._start = start_of(first)
        self._layer = layer
        self.bytes = 0
        self.waits = 0
        """Bytes in the layer."""
        self.hides = False
        """Whether a process hid its count at the last look."""
        self._next = 0.0

    def look(self) -> bool:
        """Measure again. Returns whether the sandbox still runs."""
        seen: dict[int, str] = {}
        hides = False
        for number in processes(self._first):
            try:
                seen[number] = read(number, "io")
            except PermissionError:
                hides = hides or _lives(number)
            except OSError:
                pass  # It has just ended.
        # The first process is ours. If its count is hidden too, this Linux shows none.
        self.hides = hides and self._first in seen
        self.bytes = max(self.bytes, sum(map(_written, seen.values())))
        if self._layer is not None:
            self._measure(self._layer)
        return start_of(self._first) == self._start

    def _measure(self, layer: Path) -> None:
        began = time.monotonic()
        if began < self._next:
            return
        with suppress(OSError), trees.opened(str(layer)) as folder:
            self.waits = _size(folder)
        ended = time.monotonic()
        self._next = ended + SHARE * (ended - began)


class DiskGuard:
    """Interrupts a kernel that has written ``most`` bytes, and ends it if that does not help. Its
    thread runs until the sandbox ends."""

    def __init__(
        self,
        written: BytesWritten,
        most: int,
        send: Callable[[int], None],
        kill: Callable[[], None],
    ) -> None:
        self._written = written
        self._most = most
        self._send = send
        self._kill = kill
        self._hit = -math.inf
        self.hides = False
        """Whether the last stop was for a hidden count."""
        self.has_ended_it = False
        self.thread = threading.Thread(target=self._guard, name="sandbox-disk", daemon=True)
        self.thread.start()

    def hit(self, since: float) -> bool:
        """Whether it stopped code since this time of ``time.monotonic``."""
        return self._hit >= since

    def _guard(self) -> None:
        self._written.look()
        # After a restart, the layer may already be full.
        bound, stops = self._most if self._total <= self._most else self._total + MORE, 0
        hid = False
        while self._written.look():
            # At two looks: a program that just starts also hides it for a moment.
            hides, hid = hid and self._written.hides, self._written.hides
            if hides or self._total > bound:
                stops += 1
                self.hides, self._hit = hides, time.monotonic()
                if stops == STOPS:
                    log.warning("A sandboxed kernel went on writing, so it was ended")
                    self.has_ended_it = True
                    self._kill()
                    return
                why = (
                    "does not show what it writes" if hides else f"has written {self._total} bytes"
                )
                log.warning("A sandboxed kernel %s: interrupted", why)
                self._send(signal.SIGINT)
                time.sleep(GRACE)
                self._written.look()
                bound = max(bound, self._total + MORE)
            time.sleep(EVERY if hid else pause(bound - self._total))

    @property
    def _total(self) -> int:
        return max(self._written.bytes, self._written.waits)


def pause(left: int) -> float:
    """Seconds until the next look, with ``left`` bytes to the limit."""
    return min(SELDOM, max(EVERY, left / SPEED))


def _lives(number: int) -> bool:
    """Whether the process still has memory. An ended one shows no count, either."""
    try:
        return not read(number, "statm").startswith("0 ")
    except OSError:
        return False


def _written(io: str) -> int:
    """Written bytes from ``/proc/PID/io``. A temporary file system does not count."""
    for line in io.splitlines():
        name, _, count = line.partition(": ")
        if name == "write_bytes":
            return int(count)
    return 0


def _size(folder: int, depth: int = trees.DEPTH) -> int:
    """Bytes on the disk below an open folder. Raises OSError."""
    total = 0
    for name in os.listdir(folder):
        one = trees.status_in(folder, name)
        if one is None:
            continue
        total += max(one.st_blocks * 512, ENTRY)
        if stat.S_ISDIR(one.st_mode) and depth:
            # Code may make it unreadable, or put a link there.
            with suppress(OSError), trees.opened(name, folder) as inner:
                total += _size(inner, depth - 1)
    return total
