"""Looks at a Python kernel's variables. This file's text runs **in the kernel**.

Standard library only. A ``__repr__``, ``__len__``, ``shape`` or ``__class__`` of other types
than built-ins, numpy's or pandas' is untrusted code and never runs: the type comes from
``type()``, compared by identity, and only values of known types are inspected.

A variable is ``{name, type}`` and, where known, ``len``, ``shape`` (list of numbers), ``dtype``,
``columns`` (at most 50 of ``[label, dtype]``) and ``value`` (at most 200 characters). Where only
names are asked for, it is ``{name, type}`` and ``len`` or ``shape``.
"""

from __future__ import annotations

import datetime
import decimal
import pathlib
import sys
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

TARGET = "jupyter_codeinterp.variables"
SECONDS = 0.8
MAX_VARIABLES = 200
MAX_NAMES = 2_000
MAX_COLUMNS = 50
MAX_ITEMS = 10
MAX_VALUE = 200

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
"""Of pandas."""


def describe(
    namespace: dict[str, Any], hidden: dict[str, Any], names: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """The variables of ``namespace``, or only those in ``names``.

    ``hidden`` maps names to values from before the person did anything.
    """
    found = [pair for pair in user_variables(namespace, hidden) if not names or pair[0] in names]
    return told(found[-MAX_VARIABLES:], details)


def outline(namespace: dict[str, Any], hidden: dict[str, Any]) -> list[dict[str, Any]]:
    """The last 2,000 variables, without values."""
    return told(user_variables(namespace, hidden)[-MAX_NAMES:], extent)


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
    """Of any type, also one whose metaclass has a ``__name__`` of its own."""
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
    if pandas is not None:
        return pandas_details(value, pandas)
    return {}


def shortened(text: str) -> str:
    """At most 200 characters; an ellipsis marks a cut."""
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "\u2026"


def is_one_of(kind: type, module: types.ModuleType, names: tuple[str, ...]) -> bool:
    # A module in mid-import lacks some of its names.
    return is_among(kind, (getattr(module, name, None) for name in names))


def is_among(kind: type, kinds: Iterable[Any]) -> bool:
    """By identity: ``in`` would ask a metaclass's ``__eq__``."""
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


def register(shell: Any) -> None:
    """Answer each comm opened to ``TARGET`` with one message, ``{"variables": [...]}``."""

    def answer(comm: Any, message: Any) -> None:
        asked = message["content"]["data"]
        if asked.get("outline"):
            variables = outline(shell.user_ns, shell.user_ns_hidden)
        else:
            names = asked.get("names") or ()
            variables = describe(shell.user_ns, shell.user_ns_hidden, names)
        comm.send({"variables": variables})
        # Forget it without a published close: each open page would log an unknown comm.
        comm._closed = True
        manager.unregister_comm(comm)

    manager = shell.kernel.comm_manager
    manager.register_target(TARGET, answer)


if __name__ == TARGET:
    register(sys.modules["IPython"].get_ipython())
