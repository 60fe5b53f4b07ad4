"""Changed copies of a table: rows in another order, left out, doubled, or without an outlier."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Literal, Union

import msgspec

from ...kernel_side.varying.picks import MOST_OUTLIERS, outliers_of, picked

REPEATS = 5
_DELIMITERS = ",;\t|"


class Variation(msgspec.Struct, frozen=True):
    """``number`` is a seed; for ``outlier`` the number of the numeric column, from 0. ``twice``:
    all rows twice, which shows what is a sum or a count."""

    kind: Literal["twice", "shuffled", "left_out", "doubled", "outlier"]
    number: int = 0


class Table(msgspec.Struct, frozen=True):
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str


def variations(outliers: int) -> tuple[Variation, ...]:
    """All that is tried, in order, for tables of which one has so many numeric columns."""
    return (
        Variation("twice"),
        Variation("shuffled", 1),
        *(Variation("left_out", seed) for seed in range(1, REPEATS + 1)),
        Variation("doubled", 1),
        *(Variation("outlier", number) for number in range(min(outliers, MOST_OUTLIERS))),
    )


def share(variation: Variation, rows: Sequence[int]) -> float:
    """How many of all rows of these tables are there, against 1 without a change. A row that was
    left out as an outlier is a change of the data, not of their number."""
    if variation.kind not in ("left_out", "doubled") or not sum(rows):
        return 1.0
    left = (len(picked(variation.kind, variation.number, count, ())) for count in rows)
    return sum(left) / sum(rows)


def parsed(text: str) -> Union[Table, None]:
    """The table of a CSV file with a head; None if it is none, or has fewer than two rows."""
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = [tuple(row) for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error:
        return None
    if len(rows) < 3:
        return None
    return Table(rows[0], tuple(rows[1:]), delimiter)


def written(table: Table) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=table.delimiter, lineterminator="\n")
    writer.writerow(table.head)
    writer.writerows(table.rows)
    return file.getvalue()


def varied(table: Table, variation: Variation) -> Table:
    """The same for the same table and variation."""
    rows = picked(variation.kind, variation.number, len(table.rows), outliers(table))
    return Table(table.head, tuple(table.rows[at] for at in rows), table.delimiter)


def outliers(table: Table) -> list[int]:
    """Rows, one for each of the first numeric columns."""
    return outliers_of(_values(table, at) for at in range(len(table.head)))


def _values(table: Table, column: int) -> list[Union[float, None]]:
    return [_number(row[column]) if column < len(row) else None for row in table.rows]


def _number(text: str) -> Union[float, None]:
    try:
        value = float(text.replace(",", "") if text.count(",") else text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None
