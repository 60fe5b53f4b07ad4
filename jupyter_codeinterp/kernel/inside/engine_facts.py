"""Facts about tables of libraries other than pandas. This file's text runs **in the kernel**.

It computes, reads and fetches nothing: lazy and distributed tables report only known facts.
``engine`` names the library that holds the rows outside of the kernel's memory. Facts are those of
``variables.py``, and ``partitions`` and ``steps`` (of the graph before optimisation). Types are
compared by identity. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

MOST_COLUMNS = 50
LONGEST = 200
MOST_STEPS = 500
PLAIN_STEPS = {"Blockwise", "FromGraph", "FromArray", "ApplyConcatApply"}
"""Dask's kinds of steps that take their partitions from earlier steps."""
READING_STEPS = {"ReadParquet", "ReadParquetPyarrowFS", "ReadParquetFSSpec"}


def engine_facts(value: Any) -> dict[str, Any]:
    """The known ones of ``shape``, ``dtype``, ``columns``, ``engine``, ``partitions``, ``steps``;
    {} for types of other libraries."""
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
    return {"engine": "dask", **dask_graph(value), "columns": pairs(value._meta.dtypes.items())}


def dask_column(value: Any) -> dict[str, Any]:
    return {"engine": "dask", **dask_graph(value), "dtype": str(value._meta.dtype)[:LONGEST]}


def dask_graph(value: Any) -> dict[str, Any]:
    """Omits partitions if a step would have to read files or sort values to know them."""
    if not hasattr(type(value), "expr"):  # Dask before 2025
        return {}
    steps, left, is_plain = 0, [value.expr], True
    while left and steps < MOST_STEPS:
        step = left.pop()
        steps += 1
        left += step.dependencies()
        kinds = {kind.__name__ for kind in type(step).__mro__}
        is_plain = is_plain and bool(kinds & PLAIN_STEPS) and not kinds & READING_STEPS
    if left:
        return {}
    return {"partitions": int(value.npartitions), "steps": steps} if is_plain else {"steps": steps}


def dask_array(value: Any) -> dict[str, Any]:
    """A length of NaN is unknown, and omitted with all others."""
    shape = [int(length) for length in value.shape if length == length]
    facts = {
        "engine": "dask",
        "partitions": int(value.npartitions),
        "steps": len(value.dask.layers),
        "dtype": str(value.dtype)[:LONGEST],
    }
    return {**facts, "shape": shape} if len(shape) == len(value.shape) else facts


def duckdb_query(value: Any) -> dict[str, Any]:
    return {"engine": "duckdb", "columns": pairs(zip(value.columns, value.types))}  # noqa: B905


def spark_table(value: Any) -> dict[str, Any]:
    """Spark knows a plan's schema when it makes the plan."""
    return {"engine": "spark", "columns": pairs(value.dtypes)}


def remote_spark_table(value: Any) -> dict[str, Any]:
    """No columns: they are on the Spark server."""
    return {"engine": "spark"}


def ray_table(value: Any) -> dict[str, Any]:
    """Ray has a schema once it has read some rows."""
    schema = value.schema(fetch_if_missing=False)
    if schema is None:
        return {"engine": "ray"}
    return {"engine": "ray", "columns": pairs(zip(schema.names, schema.types))}  # noqa: B905


def placed_array(value: Any) -> dict[str, Any]:
    """An array of PyTorch or JAX, which may still be computing."""
    return {"shape": list(value.shape), "dtype": f"{value.dtype} on {value.device}"[:LONGEST]}


def xarray_array(value: Any) -> dict[str, Any]:
    return {"shape": list(value.shape), "dtype": _dims(value)}


def xarray_set(value: Any) -> dict[str, Any]:
    variables = value.variables
    return {"columns": pairs((name, _dims(variables[name])) for name in value.data_vars)}


def _dims(value: Any) -> str:
    lengths = zip(value.dims, value.shape)  # noqa: B905, the kernel's Python may be 3.9
    sizes = ", ".join(f"{name}: {length}" for name, length in lengths)
    return f"{value.dtype} ({sizes})"[:LONGEST]


DASK = "dask.dataframe"
KNOWN: tuple[tuple[str, str, Callable[[Any], dict[str, Any]]], ...] = (
    ("polars", "DataFrame", polars_table),
    ("polars", "Series", polars_column),
    ("polars", "LazyFrame", polars_query),
    (DASK, "DataFrame", dask_table),
    (DASK, "Series", dask_column),
    ("dask.array", "Array", dask_array),
    ("duckdb", "DuckDBPyRelation", duckdb_query),
    ("pyspark.sql.classic.dataframe", "DataFrame", spark_table),
    ("pyspark.sql.connect.dataframe", "DataFrame", remote_spark_table),
    ("ray.data.dataset", "Dataset", ray_table),
    ("ray.data.dataset", "MaterializedDataset", ray_table),
    ("torch", "Tensor", placed_array),
    ("torch.nn", "Parameter", placed_array),
    ("jax._src.array", "ArrayImpl", placed_array),
    ("xarray", "DataArray", xarray_array),
    ("xarray", "Dataset", xarray_set),
)
"""Module, type in it, and the function for its facts."""


# -------------------------------------------------------------------------------------------------
# Estimated sizes of variables that are asked for by name: maximum ``rows`` and ``bytes``,
# ``reduced`` if the table's last step leaves few rows (a sum, a limit), and the number of ``files``
# that it reads. The engine may plan the query, but runs no job.

LONGEST_PLAN = 50
LEAVES_FEWER = ("Aggregate", "GlobalLimit", "LocalLimit", "Sample")
KEEPS_ROWS = (
    *("Project", "Filter", "Sort", "SubqueryAlias", "Window"),
    *("Repartition", "RepartitionByExpression", "ResolvedHint"),
)
"""Spark's names of steps that add no rows."""
UNKNOWN_SIZE = 2**60
"""Bytes. Spark reports more for a table of unknown size."""


def estimates(value: Any, engine: str) -> dict[str, Any]:
    """``engine``: as in ``facts.py``. {} if nothing is known."""
    estimate = ESTIMATES.get(engine)
    try:
        return estimate(value) if estimate is not None else {}
    except Exception:  # The engine may have been stopped.
        return {}


def spark_estimate(value: Any) -> dict[str, Any]:
    """Raises for a table of Spark Connect, which has no plan here."""
    plan = value._jdf.queryExecution().optimizedPlan()
    facts: dict[str, Any] = {}
    for _ in range(LONGEST_PLAN):
        name = plan.nodeName()
        if name in LEAVES_FEWER:
            return {**facts, "reduced": True}
        if name not in KEEPS_ROWS:
            break
        plan = plan.children().head()
    if plan.children().isEmpty():
        facts = spark_source(plan)
        files = value._jdf.inputFiles()
        if len(files):
            facts["files"] = len(files)
    return facts


def spark_source(plan: Any) -> dict[str, Any]:
    stats = plan.stats()
    if stats.rowCount().isDefined():
        return {"rows": int(str(stats.rowCount().get()))}
    size = int(str(stats.sizeInBytes()))
    return {"bytes": size} if size < UNKNOWN_SIZE else {}


def dask_estimate(value: Any) -> dict[str, Any]:
    if not hasattr(type(value), "expr"):  # an array
        facts = {"rows": value.shape[0], "bytes": value.nbytes} if value.shape else {}
        return {name: int(fact) for name, fact in facts.items() if fact == fact}
    step = value.expr
    for _ in range(LONGEST_PLAN):
        kinds = {kind.__name__ for kind in type(step).__mro__}
        if kinds & {"ApplyConcatApply", "Head", "Tail", "Sample"}:
            return {"reduced": True}
        before = step.dependencies()
        if "Blockwise" not in kinds or len(before) != 1:
            break
        step = before[0]
    return {}


def ray_estimate(value: Any) -> dict[str, Any]:
    rows = value._meta_count()
    return {} if rows is None else {"rows": int(rows)}


ESTIMATES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "spark": spark_estimate,
    "dask": dask_estimate,
    "ray": ray_estimate,
}
