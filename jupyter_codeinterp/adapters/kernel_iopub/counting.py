"""Detects lost messages: if code prints faster than we read, the kernel's socket drops silently.

ipykernel numbers all messages of one process (``…_PID_NUMBER``): published ones, and replies,
which only the requester gets. Each request ends with one ``idle``. So a number between two
messages is lost if it was neither published to us nor a reply. Kernels that number differently
are not counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

UNSURE = 3
"""Missing numbers that may have another cause: an input request, a reply whose ``idle`` is still
due."""

_NUMBERED = re.compile(r"(.+)_(\d+)")


class Mark(NamedTuple):
    number: int
    published: int
    ended: int


class Counter:
    """Feed it every published message, in order."""

    def __init__(self) -> None:
        self._process = ""
        self._now = Mark(0, 0, 0)

    def count(self, msg_id: str, *, ends: bool) -> None:
        """``ends``: this is the ``idle`` of some request."""
        numbered = _NUMBERED.fullmatch(msg_id)
        if numbered is None:
            return
        process, number = numbered[1], int(numbered[2])
        before = self._now if process == self._process else Mark(0, 0, 0)
        self._process = process
        self._now = Mark(
            max(before.number, number), before.published + 1, before.ended + (1 if ends else 0)
        )

    def mark(self) -> Mark:
        return self._now

    def lost_since(self, mark: Mark, unsure: int = UNSURE) -> int:
        """Number of messages missing since ``mark``; 0 if there are at most ``unsure``."""
        now = self._now
        missing = (
            (now.number - mark.number) - (now.published - mark.published) - (now.ended - mark.ended)
        )
        return missing if missing > unsure and now.published > mark.published else 0
