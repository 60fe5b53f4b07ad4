"""Looks at calls of polars: joins, filters that keep nothing, and casts that lost values.

Each function gets the tracer, the result and the call's arguments, and yields facts as those of
pandas do. It changes nothing, and does not look at what is not computed yet (``LazyFrame``). This
file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from .calls import Tracer, Watched, arguments
from .changes import SIMPLE
from .values import EXAMPLES, HEAD, LARGEST, Facts, folded, shown

EQUAL = re.compile(r"\[\(col\(\"([^\"]{1,100})\"\)\) == \(\"([^\"]{0,200})\"\)\]")
"""How polars writes that a column is equal to a text."""
MOST_COLUMNS = 50
NUMBERS = ("Int", "UInt", "Float", "Decimal")
TIMES = ("Date", "Datetime", "Time")


def polars() -> Any:
    return sys.modules["polars"]


def is_frame(value: Any) -> bool:
    return type(value) is polars().DataFrame


def is_column(value: Any) -> bool:
    return type(value) is polars().Series


def distinct(column: Any, most: int = HEAD) -> list[Any]:
    """Different values of the first rows, the first ones first; without nulls."""
    return column.head(most).drop_nulls().unique(maintain_order=True).to_list()  # type: ignore[no-any-return]


def polars_filter(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.filter(…)`` keeps no row; if it asks for one text, whether a column has it otherwise."""
    frame = args[0]
    if not is_frame(frame) or not is_frame(result) or not len(frame) or len(result):
        return
    yield {"kind": "empty_filter", "rows": len(frame)}
    wanted = [(name, value) for name, value in kwargs.items() if type(value) is str]
    one = args[1] if len(args) == 2 and not kwargs else None
    if type(one) is polars().Expr:
        match = EQUAL.fullmatch(str(one))
        wanted = [match.groups()] if match is not None else []  # type: ignore[list-item]
    if len(wanted) != 1 or wanted[0][0] not in frame.columns:
        return
    name, value = wanted[0]
    column = frame.get_column(name)
    values = distinct(column)
    texts = [text for text in values if type(text) is str]
    yield {
        "kind": "no_match",
        "column": name[:60],
        "wanted": shown(value),
        "rows": len(frame),
        "near": [shown(text) for text in texts if folded(text) == folded(value)][:EXAMPLES],
        "values": [shown(one) for one in values[:5] if type(one) in SIMPLE],
        "distinct": len(values),
    }


def names_of(value: Any) -> list[str] | None:
    """The names of key columns; None if they are computed."""
    names = [value] if type(value) is str else value
    if type(names) not in (list, tuple) or not all(type(name) is str for name in names):
        return None
    return list(names)


def polars_join(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    given = arguments(original("join"), args, kwargs)
    left: Any = given.get("self")
    right: Any = given.get("other")
    how = str(given.get("how", "inner"))
    if not (is_frame(left) and is_frame(right) and is_frame(result)) or how == "cross":
        return
    if max(len(left), len(right), len(result)) > LARGEST:
        return
    both = given.get("on")
    mine = names_of(both if both is not None else given.get("left_on"))
    theirs = names_of(both if both is not None else given.get("right_on"))
    if not mine or not theirs or len(mine) != len(theirs):
        return
    here, there = left.select(mine), right.select(theirs)
    there = there.rename(dict(zip(theirs, mine)))  # noqa: B905
    known, others = here.drop_nulls(), there.drop_nulls()
    alone = known.join(others.unique(), on=mine, how="anti")
    fact: dict[str, Any] = {
        "kind": "joined",
        "library": "polars",
        "how": how,
        "left": len(left),
        "right": len(right),
        "result": len(result),
        "keys": [name[:60] for name in mine],
        "left_matched": len(known) - len(alone),
        "right_matched": len(others.join(known.unique(), on=mine, how="semi")),
        "left_repeats": len(here) - here.n_unique(),
        "right_repeats": len(there) - there.n_unique(),
        # Nulls join nulls only where the code asks for it.
        "missing_keys": 0,
        "left_columns": [name[:60] for name in left.columns if name not in mine][:20],
        "right_columns": [name[:60] for name in right.columns if name not in theirs][:20],
    }
    if len(mine) == 1:
        keys = distinct(alone.get_column(mine[0]))
        partners = {folded(k) for k in distinct(others.get_column(mine[0])) if type(k) is str}
        alike = [key for key in keys if type(key) is str and folded(key) in partners]
        fact["near"] = [shown(key) for key in alike[:EXAMPLES]]
        fact["alone"] = [shown(key) for key in keys[:EXAMPLES]]
    yield fact


def lost(before: Any, after: Any) -> Facts:
    """Values of a column of texts or numbers that have become null in another type."""
    into = str(after.dtype)
    if before.dtype == after.dtype or len(before) != len(after):
        return
    kind = "not_a_number" if into.startswith(NUMBERS) else "not_a_date"
    if kind == "not_a_date" and not into.startswith(TIMES):
        return
    if after.null_count() <= before.null_count():
        return
    gone = before.filter(after.is_null() & before.is_not_null())
    if len(gone):
        examples = [shown(value) for value in distinct(gone)[:EXAMPLES]]
        figures = {"kind": kind, "column": before.name[:60], "rows": len(before)}
        yield dict(figures, count=len(gone), examples=examples)


def polars_columns(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.with_columns(pl.col("a").cast(…, strict=False))``, ``select`` and ``cast``: each column
    beside the one that it comes from."""
    frame = args[0]
    if not is_frame(frame) or not is_frame(result) or len(frame) != len(result):
        return
    origin = {name: name for name in result.columns[:MOST_COLUMNS]}
    expressions = [(None, one) for one in args[1:]] + list(kwargs.items())
    flat = [(name, part) for name, one in expressions
            for part in (one if type(one) in (list, tuple) else [one])]  # fmt: skip
    for name, one in flat[:MOST_COLUMNS]:
        if type(one) is polars().Expr:
            roots = one.meta.root_names()
            made = name or one.meta.output_name(raise_if_undetermined=False)
            if made is not None:
                origin[made] = roots[0] if len(roots) == 1 else ""
    for made, root in origin.items():
        if root in frame.columns and made in result.columns:
            yield from lost(frame.get_column(root), result.get_column(made))


def polars_cast(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    if is_column(args[0]) and is_column(result):
        yield from lost(args[0], result)


def original(name: str) -> Any:
    """The function of polars below our wrapper."""
    return vars(polars().DataFrame)[name].__wrapped__


def watched_polars() -> Iterator[Watched]:
    frame, column = polars().DataFrame, polars().Series
    yield frame, "filter", polars_filter
    yield frame, "join", polars_join
    yield frame, "with_columns", polars_columns
    yield frame, "select", polars_columns
    yield frame, "cast", polars_columns
    yield column, "cast", polars_cast
