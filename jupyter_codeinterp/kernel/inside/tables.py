"""Answers the server's questions: variables, and pages of a table. This file's text runs **in the
kernel**, as ``columns.py`` does.

A table is a DataFrame or Series of pandas or polars: exactly these types, no subclass. Nothing here
changes a table or copies more than one column.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from .columns import (
    COMPARISONS,
    FIRST,
    KINDS,
    Column,
    Native,
    Refused,
    as_list,
    cell_text,
    encodable,
    kind_of,
    matching,
    moment,
    ordered,
    truth,
    whole_or_float,
)
from .mark import ANSWERS
from .variables import (
    describe,
    dtype_text,
    inputs,
    is_one_of,
    outline,
    type_name,
    versions,
)

SECONDS = 0.6
"""Time limit for sorting and filtering in one request."""
MAX_ROWS = 200
MAX_COLUMNS = 50
MAX_FILTERS = 8
EXACT = 2**53
"""Larger whole numbers lose digits in an array that marks missing values by NaN."""
KEPT = 2
"""Sorted or filtered tables whose positions are kept until the next cell runs."""


class Table:
    """``index`` returns the row labels at some positions."""

    def __init__(
        self,
        rows: int,
        labels: Sequence[Any],
        column: Callable[[int], Column],
        index: Callable[[list[int]], list[Any]],
    ) -> None:
        self.rows = rows
        self.labels = labels
        self.column = column
        self.index = index


def table_of(value: Any) -> Table:
    kind = type(value)
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
        return frame_table(value, pandas)
    if pandas is not None and is_one_of(kind, pandas, ("Series",)):
        return frame_table(value.to_frame(), pandas)
    if polars is not None and is_one_of(kind, polars, ("DataFrame",)):
        return polars_table(value, polars)
    if polars is not None and is_one_of(kind, polars, ("Series",)):
        return polars_table(value.to_frame(), polars)
    raise Refused("not_a_table", type_name(kind))


def frame_table(frame: Any, pandas: Any) -> Table:
    def index(positions: list[int]) -> list[Any]:
        return list(frame.index.take(positions))

    def column(number: int) -> Column:
        return series_column(frame.iloc[:, number], text_label(frame.columns[number]), pandas)

    return Table(len(frame), frame.columns, column, index)


def series_column(series: Any, label: str, pandas: Any) -> Column:
    dtype, values = series.dtype, series.array
    name = dtype_text(dtype)
    module = type.__dict__["__module__"].__get__(type(dtype))
    if type(module) is not str or module.split(".")[0] not in ("numpy", "pandas"):
        # An array type of another package: its methods are unknown code.
        return Column(label, name, lambda positions: [f"<{name}>" for _ in positions])

    def take(positions: Sequence[int]) -> list[Any]:
        return list(values.take(positions))

    if module.split(".")[0] == "numpy":
        found = array_column(series.to_numpy(), label, name)
        if dtype.kind in "Mm":
            found.take = take
            found.parse = pandas.Timestamp if dtype.kind == "M" else pandas.Timedelta
        return found
    if type(dtype) is pandas.SparseDtype and dtype.kind in KINDS:
        dense = Column(label, name, take, KINDS[dtype.kind], parse=parser(dtype.kind))
        dense.array = lambda: series.sparse.to_dense().to_numpy()
        return dense
    if type(dtype) is pandas.DatetimeTZDtype:
        utc = values.asi8.view(f"M8[{dtype.unit}]")

        def instant(text: str) -> Any:
            moment = pandas.Timestamp(text)
            moment = moment.tz_localize(dtype.tz) if moment.tzinfo is None else moment
            return moment.tz_convert("UTC").tz_localize(None).to_datetime64()

        return Column(label, name, take, "time", lambda: utc, instant)
    if type(dtype) is pandas.CategoricalDtype:
        return categories_column(values, Column(label, name, take), pandas)
    if pandas.api.types.is_bool_dtype(dtype):
        return Column(label, name, take, "truth", lambda: with_nan(series), truth)
    if pandas.api.types.is_numeric_dtype(dtype):
        return Column(label, name, take, "number", lambda: exact_numbers(series), whole_or_float)
    return Column(label, name, take)


def categories_column(values: Any, column: Column, pandas: Any) -> Column:
    """Ordered categories compare by their order, others by their values."""
    numpy = sys.modules["numpy"]
    kinds = series_column(pandas.Series(values.categories), column.label, pandas)

    def spread() -> Any:
        """The values in an array. The last element is for the code -1."""
        found = kinds.array()
        if found is None:
            return None
        missing = numpy.array(["NaT"], found.dtype) if found.dtype.kind in "Mm" else [numpy.nan]
        return numpy.append(found, missing)[values.codes]

    def ranks() -> Any:
        return numpy.where(values.codes < 0, numpy.nan, values.codes)

    def rank(text: str) -> int:
        return list(map(cell_text, kinds.take(range(len(values.categories))))).index(text)

    column.kind = kinds.kind
    is_ordered = bool(values.ordered)
    column.array, column.parse = (ranks, rank) if is_ordered else (spread, kinds.parse)
    return column


def exact_numbers(series: Any) -> Any:
    """An array of a nullable column; None if it cannot hold the numbers."""
    made = series.dtype.numpy_dtype
    if made.kind in KINDS and not series.isna().any():
        return series.to_numpy(made)
    is_exact = made.kind == "f" or series.dropna().between(-EXACT, EXACT).all()
    return with_nan(series) if is_exact and made.kind in KINDS else None


def with_nan(series: Any) -> Any:
    return series.to_numpy("float64", na_value=float("nan"))


def array_column(array: Any, label: str, name: str) -> Column:
    def take(positions: Sequence[int]) -> list[Any]:
        return list(array.take(positions).tolist())

    code = array.dtype.kind
    if code in KINDS:
        return Column(label, name, take, KINDS[code], lambda: array, parser(code))
    return Column(label, name, take, kind_of(array[:FIRST].tolist()))


def parser(code: str) -> Callable[[str], Any]:
    """The parser for a filter's text, by a numpy dtype's ``kind``."""
    return truth if code == "b" else whole_or_float


def polars_table(frame: Any, polars: Any) -> Table:
    def column(number: int) -> Column:
        return polars_column(frame.to_series(number), polars)

    return Table(frame.height, frame.columns, column, list)


def polars_column(series: Any, polars: Any) -> Column:
    dtype, label, name = series.dtype, text_label(series.name), str(series.dtype)[:100]
    kinds = {polars.Boolean: "truth", polars.Date: "time", polars.Datetime: "time"}
    kind = next((kind for known, kind in kinds.items() if dtype == known), "text")
    kind = "number" if dtype.is_numeric() else kind
    parsers: dict[str, Callable[[str], Any]] = {
        "truth": truth,
        "time": moment,
        "number": number_of_64_bits,
        "text": str,
    }
    parse = parsers[kind]

    def take(positions: Sequence[int]) -> list[Any]:
        return list(series.gather(list(positions)).to_list())

    def values(base: Any) -> Any:
        """The values at these positions, times with a zone as local times, without NaN."""
        local = series.dt.replace_time_zone(None) if name.startswith("Datetime") else series
        plain = local.fill_nan(None) if dtype.is_float() else local
        return plain if type(base) is range else plain.gather(base)

    def at(base: Any, places: Any) -> list[int]:
        return list(places.to_list()) if type(base) is range else [base[at] for at in places]

    def order(base: Any, descending: bool) -> list[int]:
        rows = values(base).alias("value").to_frame().with_row_index("place")
        found = rows.sort("value", descending=descending, nulls_last=True, maintain_order=True)
        return at(base, found["place"])

    def compare(base: Any, op: str, text: str) -> list[int]:
        here = values(base)
        if op in ("missing", "present"):
            mask = here.is_null() if op == "missing" else here.is_not_null()
        else:
            try:
                mask = COMPARISONS[op](here, parse(text)).fill_null(False)
            except polars.exceptions.PolarsError:
                raise ValueError(text) from None
        return at(base, mask.arg_true())

    native = Native(order, compare) if kind != "text" or is_text(dtype, polars) else None
    return Column(label, name, take, kind, native=native)


def number_of_64_bits(text: str) -> int | float:
    """polars compares with no larger whole number."""
    found = whole_or_float(text)
    return found if abs(found) < 2**63 else float(found)


def is_text(dtype: Any, polars: Any) -> bool:
    return dtype in (polars.String, polars.Enum)


# --- requests --------------------------------------------------------------------------


class Pages:
    """Answers requests for one namespace. ``count`` changes whenever a cell runs: sorted positions
    are kept until then."""

    def __init__(self, namespace: dict[str, Any], count: Callable[[], int]) -> None:
        self._namespace = namespace
        self._count = count
        self._kept: dict[Any, tuple[Any, int]] = {}

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """``{"table": …}`` or ``{"refused": code, "detail": …}``."""
        try:
            name = asked["name"]
            if name not in self._namespace:
                raise Refused("gone", name)
            value = self._namespace[name]
            return {"table": self._page(value, table_of(value), asked)}
        except Refused as refused:
            return {"refused": refused.code, "detail": encodable(refused.detail)}
        except Exception as error:
            # Another thread may change the table meanwhile, and pandas raises anything.
            return {"refused": "failed", "detail": type_name(type(error))}

    def _page(self, value: Any, table: Table, asked: dict[str, Any]) -> dict[str, Any]:
        positions, searched = self._positions(value, table, asked)
        start = max(0, asked.get("start", 0))
        few = min(max(0, asked.get("rows", MAX_ROWS)), MAX_ROWS)
        taken = as_list(positions[start : start + few])
        first = max(0, asked.get("column", 0))
        numbers = range(first, min(first + MAX_COLUMNS, len(table.labels)))
        columns = [table.column(number) for number in numbers]
        cells = [[cell_text(item) for item in column.take(taken)] for column in columns]
        return {
            "type": type_name(type(value)),
            "rows": table.rows,
            "columns": len(table.labels),
            "found": len(positions),
            "searched": searched,
            "start": start,
            "first": first,
            "heads": [
                {"label": one.label, "dtype": one.dtype, "kind": one.kind} for one in columns
            ],
            "index": [text_label(label) for label in table.index(taken)],
            "cells": cells,
            "version": f"{self._count()} {id(value)} {table.rows}",
        }

    def _positions(self, value: Any, table: Table, asked: dict[str, Any]) -> tuple[Any, int]:
        """The sorted and filtered positions, and how many rows were compared in time."""
        filters = [tuple(one) for one in asked.get("filters", ())[:MAX_FILTERS]]
        sort = tuple(asked.get("sort") or ())
        everything = range(table.rows)
        if not filters and not sort:
            return everything, table.rows
        key = (asked["name"], id(value), table.rows, self._count(), sort, tuple(filters))
        if asked.get("fresh"):
            self._kept.pop(key, None)
        if key not in self._kept:
            found = self._search(table, everything, filters, sort)
            self._kept[key] = found
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    def _search(self, table: Table, base: Any, filters: Any, sort: Any) -> tuple[Any, int]:
        deadline = time.monotonic() + SECONDS
        searched = table.rows
        for place, op, value in filters:
            before = len(base)
            base, compared = matching(self._column(table, place), base, op, value, deadline)
            if compared < before:
                # Later filters then have fewer rows to compare.
                searched = min(searched, round(table.rows * compared / before))
        if sort:
            base = ordered(self._column(table, sort[0]), base, bool(sort[1]), deadline)
        return base, searched

    def _column(self, table: Table, place: int) -> Column:
        if not 0 <= place < len(table.labels):
            raise Refused("no_column", str(place))
        return table.column(place)


def text_label(label: Any) -> str:
    """The label of a column or row; levels of a MultiIndex are joined."""
    if type(label) is tuple:
        return encodable(" \u00b7 ".join(text_label(part) for part in label))
    text = cell_text(label)
    return encodable(str(label).replace("nan", "NaN")) if text is None else text


def described(shell: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """``{"variables": [...], "cells_run": ..., "inputs": ...}``, and the packages if the question
    wants them."""
    names = asked.get("names") or ()
    if asked.get("outline"):
        variables = outline(shell.user_ns, shell.user_ns_hidden, names, asked.get("keys", False))
    else:
        variables = describe(shell.user_ns, shell.user_ns_hidden, names)
    told = {"variables": variables, "cells_run": shell.execution_count - 1, "inputs": inputs(shell)}
    return dict(told, packages=versions()) if asked.get("packages") else told


def register(shell: Any) -> None:
    """Answer each comm opened to ``ANSWERS`` with one message."""
    pages = Pages(shell.user_ns, lambda: int(shell.execution_count))

    def answer(comm: Any, message: Any) -> None:
        asked = message["content"]["data"]
        table = asked.get("table")
        comm.send(described(shell, asked) if table is None else pages.answer(table))
        # Forget it without a published close: each open page would log an unknown comm.
        comm._closed = True
        manager.unregister_comm(comm)

    manager = shell.kernel.comm_manager
    manager.register_target(ANSWERS, answer)


if __name__ == ANSWERS:
    register(sys.modules["IPython"].get_ipython())
