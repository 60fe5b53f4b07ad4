"""Lists existing names after a cell failed on a missing one. This file's text runs **in the
kernel**.

It runs no code of the person's types: names come from modules, classes, folders and known tables.
Standard library only.
"""

from __future__ import annotations

import builtins
import difflib
import os
import re
import sys
import types
from collections.abc import Iterable
from itertools import islice
from typing import Any

from .variables import is_one_of, key_text, type_name

MOST = 2_000
"""Maximum number of names that are searched."""
SHOWN = 15
NEAREST = 3
LONGEST = 100
"""Characters of a name."""
COMPARED, MOST_COMPARED = 50, 1_000
"""Characters of a name, and names, that difflib compares: at worst 0.2 s."""
DEEPEST = 100
"""Maximum number of frames of a traceback."""
TABLES = ("DataFrame", "Series")
INDEXES = ("Index", "RangeIndex", "DatetimeIndex", "MultiIndex", "CategoricalIndex")
LOCALS = (dict, type(sys._getframe().f_locals))
"""The types of a frame's variables. The mapping of a class body may be the person's code."""
QUOTED = re.compile(r"'[^'\n]{1,100}'")


def absent(error: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    """``{kind, wanted, of, there, near, count}``; {} for other errors. ``of``: the object without
    the name ``wanted``. ``there``: its first names, of ``count``. ``near``: the most similar."""
    readers = {
        KeyError: of_key,
        AttributeError: of_attribute,
        NameError: of_name,
        FileNotFoundError: of_file,
    }
    try:
        read: Any = readers.get(type(error))
        return read(error, namespace) if read is not None else {}
    except Exception:
        # The error may carry anything.
        return {}


def found(kind: str, wanted: str, of: str, names: Iterable[str], shown: bool) -> dict[str, Any]:
    if type(wanted) is not str or type(of) is not str:
        return {}
    names = [plain(name[:LONGEST]) for name in islice(names, MOST)]
    wanted, of = plain(wanted[: 3 * LONGEST]), plain(of[:LONGEST])
    asked = QUOTED.findall(wanted) or [wanted] if kind == "key" else [wanted]
    near = [name for one in asked[:NEAREST] for name in nearest(one[:LONGEST], names)]
    facts = {"kind": kind, "wanted": wanted, "of": of, "near": near}
    return dict(facts, there=names[:SHOWN] if shown else [], count=len(names))


def plain(text: str) -> str:
    """The text without halves of surrogate pairs, which no message can carry."""
    return text.encode("utf-8", "backslashreplace").decode()


def nearest(wanted: str, names: list[str]) -> list[str]:
    """The most similar names. First those that differ only in case, blanks and punctuation."""
    plain = letters(wanted)
    alike = [name for name in names if plain and letters(name) == plain]
    short = [name for name in names if len(name) <= COMPARED][:MOST_COMPARED]
    close = difflib.get_close_matches(wanted[:COMPARED], short)
    return list(dict.fromkeys([*alike, *close]))[:NEAREST]


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def named(value: Any, namespace: dict[str, Any]) -> str:
    """The name of a variable with this value; "" without one."""
    pairs = list(namespace.items())
    return next((n for n, v in pairs if v is value and type(n) is str and n[:1] != "_"), "")


def of_key(error: KeyError, namespace: dict[str, Any]) -> dict[str, Any]:
    wanted = key_text(error.args[0]) or "a key"
    if type(error.args[0]) is str and error.args[0][-5:] in ("index", "umns]", " axis"):
        # The keys within a sentence of pandas.
        wanted = ", ".join(QUOTED.findall(error.args[0].partition(", dtype=")[0])) or wanted
    pandas, trace = sys.modules.get("pandas"), error.__traceback__
    table: Any = None
    index: Any = None
    for _ in range(DEEPEST):
        if trace is None or pandas is None:
            break
        here = trace.tb_frame.f_locals
        owner = here.get("self") if type(here) in LOCALS else None
        if is_one_of(type(owner), pandas, TABLES):
            table, index = owner, None
        elif is_one_of(type(owner), pandas, INDEXES):
            index = owner
        trace = trace.tb_next
    if table is None and index is None:
        return {}
    is_frame = pandas is not None and is_one_of(type(table), pandas, ("DataFrame",))
    columns = texts(table.columns) if is_frame else None
    names = texts(index) if index is not None else columns
    if names is None:
        names = texts(table.index)
    of = named(table, namespace) if table is not None else ""
    what = "columns" if names == columns else "labels"
    return dict(found("key", wanted, of, names, True), what=what)


def texts(labels: Any) -> list[str]:
    """The labels as Python literals. Never compares labels, which may run code. [] if they are in
    another package's array type, whose methods are code."""
    arrays: Any = sys.modules["pandas"].arrays
    for part in getattr(labels, "levels", (labels,)):
        if not is_one_of(type(part.array), arrays, tuple(dir(arrays))):
            return []
    return list(filter(None, map(key_text, labels[:MOST])))


def of_attribute(error: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    value, wanted = error.obj, error.name
    kind, pandas = type(value), sys.modules.get("pandas")
    columns: list[str] = []
    names: list[Any] = []
    there: list[str] = []
    if kind is types.ModuleType:
        names = list(vars(value))
    else:
        for one in type.__dict__["__mro__"].__get__(kind):
            names += type.__dict__["__dict__"].__get__(one)
        if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
            there = texts(value.columns)
            labels = value.columns[:MOST] if there else ()
            columns = [label for label in labels if type(label) is str]
    public = (name for name in names if type(name) is str and name[:1] != "_")
    of = vars(value).get("__name__") if kind is types.ModuleType else named(value, namespace)
    of = of if type(of) is str and of else "" if there else type_name(kind)
    told = found("attribute", wanted, of, [*columns, *public], False)
    return dict(told, there=there[:SHOWN], count=len(there), what="columns")


def of_name(error: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in [*namespace, *vars(builtins)] if type(name) is str]
    return found("name", error.name, "", (name for name in names if name[:1] != "_"), False)


def of_file(error: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    path = error.filename
    if type(path) is not str:
        return {}
    folder, name = os.path.split(path)
    asked = name
    while folder and not os.path.isdir(folder) and folder != os.path.dirname(folder):  # noqa: PTH112, PTH120
        folder, name = os.path.split(folder)
    what = "files" if name == asked else "folders"
    listed = [one for one in entries(folder or ".") if what == "files" or one[-1:] == "/"]
    told = found("file", name, folder, listed, folder != os.path.dirname(folder) or not folder)  # noqa: PTH120
    escapes = [repr(sign)[1:-1] for sign in dict.fromkeys(path) if not sign.isprintable()]
    shown = {"path": repr(path)[: 3 * LONGEST], "escapes": escapes[:SHOWN], "what": what}
    return dict(told, **shown)


def entries(folder: str) -> list[str]:
    """Visible names in a folder; those of folders end with a slash."""
    try:
        with os.scandir(folder) as found:
            some = [one for one in islice(found, MOST) if one.name[:1] != "."]
    except OSError:
        return []
    return sorted(f"{one.name}/" if one.is_dir() else one.name for one in some)
