"""Connections that the proxy refused, or that carried data: a bounded file in memory, shared with
the server.

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
_ENTRY = re.compile(r"([0-9]+\.[0-9]{6})\t([!-~]+)\t([ -~]*?) *\Z")


class Connection(NamedTuple):
    """``at`` in seconds of ``time.monotonic``, which is one clock for all processes. ``why`` it was
    refused; "" if data passed."""

    at: float
    target: str
    why: str


class Book:
    """``number``: the descriptor of the file."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._next = 0

    def write(self, target: Target, why: str = "") -> None:
        text = f"{time.monotonic():.6f}\t{target}\t{why}".encode("ascii", "replace")
        os.pwrite(self.number, text[:SIZE].ljust(SIZE), self._next * SIZE)
        self._next = (self._next + 1) % KEPT

    def since(self, at: float) -> list[Connection]:
        """The oldest first; none of a closed book."""
        found: list[Connection] = []
        for place in range(KEPT if self.number >= 0 else 0):
            # One that is just being written is left out.
            entry = _ENTRY.match(os.pread(self.number, SIZE, place * SIZE).decode("ascii"))
            if entry is not None:
                found.append(Connection(float(entry[1]), entry[2], entry[3]))
        return sorted(one for one in found if one.at >= at)

    def close(self) -> None:
        """May be called again."""
        if self.number >= 0:
            os.close(self.number)
            self.number = -1


def sentence(refused: list[Connection]) -> str:
    """For the person and the model; "" for none."""
    each = list(dict.fromkeys(f"{one.target} ({one.why})" for one in refused))
    if not each:
        return ""
    more = len(each) - SHOWN
    words = "a connection" if len(each) == 1 else "connections"
    named = ", ".join(each[:SHOWN]) + (f", and {more} more" if more > 0 else "")
    return f"The sandbox refused {words}: {named}."
