"""Sees from outside whether a sandbox starts programs.

Linux counts for each process what its ended children needed. So a program counts that has ended,
too, unless its parent has declared that it waits for no child.
"""

from __future__ import annotations

import os
from contextlib import suppress
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
    """Below the first process of a sandbox. The kernel is its child; after an undo with variables,
    a child of that one. What ends meanwhile is left out."""
    found: dict[Process, int] = {}
    waiting = [first]
    while waiting and len(found) < MOST:
        number = waiting.pop()
        with suppress(OSError, IndexError, ValueError):
            fields = _read(f"/proc/{number}/stat").rpartition(")")[2].split()
            found[number, fields[_START]] = int(fields[_CHILDRENS_FAULTS])
            # One entry a thread: each has the children that it started.
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                with suppress(OSError):
                    waiting += map(int, _read(f"/proc/{number}/task/{thread}/children").split())
    return Programs(found)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()
