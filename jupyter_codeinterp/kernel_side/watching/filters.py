"""Looks at filters: values that are not there, and filters that keep nothing.

Each function gets the tracer, the result and the call's arguments, and yields facts. It changes
nothing. This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
from typing import Any

from .calls import Tracer
from .changes import SIMPLE
from .values import (
    EXAMPLES,
    HEAD,
    LARGEST,
    NUMBER,
    Facts,
    examples,
    folded,
    is_series,
    is_table,
    name_of,
    near,
    pandas,
    shown,
    text_numbers,
    texts,
)


def part(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df[mask]``, ``series[mask]`` and ``df.loc[mask]``."""
    owner, key = args
    owner = owner if is_table(owner) or is_series(owner) else getattr(owner, "obj", None)
    mask = key[0] if type(key) is tuple and key else key
    if owner is None or not (is_series(mask) and mask.dtype.name in ("bool", "boolean")):
        return
    if len(owner) and not len(result):
        yield {"kind": "empty_filter", "rows": len(owner)}


def query(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    if is_table(result) and len(args[0]) and not len(result):
        yield {"kind": "empty_filter", "rows": len(args[0])}


def dropna(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    owner = args[0]
    known = (is_table(owner) or is_series(owner)) and result is not None
    if known and len(result) < len(owner) / 2:
        yield {"kind": "dropped_most", "rows": len(owner), "kept": len(result)}


def equal(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series == value``: the value is not there."""
    series, wanted = args
    if not is_series(series) or type(wanted) not in SIMPLE or not len(series):
        return
    if not result.any():
        yield {
            "kind": "no_match",
            "column": name_of(series),
            "wanted": shown(wanted),
            "rows": len(series),
            "near": near(series, wanted),
            "values": examples(series.dropna(), 5),
            "distinct": int(series.head(HEAD).nunique()),
        }


def unequal(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series != value`` keeps all rows, because the value is written differently."""
    series, wanted = args
    if not is_series(series) or type(wanted) not in SIMPLE or not len(series):
        return
    if result.all() and near(series, wanted):
        yield {
            "kind": "nothing_excluded",
            "column": name_of(series),
            "wanted": shown(wanted),
            "rows": len(series),
            "near": near(series, wanted),
        }


def ordered(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series > "5"`` where the column has numbers written as text."""
    series, other = args
    if is_series(series) and type(other) is str and NUMBER.fullmatch(other):
        yield from text_numbers(series, "compared")


def at_most(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``dates <= "2024-01-31"`` leaves out that day, except its midnight."""
    yield from ordered(tracer, result, args, kwargs)
    series, other = args
    if is_series(series) and series.dtype.kind == "M" and type(other) is str:
        yield from day_cut(series, other)


def between(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    series, last = args[0], args[2] if len(args) > 2 else kwargs.get("right")
    if is_series(series) and series.dtype.kind == "M" and type(last) is str:
        yield from day_cut(series, last)


def day_cut(series: Any, day: str) -> Facts:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day) and series.dt.tz is None:
        start = pandas().Timestamp(day)
        later = (series > start) & (series < start + pandas().Timedelta(days=1))
        if later.any():
            yield {"kind": "day_cut", "count": int(later.sum()), "rows": len(series)}


def isin(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    series, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("values")
    if not is_series(series) or type(wanted) not in (list, tuple, set, frozenset):
        return
    plain = [value for value in wanted if type(value) in SIMPLE]
    if not plain or len(plain) > 200 or len(series) > LARGEST or not len(series):
        return
    there = set(series[result].drop_duplicates().tolist())
    absent = [value for value in plain if value not in there]
    if absent:
        yield {
            "kind": "absent_values",
            "column": name_of(series),
            "wanted": len(plain),
            "absent": [shown(value) for value in absent[:5]],
            "count": len(absent),
            "rows": len(series),
            "near": [text for value in absent[:20] for text in near(series, value)][:EXAMPLES],
            "values": examples(series.dropna(), 5),
        }


def contains(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    series, wanted = args[0]._orig, args[1] if len(args) > 1 else kwargs.get("pat")
    if is_series(series) and type(wanted) is str and len(series) and not result.any():
        yield {
            "kind": "no_match",
            "column": name_of(series),
            "wanted": shown(wanted),
            "rows": len(series),
            "near": sorted({shown(t) for t in texts(series) if folded(wanted) in folded(t)})[:3],
            "values": examples(series.dropna(), 5),
            "distinct": int(series.head(HEAD).nunique()),
        }
