"""Which calls of pandas are watched, and by what.

This file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .calls import Code, Watched
from .filters import at_most, between, contains, dropna, equal, isin, ordered, part, query, unequal
from .joins import concat, groupby, join, merge, pivot
from .lost_values import cut, mapped, read_csv, reindexed, set_item, shares, to_datetime, to_numeric
from .order import (
    extreme,
    head,
    largest,
    located,
    numeric_only,
    replaced,
    sort_values,
    text_replaced,
    total,
)
from .values import pandas

AGGREGATIONS = ("sum", "mean", "median", "max", "min", "std")


def watched(code: Code) -> Iterator[Watched]:
    """What to watch while this code runs."""
    pd = pandas()
    indexing = sys.modules["pandas.core.indexing"]
    strings = pd.Series.str
    yield from (
        (pd.DataFrame, "__getitem__", part),
        (pd.Series, "__getitem__", part),
        (indexing._LocIndexer, "__getitem__", located),
        (pd.Series, "__eq__", equal),
        (pd.Series, "__ne__", unequal),
        *((pd.Series, f"__{name}__", ordered) for name in ("lt", "gt", "ge")),
        (pd.Series, "__le__", at_most),
        (pd.Series, "between", between),
        (pd.Series, "isin", isin),
        (strings, "contains", contains),
        (strings, "replace", text_replaced),
        (pd.Series, "map", mapped),
        (pd, "to_numeric", to_numeric),
        (pd, "cut", cut),
        (pd, "to_datetime", to_datetime),
        (pd, "read_csv", read_csv),
        (pd.Series, "reindex", reindexed),
        (pd.DataFrame, "reindex", reindexed),
        (pd, "merge", merge),
        (pd.DataFrame, "merge", merge),
        (pd.DataFrame, "join", join),
        (pd.DataFrame, "groupby", groupby),
        (pd.DataFrame, "pivot_table", pivot),
        (pd, "concat", concat),
        *((pd.Series, name, extreme) for name in ("max", "min")),
        (pd.Series, "sum", total),
        (pd.Series, "value_counts", shares),
        (pd.DataFrame, "head", head),
        (pd.DataFrame, "nlargest", largest),
        (pd.DataFrame, "nsmallest", largest),
    )
    grouped = sys.modules["pandas.core.groupby.generic"].DataFrameGroupBy
    for owner in (pd.DataFrame, grouped):
        yield from ((owner, name, numeric_only) for name in AGGREGATIONS)
    if not code.in_place:
        yield pd.DataFrame, "query", query
        yield pd.DataFrame, "dropna", dropna
        yield pd.DataFrame, "sort_values", sort_values
        yield pd.Series, "sort_values", sort_values
        yield pd.Series, "replace", replaced
    if not code.chained:
        yield pd.DataFrame, "__setitem__", set_item


def families(code: Code, library: str) -> list[str]:
    """What is looked at in full."""
    if library == "polars":
        # Beside pandas they would say more of it than is true.
        return [] if "pandas" in sys.modules else ["joins", "filters"]
    found = ["joins"]
    if not code.in_place:
        found += ["filters", "order"]
        if not code.chained:
            found.append("lost values")
    return found
