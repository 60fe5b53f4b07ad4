"""Variables of lazy and distributed tables: told in a real kernel, without computing them."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from jupyter_codeinterp.view.notebook_prompt import variable_lines
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
        "import dask.dataframe, pandas, time\n"
        "def slow(frame):\n    time.sleep(600)\n    return frame\n"
        "one = pandas.DataFrame({'a': [1, 2], 'b': [0.5, 1.5]})\n"
        "two = dask.dataframe.from_pandas(one, npartitions=2)\n"
        "slowly = two.map_partitions(slow, meta=one.iloc[:0])\nslow_column = slowly['a']\n"
        "by_key = slowly.set_index('a').b\n"
        "del slow, one, two",
        {
            "slowly": {
                "type": "DataFrame", "engine": "dask",
                "columns": [["a", "int64"], ["b", "float64"]]
            },
            "slow_column": {
                "type": "Series", "engine": "dask", "dtype": "int64"
            },
            "by_key": {"type": "Series", "engine": "dask", "dtype": "float64"},
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
    "torch": (
        "import torch\nplaced = torch.zeros(2, 3)\n"
        "there = torch.zeros(2, 3, dtype=torch.int8, device='meta')\n"
        "weight = torch.nn.Linear(3, 2).weight",
        {
            "placed": {"type": "Tensor", "shape": [2, 3], "dtype": "torch.float32 on cpu"},
            "there": {"type": "Tensor", "shape": [2, 3], "dtype": "torch.int8 on meta"},
            "weight": {"type": "Parameter", "shape": [2, 3], "dtype": "torch.float32 on cpu"},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("library", MAKES)
async def test_tables_of_a_library(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed: scripts/engines tables has it")
    if library == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.variables.LIMIT", 60)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.csv").write_text("a,b\n1,x\n2,y\n")
    code, expected = MAKES[library]
    async with python() as (kernel, _, _):
        _, done = await run(kernel, code)
        assert done.status == "ok", done.outputs
        found = {one.pop("name"): one for one in await kernel.variables() or []}
        assert found == expected


def test_the_model_learns_that_rows_are_elsewhere() -> None:
    facts = {"engine": "spark", "columns": [["id", "bigint"]]}
    there = variable_lines([{"name": "orders", "type": "DataFrame", **facts}])
    assert there == {"orders": 'orders: DataFrame engine=spark columns=[["id", "bigint"]]'}
