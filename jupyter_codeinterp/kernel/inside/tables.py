"""Pages of a table. This file's text runs **in the kernel**, as ``columns.py`` does.

A table is a DataFrame or Series of pandas or polars, a list of dicts or a numpy array of two
dimensions: exactly these types, no subclass. Nothing here changes a table or copies more than one
column.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from .columns import (
    FIRST,
    KINDS,
    Codes,
    Column,
    Refused,
    as_list,
    cell_text,
    encodable,
    kind_of,
    matching,
    ordered,
    truth,
    whole_or_float,
)
from .profiles import profile
from .variables import dtype_text, is_one_of, is_plain, type_name

TARGET = "jupyter_codeinterp.tables"
SECONDS = 0.6
"""Time limit for sorting, filtering or profiles of one request."""
MAX_ROWS = 200
MAX_COLUMNS = 50
MAX_FILTERS = 8
MAX_KEYS = 1_000
"""Columns of a list of dicts, and its first rows that are searched for them."""
FEW_TEXTS = 0.5
"""The share of different texts above which numbering them would take too long."""
CODED_ROWS = 2_000
"""Minimum number of rows to number texts before comparing them."""
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
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and is_one_of(kind, pandas, ("DataFrame",)):
        return frame_table(value, pandas)
    if pandas is not None and is_one_of(kind, pandas, ("Series",)):
        return frame_table(value.to_frame(), pandas)
    polars = sys.modules.get("polars")
    if polars is not None and is_one_of(kind, polars, ("DataFrame",)):
        return polars_table(value, polars)
    if polars is not None and is_one_of(kind, polars, ("Series",)):
        return polars_table(value.to_frame(), polars)
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)) and value.ndim == 2:
        return array_table(value)
    if kind is list and all(type(row) is dict for row in value[:MAX_KEYS]):
        return records_table(value)
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
    if module.split(".")[0] == "numpy":
        found = array_column(series.to_numpy(), label, name)
        if dtype.kind in "Mm":
            found.take = lambda positions: list(values.take(positions))
            found.parse = found.show = pandas.Timestamp if dtype.kind == "M" else pandas.Timedelta
        return found

    def take(positions: Sequence[int]) -> list[Any]:
        return list(values.take(positions))

    if type(dtype) is pandas.SparseDtype and dtype.kind in KINDS:
        dense = Column(label, name, take, KINDS[dtype.kind], parse=parser(dtype.kind))
        dense.array = lambda: series.sparse.to_dense().to_numpy()
        return dense
    if type(dtype) is pandas.DatetimeTZDtype:
        utc = values.asi8.view(f"M8[{dtype.unit}]")
        zone = dtype.tz

        def instant(text: str) -> Any:
            moment = pandas.Timestamp(text)
            moment = moment.tz_localize(zone) if moment.tzinfo is None else moment
            return moment.tz_convert("UTC").tz_localize(None).to_datetime64()

        def local(moment: Any) -> Any:
            return pandas.Timestamp(moment, tz="UTC").tz_convert(zone)

        return Column(label, name, take, "time", lambda: utc, parse=instant, show=local)
    if pandas.api.types.is_bool_dtype(dtype) and type(dtype) is not pandas.CategoricalDtype:
        return Column(label, name, take, "truth", lambda: with_nan(series), parse=truth)
    if pandas.api.types.is_numeric_dtype(dtype):
        found = Column(label, name, take, "number", lambda: exact_numbers(series))
        found.parse = whole_or_float
        return found
    if type(dtype) is pandas.CategoricalDtype:
        kinds = series_column(pandas.Series(values.categories), label, pandas)
        codes = Codes(values.codes, kinds, len(values.categories), bool(dtype.ordered))
        return Column(label, name, take, kinds.kind, codes=lambda: codes)
    if type(dtype) is pandas.StringDtype and len(series) >= CODED_ROWS and has_few_texts(values):
        return Column(label, name, take, codes=lambda: text_codes(series, pandas))
    return Column(label, name, take)


def exact_numbers(series: Any) -> Any:
    """An array of a nullable column; None if it cannot hold the numbers."""
    made = series.dtype.numpy_dtype
    if made.kind in KINDS and not series.isna().any():
        return series.to_numpy(made)
    is_exact = made.kind == "f" or series.dropna().between(-EXACT, EXACT).all()
    return with_nan(series) if is_exact and made.kind in KINDS else None


def with_nan(series: Any) -> Any:
    return series.to_numpy("float64", na_value=float("nan"))


def has_few_texts(values: Any) -> bool:
    """Whether texts repeat, judged by a sample of the column."""
    step = len(values) // CODED_ROWS
    sample = list(values[::step])
    return len(set(sample)) < FEW_TEXTS * len(sample)


def text_codes(series: Any, pandas: Any) -> Codes:
    numbers, texts = pandas.factorize(series)
    return Codes(numbers, texts_column(list(texts)), len(texts))


def texts_column(texts: list[Any]) -> Column:
    return Column("", "", lambda positions: [texts[position] for position in positions])


def array_table(array: Any) -> Table:
    def column(number: int) -> Column:
        return array_column(array[:, number], str(number), str(array.dtype)[:100])

    return Table(len(array), range(array.shape[1]), column, list)


def array_column(array: Any, label: str, name: str) -> Column:
    def take(positions: Sequence[int]) -> list[Any]:
        taken = array.take(positions)
        return list(taken) if taken.dtype.kind in "Mm" else taken.tolist()

    code = array.dtype.kind
    if code in KINDS:
        return Column(label, name, take, KINDS[code], lambda: array, parse=parser(code))
    return Column(label, name, take, kind_of(array[:FIRST].tolist()))


def parser(code: str) -> Callable[[str], Any]:
    """The parser for a filter's text, by a numpy dtype's ``kind``."""
    if code in "Mm":
        numpy = sys.modules["numpy"]
        parse: Callable[[str], Any] = numpy.datetime64 if code == "M" else numpy.timedelta64
        return parse
    return truth if code == "b" else whole_or_float


def polars_table(frame: Any, polars: Any) -> Table:
    def column(number: int) -> Column:
        return polars_column(frame.to_series(number), polars)

    return Table(frame.height, frame.columns, column, list)


def polars_column(series: Any, polars: Any) -> Column:
    dtype, label, name = series.dtype, text_label(series.name), str(series.dtype)[:100]

    def take(positions: Sequence[int]) -> list[Any]:
        return list(series.gather(list(positions)).to_list())

    def array() -> Any:
        has_null = dtype.is_integer() and series.null_count() > 0
        is_inexact = has_null and not series.is_between(-EXACT, EXACT).all()
        # Times with a zone compare by local time.
        local = series.dt.replace_time_zone(None) if name.startswith("Datetime") else series
        made = None if is_inexact else local.to_numpy()
        return made if made is not None and made.dtype.kind in KINDS else None

    if dtype == polars.Enum:
        return Column(label, name, take, codes=lambda: enum_codes(series, polars))
    kinds = {polars.Boolean: "b", polars.Date: "M", polars.Datetime: "M", polars.Duration: "m"}
    code = next((kind for known, kind in kinds.items() if dtype == known), "")
    code = "f" if dtype.is_numeric() else code
    if not code:
        return Column(label, name, take)
    if not has_numpy():
        return Column(label, name, take, KINDS[code])
    return Column(label, name, take, KINDS[code], array, parse=parser(code))


def has_numpy() -> bool:
    """Import numpy, which polars neither needs nor loads before its first conversion."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def enum_codes(series: Any, polars: Any) -> Codes:
    if not has_numpy():
        raise Refused("needs_numpy")
    texts = series.dtype.categories.to_list()
    numbers = series.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
    return Codes(numbers, texts_column(texts), len(texts), True)


def records_table(records: list[Any]) -> Table:
    labels: dict[Any, None] = {}
    for record in records[:MAX_KEYS]:
        for key in record:
            if (type(key) is str or is_plain(key)) and len(labels) < MAX_KEYS:
                labels[key] = None
    keys = list(labels)

    def column(place: int) -> Column:
        key = keys[place]

        def take(positions: Sequence[int]) -> list[Any]:
            rows = (records[position] for position in positions)
            return [row.get(key) if type(row) is dict else None for row in rows]

        return Column(text_label(key), "", take, kind_of(take(range(min(FIRST, len(records))))))

    return Table(len(records), keys, column, list)


# --- requests --------------------------------------------------------------------------


class Pages:
    """Answers requests for one namespace. ``count`` changes whenever a cell runs: sorted positions
    are kept until then."""

    def __init__(
        self,
        namespace: dict[str, Any],
        count: Callable[[], int],
        table_of: Callable[[Any], Table] = table_of,
    ) -> None:
        self._namespace = namespace
        self._count = count
        self._table_of = table_of
        self._kept: dict[Any, tuple[Any, int]] = {}

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """``{"table": …}``, ``{"profiles": …}`` or ``{"refused": code, "detail": …}``."""
        try:
            name = asked["name"]
            if name not in self._namespace:
                raise Refused("gone", name)
            value = self._namespace[name]
            table = self._table_of(value)
            if asked.get("profiles") is not None:
                return {"profiles": self._profiles(table, asked["profiles"])}
            return {"table": self._page(value, table, asked)}
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
            if type(base) is list and "numpy" in sys.modules:
                base = sys.modules["numpy"].array(base, dtype="i8")
        if sort:
            base = ordered(self._column(table, sort[0]), base, bool(sort[1]), deadline)
        return base, searched

    def _profiles(self, table: Table, places: Sequence[int]) -> list[dict[str, Any]]:
        """A profile per column, in order, until the time is up; at least one."""
        deadline = time.monotonic() + SECONDS
        found: list[dict[str, Any]] = []
        for place in places[:MAX_COLUMNS]:
            if found and time.monotonic() > deadline:
                break
            column = self._column(table, place)
            found.append(dict(profile(column, table.rows), column=place))
        return found

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


def register_tables(shell: Any) -> None:
    """Answer each comm opened to ``TARGET`` with one message."""
    pages = Pages(shell.user_ns, lambda: int(shell.execution_count))

    def answer(comm: Any, message: Any) -> None:
        comm.send(pages.answer(message["content"]["data"]))
        # Forget it without a published close: each open page would log an unknown comm.
        comm._closed = True
        manager.unregister_comm(comm)

    manager = shell.kernel.comm_manager
    manager.register_target(TARGET, answer)


if __name__ == TARGET:
    register_tables(sys.modules["IPython"].get_ipython())
