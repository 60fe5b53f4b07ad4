"""The values of variables that a cell assigned, as text: an answer may state them without an output
that shows them. This file's text runs **in the kernel**.

Small values only, and few of them. As in ``variables.py``, no attribute and no ``repr`` of an
unknown type is ever read. It takes less than a millisecond. Standard library only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from itertools import islice
from typing import Any

from .variables import dtype_text, is_among, is_one_of, is_plain, numpy_scalars

SECONDS = 0.0008
"""For all variables of a cell; checked before each."""
MOST_VARIABLES = 50
MOST_VALUES = 100
"""Of a container, column or table; larger ones are left out."""
MOST_TEXT = 6_000
"""Characters of all variables."""
LONGEST = 100
"""Characters of a text; longer ones are left out."""


def held(names: Iterable[str], namespace: dict[str, Any]) -> list[dict[str, str]]:
    """``{name, text}`` of those whose value is short and of a known type, single values first."""
    deadline = time.perf_counter() + SECONDS
    found: list[dict[str, str]] = []
    left = MOST_TEXT
    known = [name for name in islice(names, 10 * MOST_VARIABLES) if name in namespace]
    for written in (single, several):
        for name in known:
            if time.perf_counter() > deadline or len(found) == MOST_VARIABLES:
                return found
            text = written(name, namespace[name])
            if text and len(text) <= left:
                left -= len(text)
                found.append({"name": name, "text": text})
    return found


def single(name: str, value: Any) -> str:
    """``name = value``; "" of a container."""
    text = "" if type(value) is tuple else one(value)
    return f"{name} = {text}" if text else ""


def several(name: str, value: Any) -> str:
    """Of a container a line an item, its parts between tabs; of a table rows below the names of
    its columns. "" for anything else."""
    kind = type(value)
    if is_among(kind, (list, tuple, set, frozenset)):
        return lines(name, [("", item) for item in islice(value, MOST_VALUES + 1)])
    if kind is dict:
        return lines(name, list(islice(value.items(), MOST_VALUES + 1)))
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is None:
        return ""
    if is_one_of(kind, numpy, ("ndarray",)):
        known = value.dtype.kind in "biufU" and 0 < value.size <= MOST_VALUES
        return lines(name, [("", item) for item in value.reshape(-1).tolist()]) if known else ""
    if pandas is not None and is_one_of(kind, pandas, ("Series",)):
        small = len(value) <= MOST_VALUES and is_known(value.dtype, numpy, pandas)
        keys = labels(value.index, numpy, pandas) if small else None
        return lines(name, list(zip(keys, value.tolist()))) if keys else ""  # noqa: B905
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
        return table(name, value, numpy, pandas)
    return ""


def lines(name: str, items: list[tuple[Any, Any]]) -> str:
    if len(items) > MOST_VALUES:
        return ""
    told = [(one(key), one(item)) for key, item in items]
    return "\n".join(f"{name}\t{key}\t{item}" for key, item in told if item)


def table(name: str, frame: Any, numpy: Any, pandas: Any) -> str:
    rows, columns = frame.shape
    if not 0 < rows * columns <= MOST_VALUES:
        return ""
    dtypes = list(frame.dtypes.array)
    heads = labels(frame.columns, numpy, pandas)
    keys = labels(frame.index, numpy, pandas)
    if heads is None or keys is None:
        return ""
    parts = [
        list(map(one, frame.iloc[:, place].tolist()))
        if is_known(dtype, numpy, pandas)
        else [""] * rows
        for place, dtype in enumerate(dtypes)
    ]
    head = "\t".join([name, *map(one, heads)])
    body = ("\t".join([one(key), *row]) for key, *row in zip(keys, *parts))  # noqa: B905
    return "\n".join([head, *body])


def labels(index: Any, numpy: Any, pandas: Any) -> list[Any] | None:
    """Of rows or columns: blanks where they only count; None where they are not known."""
    if is_one_of(type(index), pandas, ("RangeIndex",)):
        return [""] * len(index)
    known = is_one_of(type(index), pandas, ("Index", "DatetimeIndex", "MultiIndex"))
    return index.tolist() if known and is_known(index.dtype, numpy, pandas) else None


def is_known(dtype: Any, numpy: Any, pandas: Any) -> bool:
    """Whether reading values of this type runs only code of numpy and pandas."""
    kind = type(dtype)
    if is_among(numpy.dtype, type.__dict__["__mro__"].__get__(kind)):
        return dtype.kind in "biufmMO"
    module = type.__dict__["__module__"].__get__(kind)
    ours = type(module) is str and module.split(".")[0] == "pandas"
    return ours and dtype_text(dtype) in KNOWN


KNOWN = (
    *("string", "str", "boolean", "category"),
    *(f"{kind}{size}" for kind in ("Int", "UInt", "Float") for size in (8, 16, 32, 64)),
)
"""Types of pandas' own."""


def one(value: Any) -> str:
    """A value in one line; "" if it is long or of an unknown type."""
    kind = type(value)
    if kind is float:
        return str(value)
    if kind is str:
        return " ".join(value.split()) if len(value) <= LONGEST else ""
    if kind is tuple:
        return " ".join(map(one, value)) if len(value) <= 5 else ""
    if is_plain(value):
        return "" if value is None or kind is bool else str(value)[: LONGEST + 1]
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_among(kind, numpy_scalars(numpy)):
        item = value.item()
        return str(item)[:LONGEST] if is_plain(item) and type(item) is not bool else ""
    if pandas is not None and is_one_of(kind, pandas, ("Timestamp", "Timedelta")):
        return str(value)
    return ""
