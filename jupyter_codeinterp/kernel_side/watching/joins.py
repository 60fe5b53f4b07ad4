"""Looks at joins and groups: rows that multiply, and rows that vanish.

Each function gets the tracer, the result and the call's arguments, and yields facts. It changes
nothing. This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

from typing import Any

from .calls import Tracer, arguments
from .values import (
    EXAMPLES,
    HEAD,
    LARGEST,
    Facts,
    folded,
    is_table,
    pandas,
    shown,
)


def keys_of(given: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The names of both sides' key columns, as far as the call gives them."""
    both = given.get("on")
    sides = (both, both) if both is not None else (given.get("left_on"), given.get("right_on"))
    left, right = ([side] if type(side) is str else side for side in sides)
    names = [side if type(side) is list and all(type(n) is str for n in side) else []
             for side in (left, right)]  # fmt: skip
    return names[0], names[1]


def merge(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    given = arguments(pandas().merge.__wrapped__, args, kwargs)
    left, right = given.get("left"), given.get("right")
    if left is None or right is None or not is_table(left) or not is_table(right):
        return
    names = keys_of(given)
    if not names[0] and given.get("left_on") is None and not given.get("left_index"):
        shared = [name for name in left.columns.tolist() if name in set(right.columns.tolist())]
        names = (shared, shared)
    yield from joined(left, right, result, names, str(given.get("how", "inner")))


def join(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    left, right = args[0], args[1] if len(args) > 1 else kwargs.get("other")
    if is_table(left) and is_table(right):
        for fact in joined(left, right, result, ([], []), str(kwargs.get("how", "left"))):
            same = left.index.name == right.index.name == "id" and not {"on"} & kwargs.keys()
            if same and len(args) < 3:
                fact["other_key"] = other_key(left, left.index, right.index)
            yield fact


def joined(left: Any, right: Any, result: Any, names: Any, how: str) -> Facts:
    if max(len(left), len(right), len(result)) > LARGEST or how == "cross":
        return
    fact: dict[str, Any] = {
        "kind": "joined",
        "how": how,
        "left": len(left),
        "right": len(right),
        "result": len(result),
        "keys": [name[:60] for name in names[0]],
    }
    if names[0] and names[1] and len(names[0]) == len(names[1]):
        mine, theirs = keys(left, names[0]), keys(right, names[1])
        fact["left_matched"] = int(mine.isin(theirs).sum())
        fact["right_matched"] = int(theirs.isin(mine).sum())
        fact["left_repeats"] = int(mine.duplicated().sum())
        fact["right_repeats"] = int(theirs.duplicated().sum())
        fact["missing_keys"] = missing(left, names[0]) and missing(right, names[1])
        if names[0] == names[1] == ["id"]:
            fact["other_key"] = other_key(left, mine, theirs)
        if len(names[0]) == 1:
            fact.update(unmatched(mine, theirs))
    own = [name for name in left.columns.tolist() if type(name) is str and name not in names[0]]
    fact["left_columns"] = [name[:60] for name in own[:20]]
    theirs_only = [n for n in right.columns.tolist() if type(n) is str and n not in names[1]]
    fact["right_columns"] = [name[:60] for name in theirs_only[:20]]
    yield fact


def other_key(left: Any, mine: Any, theirs: Any) -> str:
    """A column like ``studio_id`` that fits the other table's ids better than the table's own."""
    if not mine.isin(theirs).all():
        for name in left.columns[:100].tolist():
            if type(name) is str and name.endswith("_id") and left[name].isin(theirs).all():
                return name[:60]
    return ""


def keys(frame: Any, names: list[str]) -> Any:
    if len(names) == 1:
        return pandas().Index(frame[names[0]])
    return pandas().MultiIndex.from_frame(frame[names])


def missing(frame: Any, names: list[str]) -> int:
    """Rows with a NaN among the keys. pandas joins NaN with NaN."""
    return int(frame[names].isna().any(axis=1).sum())


def unmatched(mine: Any, theirs: Any) -> dict[str, Any]:
    """Keys without a partner, and those of them that differ only in case or blanks."""
    alone = mine[~mine.isin(theirs)].unique()[:HEAD].tolist()
    other = {folded(key) for key in theirs.unique()[:HEAD].tolist() if type(key) is str}
    alike = [key for key in alone if type(key) is str and folded(key) in other]
    return {
        "near": [shown(key) for key in alike[:EXAMPLES]],
        "alone": [shown(key) for key in alone[:EXAMPLES]],
    }


def groupby(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """Rows that belong to no group because their key is NaN."""
    frame, by = args[0], args[1] if len(args) > 1 else kwargs.get("by")
    names = [by] if type(by) is str else by
    if "dropna" in kwargs or not is_table(frame) or type(names) is not list:
        return
    if not all(type(name) is str and name in frame.columns for name in names):
        return
    dropped = missing(frame, names)
    if dropped:
        yield {"kind": "group_lost", "rows": len(frame), "count": dropped, "keys": names[:5]}


def pivot(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    given = arguments(pandas().DataFrame.pivot_table.__wrapped__, args, kwargs)
    named = [given.get("index"), given.get("columns")]
    names = [name for side in named for name in (side if type(side) is list else [side])]
    if is_table(given["self"]) and "dropna" not in given:
        known = [name for name in names if type(name) is str and name in given["self"].columns]
        yield from groupby(tracer, result, (given["self"], known), {})


def concat(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """Tables below each other whose columns are written differently."""
    parts = args[0] if args else kwargs.get("objs")
    if type(parts) not in (list, tuple) or kwargs.get("axis", 0) not in (0, "index"):
        return
    columns = [[n for n in p.columns.tolist() if type(n) is str] for p in parts[:50] if is_table(p)]
    seen: dict[str, str] = {}
    for names in columns:
        for name in names:
            other = seen.setdefault(folded(name), name)
            if other != name and not any({other, name} <= {*own} for own in columns):
                yield {"kind": "column_twice", "columns": [other[:60], name[:60]]}
                return
    tables = [part for part in parts[:50] if is_table(part)]
    if len(tables) == len(parts) and 0 < len(result) <= HEAD:
        # A whole table is in another one, with the same labels.
        labelled = result.reset_index(drop=False)
        count = int(labelled.duplicated().sum()) - sum(
            int(part.reset_index().duplicated().sum()) for part in tables
        )
        if count and any(len(part) == count for part in tables):
            yield {"kind": "rows_twice", "count": count, "rows": len(result)}
