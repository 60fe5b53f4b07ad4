"""Tables in JSON files: a list of records, or one record a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal, Union

from .variations import Table

Layout = Literal["list", "lines"]
MOST_KEYS = 200
"""Columns, from the first record."""
_BLANKS = " \t\r\n"


def parsed(text: str) -> Union[tuple[Table, Layout], None]:
    """The table and how the file has it; None if the file is no list of at least two records.

    The last item of a row is the record as the file writes it; the items before are its numbers.
    """
    layout: Layout = "list" if text.lstrip(_BLANKS).startswith("[") else "lines"
    try:
        records = list(_of_list(text) if layout == "list" else _of_lines(text))
    except (ValueError, RecursionError):
        return None
    if len(records) < 2 or not all(isinstance(record, dict) for record, _ in records):
        return None
    keys = tuple(records[0][0])[:MOST_KEYS]
    rows = tuple(
        (*(_number(record.get(key)) for key in keys), written) for record, written in records
    )
    return Table(keys, rows, ""), layout


def written(table: Table, layout: Layout) -> str:
    records = [row[-1] for row in table.rows]
    if layout == "lines":
        return "".join(f"{record}\n" for record in records)
    return "[" + ",\n".join(records) + "]\n"


def _of_lines(text: str) -> Iterator[tuple[Any, str]]:
    for line in text.split("\n"):
        if line.strip(_BLANKS):
            yield json.loads(line), line.strip(_BLANKS)


def _of_list(text: str) -> Iterator[tuple[Any, str]]:
    """Raises ValueError unless the whole text is one list."""
    decoder = json.JSONDecoder()
    at = _skipped(text, text.index("[") + 1)
    while True:
        record, end = decoder.raw_decode(text, at)
        yield record, text[at:end]
        at = _skipped(text, end)
        if text[at : at + 1] != ",":
            break
        at = _skipped(text, at + 1)
    if text[at : at + 1] != "]" or text[at + 1 :].strip(_BLANKS):
        raise ValueError("more than a list")


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _number(value: Any) -> str:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return repr(value) if is_number else ""
