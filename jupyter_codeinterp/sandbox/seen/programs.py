"""Lists the processes of a sandbox from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress


def processes(first: int) -> Iterator[int]:
    """The numbers of a sandbox's first process and of all below. The kernel is its child; after an
    undo with variables, a child of that one."""
    waiting = [first]
    while waiting:
        number = waiting.pop()
        yield number
        with suppress(OSError):
            # One entry a thread: each has the children that it started.
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                with suppress(OSError):
                    waiting += map(int, read(number, f"task/{thread}/children").split())


def read(number: int, name: str) -> str:
    """What Linux tells of a process. Raises OSError."""
    path = f"/proc/{number}/{name}"
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()
