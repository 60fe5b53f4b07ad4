"""When a fault strikes: as the page gets one of its frames, or a moment later."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

KINDS = {"op": 5, "event": 4, "stream": 1, "outputs": 1, "read": 1}
"""Kinds of frames, and how likely a fault strikes at one."""
LATEST = 0.06
"""Seconds after the frame."""


@dataclass(frozen=True)
class Point:
    kind: str
    number: int
    """The how-manieth frame of this kind, from 1."""
    taken: bool
    """Whether the page still takes that frame, and cannot answer any more."""
    delay: float

    def __str__(self) -> str:
        when = "after" if self.taken else "before"
        return f"{when} {self.kind} {self.number}, {self.delay * 1000:.0f} ms later"


def choose(rng: random.Random, frames: Mapping[str, int]) -> Point:
    """``frames`` is how many of each kind an undisturbed turn has."""
    kinds = [kind for kind in KINDS if frames.get(kind)]
    (kind,) = rng.choices(kinds, [KINDS[kind] for kind in kinds])
    return Point(
        kind,
        rng.randint(1, frames[kind]),
        rng.random() < 0.5,
        rng.choice((0.0, rng.uniform(0, LATEST))),
    )


class Trigger:
    """Strikes once: at its point, or when the turn has come to its end without it."""

    def __init__(self, point: Point, strike: Callable[[], None], *, cuts: bool = True) -> None:
        """``cuts``: whether the page hears and says nothing any more once it has struck."""
        self.point = point
        self._cuts = cuts
        self._strike = strike
        self._seen: Counter[str] = Counter()
        self._due = False
        self.struck: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        """The time (of the loop) at which it has."""

    def before(self, kind: str) -> bool:
        """A frame has come; False if the page does not live to take it."""
        self._seen[kind] += 1
        point = self.point
        self._due = kind == point.kind and self._seen[kind] == point.number
        if self._due and not point.taken and not point.delay:
            self.now()
        return not (self._cuts and self.struck.done())

    def after(self) -> None:
        """That frame has been taken."""
        if self._due and not self.struck.done():
            self._due = False
            asyncio.get_running_loop().call_later(self.point.delay, self.now)

    @property
    def mute(self) -> bool:
        """Whether what the page answers to the frame that it takes now is lost."""
        return self._cuts and self._due and self.point.taken and not self.point.delay

    def now(self) -> None:
        if not self.struck.done():
            self.struck.set_result(asyncio.get_running_loop().time())
            self._strike()
