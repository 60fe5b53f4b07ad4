"""What the kernel sees of the agent's cells, and that the cells do not notice."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from jupyter_codeinterp.core import events as e
from tests.core.conftest import Room
from tests.kernels import run as run_in
from tests.scripted import Bench, run, say

NOT_WATCHED = """
for name in ("pre_run_cell", "post_run_cell"):
    calls = get_ipython().events.callbacks[name]
    for call in [c for c in calls if type(getattr(c, "__self__", None)).__name__ == "Watch"]:
        get_ipython().events.unregister(name, call)
"""
Benches = Callable[..., Bench]
SALES = (
    "import pandas as pd\n"
    "df = pd.DataFrame({'region': ['East', 'North ', None], 'amount': [1, 2, 3]})"
)


async def findings(b: Bench) -> list[tuple[str, ...]]:
    await b.turn(mode="auto")
    return [tuple(one.sentence for one in done.findings) for done in b.of(e.ToolDone)]


async def test_a_filter_that_matches_nothing(bench: Benches, room: Room) -> None:
    await room.run(SALES)
    b = bench(run("df[df.region == 'North'].amount.sum()"), say("0."))
    words = "`df.region == 'North'` matched 0 of 3 rows; the column has 'North '."
    assert await findings(b) == [(words,)]
    assert f"Line 1: {words}" in b.sent_results[0]


async def test_it_is_seen_in_a_cell_that_imports_pandas_first(bench: Benches, room: Room) -> None:
    await room.restart()
    source = f"{SALES}\ntotal = df.groupby('region').amount.sum()"
    b = bench(run(source), run(source), say("Done."))
    words = "`df.groupby('region')` leaves out 1 of 3 rows, where region is missing."
    assert await findings(b) == [(words,), (words,)]


async def test_a_changed_variable_of_the_person(bench: Benches, room: Room) -> None:
    await room.run(SALES)
    b = bench(run("clean = df\nclean['amount'] = clean['amount'] * 2"), say("Done."))
    words = "Your variable `df` was changed in place: other values in 'amount'."
    assert await findings(b) == [(words,)]
    own = bench(run("mine = df.copy()"), run("mine['amount'] = 0"), say("Done."))
    assert await findings(own) == [(), ()]


async def test_the_persons_own_cells_are_not_watched(bench: Benches, room: Room) -> None:
    await room.run(SALES)
    await bench(run("a = 1"), say("Done.")).turn(mode="auto")
    seen = await room.run("print('wrapped' in repr(pd.DataFrame.merge.__code__), *dir())")
    assert "False" in seen and "codeinterp" not in seen and "tracer" not in seen


@pytest.mark.parametrize(
    "source",
    [
        "df['nope']",
        "df.merge(5)",
        "import traceback as t\ntry:\n    df['nope']\nexcept KeyError:\n    print(t.format_exc())",
        "import warnings\nwarnings.simplefilter('always')\npd.to_datetime(pd.Series(['13/1/24']))",
        "df['amount'][df.amount > 1] = 0",
        "low = 1\ndef f():\n    low = 2\n    return df.query('amount > @low')\nlen(f())",
        "import inspect\nprint(inspect.signature(pd.merge), pd.merge.__name__)",
        "df.region.replace('East', 'W', inplace=True)\nprint(df)",
    ],
)
async def test_outputs_are_as_without_it(bench: Benches, room: Room, source: str) -> None:
    """Tracebacks, warnings, signatures, and pandas' own count of references."""
    outputs = []
    await bench(run("a = 1"), say("Done.")).turn(mode="auto")
    for prepare in (SALES, f"{SALES}\n{NOT_WATCHED}"):
        await room.run(prepare)
        _, done = await run_in(room.kernel, source)
        outputs.append(re.sub(r"In\[\d+\]|'execution_count': \d+", "", repr(done.outputs)))
    await room.restart()
    assert outputs[0] == outputs[1] and ("Error" in outputs[0] or "text" in outputs[0])
