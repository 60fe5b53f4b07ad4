"""Reports facts about a cell's result, to compare with an expectation. This file's text runs **in
the kernel**.

As in ``variables.py``, it reads no value of an unknown type: kinds come from base classes, compared
by identity. Takes about a millisecond. Standard library only.
"""

from __future__ import annotations

import datetime
import decimal
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .variables import CONTAINERS, ONE_COLUMN, is_among, is_one_of, key_text, type_name

MOST_KEYS = 2_000
"""Keys of larger tables and dictionaries are not compared."""

BUILT_IN = {
    int: ("int", "number"),
    float: ("float", "number"),
    decimal.Decimal: ("Decimal", "number"),
    complex: ("complex",),
    bool: ("bool",),
    str: ("str",),
    bytes: ("bytes",),
    list: ("list",),
    tuple: ("tuple",),
    set: ("set",),
    frozenset: ("frozenset", "set"),
    dict: ("dict",),
    type(None): ("None",),
    datetime.date: ("date",),
    datetime.datetime: ("datetime",),
    datetime.timedelta: ("timedelta",),
}
OTHERS = {
    "numpy": {
        "ndarray": ("ndarray",),
        "number": ("number",),
        "integer": ("int",),
        "floating": ("float",),
        "bool_": ("bool",),
    },
    "pandas": {
        "DataFrame": ("DataFrame",),
        "Series": ("Series",),
        "Index": ("Index",),
        "Timestamp": ("Timestamp",),
        "Timedelta": ("Timedelta",),
    },
    "polars": {"DataFrame": ("DataFrame",), "Series": ("Series",)},
}
NAMES = {
    *(name for names in BUILT_IN.values() for name in names),
    *(name for kinds in OTHERS.values() for names in kinds.values() for name in names),
}


def seen(wanted: dict[str, Any], namespace: dict[str, Any], last: Any) -> dict[str, Any]:
    """Facts about the variable ``name``, or about the cell's last value without one. ``kinds``: the
    names of its types; empty if the variable is missing."""
    name = wanted.get("name")
    if name and name not in namespace:
        return {"kinds": []}
    value = namespace[name] if name else last
    found: dict[str, Any] = {"kinds": kinds(value)}
    rows = count(value)
    if rows is not None:
        found["rows"] = rows
    labels = keys(value) if wanted.get("columns") else None
    if labels is not None:
        found["missing"] = [label for label in wanted["columns"] if label not in labels]
    return found


def kinds(value: Any) -> list[str]:
    """The name of its type, then the names of the known types among its base classes."""
    kind, known = type(value), list(known_types())
    if kind is bool:
        return ["bool"]
    own = type_name(kind)
    if own in NAMES and not is_among(kind, (other for other, _ in known)):
        own = f"another {own}"
    names = (names for one in ancestors(kind) for other, names in known if one is other)
    return list(dict.fromkeys([own, *(name for some in names for name in some)]))


def ancestors(kind: type) -> tuple[type, ...]:
    """The type and its base classes, whatever its metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


def known_types() -> Iterator[tuple[Any, tuple[str, ...]]]:
    yield from BUILT_IN.items()
    for module, types in OTHERS.items():
        loaded = sys.modules.get(module)
        for name, names in types.items():
            kind = getattr(loaded, name, None)
            if isinstance(kind, type):
                yield kind, names


def count(value: Any) -> int | None:
    """Rows of a table, or items."""
    kind = type(value)
    if is_among(kind, CONTAINERS):
        return len(value)
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)):
        return int(value.shape[0]) if value.shape else None
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame", *ONE_COLUMN)):
        return int(value.shape[0])
    polars = sys.modules.get("polars")
    if polars is not None and is_one_of(kind, polars, ("DataFrame", "Series")):
        return int(value.shape[0])
    return None


def keys(value: Any) -> set[str] | None:
    """The labels of a table's columns, or the keys of a dictionary, as text; None if unknown or too
    many."""
    kind, pandas, polars = type(value), sys.modules.get("pandas"), sys.modules.get("polars")
    tables = [getattr(module, "DataFrame", None) for module in (pandas, polars)]
    if kind is dict:
        labels = list(islice(value, MOST_KEYS + 1))
    elif is_among(kind, tables):
        labels = list(value.columns[: MOST_KEYS + 1])
    else:
        return None
    if len(labels) > MOST_KEYS:
        return None
    return {label if type(label) is str else key_text(label) for label in labels}
