"""Facts about tables of libraries other than pandas. This file's text runs **in the kernel**.

It computes, reads and fetches nothing: lazy and distributed tables report only known facts.
``engine`` names the library that holds the rows outside of the kernel's memory. Types are compared
by identity. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

MOST_COLUMNS = 50
LONGEST = 200


def engine_facts(value: Any) -> dict[str, Any]:
    """The known ones of ``shape``, ``dtype``, ``columns`` and ``engine``; {} for types of other
    libraries."""
    kind = type(value)
    for path, name, facts in KNOWN:
        module = sys.modules.get(path)
        if module is not None and getattr(module, name, None) is kind:
            try:
                return facts(value)
            except Exception:  # The engine may have been stopped.
                return {}
    return {}


def pairs(columns: Iterable[Any]) -> list[list[str]]:
    """Names and types of the first columns."""
    found: list[list[str]] = []
    for name, dtype in columns:
        if len(found) == MOST_COLUMNS:
            break
        found.append([str(name)[:LONGEST], str(dtype)[:LONGEST]])
    return found


def polars_table(value: Any) -> dict[str, Any]:
    return {"shape": list(value.shape), "columns": pairs(value.schema.items())}


def polars_column(value: Any) -> dict[str, Any]:
    return {"shape": [value.len()], "dtype": str(value.dtype)[:LONGEST]}


def polars_query(value: Any) -> dict[str, Any]:
    """No columns: the schema may have to be read from a file."""
    return {"engine": "polars"}


def dask_table(value: Any) -> dict[str, Any]:
    """The columns are those of the empty table that Dask keeps."""
    return {"engine": "dask", "columns": pairs(value._meta.dtypes.items())}


def dask_column(value: Any) -> dict[str, Any]:
    return {"engine": "dask", "dtype": str(value._meta.dtype)[:LONGEST]}


def duckdb_query(value: Any) -> dict[str, Any]:
    return {"engine": "duckdb", "columns": pairs(zip(value.columns, value.types))}  # noqa: B905


def spark_table(value: Any) -> dict[str, Any]:
    """Spark knows a plan's schema when it makes the plan."""
    return {"engine": "spark", "columns": pairs(value.dtypes)}


def placed_array(value: Any) -> dict[str, Any]:
    return {"shape": list(value.shape), "dtype": f"{value.dtype} on {value.device}"[:LONGEST]}


DASK = "dask.dataframe"
KNOWN: tuple[tuple[str, str, Callable[[Any], dict[str, Any]]], ...] = (
    ("polars", "DataFrame", polars_table),
    ("polars", "Series", polars_column),
    ("polars", "LazyFrame", polars_query),
    (DASK, "DataFrame", dask_table),
    (DASK, "Series", dask_column),
    ("duckdb", "DuckDBPyRelation", duckdb_query),
    ("pyspark.sql.classic.dataframe", "DataFrame", spark_table),
    ("torch", "Tensor", placed_array),
    ("torch.nn", "Parameter", placed_array),
)
"""Module, type in it, and the function for its facts."""
