"""Which rows of a table a change keeps, and in what order. The server and kernels run this.

Standard library only. Rows are numbered from 0.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

LEFT_OUT = 0.05
"""The share of the rows that is left out, and that is doubled."""
MOST_OUTLIERS = 3
"""Numeric columns of which one outlier each is left out."""


def picked(kind: str, number: int, rows: int, outliers: Sequence[int]) -> list[int]:
    """The rows of a changed table, the same ones for the same arguments. A kind that is none of
    ``Variation`` changes nothing."""
    numbers = list(range(rows))
    chance = random.Random(f"{kind} {number}")
    few = min(rows, max(1, round(rows * LEFT_OUT)))
    if kind == "twice":
        numbers += numbers
    elif kind == "shuffled":
        chance.shuffle(numbers)
    elif kind == "left_out":
        out = set(chance.sample(numbers, few))
        numbers = [one for one in numbers if one not in out]
    elif kind == "doubled":
        numbers += chance.sample(numbers, few)
    elif kind == "outlier" and number < len(outliers):
        del numbers[outliers[number]]
    return numbers


def outliers_of(columns: Iterable[Sequence[Any]]) -> list[int]:
    """The row farthest from the median for each of the first numeric columns. Values are numbers,
    or None where there is none."""
    found: list[int] = []
    for values in columns:
        if len(found) == MOST_OUTLIERS:
            break
        if is_numeric(values):
            found.append(farthest(values))
    return found


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether these are the values of a column of numbers that does not only count the rows."""
    known = [value for value in values if value is not None]
    if len(known) < 0.9 * len(values) or len(set(known)) < 2:
        return False
    return {after - before for before, after in zip(known, known[1:])} != {1.0}  # noqa: B905, RUF007


def farthest(values: Sequence[Any]) -> int:
    middle = statistics.median(value for value in values if value is not None)
    return max(
        range(len(values)),
        key=lambda at: -1.0 if values[at] is None else abs(values[at] - middle),
    )


def number_or_none(value: Any) -> Any:
    """A finite number as a float; None for anything else."""
    if type(value) not in (int, float) or value != value or abs(value) > 1e300:
        return None
    return float(value)
