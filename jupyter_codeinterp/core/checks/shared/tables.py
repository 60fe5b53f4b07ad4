"""What the model reads of a table that a run made or changed: one short line each. Code in the
kernel may report anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

LONGEST = 300
"""Characters of all lines of a run."""
MOST_TABLES = 3
MOST_COLUMNS = 20
NAME = 40
"""Characters of a name."""


class Table(msgspec.Struct, frozen=True):
    """``missing``: columns that have gaps, and the share of each that is missing."""

    name: str
    rows: int
    sampled: bool = False
    missing: list[tuple[str, float]] = []


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
        line = clean(_line(table))[:left]
        if line and not is_private(table.name):
            found.append(line)
            left -= len(line)
    return found


def _line(table: Table) -> str:
    line = f"`{table.name[:NAME]}` has {table.rows:,} rows"
    gaps = [f"{name[:NAME]} {share:.1%}" for name, share in table.missing[:MOST_COLUMNS]]
    if not gaps:
        return line
    return f"{line}; missing{' in a sample' if table.sampled else ''}: {', '.join(gaps)}"
