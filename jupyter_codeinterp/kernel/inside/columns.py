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

from .variables import CONTAINERS, is_among, is_one_of, numpy_scalars, short_value, type_name

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
"""Kinds by a numpy dtype's ``kind``."""
ORDER = ("truth", "number", "time", "duration", "text")
"""Values of different kinds in one column sort in this order."""
FIRST = 200
"""Python objects at a column's start that decide its kind."""


class Refused(Exception):
    """A reason without a page. ``code``: for programs. ``detail``: a name, value or type."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


class Column:
    """``take`` returns the values at some positions. ``kind``: number, time, truth or text; it
    decides a page's alignment and comparisons.

    ``array`` returns a numpy array of all values: numbers, booleans, times, or the ranks of ordered
    categories; None if an array cannot hold them exactly. ``parse`` converts a filter's text to a
    value that compares with the array. ``native`` sorts and compares in the table's own library.
    """

    def __init__(
        self,
        label: str,
        dtype: str,
        take: Callable[[Sequence[int]], list[Any]],
        kind: str = "text",
        array: Callable[[], Any] = lambda: None,
        parse: Callable[[str], Any] = float,
        native: Native | None = None,
    ) -> None:
        self.label = label
        self.dtype = dtype
        self.take = take
        self.kind = kind
        self.array = array
        self.parse = parse
        self.native = native


class Native:
    """``order`` returns the positions of a base, sorted. ``compare`` returns the matching ones."""

    def __init__(
        self,
        order: Callable[[Any, bool], Any],
        compare: Callable[[Any, str, str], Any],
    ) -> None:
        self.order = order
        self.compare = compare


def kind_of(values: Sequence[Any]) -> str:
    """The kind that all Python objects share, else text."""
    kinds = {ORDER[key[0]] for key in map(sort_key, values) if key is not None}
    kind = kinds.pop() if len(kinds) == 1 else "text"
    return "text" if kind == "duration" else kind


def cell_text(value: Any) -> str | None:
    """The text of a cell; None for a missing value."""
    kind = type(value)
    if kind is str:
        return encodable(value)
    if value is None or is_missing(value, kind):
        return None
    numpy = sys.modules.get("numpy")
    if numpy is not None and is_among(kind, numpy_scalars(numpy)):
        item = value.item()
        # Times and long doubles have no exact Python value.
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
    if numpy is not None and is_one_of(
        kind, numpy, ("float16", "float32", "float64", "longdouble")
    ):
        return bool(numpy.isnan(value))
    return False


def encodable(text: str) -> str:
    """The text, cut and without half surrogate pairs, which no message can hold."""
    cut = text if len(text) <= MAX_CELL else text[: MAX_CELL - 1] + "\u2026"
    return cut.encode("utf-8", "replace").decode()


def sort_key(value: Any) -> tuple[int, Any] | None:
    """The position of its kind in ``ORDER``, and a comparable value; None for a missing one."""
    kind = type(value)
    if kind is str:
        return (4, value)
    if value is None or is_missing(value, kind):
        return None
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_among(kind, numpy_scalars(numpy)) and value.dtype.kind in "biuf":
        value = value.item()
        kind = type(value)
    if kind is bool:
        return (0, value)
    if is_among(kind, (int, float, decimal.Decimal)):
        return (1, value)
    if kind is datetime.date:
        return (2, datetime.datetime(value.year, value.month, value.day))
    is_stamp = pandas is not None and is_one_of(kind, pandas, ("Timestamp",))
    # Times with a zone compare as text: the zone's code may be unknown.
    if (kind is datetime.datetime or is_stamp) and value.tzinfo is None:
        return (2, value)
    if kind is datetime.timedelta:
        return (3, value)
    return (4, cell_text(value))


# --- sorting ---------------------------------------------------------------------------


def ordered(column: Column, base: Any, descending: bool, deadline: float) -> Any:
    """The positions of ``base``, sorted. Stable in both directions; missing values come last."""
    if column.native is not None:
        return column.native.order(base, descending)
    array = column.array()
    if array is not None:
        return array_order(array, base, descending)
    return plain_order(column, base, descending, deadline)


def array_order(array: Any, base: Any, descending: bool) -> Any:
    if len(base) > ARRAY_ROWS:
        raise Refused("too_large_to_sort")
    numpy = sys.modules["numpy"]
    base = base if type(base) is range else numpy.asarray(base, dtype="i8")
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
    """Positions and values in chunks, until the deadline."""
    for start in range(0, len(base), CHUNK):
        if time.monotonic() > deadline:
            return
        positions = as_list(base[start : start + CHUNK])
        yield positions, column.take(positions)


def as_list(positions: Any) -> list[int]:
    return list(positions) if type(positions) in (range, list) else positions.tolist()


# --- filtering -------------------------------------------------------------------------


def matching(column: Column, base: Any, op: str, value: str, deadline: float) -> tuple[Any, int]:
    """The matching positions of ``base``, and how many were compared before the deadline."""
    try:
        if column.native is not None and op != "contains":
            return column.native.compare(base, op, value), len(base)
        array = column.array() if op != "contains" else None
        if array is not None:
            return masked(array_matching(column, array, op, value), base), len(base)
    except (ValueError, TypeError, OverflowError):
        raise Refused("not_comparable", value) from None
    test = value_test(column, op, value)
    found: list[int] = []
    compared = 0
    for positions, values in chunks(column, base, deadline):
        compared += len(positions)
        for position, item in zip(positions, values):  # noqa: B905, the kernel's Python may be 3.9
            if test(item):
                found.append(position)
    return found, compared


def array_matching(column: Column, array: Any, op: str, value: str) -> Any:
    """A mask of the matching rows. Comparisons with a missing value are false."""
    if op in ("missing", "present"):
        missing = array_missing(array)
        return missing if op == "missing" else ~missing
    return COMPARISONS[op](array, column.parse(value))


def masked(mask: Any, base: Any) -> Any:
    numpy = sys.modules["numpy"]
    if type(base) is range:
        return numpy.flatnonzero(mask)
    rows = numpy.asarray(base, dtype="i8")
    return rows[mask[rows]]


def value_test(column: Column, op: str, value: str) -> Callable[[Any], bool]:
    """A test of one value. Raises Refused if ``value`` cannot be of the column's kind."""
    if op in ("missing", "present"):
        return lambda item: (item is None or is_missing(item, type(item))) == (op == "missing")
    if op == "contains":
        return lambda item: holds(item, value.lower())
    compare = COMPARISONS[op]
    wanted = [parsed(parse, value) for parse in (truth, number, moment)]
    if column.kind in ORDER[:3] and wanted[ORDER.index(column.kind)] is None:
        raise Refused("not_comparable", value)

    def test(item: Any) -> bool:
        key = sort_key(item)
        if key is None:
            return False
        if key[0] < len(wanted):
            other = wanted[key[0]]
            return other is not None and bool(compare(key[1], other))
        return bool(compare(cell_text(item) if key[0] == 3 else key[1], value))

    return test


def holds(item: Any, needle: str) -> bool:
    text = item if type(item) is str else cell_text(item)
    return text is not None and needle in text.lower()


def parsed(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        return None


def truth(text: str) -> bool:
    names = {"true": True, "1": True, "false": False, "0": False}
    try:
        return names[text.strip().lower()]
    except KeyError:
        raise ValueError(text) from None


def number(text: str) -> int | float:
    found = whole_or_float(text)
    if found != found:
        raise ValueError(text)
    return found


def moment(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.strip())
    if found.tzinfo is not None:
        raise ValueError(text)
    return found


def whole_or_float(text: str) -> int | float:
    """An int if possible, because a float loses digits of large ones. Raises ValueError."""
    try:
        return int(text)
    except ValueError:
        return float(text)
