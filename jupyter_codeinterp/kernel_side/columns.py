"""A table's columns: cells as text, sorting and filtering. This file's text runs **in the kernel**.

Standard library only, and numpy where the table already uses it. As in ``variables.py``, values of
unknown types run no code: a cell shows their type's name.

*Positions* are row numbers of the table, from 0: a range, a list or a numpy array.
"""

from __future__ import annotations

import datetime
import decimal
import operator
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from .variables import (
    CONTAINERS,
    is_among,
    is_one_of,
    numpy_scalars,
    short_value,
    type_name,
)

MAX_CELL = 120
"""Characters of a cell."""
CHUNK = 20_000
"""Values read between two looks at the clock."""
PLAIN_ROWS = 500_000
"""Rows of a column of Python objects that we sort: about half a second."""
ARRAY_ROWS = 10_000_000
"""Rows of an array that we sort: about a second, in which other threads run."""
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TIMES = (datetime.date, datetime.datetime, datetime.time, datetime.timedelta)
KINDS = {"b": "truth", "i": "number", "u": "number", "f": "number", "M": "time", "m": "time"}
"""By a numpy dtype's ``kind``."""


class Refused(Exception):
    """Why there is no page; ``code`` is for programs, ``detail`` names what it is about."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class Column:
    """``take`` gives the values at some positions.

    ``array`` gives all values as a numpy array of numbers, booleans or times, without a copy if
    it can. ``codes`` gives a numpy array of numbers into a list of texts, -1 for a missing value.
    ``parse`` makes of a filter's text a value that compares with ``array``. ``show`` makes of an
    element of ``array`` a value as ``take`` gives it. ``is_number``: it has no array, and all its
    values are numbers.
    """

    def __init__(
        self,
        label: str,
        dtype: str,
        take: Callable[[Sequence[int]], list[Any]],
        array: Any = None,
        codes: Callable[[], tuple[Any, list[str | None]]] | None = None,
        parse: Callable[[str], Any] = float,
        show: Callable[[Any], Any] | None = None,
        is_number: bool = False,
    ) -> None:
        self.label = label
        self.dtype = dtype
        self.take = take
        self.array = array
        self.codes = codes
        self.parse = parse
        self.show = show
        self.is_number = is_number

    @property
    def kind(self) -> str:
        """``number``, ``time``, ``truth`` or ``text``."""
        if self.array is None:
            return "number" if self.is_number else "text"
        return KINDS[self.array.dtype.kind]


def cell_text(value: Any) -> str | None:
    """What a cell shows; None for a missing value."""
    kind = type(value)
    if kind is str:
        return encodable(value)
    if value is None or is_missing(value, kind):
        return None
    numpy = sys.modules.get("numpy")
    if numpy is not None and is_among(kind, numpy_scalars(numpy)):
        item = value.item()
        # Times and long doubles have no Python value, or lose digits.
        is_whole = type(item) is not kind and value.dtype.kind not in "Mm"
        return cell_text(item) if is_whole else encodable(str(value))
    return encodable(known_text(value, kind))


def known_text(value: Any, kind: type) -> str:
    if kind is int and value.bit_length() > 256:
        return "a large number"
    if is_among(kind, (bool, int, float, complex, decimal.Decimal)):
        return str(value)
    if is_among(kind, TIMES):
        zone = type(getattr(value, "tzinfo", None))
        known = zone in (type(None), datetime.timezone) or zone.__module__ == "zoneinfo"
        return str(value) if known else type_name(kind)
    if kind is bytes:
        return repr(value[:MAX_CELL])
    pandas = sys.modules.get("pandas")
    if pandas is not None and is_one_of(
        kind, pandas, ("Timestamp", "Timedelta", "Period", "Interval")
    ):
        return str(value)
    if is_among(kind, CONTAINERS):
        return str(short_value(value).get("value", f"{type_name(kind)} of {len(value)}"))
    return f"<{type_name(kind)}>"


def is_missing(value: Any, kind: type) -> bool:
    if kind is float:
        return bool(value != value)
    if kind is decimal.Decimal:
        return bool(value.is_nan())
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and (
        value is getattr(pandas, "NaT", None) or value is getattr(pandas, "NA", None)
    ):
        return True
    if numpy is not None and is_one_of(kind, numpy, ("datetime64", "timedelta64")):
        return bool(numpy.isnat(value))
    if numpy is not None and is_one_of(kind, numpy, ("float16", "float32", "float64")):
        return bool(numpy.isnan(value))
    return False


def encodable(text: str) -> str:
    """Cut, and without half surrogate pairs, which no message can hold."""
    cut = text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "\u2026"
    return cut.encode("utf-8", "replace").decode()


def sort_key(value: Any) -> tuple[int, Any] | None:
    """Numbers before texts; None for a missing value."""
    kind = type(value)
    if kind is str:
        return (1, value)
    text = cell_text(value)
    if text is None:
        return None
    if is_among(kind, (bool, int, float, decimal.Decimal)):
        return (0, value)
    return (1, text)


# --- sorting ---------------------------------------------------------------------------


def ordered(column: Column, base: Any, descending: bool, deadline: float) -> Any:
    """The positions of ``base``, sorted. Stable in both directions; missing values come last."""
    if column.array is not None:
        return array_order(column.array, base, descending)
    if column.codes is not None:
        codes, texts = column.codes()
        present = sorted({text for text in texts if text is not None})
        ranks = {text: float(rank) for rank, text in enumerate(present)}
        numpy = sys.modules["numpy"]
        # The last one is for the code -1.
        by_code = [numpy.nan if text is None else ranks[text] for text in texts] + [numpy.nan]
        return array_order(numpy.array(by_code)[codes], base, descending)
    return plain_order(column, base, descending, deadline)


def array_order(array: Any, base: Any, descending: bool) -> Any:
    if len(base) > ARRAY_ROWS:
        raise Refused("too_large_to_sort")
    numpy = sys.modules["numpy"]
    values = array if type(base) is range else array[base]
    if descending:
        found = len(values) - 1 - values[::-1].argsort(kind="stable")[::-1]
        missing = int(array_missing(values).sum())
        found = numpy.concatenate((found[missing:], found[:missing])) if missing else found
    else:
        found = values.argsort(kind="stable")
    return found if type(base) is range else base[found]


def array_missing(array: Any) -> Any:
    numpy = sys.modules["numpy"]
    if array.dtype.kind in "Mm":
        return numpy.isnat(array)
    if array.dtype.kind == "f":
        return numpy.isnan(array)
    return numpy.zeros(len(array), dtype=bool)


def plain_order(column: Column, base: Any, descending: bool, deadline: float) -> list[int]:
    if len(base) > PLAIN_ROWS:
        raise Refused("too_large_to_sort")
    present: list[tuple[tuple[int, Any], int]] = []
    missing: list[int] = []
    for positions, values in chunks(column, base, deadline):
        for position, value in zip(positions, values):  # noqa: B905, the kernel's Python may be 3.9
            key = sort_key(value)
            if key is None:
                missing.append(position)
            else:
                present.append((key, position))
    if len(present) + len(missing) < len(base):
        raise Refused("too_large_to_sort")
    present.sort(key=operator.itemgetter(0), reverse=descending)
    return [position for _, position in present] + missing


def chunks(column: Column, base: Any, deadline: float) -> Any:
    """Positions and values, a part at a time, until the deadline."""
    for start in range(0, len(base), CHUNK):
        if time.monotonic() > deadline:
            return
        positions = as_list(base[start : start + CHUNK])
        yield positions, column.take(positions)


def as_list(positions: Any) -> list[int]:
    return list(positions) if type(positions) in (range, list) else positions.tolist()


# --- filtering -------------------------------------------------------------------------


def matching(column: Column, base: Any, op: str, value: str, deadline: float) -> tuple[Any, int]:
    """The positions of ``base`` that match, and how many of it we compared before the deadline."""
    if column.array is not None and op != "contains":
        return array_matching(column, base, op, value), len(base)
    if column.codes is not None:
        codes, texts = column.codes()
        test = text_test(op, value)
        numpy = sys.modules["numpy"]
        by_code = numpy.array([test(text, text) for text in texts] + [test(None, None)], dtype=bool)
        return masked(by_code[codes], base), len(base)
    test = text_test(op, value)
    found: list[int] = []
    compared = 0
    for positions, values in chunks(column, base, deadline):
        compared += len(positions)
        for position, item in zip(positions, values):  # noqa: B905, the kernel's Python may be 3.9
            if test(item, item if type(item) is str else cell_text(item)):
                found.append(position)
    return found, compared


def array_matching(column: Column, base: Any, op: str, value: str) -> Any:
    array = column.array
    if op in ("missing", "present"):
        missing = array_missing(array)
        return masked(missing if op == "missing" else ~missing, base)
    try:
        wanted = column.parse(value)
    except (ValueError, TypeError, OverflowError):
        raise Refused("not_comparable", value) from None
    # A missing value equals nothing and is in no order.
    return masked(COMPARISONS[op](array, wanted), base)


def masked(mask: Any, base: Any) -> Any:
    return sys.modules["numpy"].flatnonzero(mask) if type(base) is range else base[mask[base]]


def text_test(op: str, value: str) -> Callable[[Any, str | None], bool]:
    """A test of one value and its text, which is None if the value is missing."""
    if op == "missing":
        return lambda _, text: text is None
    if op == "present":
        return lambda _, text: text is not None
    if op == "contains":
        needle = value.lower()
        return lambda _, text: text is not None and needle in text.lower()
    compare, number = COMPARISONS[op], number_of(value)

    def test(item: Any, text: str | None) -> bool:
        if text is None:
            return False
        if is_among(type(item), (bool, int, float, decimal.Decimal)):
            return number is not None and bool(compare(item, number))
        return bool(compare(text, value))

    return test


def number_of(text: str) -> int | float | None:
    try:
        found = whole_or_float(text)
    except ValueError:
        return None
    return None if found != found else found


def whole_or_float(text: str) -> int | float:
    """A whole number stays one: as a float, a large one would lose digits. Raises ValueError."""
    try:
        return int(text)
    except ValueError:
        return float(text)
