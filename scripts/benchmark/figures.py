"""Figures and their bounds, and the table of both."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.tables import table

HEADER = ("figure", "median", "p99", "bound", "met")


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

    @property
    def met(self) -> bool:
        return all(self.statistic(bound.of) <= bound.limit for bound in self.bounds)

    def row(self) -> tuple[str, ...]:
        several = len(self.values) > 1
        name = f"{self.name} ({len(self.values)})" if several else self.name
        return (
            name,
            self._amount(self.statistic("median")),
            self._amount(self.statistic("p99")) if several else "",
            ", ".join(map(self._bound, self.bounds)) or "",
            ("yes" if self.met else "**no**") if self.bounds else "",
        )

    def _bound(self, bound: Bound) -> str:
        limit = f"≤ {self._amount(bound.limit)} {bound.of}".rstrip()
        if bound.of not in ("p95", "worst"):
            return limit  # It has a column of its own.
        return f"{limit} (was {self._amount(self.statistic(bound.of))})"

    def _amount(self, value: float) -> str:
        digits = 0 if value == round(value) or abs(value) >= 100 else 1
        return f"{value:,.{digits}f} {self.unit}".rstrip()


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not exceeded by this share of the values."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def as_table(figures: Sequence[Figure]) -> str:
    return table([HEADER, *(figure.row() for figure in figures)])
