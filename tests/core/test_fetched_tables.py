"""Large tables of engines that a draft would fetch whole into the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.core.checks.names.fetches import fetches, findings
from jupyter_codeinterp.core.checks.shared.source import parsed
from tests.core.conftest import Room
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]

TABLES: list[dict[str, Any]] = [
    {"name": "orders", "engine": "spark", "rows": 50_000_000, "columns": [["id", "bigint"]]},
    {"name": "files", "engine": "spark", "bytes": 2_500_000_000, "files": 40},
    {"name": "totals", "engine": "spark", "reduced": True},
    {"name": "small", "engine": "spark", "rows": 99_999},
    {"name": "parts", "engine": "dask", "partitions": 400},
    {"name": "one", "engine": "dask", "partitions": 1},
    {"name": "unknown", "engine": "dask"},
    {"name": "grid", "engine": "dask", "rows": 10, "bytes": 8_000_000_000, "partitions": 100},
    {"name": "images", "engine": "ray", "rows": 1_000_000},
    {"name": "asked", "engine": "duckdb"},
    {"name": "frame", "type": "DataFrame", "shape": [50_000_000, 3]},
]


def sentences(source: str, answer: Any = TABLES, private: tuple[str, ...] = ()) -> list[str]:
    tree = parsed(source)
    assert tree is not None
    return [one.sentence for one in findings(fetches(tree), answer, private.__contains__)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("orders.toPandas()", "Spark table of about 50,000,000 rows"),
        ("rows = orders.collect()", "Spark table of about 50,000,000 rows"),
        ("len(orders.select('id').collect())", "Spark table of about 50,000,000 rows"),
        ("orders.filter('id > 3').toPandas()", "Spark table of up to 50,000,000 rows"),
        ("orders[orders.id > 3].toPandas()", "Spark table of up to 50,000,000 rows"),
        ("big = orders.where('id > 3')\nbig.toPandas()", "Spark table of up to 50,000,000 rows"),
        ("orders = orders.filter('a')\norders.collect()", "Spark table of up to 50,000,000 rows"),
        ("files.toPandas()", "Spark table of about 2.5 GB"),
        ("parts.compute()", "Dask table of unknown size, in 400 partitions"),
        ("parts['a'].compute()", "Dask table of unknown size, in 400 partitions"),
        ("import dask\ndask.compute(parts)", "Dask table of unknown size, in 400 partitions"),
        ("unknown.compute()", "Dask table of unknown size"),
        ("(grid + 1).compute()", ""),
        ("grid.T.compute()", "Dask table of about 8.0 GB"),
        ("images.to_pandas()", "Ray table of about 1,000,000 rows"),
        # These leave few rows.
        ("orders.groupBy('id').count().collect()", ""),
        ("orders.limit(5).toPandas()", ""),
        ("top = orders.agg({'id': 'max'})\ntop.collect()", ""),
        ("orders.take(5)", ""),
        ("parts.a.sum().compute()", ""),
        ("parts.head()", ""),
        ("totals.collect()", ""),
        ("small.toPandas()", ""),
        ("one.compute()", ""),
        # These are in the kernel's memory, or nothing that the kernel knows.
        ("asked.collect()", ""),
        ("frame.compute()", ""),
        ("absent.toPandas()", ""),
        ("make().toPandas()", ""),
        ("orders.show()", ""),
    ],
)
def test_what_is_fetched(source: str, expected: str) -> None:
    found = sentences(source)
    assert len(found) == bool(expected)
    assert all(f"fetches a {expected} into the kernel." in one for one in found)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "x",
        [{"name": "orders", "engine": "mine"}],
        [{"name": "orders", "engine": "spark", "rows": -1}],
        [{"name": "orders", "engine": "spark", "rows": "many"}],
    ],
)
def test_a_kernel_that_answers_anything_else_gives_no_notice(answer: Any) -> None:
    assert sentences("orders.toPandas()", answer) == []


def test_private_variables_are_not_named() -> None:
    assert sentences("orders.toPandas()", private=("orders",)) == []


A_TABLE = """
import sys, types
class DataFrame:
    partitions = 400
    def __init__(self):
        self._meta = types.SimpleNamespace(dtypes={"id": "int64"})
    def compute(self):
        return "all of it"
sys.modules["dask.dataframe"] = types.SimpleNamespace(DataFrame=DataFrame)
orders = DataFrame()
"""
NOTICE = "`orders.compute()` fetches a Dask table of unknown size into the kernel."


async def test_the_draft_says_it_and_a_rejection_tells_the_model(
    bench: Benches, room: Room
) -> None:
    await room.run(A_TABLE)
    b = bench(run("rows = orders.compute()"), say("Sorry."))
    b.send()
    draft = await b.draft()
    assert draft.notices == (f"Fetch: {NOTICE}",)
    b.decide(draft, "reject")
    await b.ended()
    assert NOTICE in b.sent_results[0]
    fine = bench(run("len(str(orders))"), say("Done."))
    fine.send()
    assert (await fine.draft()).notices == ()
    fine.decide(await fine.draft())
    await fine.ended()
