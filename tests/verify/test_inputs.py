"""What is changed beside text files: Parquet, Excel, and copies of the kernel's variables."""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.core.verify.sheets import Sheets, sheets_read
from jupyter_codeinterp.kernel_side.varying import variables
from jupyter_codeinterp.kernel_side.varying.excel import change_excel
from jupyter_codeinterp.kernel_side.varying.inputs import changed
from jupyter_codeinterp.kernel_side.varying.parquet import change_parquet
from jupyter_codeinterp.kernel_side.varying.refusal import CannotChange
from tests.kernels import person_at
from tests.site import Site
from tests.verify.test_copying import there
from tests.verify.test_holding import ended
from tests.verify.test_verifying import book, folder, kernels

__all__ = ["folder"]

pd = pytest.importorskip("pandas", reason="pandas is not installed")
KINDS = [("shuffled", 40), ("left_out", 38), ("doubled", 42), ("outlier", 39), ("twice", 80)]


def frame() -> Any:
    days = pd.date_range("2024-01-01", periods=40)
    amounts = [n * 1.5 for n in range(39)] + [9000.0]
    return pd.DataFrame({"region": ["N", "S"] * 20, "day": days, "amount": amounts})


# --- files that the kernel changes ---------------------------------------------------


def needs(module: str) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed; scripts/engines tables has it")


@pytest.mark.parametrize(("kind", "rows"), KINDS)
def test_parquet(tmp_path: Path, kind: str, rows: int) -> None:
    needs("pyarrow")
    file = tmp_path / "sales.parquet"
    frame().to_parquet(file)
    assert change_parquet(str(file), {}, kind, 0) == {"rows": 40, "outliers": 1}
    found = pd.read_parquet(file)
    assert len(found) == rows and list(found.dtypes) == list(frame().dtypes)
    assert (9000.0 in set(found.amount)) == (kind != "outlier")
    assert kind != "shuffled" or list(found.amount) != list(frame().amount)


def test_parquet_that_only_is_looked_at(tmp_path: Path) -> None:
    needs("pyarrow")
    file = tmp_path / "sales.parquet"
    frame().to_parquet(file)
    before = file.read_bytes()
    assert change_parquet(str(file), {}, "", 0) == {"rows": 40, "outliers": 1}
    assert file.read_bytes() == before


@pytest.mark.parametrize(("kind", "rows"), KINDS)
def test_excel(tmp_path: Path, kind: str, rows: int) -> None:
    needs("openpyxl")
    file = tmp_path / "sales.xlsx"
    with pd.ExcelWriter(file) as writer:
        frame().to_excel(writer, sheet_name="Sales", index=False, startrow=1)
        frame().to_excel(writer, sheet_name="Other", index=False)
    about = {"names": ["Sales"], "head": 2}
    assert change_excel(str(file), about, kind, 0) == {"rows": 40, "outliers": 1}
    found = pd.read_excel(file, sheet_name="Sales", skiprows=1)
    assert len(found) == rows and list(found.dtypes) == list(frame().dtypes)
    assert (9000.0 in set(found.amount)) == (kind != "outlier")
    assert set(found.day) <= set(frame().day)
    assert len(pd.read_excel(file, sheet_name="Other")) == 40


def test_what_cannot_be_changed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_text("no such file")
    asked: dict[str, Any] = {"files": {"a.parquet": {"format": "parquet"}}, "folder": str(tmp_path)}
    asked |= {"variables": "", "kind": "", "number": 0}
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert changed(asked, {}) == {"a.parquet": {"refused": "no_library", "detail": "pyarrow"}}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("pd.read_excel('a.xlsx')", Sheets((0,), 1)),
        ("pd.read_excel('data/a.xlsx', sheet_name=['S', 1], skiprows=2)", Sheets(("S", 1), 3)),
        ("pd.read_excel('a.xlsx', 'S', header=1)", Sheets(("S",), 2)),
        ("open('a.xlsx')", Sheets()),
        ("pd.read_excel('b.xlsx')", Sheets()),
        ("pd.read_excel('a.xlsx', skiprows=n)", None),
        ("pd.read_excel('a.xlsx', skipfooter=1)", None),
        ("pd.read_excel('a.xlsx', header=None)", None),
        ("pd.read_excel('a.xlsx')\npd.read_excel('a.xlsx', skiprows=1)", None),
    ],
)
def test_what_code_reads_of_a_workbook(code: str, found: Sheets | None) -> None:
    assert sheets_read([code], "a.xlsx") == found


# --- variables -----------------------------------------------------------------------

TABLES: dict[str, Callable[[], Any]] = {
    "plain": frame,
    "labels": lambda: frame().set_index("day"),
    "texts": lambda: pd.DataFrame({"a": ["x", None] * 2, "b": pd.array(["y", None] * 2, "string")}),
    "masked": lambda: pd.DataFrame({"a": pd.array([1, None] * 2, "Int64"), "b": [True, False] * 2}),
    "objects": lambda: pd.DataFrame({"a": pd.Series([1, "x", None, 2.5], dtype=object)}),
    "categories": lambda: pd.DataFrame({"a": pd.Categorical(["b", None, "a", "b"])}),
    "narrow": lambda: pd.DataFrame({"a": [1.1, 2.2, 3.3, 4.4], 7: [1, 2, 3, 4]}).astype("float32"),
    "lasting": lambda: pd.DataFrame({"a": pd.to_timedelta([1, 2, None, 4], unit="h")}),
    "selected": lambda: frame()[lambda t: t.amount > 12],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_copy_is_the_same_table(name: str) -> None:
    table = TABLES[name]()
    copies = variables.copied(["t", "gone"], {"t": table})
    assert list(copies) == ["t"]
    found, facts = variables.restored(copies["t"]["text"], "", 0)
    pd.testing.assert_frame_equal(found, table, check_freq=False)
    assert facts["rows"] == len(table)
    fewer, _ = variables.restored(copies["t"]["text"], "left_out", 1)
    assert 0 < len(fewer) < len(table) and list(fewer.dtypes) == list(table.dtypes)


@pytest.mark.parametrize("value", [1, "a", [1, 2.5, None], {"a": [True]}, [{"a": 1}, {"b": 2}]])
def test_plain_values_are_the_same(value: Any) -> None:
    text = variables.copied(["v"], {"v": value})["v"]["text"]
    assert variables.restored(text, "", 0)[0] == value


def test_a_column_a_module_and_rows() -> None:
    copies = variables.copied(["s", "m", "r"], {"s": frame().amount, "m": json, "r": RECORDS})
    restored = {name: variables.restored(one["text"], "twice", 0) for name, one in copies.items()}
    assert restored["s"][0].name == "amount" and len(restored["s"][0]) == 80
    assert restored["m"][0] is json
    assert restored["r"][0] == RECORDS * 2 and restored["r"][1] == {"rows": 3, "outliers": 1}


RECORDS = [{"v": 1}, {"v": 1}, {"v": 50}]


class Odd:
    def __reduce__(self) -> Any:
        raise AssertionError("No code of the value runs.")

    __repr__ = __str__ = __len__ = __iter__ = __reduce__


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (Odd(), "not_a_table"),
        (lambda: 1, "not_a_table"),
        ([Odd()], "not_a_table"),
        ({1: 2}, "not_a_table"),
        (types.SimpleNamespace(), "not_a_table"),
        (pd.DataFrame({"a": [Odd(), 1]}), "not_a_table"),
        (pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)])), "not_a_table"),
        ([0] * (variables.MOST_CELLS + 1), "too_large"),
        (pd.DataFrame({"a": range(variables.MOST_CELLS + 1)}), "too_large"),
        ("x" * variables.MOST_CHARACTERS, "too_large"),
    ],
    ids=range(10),
)
def test_what_is_not_copied(value: Any, code: str) -> None:
    assert variables.copied(["v"], {"v": value})["v"]["refused"] == code


def test_all_copies_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables, "MOST_CHARACTERS", 100)
    copies = variables.copied(["a", "b"], {"a": "x" * 60, "b": "x" * 60})
    assert "text" in copies["a"] and copies["b"]["refused"] == "too_large"


def test_a_column_label_that_is_no_plain_value() -> None:
    with pytest.raises(CannotChange):
        variables.encoded(pd.DataFrame({("a", 1): [1]}), 1_000)


# --- real runs -----------------------------------------------------------------------

SHOW = "print('\\n'.join(f'{k} {v:.1f}' for k, v in df.groupby('region').amount.sum().items()))"


def asked_of(folder: Path, source: str, shown: str, figure: str) -> dict[str, Any]:
    made = book(source)
    stream = {"output_type": "stream", "name": "stdout", "text": shown}
    made["cells"][0]["outputs"] = [stream]
    (folder / "a.ipynb").write_text(json.dumps(made))
    start = shown.index(figure)
    place = {"output": 0, "start": start, "end": start + len(figure)}
    figures = [{"text": figure, "cell_id": "c1", **place}]
    return {"notebook": "work/a.ipynb", "key": "k", "figures": figures}


@pytest.fixture
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each starts a kernel."""
    monkeypatch.setattr("jupyter_codeinterp.core.verify.variations.REPEATS", 1)


async def test_a_table_of_the_live_kernel(site: Site, folder: Path, few_runs: None) -> None:
    asked = asked_of(folder, SHOW, "N 570.0\nS 9600.5\n", "9600.5")
    plan = (await site.post("holdings", json_body=asked))["holding"]
    assert (plan["changed"], plan["variables"], plan["runs"]) == ([], ["df"], 7)
    kernel_id = await site.kernel_of("work/a.ipynb")
    managers: Any = site.app.kernel_manager
    async with person_at(managers, kernel_id) as person:
        make = (
            "import pandas as pd\nregions = ['N', 'S'] * 20\n"
            "amounts = [n * 1.5 for n in range(39)] + [9000]\n"
            "df = pd.DataFrame({'region': regions, 'amount': amounts})\nbefore = df.copy()"
        )
        await person.finished(person.run(make))
        await site.post("holdings", json_body={**asked, "begin": True})
        now = await ended(site)
        assert (now["state"], now["words"], now["failed"]) == ("done", "", [])
        assert (now["runs"], now["at"], now["variables"]) == (5, 5, ["df"])
        (found,) = now["figures"]
        assert (found["label"], found["first"], found["runs"]) == ("S", 3, 4)
        assert found["low"] == pytest.approx(600.5, abs=60) and found["scaled"]
        told = person.text(await ran(person, "print(df.equals(before), sorted(dir())[:3])"))
        assert told.startswith("True") and "codeinterp" not in told
    assert kernels(site) == [kernel_id]
    assert {file.name for file in there(folder)} == {"a.csv", "a.ipynb"}


async def ran(person: Any, source: str) -> str:
    msg_id = person.run(source)
    await person.finished(msg_id)
    return str(msg_id)


async def test_a_variable_that_is_nowhere(site: Site, folder: Path, few_runs: None) -> None:
    asked = asked_of(folder, SHOW, "N 570.0\nS 9600.5\n", "9600.5")
    await site.post("holdings", json_body={**asked, "begin": True})
    now = await ended(site)
    assert (now["state"], now["words"]) == ("failed", "On the unchanged data, cell 1 failed.")
    assert kernels(site) == []


async def test_a_parquet_file(site: Site, folder: Path, few_runs: None) -> None:
    needs("pyarrow")
    frame().to_parquet(folder / "sales.parquet")
    before = (folder / "sales.parquet").read_bytes()
    source = f"import pandas as pd\ndf = pd.read_parquet('sales.parquet')\n{SHOW}"
    asked = asked_of(folder, source, "N 570.0\nS 9541.5\n", "9541.5")
    await site.post("holdings", json_body={**asked, "begin": True})
    now = await ended(site)
    assert (now["state"], now["words"], now["failed"]) == ("done", "", [])
    assert (now["changed"], now["unchanged"], now["runs"]) == (["sales.parquet"], [], 5)
    assert now["figures"][0]["low"] < 600
    assert (folder / "sales.parquet").read_bytes() == before


async def test_a_file_that_the_kernel_cannot_change(
    site: Site, folder: Path, few_runs: None
) -> None:
    (folder / "sales.parquet").write_text("no table")
    asked = asked_of(folder, "print('S 2')  # sales.parquet", "S 2\n", "2")
    await site.post("holdings", json_body={**asked, "begin": True})
    now = await ended(site)
    assert now["state"] == "failed" and "Nothing can be changed: sales.parquet (" in now["words"]
    assert now["unchanged"] and now["changed"] == []
