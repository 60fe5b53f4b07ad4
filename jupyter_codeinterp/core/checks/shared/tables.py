"""What the model reads of a table that a run made or changed: one short line each. Code in the
kernel may report anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

LONGEST = 300
"""Characters of all lines of a run."""
MOST_TABLES = 3
MOST_COLUMNS = 8
NAME = 40
"""Characters of a name or a value."""


class Column(msgspec.Struct, frozen=True):
    """``missing`` is a share, as are the numbers in ``top``."""

    name: str
    missing: float = 0.0
    low: str = ""
    middle: str = ""
    high: str = ""
    top: list[tuple[str, float]] = []
    distinct: int = 0


class Table(msgspec.Struct, frozen=True):
    name: str
    rows: int
    sampled: bool = False
    columns: list[Column] = []


class _Report(msgspec.Struct, frozen=True):
    tables: list[Table] = []


def lines(
    report: dict[str, Any], is_private: Callable[[str], bool], clean: Callable[[str], str]
) -> list[str]:
    """The lines; none of a report in another form. ``clean`` removes keys and line ends."""
    try:
        told = msgspec.convert(report, _Report, strict=True).tables
    except (msgspec.ValidationError, RecursionError):
        return []
    found: list[str] = []
    left = LONGEST
    for table in told[:MOST_TABLES]:
        if not is_private(table.name) and table.rows >= 0:
            line = _line(table, left, clean)
            if line:
                found.append(line)
                left -= len(line) + 1
    return found


def _line(table: Table, left: int, clean: Callable[[str], str]) -> str:
    """As many columns as there is room for."""
    sampled = ", of a sample" if table.sampled else ""
    line = clean(f"`{table.name[:NAME]}` has {table.rows:,} rows{sampled}")
    if len(line) > left:
        return ""
    told = [(column, _figures(column)) for column in table.columns[:MOST_COLUMNS]]
    for number, (column, figures) in enumerate(pair for pair in told if pair[1]):
        words = clean(f"{column.name[:NAME]} {figures}")
        part = f"; {words}" if number else f": {words}"
        if len(line) + len(part) > left:
            break
        line += part
    return line


def _figures(column: Column) -> str:
    parts: list[str] = []
    if column.low:
        parts.append(f"{column.low[:NAME]} to {column.high[:NAME]}, median {column.middle[:NAME]}")
    elif column.top:
        parts += (f"{text[:NAME]!r} {share:.0%}" for text, share in column.top[:2])
        if column.distinct > 2:
            parts.append(f"{column.distinct:,} values")
    if column.missing > 0:
        parts.append(f"{column.missing:.1%} missing")
    return ", ".join(parts)
