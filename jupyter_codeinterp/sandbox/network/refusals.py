"""Which connections the proxy refused: a bounded file in memory that it shares with the server.

The proxy writes, and never waits. The server reads when a run ends.
"""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple

from .rules import Target

SIZE = 384
"""Bytes of an entry: a host has 253 at most."""
KEPT = 64
"""Entries; a new one takes the place of the oldest."""
SHOWN = 5
_ENTRY = re.compile(r"([0-9]+\.[0-9]{6})\t([!-~]+)\t([ -~]+?) +\Z")


class Refusal(NamedTuple):
    """``at`` in seconds of ``time.monotonic``, which is one clock for all processes."""

    at: float
    target: str
    why: str


class Book:
    """``number``: the descriptor of the file."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._next = 0

    def write(self, target: Target, why: str) -> None:
        text = f"{time.monotonic():.6f}\t{target}\t{why}".encode("ascii", "replace")
        os.pwrite(self.number, text[:SIZE].ljust(SIZE), self._next * SIZE)
        self._next = (self._next + 1) % KEPT

    def since(self, at: float) -> list[Refusal]:
        """The oldest first."""
        found = []
        for place in range(KEPT):
            # One that is just being written is left out.
            entry = _ENTRY.match(os.pread(self.number, SIZE, place * SIZE).decode("ascii"))
            if entry is not None:
                found.append(Refusal(float(entry[1]), entry[2], entry[3]))
        return sorted(one for one in found if one.at >= at)


def sentence(refused: list[Refusal]) -> str:
    """For the person and the model; "" for none."""
    each = list(dict.fromkeys(f"{one.target} ({one.why})" for one in refused))
    if not each:
        return ""
    more = len(each) - SHOWN
    words = "a connection" if len(each) == 1 else "connections"
    named = ", ".join(each[:SHOWN]) + (f", and {more} more" if more > 0 else "")
    return f"The sandbox refused {words}: {named}."
