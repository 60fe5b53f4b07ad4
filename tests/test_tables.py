"""Pages of tables from a real kernel: hostile names and values, bounds, and who may ask."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.features.tables.shapes import answer_from
from jupyter_codeinterp.kernel.inside.tables import Pages
from tests.kernels import Gate
from tests.reference_window import notebook
from tests.site import Site

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second a page should be there; a busy machine may need longer."""
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.variables.LIMIT", 60)


class Looking:
    """A person who runs cells in a notebook and looks at its tables."""

    def __init__(self, site: Site, kernel_id: str, person: Any) -> None:
        self.site, self.kernel_id, self.run = site, kernel_id, person.run

    async def ask(self, name: str, **asked: Any) -> Any:
        """Asks again while the server takes the kernel for busy: it may hear later than the person
        that a cell ended."""
        while True:
            answer = await self.ask_once(name, **asked)
            if answer.get("code") != "table_busy":
                return answer

    async def ask_once(self, name: str, **asked: Any) -> Any:
        given = {"notebook": "a.ipynb", "name": name, **asked}
        return await self.site.post("tables", json_body=given)

    async def page(self, name: str, **asked: Any) -> Any:
        answer = await self.ask(name, **asked)
        return answer.get("table", answer)

    async def cells(self, name: str, **asked: Any) -> Any:
        return (await self.page(name, **asked))["cells"]


async def look(site: Site) -> Looking:
    kernel_id = await site.kernel()
    await site.window("a.ipynb", notebook("x = 1"), kernel_id)
    await site.guarded(kernel_id)
    return Looking(site, kernel_id, await site.watch(kernel_id))


async def test_pages_of_a_table(site: Site) -> None:
    looking = await look(site)
    await looking.run(
        "import pandas as pd\n"
        "df = pd.DataFrame({'n': range(1000), 's': ['a', 'b'] * 500}, index=range(5, 1005))"
    )
    page = await looking.page("df", start=10, rows=2)
    version = page.pop("version")
    assert page == {
        "type": "DataFrame",
        "rows": 1000,
        "columns": 2,
        "found": 1000,
        "searched": 1000,
        "start": 10,
        "first": 0,
        "heads": [
            {"label": "n", "dtype": "int64", "kind": "number"},
            {"label": "s", "dtype": "str", "kind": "text"},
        ],
        "index": ["15", "16"],
        "cells": [["10", "11"], ["a", "b"]],
    }
    assert (await looking.page("df", start=1, rows=1))["version"] == version
    assert await looking.cells("df", start=999) == [["999"], ["b"]]
    assert await looking.cells("df", start=5_000) == [[], []]
    await looking.run("df = df.head(3)")
    page = await looking.page("df")
    assert page["rows"] == 3
    assert page["version"] != version


# --- sorting and filtering ---------------------------------------------------------------

FRAME = (
    "import pandas as pd, numpy as np, decimal, datetime\n"
    "day = datetime.datetime\n"
    "df = pd.DataFrame({\n"
    "    'n': [3, 1, 2, 1],\n"
    "    'f': [0.5, np.nan, -1.0, 0.5],\n"
    "    's': ['b', None, 'B', 'a'],\n"
    "    'd': pd.to_datetime(['2026-02-01', None, '2026-01-01', '2026-03-01']),\n"
    "    'z': pd.to_datetime(['2026-02-01', None, '2026-01-01', '2026-03-01'])"
    ".tz_localize('Europe/Berlin'),\n"
    "    't': pd.to_timedelta(['1D', '2D', None, '3D']),\n"
    "    'b': [True, False, True, True],\n"
    "    'i': pd.array([7, None, 5, 16], dtype='Int64'),\n"
    "    'c': pd.Categorical(['low', 'high', None, 'low'], ['low', 'mid', 'high']),\n"
    "    'o': np.array([decimal.Decimal('2.5'), 'x', 1, None], dtype=object),\n"
    "    'sparse': pd.arrays.SparseArray([10, 9, 0, 0]),\n"
    "    'gaps': pd.arrays.SparseArray([10.0, np.nan, 9.0, np.nan]),\n"
    "    'counts': pd.Categorical([10, 9, None, 100]),\n"
    "    'sizes': pd.Categorical(['M', 'S', None, 'L'], ['S', 'M', 'L'], ordered=True),\n"
    "    'bands': pd.cut([10, 9, 150, 11], [0, 9, 10, 100, 1000]),\n"
    "    'flags': np.array([True, None, False, np.nan], dtype=object),\n"
    "    'bits': pd.array([True, None, False, True], dtype='boolean'),\n"
    "    'ids': pd.array([2**53 + 1, 2**53, None, 2**53 + 3], dtype='Int64'),\n"
    "    'days': [datetime.date(2026, 2, 1), None, datetime.date(999, 1, 1), "
    "datetime.date(2026, 3, 1)],\n"
    "    'scalars': np.array([np.int64(10), np.float32(9), None, np.nan], dtype=object),\n"
    "}, index=list('pqrs'))\n"
    "df['months'] = df.d.dt.to_period('M')\n"
    "df['twice'] = [10, 9, 8, 7]\n"
    "df.insert(len(df.columns), 'twice', [1, 2, 3, 4], allow_duplicates=True)\n"
    "before = df.copy()"
)
COLUMNS = (
    *"nfsdztbico",
    *("sparse", "gaps", "counts", "sizes", "bands", "flags", "bits", "ids", "days", "scalars"),
    *("months", "twice", "again"),
)
PLACES = {name: place for place, name in enumerate(COLUMNS)}

SORTED = {
    # column: ascending, descending. Missing values come last, and equal values stay in order.
    "n": ("qsrp", "prqs"),
    "f": ("rpsq", "psrq"),
    "s": ("rspq", "psrq"),
    "d": ("rpsq", "sprq"),
    "z": ("rpsq", "sprq"),
    "t": ("pqsr", "sqpr"),
    "b": ("qprs", "prsq"),
    "i": ("rpsq", "sprq"),
    "c": ("qpsr", "psqr"),
    "o": ("rpqs", "qprs"),
    "sparse": ("rsqp", "pqrs"),
    "gaps": ("rpqs", "prqs"),
    "counts": ("qpsr", "spqr"),
    "sizes": ("qpsr", "spqr"),
    "bands": ("qpsr", "rspq"),
    "flags": ("rpqs", "prqs"),
    "bits": ("rpsq", "psrq"),
    "ids": ("qpsr", "spqr"),
    "days": ("rpsq", "sprq"),
    "scalars": ("qprs", "pqrs"),
    "months": ("rpsq", "sprq"),
    "twice": ("srqp", "pqrs"),
    "again": ("pqrs", "srqp"),
}

FILTERED = [
    ("n", ">", "1", "pr"),
    ("n", "=", "1", "qs"),
    ("n", "=", str(2**70), ""),
    ("n", "contains", "3", "p"),
    ("n", "missing", "", ""),
    ("f", "<=", "0.5", "prs"),
    ("f", "missing", "", "q"),
    ("f", "present", "", "prs"),
    ("f", "=", "nan", ""),
    ("s", "contains", "B", "pr"),
    ("s", "=", "B", "r"),
    ("s", ">", "a", "p"),
    ("s", "missing", "", "q"),
    ("d", ">=", "2026-02-01", "ps"),
    ("d", "missing", "", "q"),
    ("z", "<", "2026-02-01", "r"),
    ("t", ">", "1 day", "qs"),
    ("b", "=", "true", "prs"),
    ("i", ">", "5", "ps"),
    ("i", "missing", "", "q"),
    ("c", "contains", "OW", "ps"),
    ("c", "missing", "", "r"),
    ("o", ">", "1", "pq"),
    ("o", "contains", "x", "q"),
    ("o", "missing", "", "s"),
    ("sparse", ">", "9.5", "p"),
    ("sparse", "=", "0", "rs"),
    ("gaps", ">", "9.5", "p"),
    ("gaps", "missing", "", "qs"),
    ("counts", ">", "9.5", "ps"),
    ("counts", "=", "10.0", "p"),
    ("counts", "missing", "", "r"),
    ("counts", "present", "", "pqs"),
    ("sizes", ">", "S", "ps"),
    ("sizes", "<=", "M", "pq"),
    ("sizes", "missing", "", "r"),
    ("bands", "<", "(10, 100]", "pq"),
    ("flags", "=", "true", "p"),
    ("flags", "=", "False", "r"),
    ("flags", "missing", "", "qs"),
    ("bits", "=", "true", "ps"),
    ("bits", "missing", "", "q"),
    ("ids", "=", str(2**53 + 1), "p"),
    ("ids", ">", str(2**53 + 1), "s"),
    ("days", "=", "2026-02-01", "p"),
    ("days", ">", "2026-02-01T00:00", "s"),
    ("scalars", ">", "9.5", "p"),
    ("scalars", "missing", "", "rs"),
    ("months", ">", "2026-01", "ps"),
    ("twice", ">", "9", "p"),
    ("again", ">", "2", "rs"),
]

REFUSED = [
    *(("n", ">", "many"), ("d", "<", "no day"), ("t", "=", "x"), ("b", "=", "maybe")),
    *(("d", "<", "2026-01-01T00:00Z"), ("counts", ">", "many"), ("sizes", "<", "XS")),
    *(("flags", "=", "maybe"), ("bits", "=", "maybe"), ("days", ">", "soon")),
]
KINDS = {
    "number": "n f i sparse gaps counts ids scalars twice again",
    "time": "d z t days",
    "truth": "b flags bits",
    "text": "s c o sizes bands months",
}


LETTERS = str.maketrans("0123", "pqrs")
"""polars counts rows, pandas has labels."""


class Kept:
    """A table that the kernel's side answers about."""

    def __init__(self, source: str) -> None:
        self.names: dict[str, Any] = {}
        exec(source, self.names)
        self.pages = Pages(self.names, lambda: 0)

    def page(self, **asked: Any) -> Any:
        return self.pages.answer({"name": "df", **asked})["table"]

    def shown(self, **asked: Any) -> str:
        """The rows, by their labels."""
        return "".join(row.translate(LETTERS) for row in self.page(**asked)["index"])

    def differing(self) -> list[Any]:
        """Of the columns that it has, in the tables of cases."""
        here = dict(zip(COLUMNS, range(99), strict=False))
        labels = [head["label"] for head in self.page()["heads"]]
        if len(labels) < len(COLUMNS):
            here = {label: place for place, label in enumerate(labels)}
        wrong: list[Any] = []
        for name, orders in SORTED.items():
            for descending, rows in enumerate(orders):
                if name in here and self.shown(sort=[here[name], bool(descending)]) != rows:
                    wrong.append((name, descending))
        for name, op, value, rows in FILTERED:
            if name in here and self.shown(filters=[[here[name], op, value]]) != rows:
                wrong.append((name, op, value))
        return wrong


def test_each_kind_of_column_sorts_and_filters_by_its_values() -> None:
    kept = Kept(FRAME)
    page = kept.page()
    kinds = {name: kind for kind, names in KINDS.items() for name in names.split()}
    assert [head["kind"] for head in page["heads"]] == [kinds[name] for name in COLUMNS]
    assert page["cells"][PLACES["flags"]] == ["True", None, "False", None]
    assert kept.differing() == []
    for column, op, value in REFUSED:
        asked = {"name": "df", "filters": [[PLACES[column], op, value]]}
        assert kept.pages.answer(asked).get("refused") == "not_comparable", (column, op, value)
    both = {"sort": [0, True], "filters": [[0, "<", "3"], [2, "present", ""]]}
    assert kept.shown(**both) == "rs"
    assert kept.shown(**both, start=1) == "s"
    assert kept.pages.answer({"name": "df", "sort": [99, False]})["refused"] == "no_column"
    df, before = kept.names["df"], kept.names["before"]
    assert df.equals(before)
    assert list(df.columns) == list(before.columns)


POLARS = (
    "import polars as pl, datetime\n"
    "day = lambda month: datetime.datetime(2026, month, 1)\n"
    "df = pl.DataFrame({'n': [3, 1, 2, 1], 'i': [7, None, 5, 16], 's': ['b', None, 'B', 'a'],\n"
    "    'f': [0.5, None, -1.0, 0.5], 'b': [True, False, True, True],\n"
    "    'bits': [True, None, False, True], 'd': [day(2), None, day(1), day(3)],\n"
    "    'days': [day(2).date(), None, day(1).date(), day(3).date()],\n"
    "    'ids': [2**53 + 1, 2**53, None, 2**53 + 3]}).with_columns(\n"
    "    z=pl.col('d').dt.replace_time_zone('Europe/Berlin'),\n"
    "    sizes=pl.Series(['M', 'S', None, 'L'], dtype=pl.Enum(['S', 'M', 'L'])))\n"
    "one = df['i']"
)


@pytest.mark.skipif(find_spec("polars") is None, reason="polars is not installed")
def test_polars_answers_as_pandas_does() -> None:
    kept = Kept(POLARS)
    assert kept.differing() == []
    assert kept.page(name="one")["cells"] == [["7", None, "5", "16"]]


WITHOUT_NUMPY = """
import json, sys
sys.modules["numpy"] = None
from tests.test_tables import Kept, POLARS
kept = Kept(POLARS)
heads = [head["label"] for head in kept.page()["heads"]]
answers = {
    name: kept.page(sort=[heads.index(name), False])["index"]
    for name in ("i", "bits", "d", "days", "ids", "sizes")
}
print(json.dumps(answers))
"""


@pytest.mark.skipif(find_spec("polars") is None, reason="polars is not installed")
def test_polars_without_numpy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    rows = {name: "".join(row) for name, row in json.loads(done.stdout).items()}
    assert {name: row.translate(LETTERS) for name, row in rows.items()} == {
        name: SORTED[name][0] for name in rows
    }


async def test_an_order_follows_changes_and_large_and_wide_tables_have_one(site: Site) -> None:
    looking = await look(site)
    await looking.run("import pandas as pd\ndf = pd.DataFrame({'n': [2, 3, 1]})")
    assert await looking.cells("df", sort=[0, False]) == [["1", "2", "3"]]
    await looking.run("df.loc[2, 'n'] = 9")
    assert await looking.cells("df", sort=[0, False]) == [["2", "3", "9"]]
    # Repeated and different texts of large tables.
    await looking.run(
        "import pandas as pd\n"
        "df = pd.DataFrame({'few': ['b', 'a', None, 'c'] * 2500,\n"
        "    'many': [f'{i:05}' for i in range(9999, -1, -1)]})"
    )
    assert (await looking.cells("df", sort=[0, False], start=2500, rows=1))[0] == ["b"]
    assert (await looking.cells("df", sort=[0, True], start=9999))[0] == [None]
    page = await looking.page("df", filters=[[0, "contains", "A"]], rows=1)
    assert (page["found"], page["cells"][0]) == (2500, ["a"])
    assert (await looking.page("df", filters=[[0, "missing", ""]]))["found"] == 2500
    assert (await looking.cells("df", sort=[1, False], rows=1))[1] == ["00000"]
    # Wide tables come in parts.
    await looking.run("import numpy as np\nwide = pd.DataFrame(np.zeros((300, 120)))")
    page = await looking.page("wide", column=100)
    assert (page["columns"], page["first"], len(page["heads"])) == (120, 100, 20)
    assert len((await looking.page("wide"))["index"]) == 200


# --- other tables, and hostile ones ------------------------------------------------------


async def test_other_types_of_tables(site: Site) -> None:
    looking = await look(site)
    await looking.run(
        "import pandas as pd, numpy as np\n"
        "rows = [{'a': 1}]\n"
        "array = np.arange(6.0).reshape(3, 2)\n"
        "series = pd.Series([1, 2], name='s')\n"
        "class Mine(pd.DataFrame): pass\n"
        "mine = Mine({'a': [1]}); number = 3; empty = pd.DataFrame()\n"
        "headless = pd.DataFrame({'a': []})"
    )
    assert await looking.cells("series") == [["1", "2"]]
    for name in ("mine", "number", "rows", "array"):
        assert (await looking.ask(name))["code"] == "table_not_a_table", name
    for name, columns in (("empty", 0), ("headless", 1)):
        page = await looking.page(name)
        assert (page["rows"], page["columns"]) == (0, columns), name
    gone = await looking.ask("nowhere")
    assert gone["code"] == "table_gone"
    assert "nowhere" in gone["message"]
    # Names that are no variable.
    for name in ("", "a.b", "a()", "__import__('os')", "<b>", "a b"):
        assert (await looking.ask(name))["code"] == "table_gone", name
    assert (await looking.ask("x" * 101))["code"] == "malformed"


async def test_hostile_columns_and_values(site: Site) -> None:
    looking = await look(site)
    await looking.run(
        "import pandas as pd, numpy as np, decimal, datetime\n"
        "touched = []\n"
        "class Hostile:\n"
        "    def __getattribute__(s, n): touched.append(n); raise SystemExit\n"
        "    def __repr__(s): touched.append('repr'); return ''\n"
        "    __str__ = __len__ = __hash__ = __lt__ = __float__ = __repr__\n"
        "    def __eq__(s, o): touched.append('eq'); return True\n"
        "class Zone(datetime.tzinfo):\n"
        "    def utcoffset(s, d): touched.append('zone'); return None\n"
        "class Label:\n"
        "    def __repr__(s): touched.append('label'); return ''\n"
        "h = Hostile()\n"
        "values = [h, decimal.Decimal('1.10'), b'\\xff', {'a': [h]}, [1] * 50, '\\ud800',\n"
        "    'x' * 10_000, 10**5000, pd.NaT, pd.NA, decimal.Decimal('NaN'), float('inf'),\n"
        "    np.float32(0.5), datetime.datetime(2026, 1, 1, tzinfo=Zone()), True]\n"
        "column = pd.Series(values, dtype=object)\n"
        "hostile = pd.concat([column, column.astype(object), column], axis=1)\n"
        "hostile.columns = ['<img src=x onerror=alert(1)>', 'y' * 10_000, 5]\n"
        "twice = pd.DataFrame([[1, 2]], columns=['a', 'a'])\n"
        "levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([('a', 1), ('a', 2)]),\n"
        "    index=pd.MultiIndex.from_tuples([('p', 1)]))\n"
        "odd = pd.DataFrame([[1, 2, 3]], columns=pd.Index([Label(), None, b'z'], dtype=object))\n"
        "gaps = pd.DataFrame({'a': [1, 2, 3]}, index=[1.5, np.nan, 2.0])\n"
        "touched.clear()"
    )
    page = await looking.page("hostile")
    labels = [head["label"] for head in page["heads"]]
    assert labels[0] == "<img src=x onerror=alert(1)>"
    assert (len(labels[1]), labels[2]) == (120, "5")
    cells = page["cells"][0]
    assert cells[:6] == ["<Hostile>", "1.10", "b'\\xff'", "dict of 1", "list of 50", "?"]
    assert len(cells[6]) == 120
    assert cells[7:] == [
        "a large number", None, None, None, "inf", "0.5", "datetime", "True",
    ]  # fmt: skip
    await looking.page("hostile", sort=[0, False])
    await looking.page("hostile", filters=[[0, ">", "1"], [0, "contains", "h"]])
    assert [h["label"] for h in (await looking.page("twice"))["heads"]] == ["a", "a"]
    assert await looking.cells("twice", sort=[1, True]) == [["1"], ["2"]]
    levels = await looking.page("levels")
    assert [h["label"] for h in levels["heads"]] == ["a · 1", "a · 2"]
    assert levels["index"] == ["p · 1"]
    assert [h["label"] for h in (await looking.page("odd"))["heads"]] == ["<Label>", "None", "b'z'"]
    assert (await looking.page("gaps"))["index"] == ["1.5", "NaN", "2.0"]
    assert await looking.run("print(touched)") == "[]\n"


@pytest.mark.parametrize(
    "reported",
    [
        {"table": {}},
        {"table": 7},
        {"table": "many"},
        {"refused": {"a": 1}, "detail": 5},
        {"refused": "<b>", "detail": "x" * 10**6},
    ],
)
def test_a_kernel_may_report_anything(reported: dict[str, Any]) -> None:
    with pytest.raises(CommandError, match="read the table") as error:
        answer_from(reported, "")
    assert error.value.code == "table_failed"
    assert len(error.value.message) < 300


# --- bounds ------------------------------------------------------------------------------


OUT_OF_BOUNDS: tuple[dict[str, Any], ...] = (
    *({"rows": 201}, {"start": -1}, {"column": -1}, {"sort": ["a", False]}),
    *({"filters": [[0, "or", "1"]]}, {"filters": [[0, "=", "x" * 201]]}),
    *({"filters": [[0, "=", "x"]] * 9}, {"unknown": 1}, {"notebook": ""}),
)


async def test_requests_out_of_bounds(site: Site) -> None:
    for asked in OUT_OF_BOUNDS:
        given = {"notebook": "a.ipynb", "name": "df", **asked}
        assert (await site.post("tables", json_body=given))["code"] == "malformed", asked


async def test_five_million_rows(site: Site) -> None:
    """Pages and an order take a fraction of the table's own memory."""
    looking = await look(site)
    await looking.run(
        "import numpy as np, pandas as pd, resource\n"
        "n = 5_000_000\n"
        "df = pd.DataFrame({f'c{i}': np.arange(n, 0, -1) * 0.5 for i in range(8)})\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "own = df.memory_usage().sum(); before = peak()"
    )
    assert (await looking.page("df", start=4_999_999))["cells"][0] == ["0.5"]
    assert (await looking.cells("df", sort=[0, False], rows=1))[0] == ["0.5"]
    assert (await looking.page("df", filters=[[1, "<", "5"]]))["found"] == 9
    assert await looking.run("print(peak() - before < own / 2)") == "True\n"


# --- who may ask, and when ---------------------------------------------------------------


async def test_a_busy_kernel_a_restart_and_no_kernel(site: Site, tmp_path: Path) -> None:
    nothing = await site.post("tables", json_body={"notebook": "b.ipynb", "name": "df"})
    assert nothing["code"] == "no_kernel"
    looking = await look(site)
    await looking.run("import pandas as pd\ndf = pd.DataFrame({'n': [1]})")
    first = (await looking.ask("df"))["kernel"]
    # A cell runs: the subshell answers.
    gate = Gate(tmp_path / "open")
    running = asyncio.ensure_future(looking.run(gate.source))
    link, _ = site.extension.workbench._kernels.get(looking.kernel_id)
    await site.until(lambda: link.busy)
    assert await looking.cells("df") == [["1"]]
    gate.open()
    await running
    await site.restart(looking.kernel_id)
    await site.until(lambda: link.start == 2)
    gone = await looking.ask("df")
    assert gone["code"] == "table_gone"
    gone = await looking.ask("df", kernel=first)
    assert gone["code"] == "table_restarted"
    assert "The kernel was restarted." in gone["message"]
    person = await site.watch(looking.kernel_id)
    await person.run("import pandas as pd\ndf = pd.DataFrame({'n': [2]})")
    again = await looking.ask("df")
    assert again["table"]["cells"] == [["2"]]
    assert again["kernel"] != first


async def test_a_busy_kernel_without_our_code_is_not_waited_for(site: Site, tmp_path: Path) -> None:
    kernel_id = await site.kernel()
    await site.window("a.ipynb", notebook("x = 1"), kernel_id)
    looking = Looking(site, kernel_id, await site.watch(kernel_id))
    gate = Gate(tmp_path / "open")
    running = asyncio.ensure_future(looking.run(gate.source))
    link, _ = site.extension.workbench._kernels.get(looking.kernel_id)
    await site.until(lambda: link.busy)
    assert (await looking.ask_once("df"))["code"] == "table_busy"
    gate.open()
    await running


async def test_the_servers_token_alone_is_not_enough(site: Site) -> None:
    """Code in a kernel can read the token. It gets no table of another kernel."""
    body = {"notebook": "a.ipynb", "name": "df"}
    answer = await site.request("POST", "tables", json_body=body)
    assert json.loads(answer.body)["code"] == "no_window"


async def test_looking_at_a_table_leaves_no_trace_in_the_kernel(site: Site) -> None:
    looking = await look(site)
    await looking.run("import pandas\nrows = pandas.DataFrame({'a': [1]})")
    await looking.page("rows")
    names = "print([n for n in dir() if 'table' in n.lower() or 'codeinterp' in n], len(In))"
    assert await looking.run(names) == "[] 3\n"
