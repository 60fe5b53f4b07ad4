"""What the model reads of tables that a run made or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.features.checks import tables
from jupyter_codeinterp.run import reported
from jupyter_codeinterp.wire import events as e
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


def read(name: str, table: str) -> str:
    """Code that reads the table from a file."""
    file = f"io.BytesIO(pickle.dumps({table}))"
    return f"import io, pickle\nimport pandas as pd\n{name} = pd.read_pickle({file})"


async def test_what_is_odd_in_a_table_from_a_file_has_a_line_once(
    bench: Benches, room: Room
) -> None:
    b = bench(
        run(MANY),
        run(read("big", "shop")),
        run("print(len(big))"),
        run("part = big[big['region'] == 'East']\nsteps = big['amount'].diff()"),
        run(read("again", "shop")),
        run(read("more", "pd.concat([shop] * 2)")),
        run("big['rate'] = big['amount'] / (big['amount'] - 1)"),
        run("import sqlite3\ndb = sqlite3.connect(':memory:')\nshop.to_sql('shop', db)\n"
            "rows = pd.read_sql('select * from shop', db)"),
        say("Done."),
    )  # fmt: skip
    facts = "`region` lacks {} of {} values; `price` has numbers as text, such as '1,200'"
    made, first, *others, larger, changed, queried = await of(b)
    assert (made, others, changed, queried) == ("", ["", "", ""], "", "")
    assert first == f"`big`: {facts.format(10, 40)}"
    assert larger == f"`more`: {facts.format(20, 80)}"
    assert all(done.findings == () for done in b.of(e.ToolDone))


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        ("{' DIR': range(40)}", "the name ' DIR' has blanks at its ends"),
        ("{'a': [1] * 40, 'b': range(40)}", "`a` is 1 in all rows"),
        ("{'a': ['x'] * 40}", "`a` is x in all rows"),
        ("{'a': range(40), 'b': range(40)}", "`b` equals `a`"),
        ("{'a': [1, None] * 20}", "`a` lacks 20 of 40 values"),
        ("{'a': [38956.4, float('inf')] * 20}", "`a` is infinite in 20 of 40 rows"),
        ("{'a': range(40), 'b': ['x', 'y'] * 20}", ""),
        ("{'a': [None] + [1.5] * 39_999}", "`a` lacks 1 of 40,000 values"),
        ("{'a': pd.period_range('2024', periods=40, freq='D')}", ""),
        ("{'a': pd.Categorical(['x', 'y'] * 20)}", ""),
    ],
)
async def test_kinds(bench: Benches, room: Room, columns: str, line: str) -> None:
    await room.run("import pandas as pd")
    b = bench(run(read("t", f"pd.DataFrame({columns})")), say("Done."))
    (said,) = await of(b)
    assert said == (f"`t`: {line}" if line else "")


async def test_findings_come_first_and_the_room_is_bounded(bench: Benches, room: Room) -> None:
    table = "pd.DataFrame({{'x' * 30 + str(c): [{}] * 20 for c in range(9)}})"
    many = "\n".join(read(f"t{n}", table.format(n)) for n in range(5))
    code = f"{read('sold', 'shop')}\nsold[sold.region == 'west']\n{many}\nk = 1"
    await room.run(MANY)
    b = bench(run(code), say("Done."))
    (said,) = await of(b)
    assert said.startswith("Line 4: `sold.region == 'west'` matched 0 of 40 rows")
    after = said.split("\n", 1)[1]
    assert len(after) <= 400 and "`region` lacks 10 of 40 values" in after


async def test_private_tables_and_keys_stay_out_and_what_is_asked_comes_first() -> None:
    gaps = [["a\nb", "missing", 6_000, ""], ["price", "missing", 1, ""]]
    named = [
        {"name": "mine", "rows": 3, "odd": gaps},
        {"name": "open", "rows": 12_000, "odd": gaps},
    ]

    def given(*figures: Any, asked: str = "") -> list[str]:
        facts = [{"kind": "odd_columns", "figures": one} for one in figures]
        report = reported.read({"facts": facts}, "", "mine".__eq__)
        return tables.said((fact.figures for fact in report.facts), set(), asked, "", "")

    assert given(*named) == [
        "`open`: `a b` lacks 6,000 of 12,000 values; `price` lacks 1 of 12,000 values"
    ]
    (line,) = given(*named, asked="What is the mean price?")
    assert line.startswith("`open`: `price` lacks 1")
    forged: list[Any] = [5, {"name": 1}, {"name": "a"}, {}]
    assert [given(one) for one in forged] == [[], [], [], []]


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
    assert await of(b) == [""]
    assert await room.run("print(seen)") == "[]\n"


READ = "import pandas as pd\nfrom io import StringIO\n"
READ += "text = 'a,b\\n' + '5,\\n' * 9 + '7,3\\n8,4\\n' * 20\n"
TEXTS = f"{READ}t = pd.read_csv(StringIO(text), dtype=str)"
GAPS = f"{READ}t = pd.read_csv(StringIO(text))"
LACKS = "`t`: `b` lacks 9 of 49 values"
OTHER = "u = pd.read_csv(StringIO(text + '9,9\\n'))"
AS_TEXT = "`t`: `a` has numbers as text, such as '5'"


@pytest.mark.parametrize(
    ("cells", "lines_told"),
    [
        ((TEXTS, "u = t[9:]"), (LACKS, "")),
        ((f"{GAPS}\nt['a'] = t['a'].map(str)", "u = t[9:]"), (f"{AS_TEXT}; {LACKS[5:]}", "")),
        ((f"{GAPS}\nprint(t.isna().sum())",), ("",)),
        ((f"{GAPS}\nt.info()",), ("",)),
        ((f"{GAPS}\nprint(t.isna().any())",), (LACKS,)),
        ((f"{GAPS}\nprint(9)",), (LACKS,)),
        ((GAPS, OTHER), (LACKS, "`u`: `b` lacks 9 of 50 values")),
        ((f"{GAPS}\n{OTHER}",), (f"{LACKS}\n`u`: `b` lacks 9 of 50 values",)),
        ((GAPS, GAPS), (LACKS, "")),
        ((f"{READ}for t in [pd.read_csv(StringIO(text))]:\n    pass",), ("",)),
        ((f"{GAPS}\nt.loc[t['a'] > t['a'].max()]",), (LACKS,)),
        ((f"{GAPS}\nu = t[t['a'] > t['a'].max()].head()\nprint(u)",), (LACKS,)),
        ((f"{GAPS}\nprint(t[t['a'] > t['a'].max()].head().to_string())",), (LACKS,)),
    ],
)  # fmt: skip
async def test_what_the_code_asks_for_or_shows_has_no_line(
    bench: Benches, room: Room, cells: tuple[str, ...], lines_told: tuple[str, ...]
) -> None:
    b = bench(*map(run, cells), say("Done."))
    assert tuple(await of(b)) == lines_told
