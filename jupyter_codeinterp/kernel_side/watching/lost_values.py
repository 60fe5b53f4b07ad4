"""Looks at conversions of pandas that make values missing.

Each function takes a call's result and arguments, yields facts and changes nothing. This file's
text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
from typing import Any

from .values import EXAMPLES, KEYS, Facts, different, is_series, is_text, name_of, pandas, shown

ISO = re.compile(r"\s*\d{4}-(\d\d)-(\d\d)")


def to_numeric(result: Any, args: Any, kwargs: Any) -> Facts:
    yield from lost("not_a_number", args[0] if args else kwargs.get("arg"), result)


def to_datetime(result: Any, args: Any, kwargs: Any) -> Facts:
    before = args[0] if args else kwargs.get("arg")
    yield from lost("not_a_date", before, result)
    if kwargs.get("dayfirst") and is_series(before) and is_text(before):
        yield from swapped(before, result)


def swapped(before: Any, after: Any) -> Facts:
    """Dates written year first, where ``dayfirst`` swapped day and month."""
    if not is_series(after) or len(before) != len(after):
        return
    pairs = list(zip(before.iloc[:KEYS].tolist(), after.iloc[:KEYS].tolist()))  # noqa: B905
    wrong = [(text, date) for text, date in pairs if type(text) is str and is_swapped(text, date)]
    if wrong:
        text, date = wrong[0]
        yield {
            "kind": "swapped_day",
            "column": name_of(before),
            "rows": len(before),
            "count": len(wrong),
            "more": len(before) > KEYS,
            "examples": [shown(text), f"{date.year:04}-{date.month:02}-{date.day:02}"],
        }


def is_swapped(text: str, date: Any) -> bool:
    found = ISO.match(text)
    if found is None or type(date) is not pandas().Timestamp:
        return False
    month, day = int(found[1]), int(found[2])
    return month != day and (date.month, date.day) == (day, month)


def lost(kind: str, before: Any, after: Any) -> Facts:
    """Values of a column that became NaN."""
    if not (is_series(before) and is_series(after)) or len(before) != len(after):
        return
    missing = after.isna().to_numpy().nonzero()[0]
    part = before.take(missing[:KEYS])
    gone = part[part.notna().to_numpy()]
    if len(gone):
        yield {
            "kind": kind,
            "column": name_of(before),
            "rows": len(before),
            "count": len(gone),
            "more": len(missing) > KEYS,
            "examples": different(gone.tolist())[:EXAMPLES],
        }
