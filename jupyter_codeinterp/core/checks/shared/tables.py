"""Lines for the model on odd columns of tables that a run made or changed, one per table. The
report is untrusted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

LONGEST = 400
"""Characters of all lines of a run."""
MOST_TABLES = 3
MOST_FACTS = 12
NAME = 40
"""Characters of a name."""
WORDS = {
    "missing": "{column} lacks {count:,} of {rows:,} values",
    "infinite": "{column} is infinite in {count:,} of {rows:,} rows",
    "text": "{column} has numbers as text, such as {example!r}",
    "constant": "{column} is {example} in all rows",
    "equal": "{column} equals `{example}`",
    "blanks": "the name {column!r} has blanks at its ends",
}


Fact = tuple[str, str, int, str]
"""A column's name, a kind of ``WORDS``, a count, and a value or another name."""


class Table(msgspec.Struct, frozen=True):
    name: str
    rows: int
    odd: list[Fact] = []


class _Report(msgspec.Struct, frozen=True):
    tables: list[Table] = []


def lines(
    report: dict[str, Any],
    is_private: Callable[[str], bool],
    clean: Callable[[str], str],
    known: set[Fact],
    asked: str = "",
    source: str = "",
) -> list[str]:
    """The lines; [] if the report is malformed. ``clean`` removes API keys and line ends. Skips
    the facts in ``known``, and adds new ones to it. What the person ``asked`` about comes first.
    ``source`` is the code that ran."""
    try:
        told = msgspec.convert(report, _Report, strict=True).tables
    except (msgspec.ValidationError, RecursionError):
        return []
    found: list[str] = []
    left = LONGEST
    open_ = [table for table in told[:MOST_TABLES] if not is_private(table.name)]
    for table in sorted(open_, key=lambda table: table.name not in asked):
        line = clean(_line(table, known, asked, source))[:left]
        if line:
            found.append(line)
            left -= len(line)
    return found


def _is_chosen(column: str, source: str) -> bool:
    """Whether the code selects rows with one value of the column, which is then constant."""
    code = source.replace(" ", "")
    name = column.replace(" ", "")
    return any(f"{name}{end}==" in code for end in ("", '"]', "']"))


def _line(table: Table, known: set[Fact], asked: str, source: str) -> str:
    odd = [fact for fact in table.odd[:MOST_FACTS] if fact[1] in WORDS and fact not in known]
    odd = [fact for fact in odd if fact[1] != "constant" or not _is_chosen(fact[0], source)]
    known.update(odd)
    odd.sort(key=lambda fact: fact[0] not in asked)
    told = (
        WORDS[kind].format(
            column=f"`{column[:NAME]}`" if kind != "blanks" else column[:NAME],
            count=count,
            rows=table.rows,
            example=example[:NAME],
        )
        for column, kind, count, example in odd
    )
    words = "; ".join(told)
    return f"`{table.name[:NAME]}`: {words}" if words else ""
