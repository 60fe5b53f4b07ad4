"""Sees from outside whether a sandbox starts programs.

Linux counts for each process what its ended children needed. So a program counts that has ended,
too, unless its parent has declared that it waits for no child.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple

MOST = 2_000
"""Processes that are looked at."""
_CHILDRENS_FAULTS, _START = 8, 19
"""Fields of a process's ``stat``, behind its name."""


Process = tuple[int, str]
"""Its number and its start: numbers are used again."""


class Programs(NamedTuple):
    """``faults`` of each process: those of its ended children, which only grow."""

    faults: dict[Process, int]

    def started(self, before: Programs) -> bool:
        return any(
            process not in before.faults or faults > before.faults[process]
            for process, faults in self.faults.items()
        )


def programs(first: int) -> Programs:
    """Below the first process of a sandbox. What ends meanwhile is left out."""
    found: dict[Process, int] = {}
    for number in islice(processes(first), MOST):
        with suppress(OSError, IndexError, ValueError):
            fields = read(number, "stat").rpartition(")")[2].split()
            found[number, fields[_START]] = int(fields[_CHILDRENS_FAULTS])
    return Programs(found)


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
