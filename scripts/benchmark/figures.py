"""Figures, their bounds, and what becomes of them when they are kept."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """The most that a statistic may be: ``of`` is ``median``, ``p95``, ``p99``, ``worst`` or, where
    there is one value only, ``""``."""

    limit: float
    of: str = ""


@dataclass(frozen=True)
class Figure:
    """What was measured, in ``unit``. Without bounds it only explains another figure."""

    name: str
    values: Sequence[float]
    unit: str
    bounds: tuple[Bound, ...] = ()

    def statistic(self, of: str) -> float:
        if of in ("p95", "p99"):
            return percentile(self.values, int(of[1:]) / 100)
        return max(self.values) if of == "worst" else statistics.median(self.values)

    def kept(self, pace: float) -> Kept:
        bounds = tuple((b.of, b.limit, self.statistic(b.of)) for b in self.bounds)
        return Kept(
            name=self.name,
            unit=self.unit,
            count=len(self.values),
            median=self.statistic("median"),
            p99=self.statistic("p99"),
            spread=percentile(self.values, 0.75) - percentile(self.values, 0.25),
            pace=pace if self.unit == "ms" else 0.0,
            bounds=bounds,
        )


@dataclass(frozen=True)
class Kept:
    """A figure without its single values, as the repository keeps it."""

    name: str
    unit: str
    count: int
    median: float
    p99: float
    spread: float
    """Between the first and the third quarter of the values."""
    pace: float
    """Milliseconds; 0 for what is no time."""
    bounds: tuple[tuple[str, float, float], ...]
    """Of which statistic, its limit, its value."""

    @property
    def met(self) -> bool:
        return all(value <= limit for _, limit, value in self.bounds)

    @property
    def compared(self) -> float:
        """What two runs compare: times in paces, everything else as it is."""
        return self.median / self.pace if self.pace else self.median

    def worse_than(self, last: Kept | None) -> bool:
        """By more than the noise of both runs. Figures without a bound are never worse: they are
        not ours, or only explain."""
        if last is None or not self.bounds or last.unit != self.unit:
            return False
        if self.pace and last.pace:
            spread = max(self.spread / self.pace, last.spread / last.pace)
            noise = max(spread, TIMES_DIFFER * last.compared, SHORTEST)
        else:
            noise = SIZES_DIFFER * last.median if self.unit else 0.0
        return self.compared > last.compared + noise


TIMES_DIFFER = 0.2
"""A fifth: medians of the same code differ by that on a machine that others share."""
SHORTEST = 0.2
"""Paces. Below that the clock and the scheduler are measured."""
SIZES_DIFFER = 0.02
"""Compilers and minifiers differ by less from version to version. A count has no noise."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not exceeded by this share of the values."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
