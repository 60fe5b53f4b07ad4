"""Changes of variables by a cell. This file's text runs **in the kernel**.

Compares fingerprints from before and after the cell. They hold no references to values, and are
bounded: samples and sums of large values, until the time is up. As in ``variables.py``, no
attribute or ``repr`` of an unknown type is ever read: only the identity of such values counts.
Standard library only.
"""

from __future__ import annotations

import sys
import time
from itertools import islice
from typing import Any

from .variables import PLAIN, dtype_text, is_among, is_one_of, key_text, type_name, user_variables

SAMPLES = 32
MOST_COLUMNS = 100
MOST_TOLD = 20
"""Columns of a change."""
SUMMED = 4_000_000
"""Maximum bytes of a column's numbers to sum."""
SIMPLE = (str, int, float, bool, type(None))
BOXES = ("Timestamp", "Timedelta", "Period", "Interval")
"""Types of pandas whose values may be new objects at each look."""


def fingerprints(
    namespace: dict[str, Any], hidden: dict[str, Any], deadline: float
) -> dict[str, dict[str, Any]]:
    """``{id, text, parts}`` by name. ``parts``: None for unknown types, and after the ``deadline``
    (of ``thread_time``)."""
    found = {}
    for name, value in user_variables(namespace, hidden):
        known = time.thread_time() < deadline
        parts = fingerprint(value, deadline) if known else None
        found[name] = {"id": id(value), "text": described(value), "parts": parts}
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[dict[str, Any]]:
    """Variables that were added, removed, rebound to another value, or changed in place."""
    found = [{"name": name, "how": "added", "after": after[name]["text"]} for name in after
             if name not in before]  # fmt: skip
    for name, was in before.items():
        now = after.get(name)
        if now is None:
            found.append({"name": name, "how": "removed", "before": was["text"]})
            continue
        same = was["id"] == now["id"]
        if was["parts"] == now["parts"] and (same or was["parts"] is not None):
            continue
        if same and (was["parts"] is None or now["parts"] is None):
            continue
        change: dict[str, Any] = {"name": name, "how": "changed" if same else "rebound"}
        change.update(before=was["text"], after=now["text"])
        change.update(compared(was["parts"], now["parts"]))
        found.append(change)
    return found


def compared(before: Any, after: Any) -> dict[str, list[str]]:
    """The new columns, if both are tables."""
    if not (type(before) is dict and type(after) is dict):
        return {}
    was, now = before["columns"], after["columns"]
    return {"new_columns": [name for name in now if name not in was][:MOST_TOLD]}


def fingerprint(value: Any, deadline: float) -> Any:
    """Equal for equal values, as far as a bounded look can tell; None if unknown."""
    kind = type(value)
    if is_among(kind, SIMPLE):
        return (kind.__name__, value if kind is not str else (len(value), value[:200]))
    if is_among(kind, (list, tuple)):
        step = max(1, len(value) // SAMPLES)
        return (kind.__name__, len(value), tuple(map(item, value[::step])))
    if is_among(kind, (dict, set, frozenset)):
        parts = value.items() if kind is dict else value
        few = tuple(map(item, islice(parts, SAMPLES)))
        return (kind.__name__, len(value), few)
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)):
        return ("ndarray", value.shape, numbers(value.reshape(-1)) if value.size else None)
    if pandas is not None and is_one_of(kind, pandas, ("Series",)):
        return ("Series", len(value), column(value), column(value.index))
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
        return table(value, deadline)
    return None


def item(value: Any) -> Any:
    """A member of a container: by value if its type is known, by identity otherwise."""
    kind = type(value)
    if is_among(kind, SIMPLE):
        return (kind.__name__, value if value == value else "nan")
    if kind is tuple:
        return tuple(map(item, value[:2]))
    pandas = sys.modules.get("pandas")
    kinds = (getattr(pandas, name, None) for name in BOXES)
    nothing = (type(getattr(pandas, name, None)) for name in ("NaT", "NA"))
    if is_among(kind, (*PLAIN, bytes, *kinds, *nothing)):
        return (kind.__name__, str(value)[:200])
    return id(value)


def table(frame: Any, deadline: float) -> Any:
    """Rows, index, and columns by label; None if the time is up before all are read."""
    labels = [key_text(label) for label in frame.columns[:MOST_COLUMNS]]
    columns = {}
    for position, label in enumerate(labels):
        if label:
            columns[label] = column(frame.iloc[:, position])
        if time.thread_time() > deadline:
            return None
    return {"rows": len(frame), "index": column(frame.index), "columns": columns}


def column(values: Any) -> Any:
    """The type of a Series or Index, a sum over its numbers, and a few values."""
    pandas, numpy = sys.modules["pandas"], sys.modules["numpy"]
    if is_one_of(type(values), pandas, ("RangeIndex",)):
        # Reading its values would materialize a range's numbers.
        return ("range", values.start, values.stop, values.step)
    dtype = values.dtype
    text = dtype_text(dtype)
    kind = type(dtype)
    module = type.__dict__["__module__"].__get__(kind)
    if type(module) is not str or module.split(".")[0] not in ("numpy", "pandas"):
        return (text, len(values))
    if not len(values):
        return (text, 0)
    if is_one_of(kind, pandas, ("DatetimeTZDtype", "PeriodDtype")):
        return (text, numbers(values.array.asi8))
    if is_one_of(kind, pandas, ("CategoricalDtype",)):
        return (text, numbers(values.array.codes), column(values.array.categories))
    if isinstance(dtype, numpy.dtype) and dtype.kind != "O":
        return (text, numbers(values.to_numpy()))
    return (text, sample(values, is_stored=text == "object"))


def sample(values: Any, is_stored: bool) -> tuple[Any, ...]:
    """A few values. Values that are not stored as objects are new objects at each look, so those of
    unknown types count as 0."""
    step = max(1, len(values) // SAMPLES)
    few = values.take(list(range(0, len(values), step)))
    found = tuple(map(item, few.tolist()))
    return found if is_stored else tuple(0 if type(one) is int else one for one in found)


def numbers(array: Any) -> Any:
    """A sum over all numbers as bits, and a few of them. As bits, NaN equals NaN."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "biufmM" or size not in (1, 2, 4, 8):
        return (str(array.dtype), array.size)
    bits = array.view(f"u{size}")
    few = bits[:: max(1, array.size // SAMPLES)].tolist()
    total = int(bits.sum(dtype="u8")) if array.nbytes <= SUMMED else 0
    return (str(array.dtype), total, tuple(few))


def described(value: Any) -> str:
    """The type, and the extent of known types."""
    kind = type(value)
    name = type_name(kind)
    if is_among(kind, (list, tuple, set, frozenset, dict)):
        return f"{name} of {len(value):,}"
    if is_among(kind, (int, float, bool)):
        text = repr(value) if kind is not int or value.bit_length() < 200 else ""
        return f"{name} {text}".strip()
    pandas = sys.modules.get("pandas")
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
        rows, columns = value.shape
        return f"{name} of {rows:,} rows and {columns:,} columns"
    if pandas is not None and is_one_of(kind, pandas, ("Series",)):
        return f"{name} of {len(value):,}"
    return str(name)
