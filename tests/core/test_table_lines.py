"""What the model reads of tables that a run made or changed, and further findings on a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.checks.shared.tables import lines
from tests.core.conftest import Room
from tests.core.test_checks import told
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]
SHOP = (
    "import pandas as pd\n"
    "shop = pd.DataFrame({'region': ['East', 'East', 'North', None], 'amount': [1, 2, 3, 40],\n"
    "  'price': ['1,200', '85', '17', '9'], 'day': pd.date_range('2024-01-01', periods=4)})"
)


MANY = f"{SHOP}\nshop = pd.concat([shop] * 10, ignore_index=True)"


async def of(b: Bench) -> list[str]:
    await b.turn(mode="auto")
    assert all(done.status == "ok" for done in b.of(e.ToolDone)), b.sent_results
    return [told(result) for result in b.sent_results]


async def test_a_new_table_is_described_once(bench: Benches, room: Room) -> None:
    b = bench(
        run(SHOP),
        run("shop = pd.concat([shop] * 10, ignore_index=True)"),
        run("print(len(shop))"),
        run("same = shop\nagain = shop.copy()"),
        run("shop['amount'] = shop['amount'] * 2"),
        say("Done."),
    )
    small, first, second, third, fourth = await of(b)
    assert small == ""
    assert first == (
        "`shop` has 40 rows: region 'East' 50%, 'North' 25%, 25.0% missing;"
        " amount 1 to 40, median 2.5; price '1,200' 25%, '85' 25%, 4 values;"
        " day 2024-01-01 to 2024-01-04, median 2024-01-02"
    )
    assert second == third == ""
    assert "amount 2 to 80" in fourth
    assert all(done.findings == () for done in b.of(e.ToolDone))
    assert "has 40 rows" not in "".join(map(repr, (done.notes for done in b.of(e.ToolDone))))


async def test_findings_come_first_and_the_room_is_bounded(bench: Benches, room: Room) -> None:
    many = "\n".join(f"t{n} = pd.DataFrame({{'x' * 30 + str(c): [{n}] * 20 for c in range(9)}})"
                     for n in range(5))  # fmt: skip
    b = bench(run(f"{MANY}\nshop.dropna()\n{many}\nk = 1"), say("Done."))
    (said,) = await of(b)
    assert said.startswith("Line 5: The result of `shop.dropna()` is not kept")
    after = said.split("\n", 1)[1]
    assert len(after) <= 300 and "`shop` has 40 rows" in after


async def test_private_tables_and_keys_stay_out(bench: Benches, room: Room) -> None:
    report = {"tables": [{"name": "mine", "rows": 3}, {"name": "open", "rows": 12_000,
              "sampled": True, "columns": [{"name": "a\nb", "missing": 0.5}]}]}  # fmt: skip
    (line,) = lines(report, lambda name: name == "mine", lambda text: " ".join(text.split()))
    assert line == "`open` has 12,000 rows, of a sample: a b 50.0% missing"
    forged: list[Any] = [{"tables": 5}, {"tables": [{"name": 1}]}, {"tables": [{"name": "a"}]}, {}]
    assert [lines(one, lambda _: False, str) for one in forged] == [[], [], [], []]


async def test_values_of_the_persons_types_run_no_code(bench: Benches, room: Room) -> None:
    await room.run(
        f"{SHOP}\nseen = []\n"
        "class Odd:\n"
        "    def __eq__(self, other): seen.append('eq'); return True\n"
        "    def __hash__(self): seen.append('hash'); return 1\n"
        "    def __repr__(self): seen.append('repr'); return ''\n"
        "odd = Odd()"
    )
    b = bench(
        run("mixed = pd.DataFrame({'a': [odd] * 20, 'b': range(20)})\nseen.clear()"), say(".")
    )
    assert await of(b) == ["`mixed` has 20 rows: b 0 to 19, median 9.5"]
    assert await room.run("print(seen)") == "[]\n"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            "print(pd.cut(shop['amount'], [1, 10, 20]).value_counts())",
            "The bins of `cut` leave out 2 of 4 values of `amount`, as 1 and 40;"
            " they are missing now.",
        ),
        (
            "print(shop.set_index('price').loc['1,200':'17'].amount.sum())",
            "The labels are not in order, so `shop.set_index('price').loc['1,200':'17']` leaves out"
            " 0 rows between the two and takes 1 others.",
        ),
        (
            "print(shop.mean(numeric_only=True))",
            "`numeric_only` leaves out `price`, whose numbers are text, as '1,200', '85' and '17'.",
        ),
        (
            "print(shop.groupby('region', dropna=False).sum(numeric_only=True))",
            "`numeric_only` leaves out `price`, whose numbers are text, as '1,200', '85' and '17'.",
        ),
    ],
)
async def test_what_a_call_leaves_out(
    bench: Benches, room: Room, source: str, sentence: str
) -> None:
    await room.run(SHOP)
    b = bench(run(source), say("Done."))
    (said,) = await of(b)
    assert sentence in said


@pytest.mark.parametrize(
    "source",
    [
        "print(pd.cut(shop['amount'], [0, 10, 50]).value_counts())",
        "print(pd.cut(shop['amount'], 3).value_counts())",
        "print(shop.set_index('amount').loc[2:3].price.tolist())",
        "print(shop.set_index('price').sort_index().loc['17':'9'].amount.sum())",
        "print(shop[['amount']].mean(numeric_only=True))",
        "print(shop.groupby('price').sum(numeric_only=True))",
        "print(total, 2024, 10000, 0.05, 3600)",
    ],
)
async def test_a_call_that_leaves_out_nothing_gets_no_word(
    bench: Benches, room: Room, source: str
) -> None:
    await room.run(f"{SHOP}\ntotal = 48213.771\nyear = 2024\nround_number = 10000\nrate = 0.05")
    assert await of(bench(run(source), say("Done."))) == [""]


async def test_a_figure_written_out_that_a_variable_holds(bench: Benches, room: Room) -> None:
    await room.run("total = 48213.7712\nrows = 14291\n_hidden = 77713")
    b = bench(run("print(48213.77 / 3, 14291, 77713)\nmine = 48213.77"), say("Done."))
    (said,) = await of(b)
    assert "Line 1: `48213.77` is written out; `total` has that value." in said
    assert "`14291` is written out; `rows` has that value." in said and "77713" not in said
    assert b.of(e.ToolDone)[0].findings == ()
