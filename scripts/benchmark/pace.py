"""The pace of this machine: how long it takes for a fixed piece of pure Python.

Times are compared in this unit, so that a slower or busier machine does not look like slower code.
"""

from __future__ import annotations

import time

RUNS = 30
PIECES = 10
"""A run of them takes some 10 ms, so a wait for a processor spoils one run and not all."""


def pace() -> float:
    """Milliseconds that one piece takes: the best of several runs."""
    return min(_run() for _ in range(RUNS))


def _run() -> float:
    started = time.perf_counter()
    for _ in range(PIECES):
        _piece()
    return (time.perf_counter() - started) * 1000 / PIECES


def _piece() -> int:
    """Do a bit of what the server does: integers, text, a dict. Takes about a millisecond."""
    counts: dict[str, int] = {}
    for number in range(5_000):
        word = f"word {number % 97}"
        counts[word] = counts.get(word, 0) + len(word) * number % 7
    return sum(counts.values())
