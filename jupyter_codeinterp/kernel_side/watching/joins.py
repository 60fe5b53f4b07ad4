"""Looks at joins: multiplied rows, and keys without a match. Compares numbers of rows, and keys of
short tables or samples.

Each function takes a call's result and arguments, yields facts and changes nothing. This file's
text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ..variables import PLAIN, is_among
from .calls import arguments
from .changes import SIMPLE
from .values import EXAMPLES, KEYS, SAMPLE, Facts, folded, is_missing, is_table, pandas, shown


def merge(result: Any, args: Any, kwargs: Any) -> Facts:
    given = arguments(pandas().merge.__wrapped__, args, kwargs)
    left: Any = given.get("left")
    right: Any = given.get("right")
    how = str(given.get("how", "inner"))
    if not is_table(left) or not is_table(right) or how == "cross":
        return
    both = given.get("on")
    names = [names_of(given.get(f"{side}_on") if both is None else both)
             for side in ("left", "right")]  # fmt: skip
    if both is None and not {"left_on", "left_index", "right_on", "right_index"} & given.keys():
        shared = [name for name in left.columns.tolist() if name in right.columns]
        names = [names_of(shared)] * 2
    if names[0] and len(names[0]) == len(names[1]):
        keys = [keys_of(table, some) for table, some in zip((left, right), names)]  # noqa: B905
        yield joined(len(left), len(right), len(result), how, keys, names[0])


def join(result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.join(other)`` by the index of both."""
    left, right = args[0], args[1] if len(args) > 1 else kwargs.get("other")
    by_index = len(args) < 3 and not {"on", "lsuffix", "rsuffix"} & kwargs.keys()
    if is_table(left) and is_table(right) and by_index and left.index.nlevels == 1:
        keys = [table.index[:: step(table)].tolist() for table in (left, right)]
        name = left.index.name if type(left.index.name) is str else "index"
        how = str(kwargs.get("how", "left"))
        yield joined(len(left), len(right), len(result), how, keys, [name])


def names_of(side: Any) -> list[str]:
    """The names of the key columns; none if they are computed."""
    names = [side] if type(side) is str else side
    known = type(names) is list and all(type(name) is str for name in names)
    return names if known else []


def step(table: Any) -> int:
    return -(-len(table) // KEYS) or 1


def keys_of(table: Any, names: list[str]) -> list[Any]:
    """All keys of a short table; a sample of a longer one."""
    columns = [table[name].iloc[:: step(table)].tolist() for name in names]
    return columns[0] if len(columns) == 1 else list(zip(*columns))  # noqa: B905


def joined(
    left: int, right: int, result: int, how: str, keys: list[list[Any]], names: list[str]
) -> dict[str, Any]:
    """The fact from the numbers of rows and both sides' keys. ``repeats``: keys certainly repeat on
    both sides."""
    rows = [left, right]
    fact: dict[str, Any] = {
        "kind": "joined",
        "how": how,
        "left": left,
        "right": right,
        "result": result,
        "keys": [name[:60] for name in names],
        # Without repeats, each row of a side occurs at most once.
        "repeats": result > (max(rows) if how == "inner" else sum(rows)),
    }
    if not all(map(is_plain_key, {*map(type, parts(keys[0])), *map(type, parts(keys[1]))})):
        return fact
    lefts, rights = keys
    whole = len(lefts) == left and len(rights) == right
    if whole and result > min(rows):
        fact["repeats"] = bool(repeated(lefts) & repeated(rights))
    if len(rights) == right:
        there = set(rights)
        alone = [key for key in lefts if key not in there and is_known(key)]
        fact.update(looked_at=len(lefts), alone=len(alone))
        fact["examples"] = list(dict.fromkeys(map(text_of, alone[:SAMPLE])))[:EXAMPLES]
        others = {folded(key) for key in list(there)[:SAMPLE] if type(key) is str}
        alike = (key for key in alone[:SAMPLE] if type(key) is str and folded(key) in others)
        fact["near"] = list(dict.fromkeys(map(shown, alike)))[:EXAMPLES]
    if whole:
        # pandas joins a missing key with each missing key of the other side.
        here = sum(1 for key in lefts if not is_known(key))
        fact["missing_keys"] = here if not all(map(is_known, rights)) else 0
    return fact


def parts(keys: list[Any]) -> Iterator[Any]:
    for key in keys:
        if type(key) is tuple:
            yield from key
        else:
            yield key


def is_plain_key(kind: type) -> bool:
    """Whether comparing keys of this type runs no untrusted code."""
    pd = sys.modules.get("pandas")
    known = [*SIMPLE, *PLAIN]
    if pd is not None:
        known += [pd.Timestamp, pd.Timedelta, pd.Period, type(pd.NaT), type(pd.NA)]
    return is_among(kind, known)


def text_of(key: Any) -> str:
    return " and ".join(map(shown, key)) if type(key) is tuple else shown(key)


def is_known(key: Any) -> bool:
    """Whether the key, and each of its parts, has a value."""
    return not any(map(is_missing, key if type(key) is tuple else (key,)))


def repeated(keys: list[Any]) -> set[Any]:
    found: set[Any] = set()
    twice = {key for key in keys if key in found or found.add(key)}  # type: ignore[func-returns-value]
    return {key for key in twice if is_known(key)}
