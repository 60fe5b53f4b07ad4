"""Reports facts about a cell's result, to compare with an expectation. This file's text runs **in
the kernel**.

As in ``variables.py``, it reads no value of an unknown type. Takes about a
millisecond. Standard library only.
"""

from __future__ import annotations

import sys
from itertools import islice
from typing import Any

from .variables import CONTAINERS, ONE_COLUMN, is_among, is_one_of, key_text, type_name

MOST_KEYS = 2_000
"""Keys of larger tables and dictionaries are not compared."""

SAME = {
    "NoneType": "None",
    "Decimal": "number",
    "float": "number",
    "floating": "float",
    "frozenset": "set",
    "int": "number",
    "integer": "int",
}
"""Further names of built-in types, and of numpy's."""


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
    """The names of its type and of the base classes."""
    kind = type(value)
    if kind is bool:
        return ["bool"]
    names = [type_name(one) for one in ancestors(kind)]
    return list(dict.fromkeys([*names, *(SAME[name] for name in names if name in SAME)]))


def ancestors(kind: type) -> tuple[type, ...]:
    """The type and its base classes, whatever its metaclass says."""
    found: tuple[type, ...] = type.__dict__["__mro__"].__get__(kind)
    return found


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
