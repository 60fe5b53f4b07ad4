"""Changed copies of a table: rows in another order, left out, doubled, or without an outlier."""

from __future__ import annotations

import csv
import io
import itertools
import random
import statistics
from collections.abc import Sequence
from typing import Literal, Union

import msgspec

LEFT_OUT = 0.05
"""The share of the rows that is left out, and that is doubled."""
REPEATS = 5
MOST_OUTLIERS = 3
_DELIMITERS = ",;\t|"


class Variation(msgspec.Struct, frozen=True):
    """``number`` is a seed; for ``outlier`` the number of the numeric column, from 0."""

    kind: Literal["shuffled", "left_out", "doubled", "outlier"]
    number: int = 0


class Table(msgspec.Struct, frozen=True):
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    delimiter: str


def variations(tables: Sequence[Table]) -> tuple[Variation, ...]:
    """All that is tried for these tables, in order."""
    most = max((len(numeric_columns(table)) for table in tables), default=0)
    return (
        Variation("shuffled", 1),
        *(Variation("left_out", seed) for seed in range(1, REPEATS + 1)),
        Variation("doubled", 1),
        *(Variation("outlier", number) for number in range(min(most, MOST_OUTLIERS))),
    )


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
    rows = list(table.rows)
    chance = random.Random(f"{variation.kind} {variation.number}")
    few = max(1, round(len(rows) * LEFT_OUT))
    if variation.kind == "shuffled":
        chance.shuffle(rows)
    elif variation.kind == "left_out":
        out = set(chance.sample(range(len(rows)), few))
        rows = [row for at, row in enumerate(rows) if at not in out]
    elif variation.kind == "doubled":
        rows += chance.sample(rows, few)
    else:
        columns = numeric_columns(table)
        if variation.number < len(columns):
            del rows[_farthest(table, columns[variation.number])]
    return Table(table.head, tuple(rows), table.delimiter)


def numeric_columns(table: Table) -> list[int]:
    """Columns of numbers, without those that only count the rows."""
    return [at for at in range(len(table.head)) if _is_numeric(_values(table, at))]


def _is_numeric(values: Sequence[Union[float, None]]) -> bool:
    known = [value for value in values if value is not None]
    if len(known) < 0.9 * len(values) or len(set(known)) < 2:
        return False
    steps = {after - before for before, after in itertools.pairwise(known)}
    return steps != {1.0}


def _farthest(table: Table, column: int) -> int:
    """The row whose value is farthest from the median."""
    values = _values(table, column)
    middle = statistics.median(value for value in values if value is not None)
    return max(
        range(len(values)),
        key=lambda at: -1.0 if (value := values[at]) is None else abs(value - middle),
    )


def _values(table: Table, column: int) -> list[Union[float, None]]:
    return [_number(row[column]) if column < len(row) else None for row in table.rows]


def _number(text: str) -> Union[float, None]:
    try:
        value = float(text.replace(",", "") if text.count(",") else text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None
