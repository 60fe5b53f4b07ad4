"""Measured figures and their bounds."""

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
    """The measured ``values``, in ``unit``."""

    name: str
    values: Sequence[float]
    unit: str
    bounds: tuple[Bound, ...]

    def statistic(self, of: str) -> float:
        if of in ("p95", "p99"):
            return percentile(self.values, int(of[1:]) / 100)
        return max(self.values) if of == "worst" else statistics.median(self.values)

    @property
    def met(self) -> bool:
        return all(self.statistic(bound.of) <= bound.limit for bound in self.bounds)

    @property
    def row(self) -> tuple[str, ...]:
        """Name, bounds, measured statistics, and whether the bounds are met."""
        count = len(self.values)
        found = [
            f"{_amount(self.statistic(bound.of), self.unit)} {bound.of}".rstrip()
            for bound in self.bounds
        ]
        most = [f"≤ {_amount(bound.limit, self.unit)}" for bound in self.bounds]
        return (
            f"{self.name} ({count})" if count > 1 else self.name,
            ", ".join(found),
            ", ".join(most),
            "yes" if self.met else "**no**",
        )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _amount(value: float, unit: str) -> str:
    digits = 0 if value == round(value) or abs(value) >= 100 else 1
    return f"{value:,.{digits}f} {unit}".rstrip()


def table(rows: Sequence[Sequence[str]]) -> str:
    """In Markdown. The first row is the header. The columns line up as plain text too."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))
