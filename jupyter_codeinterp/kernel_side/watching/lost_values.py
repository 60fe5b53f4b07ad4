"""Looks at what makes values disappear: conversions, mappings, alignment.

Each function gets the tracer, the result and the call's arguments, and yields facts. It changes
nothing. This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
from typing import Any

from .calls import Tracer
from .values import (
    EXAMPLES,
    HEAD,
    Facts,
    examples,
    few,
    folded,
    is_series,
    is_table,
    is_text,
    name_of,
    shown,
    texts,
)

DAY = re.compile(r"\s*(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?:\D.*)?$")


def lost(kind: str, before: Any, after: Any, **figures: Any) -> Facts:
    """Values of a column that have become NaN."""
    if not (is_series(before) and is_series(after)) or len(before) != len(after):
        return
    gone = after.isna().to_numpy() & before.notna().to_numpy()
    count = int(gone.sum())
    if count:
        yield dict(
            {
                "kind": kind,
                "column": name_of(before),
                "rows": len(before),
                "count": count,
                "examples": examples(before[gone]),
            },
            **figures,
        )


def mapped(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    mapper = args[1] if len(args) > 1 else kwargs.get("arg", kwargs.get("func"))
    if type(mapper) is dict or is_series(mapper):
        keys = mapper if type(mapper) is dict else mapper.index.tolist()[:HEAD]
        alike = {folded(key) for key in keys if type(key) is str}
        for fact in lost("map_lost", args[0], result):
            gone = args[0][result.isna().to_numpy() & args[0].notna().to_numpy()]
            found = {text for text in texts(gone) if folded(text) in alike}
            yield dict(fact, near=[shown(text) for text in sorted(found)[:EXAMPLES]])


def cut(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``pd.cut`` with bins that leave values out."""
    column = args[0] if args else kwargs.get("x")
    yield from lost("outside_bins", column, result)


def to_numeric(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    column = args[0] if args else kwargs.get("arg")
    yield from lost("not_a_number", column, result)


def to_datetime(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    column = args[0] if args else kwargs.get("arg")
    if not is_series(column) or not is_series(result) or not len(column):
        return
    yield from lost("not_a_date", column, result)
    counts = column.dtype.kind in "iuf" and "unit" not in kwargs and column.abs().max() > 366
    if counts and (result.dropna().dt.year == 1970).all():
        figures = {"column": name_of(column), "examples": examples(column)}
        yield dict(figures, kind="all_in_1970", rows=len(column))
    if is_text(column) and not {"format", "dayfirst"} & kwargs.keys():
        yield from day_or_month(column)


def read_csv(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """Columns that were to be dates and are text still."""
    wanted = kwargs.get("parse_dates")
    if type(wanted) is list and is_table(result):
        for name in wanted[:20]:
            if type(name) is str and name in result.columns and is_text(result[name]):
                yield {"kind": "still_text", "column": name, "examples": examples(result[name])}


def day_or_month(column: Any) -> Facts:
    """Dates as 3/4/2024, read as month and day: whether the order of the rows, or a number
    above 12, says that the day comes first."""
    found = [match for match in map(DAY.match, texts(column)[:2_000]) if match]
    pairs = [(int(one[1]), int(one[2]), int(one[3])) for one in found]
    if len(pairs) < 3:
        return
    either = sum(1 for first, second, _ in pairs if first <= 12 and second <= 12)
    same = sum(1 for first, second, _ in pairs if first == second)
    if either == same:
        return
    month_first = [(year, first, second) for first, second, year in pairs]
    day_first = [(year, second, first) for first, second, year in pairs]
    yield {
        "kind": "day_or_month",
        "column": name_of(column),
        "rows": len(pairs),
        "either": either,
        "first_over_12": sum(1 for first, _, _ in pairs if first > 12),
        "second_over_12": sum(1 for _, second, _ in pairs if second > 12),
        "sorted_day_first": day_first == sorted(day_first),
        "sorted_month_first": month_first == sorted(month_first),
        "examples": examples(column),
    }


def reindexed(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    owner = args[0]
    if not (is_series(owner) or is_table(owner)) or not len(owner) or not len(result):
        return
    fills = {"fill_value", "method"} & kwargs.keys()
    if not fills and not result.index.isin(owner.index).any():
        yield {"kind": "no_label", "rows": len(result), "examples": few(result.index)}


def shares(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.value_counts(normalize=True)`` counts only the values that are known."""
    series, normalize = args[0], args[1] if len(args) > 1 else kwargs.get("normalize")
    if is_series(series) and normalize is True and "dropna" not in kwargs:
        count = int(series.isna().sum())
        if count:
            figures = {"column": name_of(series), "rows": len(series), "count": count}
            yield dict(figures, kind="shares_of_known")


def set_item(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df[column] = series``: pandas aligns them by label."""
    frame, key, value = args
    if not is_table(frame) or not is_series(value) or type(key) is not str or not len(value):
        return
    if frame.index is value.index or frame.index.equals(value.index):
        return
    found = int(frame.index.isin(value.index).sum())
    if found < len(frame):
        yield {
            "kind": "misaligned",
            "column": key,
            "rows": len(frame),
            "found": found,
            "labels": few(value.index),
            "own": few(frame.index),
        }
