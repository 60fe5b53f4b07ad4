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


class Programs(NamedTuple):
    """``alive``: number and start of each process. ``faults``: of the ended children of the first
    process and of the kernel, which only grows."""

    alive: frozenset[tuple[int, str]]
    faults: int

    def started(self, before: Programs) -> bool:
        return bool(self.alive - before.alive) or self.faults > before.faults


def programs(first: int) -> Programs:
    """Below the first process of a sandbox. What ends meanwhile is left out."""
    alive: set[tuple[int, str]] = set()
    faults, waiting = 0, [(first, 0)]
    while waiting and len(alive) < MOST:
        number, depth = waiting.pop()
        with suppress(OSError, IndexError, ValueError):
            fields = _read(f"/proc/{number}/stat").rpartition(")")[2].split()
            alive.add((number, fields[_START]))
            faults += int(fields[_CHILDRENS_FAULTS]) if depth < 2 else 0
            # One entry a thread: each has the children that it started.
            for thread in os.listdir(f"/proc/{number}/task"):  # noqa: PTH208
                with suppress(OSError):
                    children = _read(f"/proc/{number}/task/{thread}/children").split()
                    waiting += ((int(one), depth + 1) for one in children)
    return Programs(frozenset(alive), faults)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        return file.read()
