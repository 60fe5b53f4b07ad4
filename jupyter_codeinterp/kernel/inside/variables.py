"""Looks at a Python kernel's variables. This file's text runs **in the kernel**.

Standard library only. A ``__repr__``, ``__len__``, ``shape`` or ``__class__`` of other types
than built-ins, numpy's or pandas' is untrusted code and never runs: the type comes from
``type()``, compared by identity, and only values of known types are inspected.

A variable is ``{name, type}`` and, where known, ``len``, ``shape`` (list of numbers), ``dtype``,
``columns`` (at most 50 of ``[label, dtype]``), ``engine`` (see ``engine_facts.py``) and
``value`` (at most 200 characters). Where only names are asked for, it is ``{name, type}``,
``len`` or ``shape``, and on request ``columns`` of ``[key, type]``.

A key is a column's label, or a dictionary's key, as Python writes it: ``'net price'``.
``frame['net price']`` names a column where a variable's name is expected.
"""

from __future__ import annotations

import datetime
import decimal
import functools
import importlib.metadata
import pathlib
import sys
import time
import types
import zlib
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from .engine_facts import engine_facts

SECONDS = 0.8
MAX_VARIABLES = 200
MAX_NAMES = 2_000
MAX_COLUMNS = 50
MAX_ITEMS = 10
MAX_VALUE = 200
MAX_KEY = 100
"""Characters of a key. Longer ones are omitted."""
MAX_KEYS_EACH = 200
MAX_KEYS = 5_000
MAX_INPUTS = 2_000

PACKAGES = (
    *("numpy", "pandas", "polars", "matplotlib", "seaborn", "scipy", "scikit-learn"),
    *("statsmodels", "plotly", "altair", "pyarrow", "openpyxl", "duckdb", "sqlalchemy"),
    "requests",
)
"""Packages often used for work with data."""
MAX_VERSION = 30

PLAIN = (
    type(None),
    bool,
    float,
    complex,
    range,
    datetime.date,
    datetime.datetime,
    datetime.time,
    datetime.timedelta,
    decimal.Decimal,
    type(pathlib.Path()),
)
"""Types whose ``repr`` is short and runs only their own code."""
CONTAINERS = (list, tuple, set, frozenset, dict)
ONE_COLUMN = ("Series", "Index", "RangeIndex", "DatetimeIndex", "MultiIndex")
"""Types of pandas."""


def describe(
    namespace: dict[str, Any], hidden: dict[str, Any], names: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The variables of ``namespace``, or only those in ``names``, which may be columns.

    ``hidden`` maps names to values from before the person did anything.
    """
    every = user_variables(namespace, hidden)
    found = [pair for pair in every if not names or pair[0] in names]
    described = told(found[-MAX_VARIABLES:], details)
    columns = [name for name in names if type(name) is str and name.endswith("]")]
    if columns:
        values = dict(every)
        described += [one for name in columns[:MAX_COLUMNS] for one in column(name, values)]
    return described


def outline(
    namespace: dict[str, Any],
    hidden: dict[str, Any],
    names: tuple[str, ...] = (),
    keys: bool = False,
) -> list[dict[str, Any]]:
    """The last 2,000 variables, or only those in ``names``, without values. With ``keys`` the
    latest tables and dictionaries have columns: 200 each, or 2,000 if they are named."""
    found = [pair for pair in user_variables(namespace, hidden) if not names or pair[0] in names]
    found = found[-MAX_NAMES:]
    described = told(found, extent)
    if keys:
        add_keys(described, found, MAX_NAMES if names else MAX_KEYS_EACH)
    return described


def add_keys(described: list[dict[str, Any]], found: list[tuple[str, Any]], most: int) -> None:
    """Add the columns of tables and dictionaries, at most ``most`` each, the latest first."""
    left = MAX_KEYS
    deadline = time.monotonic() + SECONDS / 2
    for one, (_, value) in reversed(list(zip(described, found))):  # noqa: B905
        if not left or time.monotonic() > deadline:
            break
        columns = [[key, facts["type"]] for key, facts in keyed(value, min(most, left))]
        if columns:
            one["columns"] = columns
            left -= len(columns)


def user_variables(namespace: dict[str, Any], hidden: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and values that the person's code made, in order."""
    found = []
    for name, value in list(namespace.items()):
        if type(name) is not str or name.startswith("_") or type(value) is types.ModuleType:
            continue
        if name in hidden and hidden[name] is value:
            continue
        found.append((name, value))
    return found


def told(
    found: list[tuple[str, Any]], facts: Callable[[Any], dict[str, Any]]
) -> list[dict[str, Any]]:
    deadline = time.monotonic() + SECONDS
    described = []
    for name, value in found:
        if time.monotonic() > deadline:
            break
        described.append(dict({"name": name, "type": type_name(type(value))}, **facts(value)))
    return described


def type_name(kind: type) -> str:
    """The name of any type, even if its metaclass defines ``__name__``."""
    return str(type.__dict__["__name__"].__get__(kind))


def extent(value: Any) -> dict[str, Any]:
    """Its ``len`` or ``shape``, for known types only."""
    kind = type(value)
    if is_among(kind, CONTAINERS) or kind is str or kind is bytes:
        return {"len": len(value)}
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)):
        return {"shape": list(value.shape)}
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame", *ONE_COLUMN)):
        return {"shape": list(value.shape)}
    return {}


def details(value: Any) -> dict[str, Any]:
    kind = type(value)
    if is_among(kind, CONTAINERS) or kind is str or kind is bytes:
        return dict({"len": len(value)}, **short_value(value))
    if is_plain(value):
        return short_value(value)
    numpy, pandas = sys.modules.get("numpy"), sys.modules.get("pandas")
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)):
        return array_details(value)
    if numpy is not None and is_among(kind, numpy_scalars(numpy)):
        return {"value": shortened(repr(value.item()))}
    found = pandas_details(value, pandas) if pandas is not None else {}
    return found or engine_facts(value)


def keyed(value: Any, most: int) -> list[tuple[str, dict[str, Any]]]:
    """The first columns of a table, or items of a dictionary: key and ``{"type": …}``."""
    kind = type(value)
    if kind is dict:
        items = [(key_text(key), item) for key, item in list(islice(value.items(), most))]
        return [(key, {"type": type_name(type(item))}) for key, item in items if key]
    pandas = sys.modules.get("pandas")
    if pandas is None or not is_one_of(kind, pandas, ("DataFrame",)):
        return []
    keys = [key_text(label) for label in list(value.columns[:most])]
    dtypes = list(value.dtypes.array[:most])
    pairs = zip(keys, dtypes)  # noqa: B905, the kernel's Python may be 3.9
    # A table may have several columns of one name.
    return list({key: {"type": dtype_text(dtype)} for key, dtype in pairs if key}.items())


def key_text(key: Any) -> str:
    """The key as Python writes it; "" if that is long or runs untrusted code."""
    kind = type(key)
    if kind is str:
        return repr(key) if len(key) <= MAX_KEY - 2 else ""
    if kind is tuple:
        known = len(key) <= MAX_ITEMS and all(type(part) is str or is_plain(part) for part in key)
        short = known and all(type(part) is not str or len(part) <= MAX_KEY for part in key)
    else:
        short = is_plain(key)
    text = repr(key) if short else ""
    return text if len(text) <= MAX_KEY else ""


def column(name: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """One column or item, named as ``frame['net price']``; none if it is missing."""
    variable, _, rest = name.partition("[")
    if variable not in values:
        return []
    table, key = values[variable], rest[:-1]
    for found, facts in keyed(table, MAX_NAMES):
        if found == key:
            rows = {} if type(table) is dict else {"len": int(table.shape[0])}
            return [dict({"name": name, "of": type_name(type(table))}, **facts, **rows)]
    return []


def shortened(text: str) -> str:
    """At most 200 characters; an ellipsis marks a cut."""
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "\u2026"


def is_one_of(kind: type, module: types.ModuleType, names: tuple[str, ...]) -> bool:
    # A module in mid-import lacks some of its names.
    return is_among(kind, (getattr(module, name, None) for name in names))


def is_among(kind: type, kinds: Iterable[Any]) -> bool:
    """Compares by identity: ``in`` would call a metaclass's ``__eq__``."""
    return any(kind is known for known in kinds)


def is_plain(value: Any) -> bool:
    kind = type(value)
    # Larger numbers cannot always be printed, and cost time.
    return is_among(kind, PLAIN) or (kind is int and value.bit_length() <= 256)


def short_value(value: Any) -> dict[str, Any]:
    """``{"value": …}``, or nothing if it would be long or run untrusted code."""
    kind = type(value)
    if kind is str or kind is bytes:
        return {"value": shortened(repr(value[:MAX_VALUE]))}
    if is_among(kind, CONTAINERS):
        if len(value) > MAX_ITEMS:
            return {}
        items = list(value.items()) if kind is dict else list(value)
        flat = [part for item in items for part in item] if kind is dict else items
        if not all(is_plain(item) or type(item) is str for item in flat):
            return {}
        if any(type(item) is str and len(item) > MAX_VALUE for item in flat):
            return {}
    elif not is_plain(value):
        return {}
    text = repr(value)
    return {"value": text} if len(text) <= MAX_VALUE else {}


def numpy_scalars(numpy: types.ModuleType) -> Iterable[type]:
    kinds: dict[Any, type] = getattr(numpy, "sctypeDict", {})
    return kinds.values()


def array_details(array: Any) -> dict[str, Any]:
    described = {"shape": list(array.shape), "dtype": str(array.dtype)[:MAX_VALUE]}
    if array.dtype.kind in "biufcSU" and array.size <= MAX_ITEMS:
        text = repr(array.tolist())
        if len(text) <= MAX_VALUE:
            described["value"] = text
    return described


def pandas_details(value: Any, pandas: types.ModuleType) -> dict[str, Any]:
    kind = type(value)
    if is_one_of(kind, pandas, ("DataFrame",)):
        labels = list(value.columns[:MAX_COLUMNS])
        dtypes = list(value.dtypes.array[:MAX_COLUMNS])
        pairs = zip(labels, dtypes)  # noqa: B905, the kernel's Python may be 3.9
        columns = [[label_text(label), dtype_text(dtype)] for label, dtype in pairs]
        return {"shape": list(value.shape), "columns": columns}
    if is_one_of(kind, pandas, ONE_COLUMN):
        return {"shape": list(value.shape), "dtype": dtype_text(value.dtype)}
    if is_one_of(kind, pandas, ("Timestamp", "Timedelta")):
        return {"value": str(value)}
    return {}


def label_text(label: Any) -> str:
    if type(label) is str:
        return shortened(label)
    if type(label) is tuple and all(type(part) is str or is_plain(part) for part in label):
        return shortened(repr(label))
    return repr(label) if is_plain(label) else type_name(type(label))


def dtype_text(dtype: Any) -> str:
    module = type.__dict__["__module__"].__get__(type(dtype))
    if type(module) is str and module.split(".")[0] in ("numpy", "pandas"):
        return str(dtype.name)[:MAX_VALUE]
    return type_name(type(dtype))


@functools.lru_cache
def versions() -> dict[str, str]:
    """Versions of ``PACKAGES`` without importing them, as they were first asked for; "" if not
    installed."""
    return dict(map(version, PACKAGES))


def version(name: str) -> tuple[str, str]:
    try:
        return name, str(importlib.metadata.version(name))[:MAX_VERSION]
    except Exception:
        # Its files may be damaged.
        return name, ""


def inputs(shell: Any) -> list[int] | None:
    """Checksums of the cells that ran, by execution count; None if the history is incomplete."""
    ran = shell.history_manager.input_hist_raw
    if len(ran) != shell.execution_count or len(ran) > MAX_INPUTS:
        return None
    return [zlib.crc32(source.encode("utf-8", "replace")) for source in ran]
