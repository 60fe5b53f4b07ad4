"""Whether figures hold on changed data: the changes, what is followed, and real runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.core.verify import json_tables
from jupyter_codeinterp.core.verify.holding import Followed, Moved, Ran, moved, places
from jupyter_codeinterp.core.verify.variations import (
    Variation,
    outliers,
    parsed,
    share,
    variations,
    varied,
    written,
)
from tests.reference_window import body
from tests.site import Site
from tests.verify.test_verifying import book, folder, kernels

__all__ = ["folder"]

CSV = "id,region,sales\n" + "".join(f"{n},{'NS'[n % 2]},{n * n}\n" for n in range(1, 41))
TABLE = parsed(CSV)
assert TABLE is not None


@pytest.mark.parametrize(
    ("kind", "rows"), [("shuffled", 40), ("left_out", 38), ("doubled", 42), ("outlier", 39)]
)
def test_what_a_change_does_to_the_rows(kind: Any, rows: int) -> None:
    assert TABLE is not None
    changed = varied(TABLE, Variation(kind))
    assert changed.head == TABLE.head and len(changed.rows) == rows
    assert set(changed.rows) <= set(TABLE.rows) and changed.rows != TABLE.rows
    assert varied(TABLE, Variation(kind)) == changed
    if kind == "outlier":
        assert set(TABLE.rows) - set(changed.rows) == {("40", "N", "1600")}


def test_seeds_leave_out_different_rows() -> None:
    assert TABLE is not None
    kept = {varied(TABLE, Variation("left_out", seed)).rows for seed in range(1, 6)}
    assert len(kept) == 5


def test_a_column_that_counts_the_rows_has_no_outlier() -> None:
    assert TABLE is not None
    assert [one.kind for one in variations(len(outliers(TABLE)))].count("outlier") == 1


@pytest.mark.parametrize("text", ["", "a,b", "a,b\n1,2"])
def test_what_is_no_table(text: str) -> None:
    assert parsed(text) is None


def test_the_delimiter_and_quotes_stay() -> None:
    table = parsed('a;b\n"x;y";1\nz;2\n')
    assert table is not None and written(table) == 'a;b\n"x;y";1\nz;2\n'


RECORDS = [{"region": "NS"[n % 2], "sales": n * n, "of": {"n": [n]}} for n in range(1, 41)]
LIST = json.dumps(RECORDS, indent=1)
LINES = "".join(f"{json.dumps(record)}\n" for record in RECORDS)


@pytest.mark.parametrize(("text", "layout"), [(LIST, "list"), (LINES, "lines")])
def test_records_in_json(text: str, layout: str) -> None:
    found = json_tables.parsed(text)
    assert found is not None and found[1] == layout
    table = found[0]
    assert [one.kind for one in variations(len(outliers(table)))].count("outlier") == 1
    for kind, rows in (("shuffled", 40), ("left_out", 38), ("doubled", 42), ("outlier", 39)):
        changed = json_tables.written(varied(table, Variation(kind)), found[1])  # type: ignore[arg-type]
        lines = changed.splitlines() if layout == "lines" else []
        records = [json.loads(line) for line in lines] if lines else json.loads(changed)
        assert len(records) == rows and records != RECORDS
        assert all(record in RECORDS for record in records)
        if kind == "outlier":
            assert RECORDS[-1] not in records


def test_records_stay_as_they_are_written() -> None:
    text = '[{"a": 1.10, "b": "é"},\n{"a":2, "b": "\\u00e9"}]\n'
    found = json_tables.parsed(text)
    assert found is not None and json_tables.written(*found) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "[", "[1, 2]", '[{"a": 1}]', '{"a": [{"b": 1}, {"b": 2}]}', "[" * 100_000),
        *('[{"a": 1}, {"a": 2}] x', '[{"a": 1} {"a": 2}]', '{"a": 1}\n2\n'),
    ],
)
def test_json_without_a_list_of_records(text: str) -> None:
    assert json_tables.parsed(text) is None


# --- what is followed ----------------------------------------------------------------


def shown(text: str) -> dict[str, list[Any]]:
    return {"c1": [{"output_type": "execute_result", "data": {"text/plain": text}}]}


def follow(base: str, figure: str, *runs: str) -> Moved | None:
    start = base.index(figure)
    wanted = [Followed(figure, "c1", 0, start, start + len(figure))]
    ((place, text),) = places(wanted, shown(base)).items()
    return moved(place, text, shown(base), [Ran(shown(run)) for run in runs])


def test_a_figure_is_followed_by_its_row() -> None:
    base = "  region  sum\n0  North   12\n1  South   10"
    found = follow(base, "12", "  region  sum\n0  South   11\n1  North    9", base)
    assert found == Moved("12", "c1", "North", 12, 9, 12, 2, 1, ("South",), 0)


def test_a_sign_that_changes() -> None:
    found = follow("slope: 0.25", "0.25", "slope: -0.5", "slope: 0.5")
    assert found is not None
    assert (found.low, found.high, found.flips, found.first) == (-0.5, 0.5, 1, -1)


@pytest.mark.parametrize(
    "base",
    [
        "429 rows, 24 spellings\n12 rows have no revenue",
        "12 rows have no revenue\nWest 2",
    ],
)
def test_a_sentence_or_a_heading_is_no_row(base: str) -> None:
    found = follow(base, "12", base)
    assert found is not None and (found.runs, found.first) == (1, -1)


def test_a_year_in_the_heading_is_not_first() -> None:
    base = "sum of 2024\nNorth 12\nWest 2"
    found = follow(base, "12", base)
    assert found is not None and (found.runs, found.first) == (1, 1)


def test_a_figure_that_a_run_lacks() -> None:
    found = follow("North 12\nSouth 10", "12", "South 10\nWest 2")
    assert found is not None and (found.runs, found.first, found.instead) == (0, 0, ("South",))


def test_outputs_that_are_gone_are_not_followed() -> None:
    assert places([Followed("1", "c9", 0, 0, 1), Followed("1", "c1", 3, 0, 1)], shown("1")) == {}


def of_runs(base: str, figure: str, twice: str, *runs: tuple[str, float]) -> Moved | None:
    start = base.index(figure)
    wanted = [Followed(figure, "c1", 0, start, start + len(figure))]
    ((place, text),) = places(wanted, shown(base)).items()
    changed = [Ran(shown(run), rows) for run, rows in runs]
    return moved(place, text, shown(base), changed, shown(twice))


def test_a_sum_is_compared_as_for_all_rows() -> None:
    base, twice = "North 600\nSouth 400", "North 1200\nSouth 800"
    found = of_runs(
        base, "600", twice, ("North 570\nSouth 380", 0.95), ("North 630\nSouth 420", 1.05)
    )
    assert found is not None and found.scaled
    assert [found.low, found.high] == pytest.approx([600, 600])
    assert (found.first, found.runs, found.flips) == (2, 2, 0)
    assert found.parts == pytest.approx((0.6, 0.6, 0.6))


def test_a_share_that_changes_is_told() -> None:
    base, twice = "North 600\nSouth 400\nTotal 1000", "North 1200\nSouth 800\nTotal 2000"
    found = of_runs(base, "600", twice, ("North 475\nSouth 475\nTotal 950", 0.95))
    assert found is not None and found.parts == pytest.approx((0.6, 0.5, 0.6))
    assert found.low == pytest.approx(500)


def test_a_mean_is_compared_as_it_is() -> None:
    found = of_runs("mean 12.5", "12.5", "mean 12.5", ("mean 11.9", 0.95))
    assert found is not None and (found.low, found.scaled, found.parts) == (11.9, False, ())


def test_a_count_is_not_overtaken_because_rows_are_left_out() -> None:
    base = "count 100\nmax 98"
    found = of_runs(base, "100", "count 200\nmax 98", ("count 95\nmax 98", 0.95))
    assert found is not None and (found.first, found.runs) == (1, 1)
    without = follow(base, "100", "count 95\nmax 98")
    assert without is not None and without.first == 0


def test_a_sum_over_a_join_goes_with_the_square() -> None:
    found = of_runs("pairs 1000", "1000", "pairs 4000", ("pairs 902", 0.95))
    assert found is not None and found.low == pytest.approx(999.4, abs=0.1)


@pytest.mark.parametrize(("kind", "rows"), [("left_out", 38), ("doubled", 42), ("outlier", 40)])
def test_how_many_rows_a_change_leaves(kind: Any, rows: int) -> None:
    assert share(Variation(kind), [40]) == rows / 40
    assert share(Variation(kind), []) == 1


# --- real runs -----------------------------------------------------------------------


async def ended(site: Site) -> Any:
    asked = {"notebook": "work/a.ipynb"}
    now = (await site.get("holdings", params=asked))["holding"]
    while now["state"] == "running":
        seen = {**asked, "seen": str(now["version"])}
        now = (await site.get("holdings", params=seen))["holding"]
    return now


CODE = """import csv, collections
total = collections.Counter()
for row in csv.DictReader(open("sales.csv")):
    total[row["region"]] += float(row["amount"])"""
SHOW = "print('\\n'.join(f'{name} {value}' for name, value in sorted(total.items())))"


async def test_a_conclusion_that_flips(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer runs of a kind; each starts a kernel.
    monkeypatch.setattr("jupyter_codeinterp.core.verify.variations.REPEATS", 1)
    rows = [*(("North", 1) for _ in range(10)), ("North", 40), *(("South", 3) for _ in range(10))]
    text = "region,amount\n" + "".join(f"{region},{amount}\n" for region, amount in rows)
    (folder / "sales.csv").write_text(text)
    made = book(CODE, SHOW, "raise ValueError")
    stream = {"output_type": "stream", "name": "stdout", "text": "North 50.0\nSouth 30.0\n"}
    made["cells"][1]["outputs"] = [stream]
    (folder / "a.ipynb").write_text(json.dumps(made))
    figure = {"text": "50", "cell_id": "c2", "output": 0, "start": 6, "end": 10}
    asked = {"notebook": "work/a.ipynb", "key": "answer 1", "figures": [figure]}
    plan = (await site.post("holdings", json_body=asked))["holding"]
    assert (plan["state"], plan["runs"], plan["cells"]) == ("planned", 5, 2)
    assert plan["changed"] == ["sales.csv"] and kernels(site) == []
    await site.post("holdings", json_body={**asked, "begin": True})
    now = await ended(site)
    assert (now["state"], now["at"], now["key"], now["failed"]) == ("done", 5, "answer 1", [])
    (found,) = now["figures"]
    assert (found["label"], found["base"], found["low"]) == ("North", 50, 10)
    assert (found["first"], found["runs"], found["instead"]) == (3, 4, ["South"])
    assert (folder / "sales.csv").read_text() == text and kernels(site) == []


async def test_a_json_file_is_changed(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.core.verify.variations.REPEATS", 0)
    text = json.dumps([{"v": 1}] * 10 + [{"v": 90}])
    (folder / "v.json").write_text(text)
    (folder / "none.json").write_text('{"a": 1}')
    code = "import json\nprint('sum', sum(row['v'] for row in json.load(open('v.json'))))"
    made = book(f"{code}  # none.json")
    stream = {"output_type": "stream", "name": "stdout", "text": "sum 100\n"}
    made["cells"][0]["outputs"] = [stream]
    (folder / "a.ipynb").write_text(json.dumps(made))
    figure = {"text": "100", "cell_id": "c1", "output": 0, "start": 4, "end": 7}
    asked = {"notebook": "work/a.ipynb", "key": "k", "figures": [figure], "begin": True}
    plan = (await site.post("holdings", json_body=asked))["holding"]
    assert (plan["changed"], plan["unchanged"]) == (["v.json"], ["none.json"])
    now = await ended(site)
    (found,) = now["figures"]
    assert (now["failed"], found["low"], found["runs"]) == ([], 10, 3)
    assert (folder / "v.json").read_text() == text and kernels(site) == []


async def test_without_a_table_nothing_begins(site: Site, folder: Path) -> None:
    (folder / "a.ipynb").write_text(json.dumps(book("1", c1="1")))
    figure = {"text": "1", "cell_id": "c1", "output": 0, "start": 0, "end": 1}
    asked = {"notebook": "work/a.ipynb", "key": "k", "figures": [figure], "begin": True}
    refused = await site.as_page("POST", "holdings", json_body=asked)
    assert (refused.code, body(refused)["code"]) == (409, "no_table")
    asked["figures"] = [{**figure, "cell_id": "gone"}]
    refused = await site.as_page("POST", "holdings", json_body=asked)
    assert (refused.code, body(refused)["code"]) == (400, "malformed")
