"""Which names, attributes and arguments a cell needs that do not exist. This file's text runs
**in the kernel**.

It imports nothing and runs no code of others: it reads the dictionaries of modules and classes
directly, and says nothing where an attribute may be computed. Standard library only.
"""

from __future__ import annotations

import builtins
import difflib
import os
import sys
import types
from typing import Any

from .variables import is_one_of

LOOKUPS = "jupyter_codeinterp.lookups"
MOST = 60
MOST_LABELS = 2_000
UNKNOWN, MISSING = object(), object()
LAZY_BUT_KNOWN = ("numpy",)
"""Modules whose ``__getattr__`` only loads submodules or raises."""


def missing(
    wanted: list[dict[str, Any]], imports: list[str], namespace: Any
) -> list[dict[str, Any]]:
    """Those of ``wanted`` that do not exist. Each has a ``root`` (a variable, or with ``module`` a
    module), the ``path`` of attributes, and ``keywords`` of a call. ``imports`` are modules that
    the cell imports: one that is not loaded yet may add anything to others."""
    if type(namespace) is not dict:
        return []
    loaded = all(name in sys.modules for name in imports)
    found = []
    for number, one in enumerate(wanted[:MOST]):
        fault = look(one, namespace, loaded)
        if fault is not None:
            found.append(dict(fault, number=number))
    return found


def look(one: dict[str, Any], namespace: dict[str, Any], loaded: bool) -> dict[str, Any] | None:
    root = one["root"]
    if one.get("module"):
        value: Any = sys.modules.get(root)
    elif root in namespace:
        value = namespace[root]
    elif root in vars(builtins):
        return None
    else:
        return {"what": "name", "name": root, "near": near(root, namespace)}
    if value is None or not loaded:
        return None
    for place, name in enumerate(one["path"]):
        member = member_of(value, name)
        if member is UNKNOWN:
            return None
        if member is MISSING:
            names = names_of(value)
            return {"what": "attribute", "name": name, "at": place, "near": near(name, names)}
        value = member
    accepted = arguments_of(value)
    unknown = [word for word in one["keywords"] if accepted is not None and word not in accepted]
    if not unknown:
        return None
    return {"what": "argument", "name": unknown[0], "near": near(unknown[0], accepted)}


def near(name: str, names: Any) -> str:
    """The name that was probably meant, or ""."""
    public = [other for other in names if type(other) is str and other[:1] != "_"]
    return next(iter(difflib.get_close_matches(name, public[:MOST_LABELS], 1, 0.75)), "")


def member_of(value: Any, name: str) -> Any:
    kind = type(value)
    if name.startswith("__"):
        return UNKNOWN
    if kind is types.ModuleType:
        return of_module(value, name)
    if kind is type:
        return of_class(value, name)
    pandas = sys.modules.get("pandas")
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame", "Series")):
        return of_table(value, kind, name)
    return UNKNOWN


def of_module(module: types.ModuleType, name: str) -> Any:
    members = members_of(module)
    if name in members:
        return members[name]
    if "__getattr__" in members and members.get("__name__") not in LAZY_BUT_KNOWN:
        return UNKNOWN
    return UNKNOWN if may_be_submodule(members, name) else MISSING


def members_of(module: types.ModuleType) -> dict[str, Any]:
    plain: Any = vars(types.ModuleType)["__dict__"]
    members: dict[str, Any] = plain.__get__(module)
    return members


def may_be_submodule(members: dict[str, Any], name: str) -> bool:
    """Whether the package has a file or folder of this name, or is no ordinary folder."""
    if "__path__" not in members:
        return False
    folders = members["__path__"]
    if type(folders) is not list or not folders:
        return True
    for folder in folders:
        if type(folder) is not str or not os.path.isdir(folder):  # noqa: PTH112
            return True
        if any(entry.split(".")[0] == name for entry in os.listdir(folder)):  # noqa: PTH208
            return True
    return False


def of_class(kind: type, name: str) -> Any:
    """Of an ordinary class: what it or a class above it defines. A plain function as it is."""
    for owner in type.__dict__["__mro__"].__get__(kind):
        members = type.__dict__["__dict__"].__get__(owner)
        if name in members:
            member = members[name]
            return member if type(member) is types.FunctionType else UNKNOWN
    return UNKNOWN if name in type.__dict__ else MISSING


def of_table(table: Any, kind: type, name: str) -> Any:
    """Of a table or a column of pandas, whose columns or labels are attributes, too."""
    member = of_class(kind, name)
    if member is not MISSING:
        return member
    own = object.__getattribute__(table, "__dict__")
    labels = table.columns if kind.__name__ == "DataFrame" else table.index
    if name in own or len(labels) > MOST_LABELS:
        return UNKNOWN
    there = any(type(label) is str and label == name for label in labels.tolist())
    return UNKNOWN if there else MISSING


def names_of(value: Any) -> list[str]:
    if type(value) is types.ModuleType:
        return list(members_of(value))
    kind = value if type(value) is type else type(value)
    owners = type.__dict__["__mro__"].__get__(kind)
    return [name for owner in owners for name in type.__dict__["__dict__"].__get__(owner)]


def arguments_of(value: Any) -> list[str] | None:
    """The arguments that a plain function, or a class with a plain ``__init__``, takes by name;
    None if that is not certain."""
    if type(value) is type:
        if of_class_owner(value, "__new__") is not object:
            return None
        value = of_class(value, "__init__")
    if type(value) is not types.FunctionType:
        return None
    code = value.__code__
    if code.co_flags & 0x08:  # It has **kwargs.
        return None
    return list(code.co_varnames[code.co_posonlyargcount :][: count(code)])


def count(code: types.CodeType) -> int:
    return code.co_argcount - code.co_posonlyargcount + code.co_kwonlyargcount


def of_class_owner(kind: type, name: str) -> Any:
    owners = type.__dict__["__mro__"].__get__(kind)
    return next(o for o in owners if name in type.__dict__["__dict__"].__get__(o))


def register_lookups(shell: Any) -> None:
    """Answer each comm opened to ``LOOKUPS`` with one message, ``{"missing": [...]}``."""

    def answer(comm: Any, message: Any) -> None:
        asked = message["content"]["data"]
        comm.send({"missing": missing(asked["wanted"], asked["imports"], shell.user_ns)})
        # Forget it without a published close: each open page would log an unknown comm.
        comm._closed = True
        manager.unregister_comm(comm)

    manager = shell.kernel.comm_manager
    manager.register_target(LOOKUPS, answer)


if __name__ == LOOKUPS:
    register_lookups(sys.modules["IPython"].get_ipython())
