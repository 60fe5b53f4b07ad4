"""Variables of lazy and distributed tables: told in a real kernel, without computing them."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.core.model_view.context import ENGINES, _variable_changes, _variables
from jupyter_codeinterp.core.model_view.notebook_prompt import variable_lines
from tests.kernels import python, run

MAKES = {
    "polars": (
        "import polars, sys\n"
        "eager = polars.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\ncolumn = eager['a']\n"
        "lazy = polars.scan_csv('big.csv').filter(polars.col('a') > 1)",
        {
            "eager": {
                "type": "DataFrame", "shape": [2, 2], "columns": [["a", "Int64"], ["b", "String"]]
            },
            "column": {"type": "Series", "shape": [2], "dtype": "Int64"},
            "lazy": {"type": "LazyFrame", "engine": "polars"},
        },
    ),
    "dask": (
        "import dask.array, dask.dataframe, pandas, time\n"
        "def slow(frame):\n    time.sleep(600)\n    return frame\n"
        "one = pandas.DataFrame({'a': [1, 2], 'b': [0.5, 1.5]})\n"
        "two = dask.dataframe.from_pandas(one, npartitions=2)\n"
        "slowly = two.map_partitions(slow, meta=one.iloc[:0])\nslow_column = slowly['a']\n"
        "by_key = slowly.set_index('a').b\n"
        "array = dask.array.zeros((10**6, 10**6), chunks=100)\n"
        "del slow, one, two",
        {
            "slowly": {
                "type": "DataFrame", "engine": "dask", "partitions": 2, "steps": 2,
                "columns": [["a", "int64"], ["b", "float64"]]
            },
            "slow_column": {
                "type": "Series", "engine": "dask", "partitions": 2, "steps": 3, "dtype": "int64"
            },
            "by_key": {"type": "Series", "engine": "dask", "steps": 4, "dtype": "float64"},
            "array": {
                "type": "Array", "engine": "dask", "partitions": 10**8, "steps": 1,
                "dtype": "float64", "shape": [10**6, 10**6]
            },
        },
    ),
    "duckdb": (
        "import duckdb\n"
        "asked = duckdb.sql('select range as a, sqrt(range) as b from range(10000000000000)')",
        {
            "asked": {
                "type": "DuckDBPyRelation", "engine": "duckdb",
                "columns": [["a", "BIGINT"], ["b", "DOUBLE"]],
            },
        },
    ),
    "xarray": (
        "import numpy, xarray\n"
        "grid = xarray.Dataset({'t': (('x', 'y'), numpy.zeros((2, 3)))})\nfield = grid['t']",
        {
            "grid": {"type": "Dataset", "columns": [["t", "float64 (x: 2, y: 3)"]]},
            "field": {
                "type": "DataArray", "shape": [2, 3], "dtype": "float64 (x: 2, y: 3)"
            },
        },
    ),
    "pyspark": (
        "from pyspark.sql import SparkSession, functions\n"
        "session = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false')"
        ".getOrCreate()\n"
        "rows = session.range(10**13).withColumn('half', functions.col('id') / 2)\n"
        "del SparkSession, functions",
        {
            "session": {"type": "SparkSession"},
            "rows": {
                "type": "DataFrame", "engine": "spark",
                "columns": [["id", "bigint"], ["half", "double"]],
            },
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("library", MAKES)
async def test_tables_of_a_library(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: scripts/table_libraries has it")
    if library == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.variables.LIMIT", 60)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.csv").write_text("a,b\n1,x\n2,y\n")
    code, expected = MAKES[library]
    async with python() as (kernel, _, _):
        _, done = await run(kernel, code)
        assert done.status == "ok", done.outputs
        found = {one.pop("name"): one for one in await kernel.variables() or []}
        assert found == expected


STARTS_SPARK = (
    "from pyspark.sql import SparkSession\n"
    "session = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false')"
    ".getOrCreate()\njobs = session.sparkContext.statusTracker().getActiveJobsIds"
)


async def test_stop_ends_the_job_that_spark_runs() -> None:
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("Spark is not installed: scripts/table_libraries has it, and needs Java")
    async with python() as (kernel, _, _):
        await run(kernel, STARTS_SPARK)
        slow = "session.range(10**14).selectExpr('sum(hash(id))').collect()"
        _, done = await run(kernel, slow, timeout=8)
        assert done.outputs[-1]["ename"] == "KeyboardInterrupt"
        wait = "import time\nuntil = time.time() + 60\nwhile jobs() and time.time() < until: pass"
        _, done = await run(kernel, f"{wait}\nprint(jobs())")
        assert done.outputs[0]["text"] == "[]\n"


def line(**facts: Any) -> dict[str, str]:
    return variable_lines([{"name": "orders", "type": "DataFrame", **facts}])


def test_the_model_learns_that_rows_are_elsewhere() -> None:
    there = line(engine="spark", columns=[["id", "bigint"]])
    assert there == {"orders": 'orders: DataFrame engine=spark columns=[["id", "bigint"]]'}
    assert ENGINES in _variables(list(there.values()), 2_500, "variables")
    assert any(ENGINES in part for part in _variable_changes({}, there))
    assert not any(ENGINES in part for part in _variable_changes(there, there))
    assert ENGINES not in _variables(list(line(shape=[1, 2]).values()), 2_500, "variables")
