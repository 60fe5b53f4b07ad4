"""Looks at filters: a literal that no row has, and filters that keep nothing.

Each function takes a call's result and arguments, yields facts and changes nothing. This file's
text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

from typing import Any

from .changes import SIMPLE
from .values import (
    EXAMPLES,
    SAMPLE,
    Facts,
    different,
    folded,
    is_series,
    is_table,
    name_of,
    near,
    sample,
    shown,
)

MOST_WANTED = 20


def part(result: Any, args: Any, kwargs: Any) -> Facts:
    """``df[mask]``, ``series[mask]`` and ``df.loc[mask]``."""
    owner, key = args
    owner = owner if is_table(owner) or is_series(owner) else getattr(owner, "obj", None)
    mask = key[0] if type(key) is tuple and key else key
    if owner is None or not (is_series(mask) and mask.dtype.name in ("bool", "boolean")):
        return
    if len(owner) and not len(result):
        yield {"kind": "empty_filter", "rows": len(owner)}


def equal(result: Any, args: Any, kwargs: Any) -> Facts:
    """``series == value``: no row has the value."""
    series, wanted = args
    if is_series(series) and type(wanted) in SIMPLE and len(series) and not result.any():
        values = sample(series)
        yield no_match(series, wanted, values, near(values, wanted))


def contains(result: Any, args: Any, kwargs: Any) -> Facts:
    series, wanted = args[0]._orig, args[1] if len(args) > 1 else kwargs.get("pat")
    if is_series(series) and type(wanted) is str and len(series) and not result.any():
        values = sample(series)
        alike = {text for text in values if type(text) is str and folded(wanted) in folded(text)}
        yield no_match(series, wanted, values, list(map(shown, sorted(alike)[:EXAMPLES])))


def no_match(series: Any, wanted: Any, values: list[Any], alike: list[str]) -> dict[str, Any]:
    known = different(values)
    return {
        "kind": "no_match",
        "column": name_of(series),
        "wanted": shown(wanted),
        "rows": len(series),
        "near": alike,
        "values": known[:5],
        # A sample may lack some.
        "distinct": len(known) if len(series) <= SAMPLE else SAMPLE,
    }


def unequal(result: Any, args: Any, kwargs: Any) -> Facts:
    """``series != value`` keeps all rows, because the value is written differently."""
    series, wanted = args
    if is_series(series) and type(wanted) in SIMPLE and len(series) and result.all():
        alike = near(sample(series), wanted)
        if alike:
            yield {"kind": "nothing_excluded", "near": alike, "rows": len(series)}


def isin(result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.isin(values)``: values that no row has, if all matching rows can be read."""
    series, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("values")
    if not is_series(series) or type(wanted) not in (list, tuple, set, frozenset):
        return
    plain = [value for value in wanted if type(value) in SIMPLE]
    places = result.to_numpy(dtype=bool).nonzero()[0]
    if not 0 < len(plain) <= MOST_WANTED or not len(series) or len(places) > SAMPLE:
        return
    found = series.take(places).tolist()
    if not all(type(value) in SIMPLE for value in found):
        return
    there = set(found)
    absent = [value for value in plain if value not in there]
    if absent:
        values = sample(series)
        yield {
            "kind": "absent_values",
            "column": name_of(series),
            "wanted": len(plain),
            "absent": [shown(value) for value in absent[:5]],
            "count": len(absent),
            "rows": len(series),
            "near": [text for value in absent for text in near(values, value)][:EXAMPLES],
            "values": different(values)[:5],
        }
