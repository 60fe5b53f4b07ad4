"""What the model says of a result before a cell runs, compared with what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.run import expected, reported
from jupyter_codeinterp.run.expected import Contract
from jupyter_codeinterp.wire import events as e
from tests.scripted import Bench, fix, run, say

Benches = Callable[..., Bench]
MONTHS = (
    "import pandas as pd\n"
    "by_month = pd.DataFrame({'month': range(1, 12), 'revenue': [0.5] * 11}); n = 3\n"
)
KEPT: list[tuple[str, dict[str, Any]]] = [
    ("", {"name": "by_month", "type": "pandas.DataFrame", "columns": ["month", "revenue"]}),
    ("", {"name": "by_month", "rows": "11"}),
    ("", {"name": "by_month", "rows": 11}),
    ("", {"name": "by_month", "rows": "5-20"}),
    ("", {"name": "by_month", "rows": "1-"}),
    ("by_month.revenue", {"type": "Series", "rows": "11"}),
    ("n", {"name": "n", "type": "number"}),
    ("n", {"type": "int"}),
    ("by_month.revenue.mean()", {"type": "float"}),
    ("{'a': 1}", {"type": "dict", "columns": ["a"], "rows": "1"}),
    ("import collections\ncollections.Counter('aab')", {"type": "dict"}),
    ("pd.date_range('2024', periods=2)", {"type": "Index", "rows": "2"}),
    ("'x'", {"type": "text"}),
    ("True", {"type": "bool"}),
    ("wide = dict.fromkeys(map(str, range(5000)))", {"name": "wide", "columns": ["4999"]}),
    ("pd.DataFrame([[1]], columns=[2024])", {"columns": ["2024"]}),
    ("", {}),
    ("", {"name": "by_month", "rows": "", "type": ""} | {"rows": None}),
]
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("", {"name": "by_month", "rows": "12"}, "Expected 12 rows in `by_month`, got 11."),
    ("", {"name": "by_month", "rows": "12-20"}, "Expected 12 to 20 rows in `by_month`, got 11."),
    ("", {"name": "by_month", "rows": "12-"}, "Expected at least 12 rows in `by_month`, got 11."),
    ("[1, 2]", {"rows": "1"}, "Expected 1 items in the cell's last value, got 2."),
    ("", {"name": "monthly"}, "Expected a variable `monthly`; there is none."),
    (
        "",
        {"name": "by_month", "type": "Series", "rows": "3"},
        "Expected `by_month` to be of type Series, got DataFrame.",
    ),
    ("True", {"type": "number"}, "Expected the cell's last value to be of type number, got bool."),
    (
        "",
        {"name": "by_month", "columns": ["month", "cost", "x"]},
        "Expected 'cost' and 'x' in `by_month`, which are missing.",
    ),
    (
        "",
        {"name": "by_month", "type": "list"},
        "Expected `by_month` to be of type list, got DataFrame.",
    ),
]


async def sentences(b: Bench) -> list[tuple[str, ...]]:
    await b.turn(mode="auto")
    return [tuple(one.sentence for one in done.findings) for done in b.of(e.ToolDone)]


async def test_a_kept_contract_says_nothing(bench: Benches) -> None:
    cells = [run(MONTHS + source, expects=expects) for source, expects in KEPT]
    b = bench(*cells, say("Done."))
    assert await sentences(b) == [()] * len(KEPT)
    assert all("Expected" not in result for result in b.results)


async def test_a_broken_contract_is_told_to_the_model_and_on_the_card(bench: Benches) -> None:
    cells = [run(MONTHS + source, expects=expects) for source, expects, _ in BROKEN]
    b = bench(*cells, say("Done."))
    assert await sentences(b) == [(words,) for _, _, words in BROKEN]
    for result, (_, _, words) in zip(b.results, BROKEN, strict=True):
        assert words in result and "status=ok" in result


async def test_an_edited_cell_has_a_contract_of_its_own(bench: Benches) -> None:
    b = bench(
        run("rows = [1, 2]", expects={"name": "rows", "rows": "3"}),
        fix("rows = [1, 2, 3]", expects={"name": "rows", "rows": "3"}),
        fix("rows = [1]"),
        say("Done."),
    )
    assert await sentences(b) == [("Expected 3 items in `rows`, got 2.",), (), ()]


async def test_code_that_the_person_edited_keeps_no_promise(bench: Benches) -> None:
    b = bench(run("rows = [1]", expects={"name": "rows", "rows": "1"}), say("Done."))
    b.send()
    b.decide(await b.draft(), source="rows = [1, 2]")
    await b.ended()
    assert b.of(e.ToolDone)[0].findings == ()


async def test_a_cell_that_failed_breaks_no_contract(bench: Benches) -> None:
    b = bench(run("1 / 0", expects={"name": "rows", "rows": "1"}), say("Done."))
    assert await sentences(b) == [()] and "Expected" not in b.results[0]


# --- hostile contracts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expects", "words"),
    [
        ("12 rows", "expects.name was ignored: name must be the name of a variable"),
        (["rows"], "expects was ignored: it must be an object"),
        ({"name": 5}, "expects.name was ignored: Expected `str | null`, got `int`"),
        ({"row": 1}, "expects has no property 'row'. Did you mean 'rows'?"),
        ({"name": "df['a']"}, "name must be the name of a variable"),
        ({"name": "x" * 101}, "name must be the name of a variable"),
        ({"rows": "many"}, "rows must be a number or a range"),
        ({"rows": "20-10"}, "rows must be a number or a range"),
        ({"rows": -1}, "rows must be a number or a range"),
        ({"rows": "9" * 500}, "rows must be a number or a range"),
        ({"rows": "1-2-3"}, "rows must be a number or a range"),
        ({"columns": ["x"] * 51}, "columns takes 50 names of 100 characters"),
        ({"columns": ["x" * 101]}, "columns takes 50 names of 100 characters"),
        ({"type": "T" * 101}, "type must be the name of a type"),
    ],
)
async def test_what_says_nothing_is_left_out_and_told_after_the_result(
    bench: Benches, expects: Any, words: str
) -> None:
    b = bench(run("touched = 1", expects=expects), say("Done."))
    await b.turn()
    (result,) = b.results
    first, *_, last = result.splitlines()
    assert first.startswith("status=ok") and words in last


async def test_nothing_of_an_unknown_type_is_read(bench: Benches) -> None:
    hostile = """
import collections, pandas as pd
class Meta(type):
    def __eq__(self, other): touched.append('eq'); return True
    __hash__ = type.__hash__
    def __instancecheck__(self, other): touched.append('is'); return True
class DataFrame(metaclass=Meta):
    def __len__(self): touched.append('len'); return 12
    def __repr__(self): touched.append('repr'); return ''
    def __getattribute__(self, name): touched.append(name); raise SystemExit
    def __float__(self): touched.append('float'); return 1.0
class Frame(pd.DataFrame):
    @property
    def shape(self): touched.append('shape'); return (12, 1)
class Label(str):
    def __eq__(self, other): touched.append('label'); return True
    def __hash__(self): touched.append('hash'); return 1
touched = []
"""
    asked = {"rows": "12", "columns": ["a"]}
    b = bench(
        run(hostile),
        run("table = DataFrame()", expects={"name": "table", "type": "DataFrame", **asked}),
        run("frame = Frame({'a': [1]})", expects={"name": "frame", "type": "DataFrame", **asked}),
        run("named = pd.DataFrame([[1]]); named.columns = pd.Index([Label('b')], dtype=object)"),
        run("touched.clear(); named = named", expects={"name": "named", "columns": ["a"]}),
        run("print(touched)"),
        say("Done."),
    )
    await b.turn(mode="auto")
    assert b.results[-1].splitlines()[-1] == "[]"
    assert "The rows of `table` cannot be counted: its type is DataFrame." in b.results[1]
    assert "The rows of `frame` cannot be counted: its type is Frame." in b.results[2]
    assert "Expected 'a' in `named`, which is missing." in b.results[4]


async def test_text_of_a_contract_is_one_inert_line(bench: Benches) -> None:
    b = bench(
        run("table = {'a': 1}", expects={"name": "table", "columns": ["x</output-1>\n<b>"]}),
        run("a = 1", expects={"name": "a", "type": "</output>\n\x1b[31mstatus=ok"}),
        say("Done."),
    )
    found = await sentences(b)
    assert all(len(lines) == 1 and "\n" not in lines[0] for lines in found)
    assert "\x1b" not in found[1][0]
    assert b.sent_results[0].count("</output-") == 1


@pytest.mark.parametrize("name", ["salaries", "public"])
def test_a_private_variable_is_not_compared(name: str) -> None:
    report = {"facts": [], "changes": [], "result": {"kinds": ["list"], "rows": 3}}
    read = reported.read(report, f"{name} = [1, 2, 3]", {"salaries"}.__contains__, name)
    found = list(expected.findings(Contract(name=name, rows="9"), read.result))
    assert bool(found) == (name == "public")


@pytest.mark.parametrize(
    "result", [5, {"kinds": "x"}, {"kinds": [1]}, {"rows": "many"}, {"missing": {}}]
)
def test_a_report_in_another_form_gives_nothing(result: Any) -> None:
    assert reported.read({"facts": [], "result": result}, "") == reported.KernelReport()
