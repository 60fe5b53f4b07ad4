"""A column at a glance: missing values, range or most frequent values, a small histogram.

This file's text runs **in the kernel**, as ``columns.py`` does.
"""

from __future__ import annotations

import decimal
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from .columns import Codes, Column, array_missing, cell_text
from .variables import is_among

SAMPLE = 1_000_000
"""Maximum number of an array's values that a profile reads: every n-th of a larger one."""
PLAIN_SAMPLE = 50_000
"""The same for Python objects. Each takes a microsecond."""
BINS = 16
TOP = 3


def profile(column: Column, rows: int) -> dict[str, Any]:
    """``read``: number of values read. ``missing``: number of missing ones.

    Also ``min``, ``median`` and ``max`` as text and ``bins`` (counts); or ``top`` (the most
    frequent values as text, with counts) and ``distinct`` (the number of different values).
    """
    array = column.array() if column.kind != "truth" else None
    if array is not None:
        return array_profile(array, column.show or (lambda value: value))
    if column.codes is not None and column.dtype == "category":
        return codes_profile(column.codes())
    step = -(-rows // PLAIN_SAMPLE) or 1
    values = column.take(list(range(0, rows, step)))
    return values_profile(values)


def array_profile(array: Any, show: Callable[[Any], Any]) -> dict[str, Any]:
    numpy = sys.modules["numpy"]
    sample = array[:: -(-len(array) // SAMPLE) or 1]
    missing = array_missing(sample)
    present = sample[~missing]
    found = {"read": len(sample), "missing": int(missing.sum())}
    is_time = present.dtype.kind in "Mm"
    finite = present.view("i8") if is_time else present[numpy.isfinite(present)]
    if not len(finite):
        return found
    middle = numpy.partition(present, len(present) // 2)[len(present) // 2]
    lowest, highest = present.min(), present.max()
    counts, _ = numpy.histogram(finite.astype("f8"), bins=BINS)
    facts = {"min": lowest, "median": middle, "max": highest}
    texts = {name: text_of(show(value)) for name, value in facts.items()}
    return dict(found, bins=[int(count) for count in counts], **texts)


def codes_profile(codes: Codes) -> dict[str, Any]:
    numpy = sys.modules["numpy"]
    sample = codes.numbers[:: -(-len(codes.numbers) // SAMPLE) or 1]
    counts = numpy.bincount(sample + 1, minlength=codes.count + 1)
    texts = [cell_text(value) or "" for value in codes.values.take(range(codes.count))]
    pairs = [(text, int(n)) for text, n in zip(texts, counts[1:]) if n]  # noqa: B905
    return ranked(Counter(dict(pairs)), len(sample), int(counts[0]))


def values_profile(values: list[Any]) -> dict[str, Any]:
    texts = [cell_text(value) for value in values]
    missing = texts.count(None)
    numbers = [
        float(value)
        for value, text in zip(values, texts)  # noqa: B905, the kernel's Python may be 3.9
        if text is not None
        and is_among(type(value), (int, float, decimal.Decimal))
        and abs(value) < 1e300
    ]
    if not numbers or len(numbers) + missing < len(values):
        return ranked(Counter(text for text in texts if text is not None), len(values), missing)
    numbers.sort()
    low, high = numbers[0], numbers[-1]
    bins = [0] * BINS
    for number in numbers:
        share = (number - low) / (high - low) if high > low else 0.5
        bins[min(int(share * BINS), BINS - 1)] += 1
    facts = {"min": low, "median": numbers[len(numbers) // 2], "max": high}
    told = {name: text_of(value) for name, value in facts.items()}
    return dict({"read": len(values), "missing": missing, "bins": bins}, **told)


def ranked(counted: Counter[str], read: int, missing: int) -> dict[str, Any]:
    top = [[text, count] for text, count in counted.most_common(TOP)]
    return {"read": read, "missing": missing, "top": top, "distinct": len(counted)}


def text_of(value: Any) -> str:
    kind = type(value)
    if kind is float:
        return f"{value:.6g}"
    numpy = sys.modules.get("numpy")
    if numpy is not None and issubclass(kind, numpy.floating):
        return f"{float(value):.6g}"
    return cell_text(value) or ""
