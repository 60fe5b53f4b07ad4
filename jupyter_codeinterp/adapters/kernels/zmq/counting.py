"""Notices what a kernel published and nobody got: when code prints faster than it is read,
the kernel's socket drops messages without a word.

ipykernel numbers all that one process sends (``…_PID_NUMBER``): what it publishes, and the
reply to each request, which goes to its sender alone. Each request ends with one ``idle``.
So of the numbers between two messages those are lost that were neither published to us nor
replies. Kernels that number otherwise are not counted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

UNSURE = 3
"""So many may be something else: a question to a person, a reply whose ``idle`` is to come."""

_NUMBERED = re.compile(r"(.+)_(\d+)")


class Mark(NamedTuple):
    number: int
    published: int
    ended: int


class Counter:
    """Fed with every published message, in order."""

    def __init__(self) -> None:
        self._process = ""
        self._now = Mark(0, 0, 0)

    def count(self, msg_id: str, *, ends: bool) -> None:
        """``ends``: it is the ``idle`` of some request."""
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

    def lost_since(self, mark: Mark) -> int:
        """How many messages are missing since ``mark``; 0 if it may be none."""
        now = self._now
        missing = (
            (now.number - mark.number) - (now.published - mark.published) - (now.ended - mark.ended)
        )
        return missing if missing > UNSURE and now.published > mark.published else 0
