"""Looks at conversions of pandas that make values missing.

Each function gets the result and the call's arguments, and yields facts. It changes nothing. This
file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

from typing import Any

from .values import EXAMPLES, KEYS, Facts, different, is_series, name_of


def to_numeric(result: Any, args: Any, kwargs: Any) -> Facts:
    yield from lost("not_a_number", args[0] if args else kwargs.get("arg"), result)


def to_datetime(result: Any, args: Any, kwargs: Any) -> Facts:
    yield from lost("not_a_date", args[0] if args else kwargs.get("arg"), result)


def lost(kind: str, before: Any, after: Any) -> Facts:
    """Values of a column that have become NaN."""
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
