"""Replaces ``{name}`` in a prompt by the variable's value. Evaluates nothing.

Unknown names stay unchanged, and ``{{…}}`` becomes ``{…}``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Mapping
from typing import Any

MOST = 4_000
"""Characters of one value."""
ROWS = 5
_PLACE = re.compile(r"\{\{\{(?P<braced>\w+)\}\}\}|\{\{(?P<literal>[^{}]*)\}\}|\{(?P<name>\w+)\}")


def interpolated(prompt: str, variables: Mapping[str, Any], private: Collection[str] = ()) -> str:
    """``private``: names assigned by private cells, whose values are not sent."""

    def put(match: re.Match[str]) -> str:
        if match["literal"] is not None:
            return "{" + match["literal"] + "}"
        name = match["name"] or match["braced"]
        if name not in variables:
            return match[0]
        value = variables[name]
        text = f"[{name}: private]" if name in private else described(name, value)
        return "{" + text + "}" if match["braced"] else text

    return _PLACE.sub(put, prompt)


def described(name: str, value: Any) -> str:
    """A table's columns and first rows, or the value's repr, bounded. Never raises."""
    try:
        if isinstance(value, str):
            return _bounded(value)
        return _table(name, value) or _bounded(repr(value))
    except Exception as error:
        return f"[{name}: {type(value).__name__}, not shown ({type(error).__name__})]"


def _table(name: str, value: Any) -> str:
    """A description of a table; "" for other values."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    kind = type(value)
    if pandas is not None and kind is getattr(pandas, "DataFrame", None):
        rows, columns = value.shape
        types = ", ".join(f"{label}: {kind}" for label, kind in list(value.dtypes.items())[:50])
        head = value.iloc[:ROWS, :50].to_string()
        size = f"{rows:,} rows, {columns:,} columns"
        return _bounded(f"{name} (DataFrame, {size})\n{types}\nFirst rows:\n{head}")
    if pandas is not None and kind is getattr(pandas, "Series", None):
        head = value.iloc[:ROWS].to_string()
        return _bounded(f"{name} (Series of {len(value):,}, {value.dtype})\nFirst:\n{head}")
    if polars is not None and kind is getattr(polars, "DataFrame", None):
        return _bounded(f"{name} (DataFrame {value.shape})\n{value.schema}\n{value.head(ROWS)}")
    return ""


def _bounded(text: str) -> str:
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"
