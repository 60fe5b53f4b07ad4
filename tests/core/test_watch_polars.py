"""What the kernel sees of calls of polars, and that the cells do not notice."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable

import pytest

from jupyter_codeinterp.core import events as e
from tests.core.conftest import Room
from tests.core.test_watch import NOT_WATCHED, findings
from tests.kernels import run as run_in
from tests.scripted import Bench, run, say

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("polars") is None,
    reason="polars is not installed; scripts/engines tables has it",
)
Benches = Callable[..., Bench]
TABLES = """import polars as pl
sales = pl.DataFrame({"shop": ["a", "a", "b", "c"], "region": ["North ", "East", "East", None],
                      "amount": [1, 2, 3, 4], "price": ["1.5", "2", "n/a", "3,50"],
                      "day": ["2024-01-02", "2024-13-02", "2024-02-03", None]})
shops = pl.DataFrame({"shop": ["a", "b", "c"], "town": ["X", "Y", "Z"]})
twice = pl.DataFrame({"shop": ["a", "a", "b", "c"], "town": ["X", "W", "Y", "Z"]})
others = pl.DataFrame({"shop": ["A", "B ", "q"], "town": ["X", "Y", "Z"]})"""

BY_TOWN = "m.group_by('town', maintain_order=True).agg(pl.col('amount').sum())"
WRONG = {
    "sales.filter(pl.col('region') == 'North')": (
        "`sales.filter(pl.col('region') == 'North')` matched 0 of 4 rows; the column has 'North '."
    ),
    "sales.filter(region='West')['amount'].sum()": (
        "`sales.filter(region='West')` matched 0 of 4 rows; the values are 'North ' and 'East'."
    ),
    "m = sales.join(twice, on='shop')\nm['amount'].sum()": (
        "The join made 6 rows of 4 and 4, so `amount` is counted more than once."
    ),
    "sales.join(twice, 'shop').group_by('town', maintain_order=True).agg(pl.col('amount').sum())": (
        "The join made 6 rows of 4 and 4, so `amount` is counted more than once."
    ),
    "sales.join(twice, on='shop').select(pl.sum('amount'))": (
        "The join made 6 rows of 4 and 4, so `amount` is counted more than once."
    ),
    "m = sales.join(others, on='shop', how='left')\nprint(len(m))": (
        "4 of 4 rows found no partner by shop; 'a' differs only in case or blanks."
    ),
    "s = sales.with_columns(pl.col('price').cast(pl.Float64, strict=False))": (
        "2 of 4 values of `price` could not be read as numbers and are missing now, such as '3,50'."
    ),
    "s = sales.select(p=pl.col('price').cast(pl.Float64, strict=False))": (
        "2 of 4 values of `price` could not be read as numbers and are missing now, such as '3,50'."
    ),
    "s = sales['price'].cast(pl.Float64, strict=False)": (
        "2 of 4 values of `price` could not be read as numbers and are missing now, such as '3,50'."
    ),
    "s = sales.with_columns(pl.col('day').str.to_date(strict=False))": (
        "1 of 4 values of `day` could not be read as dates and are missing now,"
        " such as '2024-13-02'."
    ),
}
RIGHT = [
    "sales.filter(pl.col('region') == 'East')",
    "sales.filter(pl.col('amount') > 100).is_empty()",
    "east = sales.filter(pl.col('region') == 'West')\nif east.is_empty():\n    print('none')",
    "m = sales.join(shops, on='shop')\nm['amount'].sum()",
    "m = sales.join(twice.unique('shop'), on='shop')\nm['amount'].sum()",
    f"m = sales.join(shops, on=['shop'], how='left')\n{BY_TOWN}",
    f"m = shops.join(sales, on='shop')\n{BY_TOWN}",
    "sales.join(others, on='shop', how='anti')",
    "sales.join(twice, how='cross')",
    "s = sales.with_columns(pl.col('amount').cast(pl.Float64, strict=False))",
    "s = sales.with_columns(pl.col('price').cast(pl.Float64, strict=False).fill_null(0))",
    "sales.lazy().filter(pl.col('region') == 'East').collect()",
    "sales.with_columns(pl.col('amount').shift(1), x=pl.lit(1), y=pl.col('amount') / 2)",
]


async def test_what_is_found(bench: Benches, room: Room) -> None:
    await room.run(TABLES)
    b = bench(*map(run, WRONG), say("Done."))
    assert await findings(b) == [(words,) for words in WRONG.values()]


async def test_right_code_alarms_nobody(bench: Benches, room: Room) -> None:
    await room.run(TABLES)
    b = bench(*map(run, RIGHT), say("Done."))
    await b.turn(mode="auto")
    told = [[one.sentence for one in done.findings if one.audience == "person"]
            for done in b.of(e.ToolDone)]  # fmt: skip
    assert told == [[] for _ in RIGHT]


async def test_it_is_seen_in_a_cell_that_imports_polars_first(bench: Benches, room: Room) -> None:
    await room.restart()
    first = next(iter(WRONG))
    b = bench(run(f"{TABLES}\n{first}"), run("'polars' in __import__('sys').modules"), say("0."))
    assert await findings(b) == [(WRONG[first],), ()]
    seen = await room.run("print('calls.py' in pl.DataFrame.join.__code__.co_filename)")
    assert seen == "False\n"


@pytest.mark.parametrize(
    "source",
    [
        "sales['nope']",
        "sales.join(5, on='shop')",
        "sales.join(shops, on='nope')",
        "sales.filter(pl.col('nope') == 1)",
        "sales.with_columns(pl.col('price').cast(pl.Float64))",
        "import traceback as t\ntry:\n    sales.join(shops, on='nope')\n"
        "except Exception:\n    print(t.format_exc())",
        "import inspect\nprint(inspect.signature(pl.DataFrame.join), pl.DataFrame.join.__name__)",
        "import warnings\nwarnings.simplefilter('always')\n"
        "sales.select(pl.col('amount').map_elements(lambda x: x + 1))",
        *WRONG,
        *RIGHT,
    ],
)
async def test_outputs_are_as_without_it(bench: Benches, room: Room, source: str) -> None:
    """Tables, tracebacks, warnings and signatures."""
    outputs = []
    await bench(run("a = 1"), say("Done.")).turn(mode="auto")
    for prepare in (TABLES, f"{TABLES}\n{NOT_WATCHED}"):
        await room.run(prepare)
        _, done = await run_in(room.kernel, source)
        outputs.append(re.sub(r"In\[\d+\]|'execution_count': \d+", "", repr(done.outputs)))
    await room.restart()
    assert outputs[0] == outputs[1]


async def test_it_leaves_all_as_it_was(bench: Benches, room: Room) -> None:
    await bench(run("a = 1"), say("Done.")).turn(mode="auto")
    places = "dict(vars(pl.DataFrame)), dict(vars(pl.Series)), dict(vars(pl))"
    await room.run(f"{TABLES}\nkept = {places}")
    assert len((await findings(bench(run(next(iter(WRONG))), say("0."))))[0]) == 1
    assert await room.run(f"print(kept == ({places}))") == "True\n"
