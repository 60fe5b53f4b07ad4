"""Reads a few values of a column safely, for the looks at calls of pandas.

This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from ..variables import type_name
from .changes import SIMPLE

Facts = Iterator[dict[str, Any]]
"""Each has a ``kind`` and numbers. Core decides which facts to report."""

SAMPLE = 2_000
"""Values of a column that are read."""
KEYS = 5_000
"""Rows of a table whose keys are read."""
EXAMPLES = 3
NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)*\s*")


def pandas() -> Any:
    return sys.modules["pandas"]


def is_series(value: Any) -> bool:
    return type(value) is pandas().Series


def is_table(value: Any) -> bool:
    return type(value) is pandas().DataFrame


def is_text(values: Any) -> bool:
    return values.dtype == object or values.dtype.name in ("str", "string")


def sample(values: Any) -> list[Any]:
    """A sample of a column or an index; all values of a short one."""
    step = -(-len(values) // SAMPLE) or 1
    part = values.iloc[::step] if is_series(values) else values[::step]
    return part.tolist()  # type: ignore[no-any-return]


def is_missing(value: Any) -> bool:
    known = sys.modules.get("pandas")
    if value is None or (known is not None and (value is known.NA or value is known.NaT)):
        return True
    return type(value) is float and value != value


def shown(value: Any) -> str:
    """The value as Python writes it; only its type if that could run code."""
    if type(value) in SIMPLE:
        return repr(value)[:60]
    known = sys.modules.get("pandas")
    if known is not None and type(value) is known.Timestamp:
        return str(value)[:60]
    item = getattr(value, "item", None) if type(value).__module__ == "numpy" else None
    return repr(item())[:60] if item is not None else f"<{type_name(type(value))}>"


def different(values: list[Any]) -> list[str]:
    """The different values as text, in order, without missing ones."""
    return list(dict.fromkeys(shown(value) for value in values if not is_missing(value)))


def folded(text: str) -> str:
    """A form that is equal for texts that differ only in case, blanks, - and _."""
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def near(values: list[Any], wanted: Any) -> list[str]:
    """Texts that differ from ``wanted`` only in case or blanks, or numbers and texts that look the
    same."""
    texts = [value for value in values if type(value) is str]
    if type(wanted) is str and texts:
        alike = folded(wanted)
        found = {text for text in texts if alike and folded(text) == alike}
        return [shown(text) for text in sorted(found - {wanted})[:EXAMPLES]]
    if type(wanted) is str:
        numbers = {value for value in values if type(value) is int}
        return [wanted.strip()] if wanted.strip() in set(map(str, numbers)) else []
    return [shown(str(wanted))] if str(wanted) in {text.strip() for text in texts} else []


def name_of(values: Any) -> str:
    return values.name if type(values.name) is str else ""
