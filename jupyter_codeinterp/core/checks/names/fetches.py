"""Tables of engines that a cell fetches whole into the kernel's memory.

The code shows which variables it fetches, and the kernel knows whether they are such tables, and
how large. Code that first aggregates or limits a table gives no finding.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Annotated, Any, Literal, Union

import msgspec

from ...findings import Finding, Place
from ..shared.source import Source, dotted

NAME = "Fetch"
MOST = 20
MOST_FOUND = 3
MOST_STEPS = 50
MANY_ROWS = 100_000
MANY_BYTES = 50_000_000
"""A smaller table is no reason for a notice."""
FETCHES = {"collect", "compute", "toArrow", "toPandas", "to_pandas", "take_all"}
FEWER = frozenset(
    (
        *("agg", "aggregate", "all", "any", "approxQuantile", "corr", "count", "cov", "describe"),
        *("first", "get_partition", "groupBy", "groupby", "head", "idxmax", "idxmin", "isEmpty"),
        *("limit", "max", "mean", "median", "min", "mode", "nlargest", "nsmallest", "nunique"),
        *("partitions", "pivot_table", "prod", "quantile", "sample", "sem", "shape", "size"),
        *("skew", "std", "sum", "summary", "tail", "take", "value_counts", "var"),
    )
)
"""Methods after which few rows are left, or one number."""
FILTERS = {"filter", "where", "query", "dropna", "loc", "drop_duplicates", "dropDuplicates"}
ENGINES = {"spark": "Spark", "dask": "Dask", "ray": "Ray"}


class Fetch(msgspec.Struct, frozen=True):
    """``name`` is the variable, ``text`` the code. ``filtered``: it may have fewer rows."""

    name: str
    text: str
    place: Place
    filtered: bool = False


_Number = Annotated[int, msgspec.Meta(ge=0, le=10**18)]


class _Table(msgspec.Struct, frozen=True):
    """What the kernel tells of a variable (``kernel_side/engines``)."""

    name: str
    engine: Literal["spark", "dask", "ray", "duckdb", "polars", ""] = ""
    rows: Union[_Number, None] = None
    bytes: Union[_Number, None] = None
    partitions: Union[_Number, None] = None
    reduced: bool = False


def fetches(source: Source) -> tuple[Fetch, ...]:
    return tuple(islice(_fetches(source), MOST))


def _fetches(source: Source) -> Iterator[Fetch]:
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        tables: Iterable[ast.expr] = ()
        if isinstance(node.func, ast.Attribute) and dotted(node.func) == "dask.compute":
            tables = node.args
        elif isinstance(node.func, ast.Attribute) and node.func.attr in FETCHES:
            tables = (node.func.value,)
        for table in tables:
            found = _root(source, table)
            if found is not None:
                yield Fetch(found[0], source.text(node), source.place(node), found[1])


def _root(source: Source, node: ast.expr) -> tuple[str, bool] | None:
    """The variable that the table comes from, and whether it is filtered; None where it is
    aggregated or limited, or comes from something else."""
    filtered, seen = False, set[str]()
    for _ in range(MOST_STEPS):
        if isinstance(node, ast.Name):
            values = source.values_of(node.id)
            if not values or node.id in seen:
                return node.id, filtered
            if len(values) > 1:
                return None
            seen.add(node.id)
            node = values[0]
        elif isinstance(node, ast.Attribute):
            if node.attr in FEWER | FETCHES:
                return None
            filtered = filtered or node.attr in FILTERS
            node = node.value
        elif isinstance(node, ast.Subscript):
            filtered = filtered or not isinstance(node.slice, (ast.Constant, ast.List))
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return None
    return None


def findings(
    fetched: tuple[Fetch, ...], answer: Any, is_private: Callable[[str], bool] = lambda name: False
) -> tuple[Finding, ...]:
    """None of an answer in another form. Code in the kernel may answer anything."""
    try:
        told = msgspec.convert(answer, list[_Table], strict=True)
    except (msgspec.ValidationError, RecursionError):
        return ()
    tables = {table.name: table for table in told if not is_private(table.name)}
    return tuple(islice(_findings(fetched, tables), MOST_FOUND))


def _findings(fetched: tuple[Fetch, ...], tables: dict[str, _Table]) -> Iterator[Finding]:
    for fetch in fetched:
        table = tables.get(fetch.name)
        if table is not None and table.engine in ENGINES and _is_large(table):
            size = _size(table, fetch.filtered)
            words = f"`{fetch.text}` fetches a {ENGINES[table.engine]} table{size} into the kernel."
            yield Finding(NAME, words, fetch.place)


def _is_large(table: _Table) -> bool:
    """Also where nobody knows."""
    if table.reduced or table.partitions == 1:
        return False
    if table.bytes is not None:
        return table.bytes >= MANY_BYTES
    return table.rows is None or table.rows >= MANY_ROWS


def _size(table: _Table, filtered: bool) -> str:
    about = "up to" if filtered else "about"
    if table.bytes is not None:
        return f" of {about} {table.bytes / 1e9:,.1f} GB"
    if table.rows is not None:
        return f" of {about} {table.rows:,} rows"
    parts = f", in {table.partitions:,} partitions" if table.partitions else ""
    return f" of unknown size{parts}"
