"""Lines for the model on odd columns of tables that a run made or changed, one per table. The
report is untrusted."""

from __future__ import annotations

import re
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


AS_TEXT = ("dtype=str", "dtype=object", 'dtype="str', "dtype='str", "keep_default_na=False")
"""What code says that reads numbers as text on purpose."""
NUMBERS = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?")
COUNTS = re.compile(r"\b(?:isna|isnull|notna|notnull|info|count|describe)\(")
"""What code calls that counts missing values."""

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
    shown: str = "",
) -> list[str]:
    """The lines; [] if the report is malformed. ``clean`` removes API keys and line ends. Skips
    the facts in ``known``, and adds new ones to it. What the person ``asked`` about comes first.
    ``source`` is the code that ran, ``shown`` its outputs."""
    try:
        told = msgspec.convert(report, _Report, strict=True).tables
    except (msgspec.ValidationError, RecursionError):
        return []
    found: list[str] = []
    left = LONGEST
    open_ = [table for table in told[:MOST_TABLES] if not is_private(table.name)]
    for table in sorted(open_, key=lambda table: table.name not in asked):
        line = clean(_line(table, known, asked, source, shown))[:left]
        if line:
            found.append(line)
            left -= len(line)
    return found


def _is_chosen(column: str, code: str) -> bool:
    """Whether the code selects rows with one value of the column, which is then constant."""
    name = column.replace(" ", "")
    return any(f"{name}{end}==" in code for end in ("", '"]', "']"))


def _key(fact: Fact) -> Fact:
    """What makes it the same fact: part of a table has other examples."""
    column, kind, count, example = fact
    return column, kind, count, "" if kind == "text" else example


def _is_plain(fact: Fact, rows: int, source: str, shown: str) -> bool:
    """Whether the code asks for it, or its outputs say it already."""
    column, kind, count, _ = fact
    code = source.replace(" ", "")
    if kind == "text":
        return any(words in code for words in AS_TEXT)
    if kind == "missing" and COUNTS.search(code):
        numbers = {one.replace(",", "").removesuffix(".0") for one in NUMBERS.findall(shown)}
        return not numbers.isdisjoint((str(count), str(rows - count)))
    return kind == "constant" and _is_chosen(column, code)


def _is_read(name: str, source: str) -> bool:
    """Whether the code reads the table from a file."""
    lines = (line.replace(" ", "") for line in source.splitlines())
    return any(line.startswith(f"{name}=") and ".read_" in line for line in lines)


def _line(table: Table, known: set[Fact], asked: str, source: str, shown: str) -> str:
    read = str(table.rows) if _is_read(table.name, source) else ""
    odd: list[Fact] = []
    for fact in table.odd[:MOST_FACTS]:
        keys = {_key(fact)}
        if read and fact[1] == "missing":  # Another file may lack as many.
            keys = {(*fact[:3], read)}
        is_new = fact[1] in WORDS and keys.isdisjoint(known)
        known |= {_key(fact), *keys}
        if is_new and not _is_plain(fact, table.rows, source, shown):
            odd.append(fact)
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
