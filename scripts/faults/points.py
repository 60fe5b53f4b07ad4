"""The point of a fault: when the page gets one of its frames, or a moment later."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KINDS = {"op": 5, "event": 4, "stream": 1, "outputs": 1, "read": 1}
"""Kinds of frames, with the probability of a fault at each."""
LATEST = 0.06
"""Maximum seconds after the frame."""


@dataclass(frozen=True)
class Point:
    kind: str
    number: int
    """The number of the frame among those of its kind, from 1."""
    taken: bool
    """Whether the page still handles that frame, but can no longer answer."""
    delay: float

    def __str__(self) -> str:
        when = "after" if self.taken else "before"
        return f"{when} {self.kind} {self.number}, {self.delay * 1000:.0f} ms later"


def choose(rng: random.Random, frames: Mapping[str, int]) -> Point:
    """``frames``: the number of frames of each kind in an undisturbed turn."""
    kinds = [kind for kind in KINDS if frames.get(kind)]
    (kind,) = rng.choices(kinds, [KINDS[kind] for kind in kinds])
    return Point(
        kind,
        rng.randint(1, frames[kind]),
        rng.random() < 0.5,
        rng.choice((0.0, rng.uniform(0, LATEST))),
    )


class Trigger:
    """Starts the fault once: at its point, or at the turn's end if that came first."""

    def __init__(self, point: Point, strike: Callable[[], None], *, cuts: bool = True) -> None:
        """``cuts``: whether the page then no longer receives or sends anything."""
        self.point = point
        self._cuts = cuts
        self._strike = strike
        self._seen: Counter[str] = Counter()
        self._due = False
        self.struck: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        """The time of the fault, on the loop's clock."""

    def before(self, kind: str) -> bool:
        """Handle a received frame; False if the page ends before it handles the frame."""
        self._seen[kind] += 1
        point = self.point
        self._due = kind == point.kind and self._seen[kind] == point.number
        if self._due and not point.taken and not point.delay:
            self.now()
        return not (self._cuts and self.struck.done())

    def after(self) -> None:
        """Note that the page has handled that frame."""
        if self._due and not self.struck.done():
            self._due = False
            asyncio.get_running_loop().call_later(self.point.delay, self.now)

    @property
    def mute(self) -> bool:
        """Whether the page's answer to the current frame is lost."""
        return self._cuts and self._due and self.point.taken and not self.point.delay

    def now(self) -> None:
        if not self.struck.done():
            self.struck.set_result(asyncio.get_running_loop().time())
            self._strike()
