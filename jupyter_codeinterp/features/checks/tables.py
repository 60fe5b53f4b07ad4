"""Tells the model what is odd in the columns of tables that a run has read from files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

import msgspec

from ...api import CellCode, CellOutputs, Finding
from ...base.sentences import as_it_is

LONGEST = 400
"""Characters of all lines of a run."""
MOST_TABLES = 3
MOST_FACTS = 12
MOST_SESSIONS = 50
MOST_TEXT = 20_000
"""Characters of outputs that are read."""
WIDEST = 40
"""Characters of a name."""
NAME = "Table columns"
WORDS = {
    "missing": "{column} lacks {count:,} of {rows:,} values",
    "infinite": "{column} is infinite in {count:,} of {rows:,} rows",
    "text": "{column} has numbers as text, such as {example!r}",
    "constant": "{column} is {example} in all rows",
    "equal": "{column} equals `{example}`",
    "blanks": "the name {column!r} has blanks at its ends",
}


AS_TEXT = ("dtype=str", "dtype=object", 'dtype="str', "dtype='str", "keep_default_na=False")
"""Marks of code that reads numbers as text on purpose."""
NUMBERS = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?")
COUNTS = re.compile(r"\b(?:isna|isnull|notna|notnull|info|count|describe)\(")
"""Calls that count missing values."""

Odd = tuple[str, str, int, str]
"""A column's name, a kind of ``WORDS``, a count, and a value or another name."""


Columns = tuple[int, tuple[Odd, ...]]
"""A table's rows, and what is odd."""


class OddTable(msgspec.Struct, frozen=True):
    name: str
    rows: int
    odd: tuple[Odd, ...] = ()


class OddColumns:
    """Leaves out tables that it has reported in the latest turns."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[int, set[Columns]]] = {}
        """By session: the turn, and the tables reported in it."""

    def after_run(self, cell: CellCode, outputs: CellOutputs) -> list[Finding]:
        """Findings for the model; those on tables that the person asked about come first."""
        turn, known = self._told.pop(cell.session_id, (0, set[Columns]()))
        known = known if turn == cell.turn else set()
        self._told[cell.session_id] = (cell.turn, known)
        if len(self._told) > MOST_SESSIONS:
            del self._told[next(iter(self._told))]
        tables = [fact.figures for fact in outputs.facts if fact.kind == "odd_columns"]
        lines = said(tables, known, cell.asked, cell.source, shown(outputs) if tables else "")
        return [Finding(NAME, as_it_is(line), audience="model") for line in lines]


def shown(outputs: CellOutputs) -> str:
    """The first texts of the outputs."""
    texts = (
        one.get("text") or one.get("data", {}).get("text/plain") or "" for one in outputs.outputs
    )
    return "\n".join(text[:MOST_TEXT] for text in texts)[:MOST_TEXT]


def said(
    tables: Iterable[object], known: set[Columns], asked: str, source: str, shown: str
) -> list[str]:
    """A line per table; none for a malformed one. Skips what is in ``known``, and adds what is new
    to it. ``source`` is the code that ran, ``shown`` its outputs."""
    found: list[str] = []
    left = LONGEST
    try:
        read = [msgspec.convert(table, OddTable) for table in islice(tables, MOST_TABLES)]
    except (msgspec.ValidationError, RecursionError):
        return []
    for table in sorted(read, key=lambda table: table.name not in asked):
        line = " ".join(_line(table, known, asked, source, shown).split())[:left]
        if line:
            found.append(line)
            left -= len(line)
    return found


def _is_plain(fact: Odd, rows: int, source: str, shown: str) -> bool:
    """Whether the code intends the oddity, or its outputs already show it."""
    _, kind, count, _ = fact
    code = source.replace(" ", "")
    if kind == "text":
        return any(words in code for words in AS_TEXT)
    if kind == "missing" and COUNTS.search(code):
        numbers = {one.replace(",", "").removesuffix(".0") for one in NUMBERS.findall(shown)}
        return not numbers.isdisjoint((str(count), str(rows - count)))
    return False


def _line(table: OddTable, known: set[Columns], asked: str, source: str, shown: str) -> str:
    columns = (table.rows, table.odd)
    if columns in known:
        return ""
    known.add(columns)
    odd = [
        fact
        for fact in table.odd[:MOST_FACTS]
        if fact[1] in WORDS and not _is_plain(fact, table.rows, source, shown)
    ]
    odd.sort(key=lambda fact: fact[0] not in asked)
    told = (
        WORDS[kind].format(
            column=f"`{column[:WIDEST]}`" if kind != "blanks" else column[:WIDEST],
            count=count,
            rows=table.rows,
            example=example[:WIDEST],
        )
        for column, kind, count, example in odd
    )
    words = "; ".join(told)
    return f"`{table.name[:WIDEST]}`: {words}" if words else ""
