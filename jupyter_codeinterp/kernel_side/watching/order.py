"""Looks at order: numbers written as text, ties, and replacements that find nothing.

Each function gets the tracer, the result and the call's arguments, and yields facts. It changes
nothing. This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
import weakref
from typing import Any

from .calls import Tracer
from .changes import SIMPLE
from .filters import part
from .values import (
    FIGURE,
    LARGEST,
    Facts,
    examples,
    few,
    folded,
    is_series,
    is_table,
    is_text,
    name_of,
    shown,
    text_numbers,
    texts,
)


def sort_values(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    owner = args[0]
    if is_series(owner):
        yield from text_numbers(owner, "sorted")
        return
    by = args[1] if len(args) > 1 else kwargs.get("by")
    names = [by] if type(by) is str else by
    if not is_table(owner) or type(names) is not list:
        return
    if kwargs.get("key") is None:
        for name in names[:5]:
            if type(name) is str and name in owner.columns:
                yield from text_numbers(owner[name], "sorted")
    if is_table(result) and names:
        tracer.sorted[id(result)] = (weakref.ref(result), names)


def located(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.loc["b":"d"]`` takes all rows between two labels, whatever their order."""
    yield from part(tracer, result, args, kwargs)
    owner: Any = getattr(args[0], "obj", None)
    key = args[1]
    key = key[0] if type(key) is tuple and key else key
    if type(key) is not slice or not (is_table(owner) or is_series(owner)):
        return
    index = owner.index
    bounds = (key.start, key.stop)
    if key.step is not None or not 2 <= len(index) <= LARGEST or index.nlevels > 1:
        return
    if index.is_monotonic_increasing or index.is_monotonic_decreasing:
        return
    if not all(type(bound) in SIMPLE for bound in bounds) or index.dtype.kind == "M":
        return
    if not (type(result) is type(owner) and len(result) < len(owner)):
        return
    left_out = inside(index, *bounds) - inside(result.index, *bounds)
    beyond = len(result) - inside(result.index, *bounds)
    if left_out or beyond:
        yield {"kind": "unordered_slice", "left_out": left_out, "beyond": beyond,
               "rows": len(owner), "examples": few(index)}  # fmt: skip


def inside(index: Any, low: Any, high: Any) -> int:
    """How many labels lie between two by their value."""
    chosen = index.notna()
    if low is not None:
        chosen = chosen & (index >= low)
    if high is not None:
        chosen = chosen & (index <= high)
    return int(chosen.sum())


def numeric_only(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.mean(numeric_only=True)`` leaves out numbers that are written as text."""
    frame: Any = args[0] if is_table(args[0]) else getattr(args[0], "obj", None)
    if kwargs.get("numeric_only") is not True or not is_table(frame):
        return
    kept = {*result.index.names, *(result.columns if is_table(result) else result.index).tolist()}
    for name in frame.columns[:100].tolist():
        if type(name) is not str or name in kept or not is_text(frame[name]):
            continue
        found = texts(frame[name])[:2_000]
        if found and sum(1 for text in found if FIGURE.fullmatch(text)) * 10 >= len(found) * 9:
            yield {"kind": "text_left_out", "column": name, "examples": examples(frame[name])}


def extreme(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    if is_series(args[0]):
        yield from text_numbers(args[0], "compared")


def total(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.sum()`` of texts puts them one after the other."""
    series = args[0]
    if not is_series(series) or len(series) < 2:
        return
    if type(result) is str:
        yield {"kind": "text_sum", "column": name_of(series), "examples": examples(series)}
    elif "skipna" not in kwargs:
        missing = int(series.isna().sum())
        if missing:
            yield {"kind": "sum_of_known", "column": name_of(series), "count": missing,
                   "rows": len(series)}  # fmt: skip


def head(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.sort_values(by).head(n)`` where the next row has the same value."""
    owner = args[0]
    count = args[1] if len(args) > 1 else kwargs.get("n", 5)
    reference, names = tracer.sorted.get(id(owner), (lambda: None, []))
    if reference() is not owner or type(count) is not int or not 0 < count < len(owner):
        return
    rows = owner[names].iloc[[count - 1, count]]
    if bool(rows.iloc[0].eq(rows.iloc[1]).all()):
        yield {"kind": "tie", "count": count, "keys": names[:5], "value": shown(rows.iloc[0, 0])}


def largest(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    given = list(args[1:]) + [kwargs[key] for key in ("n", "columns") if key in kwargs]
    owner, count = args[0], given[0] if given else 5
    if not is_table(owner) or len(given) < 2 or type(given[1]) is not str or "keep" in kwargs:
        return
    if len(result) == count and len(owner) > count:
        last = result[given[1]].iloc[-1]
        tied = int((owner[given[1]] == last).sum())
        if tied > int((result[given[1]] == last).sum()):
            yield {"kind": "tie", "count": count, "keys": [given[1]], "value": shown(last)}


def replaced(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.replace(a, b)`` replaces whole values only."""
    series, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("to_replace")
    if not is_series(series) or not is_series(result) or kwargs.get("regex"):
        return
    wanted = list(wanted) if type(wanted) is dict else wanted
    words = [wanted] if type(wanted) is str else wanted
    if type(words) is not list or not is_text(series) or not result.equals(series):
        return
    new = args[2] if len(args) > 2 else kwargs.get("value")
    given = args[1] if len(args) > 1 else kwargs.get("to_replace")
    for word in words[:5]:
        new = given[word] if type(given) is dict else new
        if type(new) is not str:
            continue  # Marks of missing values are whole values.
        if type(word) is str and word:
            inside = sum(
                1 for text in texts(series) if folded(word) in folded(text) and text.strip() != new
            )
            if inside:
                figures = {"column": name_of(series), "wanted": shown(word), "inside": inside}
                yield dict(figures, kind="replaced_nothing", rows=len(series))


def text_replaced(tracer: Tracer, result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.str.replace(pattern, new)`` takes the pattern literally."""
    series, wanted = args[0]._orig, args[1] if len(args) > 1 else kwargs.get("pat")
    if type(wanted) is not str or not is_series(series) or not is_series(result):
        return
    if "regex" in kwargs or len(args) > 5 or not re.search(r"[\\\[\]^$*+?|]", wanted):
        return
    if len(wanted) > 1 and len(wanted) < 100 and result.equals(series):
        try:
            if not any(re.search(wanted, text) for text in texts(series)[:2_000]):
                return
        except re.error:
            return
        figures = {"column": name_of(series), "wanted": shown(wanted), "rows": len(series)}
        yield dict(figures, kind="pattern_not_found")
