"""Connections that the proxy refused, or that carried data: a bounded file in memory, shared with
the server.

The proxy writes, and never waits. The server reads when a run ends.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from typing import NamedTuple

from ...base.sentences import Sentence, together
from .rules import Target

SIZE = 384
"""Bytes of an entry: a host has 253 at most."""
KEPT = 64
"""Entries; a new one replaces the oldest. The time of the last replaced one follows them."""
SHOWN = 5
_ENTRY = re.compile(r"([0-9]+\.[0-9]{6})\t([!-~]+)\t([ -~]*?) *\Z")


class ConnectionRecord(NamedTuple):
    """``at``: ``time.monotonic``, one clock for all processes. ``why``: the reason of a refusal; ""
    if data passed."""

    at: float
    target: str
    why: str


class ConnectionLog:
    """``number``: the descriptor of the file."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._rows: dict[tuple[Target, str], tuple[int, float]] = {}
        """Positions and times of this writer's entries, the latest last."""

    def write(self, target: Target, why: str = "") -> None:
        """Write one entry per target and reason, so that a busy program does not push out the
        others."""
        now = time.monotonic()
        known = self._rows.pop((target, why), None)
        place, _ = known or self._free()
        self._rows[target, why] = place, now
        self._put(place, now, str(target), why)

    def _free(self) -> tuple[int, float]:
        if len(self._rows) < KEPT:
            return len(self._rows), 0.0
        place, at = self._rows.pop(next(iter(self._rows)))
        self._put(KEPT, at, "lost", "")
        return place, at

    def _put(self, place: int, at: float, target: str, why: str) -> None:
        entry = f"{at:.6f}\t{target}\t{why}".encode("ascii", "replace")[:SIZE]
        os.pwrite(self.number, entry.ljust(SIZE), place * SIZE)

    def since(self, at: float) -> list[ConnectionRecord]:
        """Entries since this time, oldest first; none from a closed book."""
        found = (self._get(place) for place in range(KEPT))
        return sorted(one for one in found if one is not None and one.at >= at)

    def has_lost(self, at: float) -> bool:
        """Whether newer entries replaced some since then."""
        lost = self._get(KEPT)
        return lost is not None and lost.at >= at

    def _get(self, place: int) -> ConnectionRecord | None:
        """The entry; None if empty or being written."""
        if self.number < 0:
            return None
        entry = _ENTRY.match(os.pread(self.number, SIZE, place * SIZE).decode("ascii"))
        return ConnectionRecord(float(entry[1]), entry[2], entry[3]) if entry is not None else None

    def close(self) -> None:
        """May be called again."""
        if self.number >= 0:
            os.close(self.number)
            self.number = -1


NOT_LISTED = Sentence("not on the list of allowed hosts")
NOT_PUBLIC = Sentence("its address is not public and not on the list")
REASONS = {str(one): one for one in (NOT_LISTED, NOT_PUBLIC)}
"""By the text of an entry."""
REFUSED = "The sandbox refused connections: {names}."
MORE = "The sandbox refused connections: {names}, and {more} more."
OTHERS = Sentence("Others are not listed: there were too many.")


def hosts(found: Iterable[ConnectionRecord]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.target for one in found))


def sentence(refused: list[ConnectionRecord], more: bool = False) -> Sentence:
    """A sentence for the person and the model; "" for none. ``more``: others were lost."""
    each = [
        Sentence("{host} ({why})", host=host, why=REASONS.get(why, why))
        for host, why in dict.fromkeys((one.target, one.why) for one in refused)
    ]
    if not each:
        return Sentence()
    left = len(each) - SHOWN
    names = together(*each[:SHOWN], between=", ")
    said = Sentence(MORE if left > 0 else REFUSED, names=names, more=left)
    return together(said, OTHERS if more else "")
