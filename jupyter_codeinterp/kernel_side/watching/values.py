"""Reads a column's values safely, for all that looks at calls of pandas.

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
"""Each has a ``kind`` and figures. Core decides which facts are worth a word."""

HEAD = 20_000
"""Rows that are read where all would take too long."""
LARGEST = 1_000_000
"""Rows of a table that is searched."""
EXAMPLES = 3
FIGURE = re.compile(r"\s*[-+]?[$\u20ac\u00a3]?\s?[-+]?(?!0\d)\d+([.,]\d+)*\s?[%$\u20ac\u00a3]?\s*")
"""A number as people write it; no code that begins with zero."""
NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)*\s*")


def pandas() -> Any:
    return sys.modules["pandas"]


def is_series(value: Any) -> bool:
    return type(value) is pandas().Series


def is_table(value: Any) -> bool:
    return type(value) is pandas().DataFrame


def is_text(series: Any) -> bool:
    return series.dtype == object or series.dtype.name in ("str", "string")


def texts(series: Any) -> list[str]:
    """The texts among the first rows."""
    return [value for value in series.head(HEAD).tolist() if type(value) is str]


def shown(value: Any) -> str:
    """The value as Python writes it; only its type if that could run code."""
    if type(value) in SIMPLE:
        return repr(value)[:60]
    known = sys.modules.get("pandas")
    if known is not None and type(value) is known.Timestamp:
        return str(value)[:60]
    item = getattr(value, "item", None) if type(value).__module__ == "numpy" else None
    return repr(item())[:60] if item is not None else f"<{type_name(type(value))}>"


def examples(series: Any, most: int = EXAMPLES) -> list[str]:
    """Different values, the first ones first."""
    return [shown(value) for value in series.head(HEAD).drop_duplicates().head(most).tolist()]


def folded(text: str) -> str:
    """What texts have in common that people take for equal."""
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def near(series: Any, wanted: Any) -> list[str]:
    """Texts of the column that differ from the wanted one only in case or blanks, or numbers and
    texts that look the same."""
    if type(wanted) is str and not folded(wanted):
        return []
    if type(wanted) is str and is_text(series):
        found = {text for text in texts(series) if folded(text) == folded(wanted)}
        return [shown(text) for text in sorted(found - {wanted})[:EXAMPLES]]
    if is_text(series) and str(wanted) in {text.strip() for text in texts(series)}:
        return [shown(str(wanted))]
    if type(wanted) is str and series.dtype.kind in "iu" and NUMBER.fullmatch(wanted):
        return [wanted.strip()] if (series.head(HEAD) == float(wanted)).any() else []
    return []


def name_of(series: Any) -> str:
    return series.name if type(series.name) is str else ""


def few(index: Any) -> list[str]:
    return [shown(value) for value in index[:EXAMPLES].tolist()]


def text_numbers(series: Any, how: str) -> Facts:
    """Numbers written as text, whose order as text is another than as numbers."""
    if not is_text(series):
        return
    found = texts(series)[:2_000]
    if len(found) < 2 or not all(map(NUMBER.fullmatch, found)):
        return
    numbers = sorted(set(found), key=lambda text: float(text.replace(",", "")))
    if numbers != sorted(set(found)):
        figures = {"column": name_of(series), "examples": sorted(set(found))[:EXAMPLES]}
        yield dict(figures, kind="text_order", how=how, rows=len(series))
