"""Estimated sizes of engines' tables. This file's text runs **in the kernel**, for variables that
are asked for by name.

The engine may plan the query, but runs no job. Facts: maximum ``rows`` and ``bytes``, ``reduced``
if the table's last step leaves few rows (a sum, a limit), and the number of ``files`` that it
reads. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
