"""What the model reads of tables that a run made or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


async def test_a_new_or_changed_table_has_a_line(bench: Benches, room: Room) -> None:
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
    line = "`shop` has 40 rows; missing: region 25.0%"
    assert first == line and second == ""
    assert fourth.startswith(line)
    assert third == line.replace("shop", "same") + "\n" + line.replace("shop", "again")
    assert all(done.findings == () for done in b.of(e.ToolDone))
    assert "has 40 rows" not in "".join(map(repr, (done.notes for done in b.of(e.ToolDone))))


async def test_findings_come_first_and_the_room_is_bounded(bench: Benches, room: Room) -> None:
    many = "\n".join(f"t{n} = pd.DataFrame({{'x' * 30 + str(c): [{n}] * 20 for c in range(9)}})"
                     for n in range(5))  # fmt: skip
    b = bench(run(f"{MANY}\nshop[shop.region == 'west']\n{many}\nk = 1"), say("Done."))
    (said,) = await of(b)
    assert said.startswith("Line 5: `shop.region == 'west'` matched 0 of 40 rows")
    after = said.split("\n", 1)[1]
    assert len(after) <= 300 and "`shop` has 40 rows" in after


async def test_private_tables_and_keys_stay_out(bench: Benches, room: Room) -> None:
    report = {"tables": [{"name": "mine", "rows": 3}, {"name": "open", "rows": 12_000,
              "sampled": True, "missing": [["a\nb", 0.5]]}]}  # fmt: skip
    (line,) = lines(report, lambda name: name == "mine", lambda text: " ".join(text.split()))
    assert line == "`open` has 12,000 rows; missing in a sample: a b 50.0%"
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
    assert await of(b) == ["`mixed` has 20 rows"]
    assert await room.run("print(seen)") == "[]\n"
