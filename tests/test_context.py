from __future__ import annotations

import re
import zlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.agent.tools.built_in.read_notebook import cell_texts
from jupyter_codeinterp.view.context import Context, ContextState, _moved
from jupyter_codeinterp.view.notebook_prompt import BUSY, DEAD, NEW, NONE, PLACES
from jupyter_codeinterp.view.untrusted import Untrusted
from jupyter_codeinterp.wire.ops import CellView, Snapshot
from jupyter_codeinterp.wire.ports import KernelInfo, KernelState

KERNEL = KernelInfo("k1", 1, "python", "3.12.1")
PRIVATE = ("codeinterp-private",)


def code(cell_id: str, source: str, *outputs: dict[str, Any], **more: Any) -> CellView:
    return CellView(cell_id, "code", source, outputs, **more)


def out(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


FAILED = {"output_type": "error", "ename": "KeyError", "evalue": "'b'", "traceback": []}
A = CellView("a", "markdown", "# Sales")
B = code("b", "import pandas as pd\ndf = pd.read_csv('sales.csv')", execution_count=1)
C = code("c", "df.head()", out("region  n\nnorth   1\n"), execution_count=2)


def described(
    context: Context,
    *cells: CellView,
    active: str = "",
    files: list[tuple[str, int]] | None = None,
    kernel: KernelInfo | None = KERNEL,
    variables: list[dict[str, Any]] | None = None,
    own: set[str] | None = None,
    state: KernelState | None = None,
) -> str:
    snapshot = Snapshot("work/sales.ipynb", cells, active)
    return context.describe(
        snapshot, files or [], kernel, variables, own or set(), state or KernelState()
    )


@pytest.fixture
def told() -> Context:
    """A context that has told of A, B and C."""
    context = Context()
    described(context, A, B, C)
    return context


def test_cells_of_an_earlier_kernel(told: Context) -> None:
    inputs = (0, zlib.crc32(b"x = 1"), zlib.crc32(b"df.head()"))
    state = KernelState(cells_run=2, inputs=inputs)
    text = described(Context(), A, B, C, code("d", "x", execution_count=9), state=state)
    assert re.findall('id="(.)" .*count="(.*?)"', text) == [
        ("b", "1, not in this kernel"),
        ("c", "2"),
        ("d", "9, not in this kernel"),
    ]
    text = described(told, A, B, C, code("d", "x", execution_count=9), state=state)
    assert 'count="9, not in this kernel"' in text
    text, _ = cell_texts([B, C], False, Untrusted(), state)
    assert re.findall('count="(.*?)"', text) == ["1, not in this kernel", "2"]
    many = [code(f"m{n}", "x" * 900, execution_count=n) for n in range(1, 99)]
    assert " m5 [5, not in this kernel] " in described(Context(), *many, state=state)


# --- the first time ------------------------------------------------------------------


def test_everything_once() -> None:
    context = Context()
    text = described(
        context,
        A,
        B,
        C,
        active="b",
        files=[
            *(("sales.csv", 12_345), ("sales.ipynb", 999), ("big.parquet", 7_300_000)),
            ("raw/", 0),
        ],
        variables=[{"name": "df", "type": "DataFrame", "shape": [3, 2], "value": None}],
        own={"c"},
        state=KernelState(cells_run=0),
    )
    assert text == (
        '<context notebook="work/sales.ipynb">\n'
        "<kernel>python 3.12.1. New kernel: no cell has run in it; shown outputs are from before"
        "</kernel>\n"
        "<files>\nsales.csv 12 kB\nbig.parquet 7.3 MB\nraw/\n</files>\n"
        "<variables>df: DataFrame shape=[3, 2]</variables>\n"
        '<cells count="3" active="b">\n'
        f"{PLACES}\n"
        '<cell id="a" place="1" type="markdown"># Sales</cell>\n'
        '<cell id="b" place="2" type="code" count="1" active="yes">\n'
        "import pandas as pd\ndf = pd.read_csv('sales.csv')\n</cell>\n"
        '<cell id="c" place="3" type="code" count="2" by="you">\n'
        "df.head()\n<outputs>\nregion  n\nnorth   1\n</outputs>\n</cell>\n"
        "</cells>\n</context>"
    )


@pytest.mark.parametrize(
    ("kernel", "variables", "expected"),
    [
        (None, None, f"<kernel>{NONE}</kernel>\n<cells"),
        (KERNEL, None, "<variables>not available</variables>"),
        (KERNEL, [], "<kernel>python 3.12.1. idle</kernel>\n<cells"),
    ],
)
def test_kernel_and_variables_may_be_missing(
    kernel: KernelInfo | None, variables: list[dict[str, Any]] | None, expected: str
) -> None:
    assert expected in described(Context(), A, kernel=kernel, variables=variables)


def test_an_empty_notebook() -> None:
    assert '<cells count="0">The notebook is empty.</cells>' in described(Context())


def test_outputs_are_short_and_errors_kept() -> None:
    text = described(Context(), code("x", "f()", out("x" * 5_000), FAILED))
    shown = text[text.index("<outputs>") : text.index("</outputs>")]
    assert len(shown) < 330
    assert "KeyError: 'b'" in shown and "characters left out" in shown


STATES = (
    # the kernel's state, the words of the first description, those of a later one
    (KernelState(cells_run=0), NEW, ""),
    (KernelState(cells_run=7), "idle; its last execution number is 7", ""),
    (KernelState(), "idle", ""),
    (KernelState(busy=True, cells_run=0), BUSY, BUSY),
    (KernelState(busy=True), BUSY, BUSY),
    (KernelState(dead=True), DEAD, DEAD),
)


@pytest.mark.parametrize(("state", "first", "later"), STATES)
def test_the_kernels_state_is_always_said(state: KernelState, first: str, later: str) -> None:
    context = Context()
    text = described(context, A, state=state)
    words = first if state.dead else f"python 3.12.1. {first}"
    assert f"<kernel>{words}</kernel>" in text
    text = described(context, A, state=state)
    assert text == (f"<changes><kernel>{later}</kernel></changes>" if later else "")


def large(count: int) -> list[CellView]:
    """A notebook with a heading, imports, and cells that each use the one before."""
    cells = [CellView("top", "markdown", "# Sales\nText\n## By month")]
    cells.append(code("imp", f"import pandas as pd\n{'# why' * 99}", execution_count=1))
    cells += [code(f"c{n}", f"x{n} = x{n - 1}\n" + "# more\n" * 20) for n in range(2, count)]
    return cells


@pytest.mark.parametrize("active", [0, 40, 119])
def test_a_large_notebook_is_an_outline_with_the_active_cells_whole(active: int) -> None:
    cells, context = large(120), Context()
    text = described(context, *cells, active=cells[active].cell_id)
    assert 9_000 < len(text) <= 12_000
    seen = [n for n, cell in enumerate(cells) if context.source_seen(cell.cell_id) == cell.source]
    assert {n for n in (active - 1, active, active + 1) if 0 <= n < 120} <= set(seen)
    for n, cell in enumerate(cells):
        tagged = f'<cell id="{cell.cell_id}" place="{n + 1}"' in text
        assert tagged == (n in seen)
        if not tagged and n == 0:
            assert "1 top # Sales\n" in text
        if not tagged and n == 1:
            assert "\n2 imp [1] import pandas as pd\n" in text
        if not tagged and n > 1:
            assert f"\n{n + 1} {cell.cell_id} x{n} = x{n - 1}\n" in text


def test_what_has_no_room_is_said_where_it_stands() -> None:
    cells = large(1_000)
    cells[500] = CellView("middle", "markdown", "## Results")
    text = described(Context(), *cells, active="c900")
    assert len(text) <= 12_000 and "\n1 top # Sales\n" in text
    assert "501 middle ## Results" in text and "\n950 c949 x949 = x948\n" in text
    gaps = re.findall(r"\n\[(\d+) more cells, places (\d+) to (\d+): read_notebook shows", text)
    assert all(int(end) - int(start) + 1 == int(count) for count, start, end in gaps)
    shown = len(re.findall(r"^(?:<cell id=|\d+ )", text, re.MULTILINE))
    assert shown + sum(int(count) for count, *_ in gaps) == 1_000 and len(gaps) == 1


def test_a_cell_too_long_has_a_line_and_does_not_count_as_seen() -> None:
    context = Context()
    text = described(context, code("x", "# head\n" + "y = 1\n" * 5_000 + "# tail"), active="x")
    assert '\n1 x active="yes" defines y\n' in text or "# head" in text
    assert "y = 1" not in text and context.source_seen("x") is None


def test_files_and_variables_are_bounded() -> None:
    text = described(
        Context(),
        A,
        files=[(f"file{n}.csv", n) for n in range(400)],
        variables=[{"name": f"v{n}", "type": "str", "value": "x" * 900} for n in range(400)],
    )
    assert len(text) <= 12_000
    assert "file49.csv" in text and "file50.csv" not in text and "[350 more files]" in text
    assert "v0: str" in text and "more variables; inspect_variables lists them]" in text


# --- private and hostile -------------------------------------------------------------


def test_private_cells_are_mentioned_and_never_sent() -> None:
    context = Context()
    hidden = code("p", "password = 'hunter2'", out("hunter2"), tags=PRIVATE)
    text = described(context, A, hidden)
    context.seen(hidden)
    assert '<cell id="p" place="2" type="code" private="its content is not shown"></cell>' in text
    later = described(context, A, msgspec.structs.replace(hidden, source="password = 'hunter3'"))
    assert later == ""
    assert "hunter" not in text + msgspec.json.encode(context.state).decode()
    assert context.source_seen("p") is None


def test_a_cell_that_becomes_private_is_forgotten(told: Context) -> None:
    text = described(told, A, B, msgspec.structs.replace(C, tags=PRIVATE))
    assert 'id="c" place="3" type="code" private="its content is not shown"' in text
    assert "df.head" not in text and told.source_seen("c") is None
    assert "df.head" in described(told, A, B, C)


def test_absurd_names_do_not_break_the_bounds() -> None:
    long = "n" * 50_000
    context = Context()
    kernel = KernelInfo(long, 1, long, long)
    variables = [{"name": long, "type": long, long: long}]
    first = described(context, A, code(long, long), kernel=kernel, files=[(long, 1)])
    later = described(
        context,
        code(long + "2", long),
        A,
        active=long + "2",
        kernel=None,
        files=[(long + "2", 1)],
        variables=variables,
    )
    assert len(first) <= 12_000 and len(later) <= 4_000


# --- afterwards ----------------------------------------------------------------------


def test_nothing_when_nothing_changed(told: Context) -> None:
    assert described(told, A, B, C) == ""


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ((A, B), "<removed>c</removed>"),
        ((), "<removed>\na\nb\nc\n</removed>"),
        (
            (A, code("n", "1 + 1"), B, C),
            '<cell id="n" place="2" type="code" change="added" after="a">1 + 1</cell>',
        ),
        (
            (code("n", "1 + 1"), A, B, C),
            '<cell id="n" place="1" type="code" change="added" after="nothing: first">1 + 1</cell>',
        ),
        ((C, A, B), "<moved>c now first</moved>"),
        ((B, A, C), "<moved>b now first</moved>"),
        (
            (CellView("a", "markdown", "# Sales 2"), B, C),
            '<cell id="a" place="1" type="markdown" change="edited"># Sales 2</cell>',
        ),
        (
            (code("a", "# Sales"), B, C),
            '<cell id="a" place="1" type="code" change="edited"># Sales</cell>',
        ),
        (
            (A, B, code("c", "df.head()", out("new result\nx"), execution_count=5)),
            '<outputs cell="c" change="new" status="ok">\nnew result\nx\n</outputs>',
        ),
        (
            (A, B, code("c", "df.head()")),
            '<outputs cell="c" change="new" status="running, or not run">none</outputs>',
        ),
    ],
)
def test_only_what_changed(told: Context, cells: tuple[CellView, ...], expected: str) -> None:
    around = "\n" if "\n" in expected else ""
    assert described(told, *cells) == f"<changes>{around}{expected}{around}</changes>"
    assert described(told, *cells) == ""


def test_the_same_outputs_run_again_are_no_news(told: Context) -> None:
    result = {"output_type": "execute_result", "data": {"text/plain": "1"}, "execution_count": 1}
    described(told, A, B, code("c", "df.head()", result))
    again = code("c", "df.head()", {**result, "execution_count": 9}, execution_count=9)
    assert described(told, A, B, again) == ""


def test_the_active_cell_is_news_and_shown_if_it_was_not() -> None:
    cells = [code(f"c{n}", f"first{n} = 1\n" + "more = 2\n" * 60) for n in range(80)]
    context = Context()
    described(context, *cells, active="c0")
    assert described(context, *cells, active="c1") == "<changes><active>c1</active></changes>"
    text = described(context, *cells, active="c70")
    assert "<active>c70</active>" in text and cells[70].source in text
    assert context.source_seen("c70") == cells[70].source


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (
            KernelInfo("k1", 2, "python", "3.12.1"),
            "was restarted: all variables are gone; shown outputs are from before",
        ),
        (KernelInfo("k2", 1, "R", "4.4"), "another kernel (R 4.4) with its own variables"),
        (None, NONE),
    ],
)
def test_kernel_changes(told: Context, kernel: KernelInfo | None, expected: str) -> None:
    text = described(told, A, B, C, kernel=kernel)
    assert text == f"<changes><kernel>{expected}</kernel></changes>"
    assert described(told, A, B, C, kernel=kernel) == ""


DF = {"name": "df", "type": "DataFrame", "shape": [3, 2]}


def test_variables_that_changed() -> None:
    context = Context()
    described(context, variables=[DF, {"name": "x", "type": "int", "value": "1"}])
    longer = {**DF, "shape": [4, 2]}
    assert described(context, variables=[longer]) == (
        "<changes>\n<variables>\ndf: DataFrame shape=[4, 2]\nx is gone\n</variables>\n</changes>"
    )
    assert described(context, variables=None) == ""
    assert described(context, variables=[longer]) == ""


def test_variables_after_a_restart_are_all_told_again() -> None:
    context = Context()
    described(context, variables=[DF])
    again = KernelInfo("k1", 2, "python", "3.12.1")
    text = described(context, kernel=again, variables=[DF])
    assert "restarted" in text and "df: DataFrame" in text
    context = Context()
    described(context, variables=[DF])
    described(context, kernel=again, variables=None)
    assert "df: DataFrame" in described(context, kernel=again, variables=[DF])


def test_files_that_changed() -> None:
    context = Context()
    described(context, files=[("a.csv", 1), ("b.csv", 1), ("sales.ipynb", 1)])
    assert described(context, files=[("a.csv", 2), ("c.csv", 3), ("sales.ipynb", 2)]) == (
        "<changes>\n<files>\na.csv 2 B\nc.csv 3 B\nb.csv is gone\n</files>\n</changes>"
    )


def test_tables_in_files_and_packages_are_told_once() -> None:
    context, scrub = Context(scrub=lambda text: text.replace("hunter2", "[key]")), "hunter2"
    heads = {"a.csv": f"2 rows; columns a, </files>{scrub}", "b.csv": "x" * 5_000}
    state = KernelState(packages={"numpy": "2.4.6", "pandas": "3.1.1", "polars": "", "duckdb": ""})
    files = [("a.csv", 9), ("b.csv", 9), *((f"c{n}.csv", 9) for n in range(20))]
    heads |= {f"c{n}.csv": "y" * 300 for n in range(20)}
    assert context.new_files(files) == [name for name, _ in files]
    told = Snapshot("a.ipynb", ())
    text = context.describe(told, files, KERNEL, [], set(), state, heads)
    packages = "numpy 2.4, pandas 3.1; not installed: polars, duckdb"
    assert f"<packages>{packages}</packages>" in text
    assert "a.csv 9 B: 2 rows; columns a, <\\/files>[key]\n" in text
    assert "c19.csv 9 B\n" in text and len(text) < 5_000
    assert context.describe(told, files, KERNEL, [], set(), state, {}) == ""
    files[0] = ("a.csv", 10)
    assert context.new_files(files) == ["a.csv"]
    text = context.describe(told, files, KERNEL, [], set(), state, {"a.csv": "3 rows; columns a"})
    assert text == "<changes><files>a.csv 10 B: 3 rows; columns a</files></changes>"
    again = KernelInfo("k1", 2, "python", "3.12.1")
    text = context.describe(told, files, again, [], set(), KernelState(packages={"polars": "1.2"}))
    assert "<packages>polars 1.2</packages>" in text


def test_later_descriptions_are_bounded() -> None:
    context = Context()
    described(context)
    cells = [code(f"c{n}", "x = 1\n" * 50, out("y" * 500)) for n in range(500)]
    text = described(
        context,
        *cells,
        active="c250",
        files=[(f"f{n}", 1) for n in range(500)],
        variables=[{"name": f"v{n}", "type": "int"} for n in range(500)],
    )
    assert 2_000 < len(text) <= 4_000
    assert "\n251 c250 active" in text.replace('="yes"', "") and "after" in text
    assert re.search(r"\n\[\d+ more cells, places \d+ to \d+: read_notebook", text)
    assert context.source_seen("c250") in (None, cells[250].source)
    rerun = [msgspec.structs.replace(cell, outputs=(out("z"),)) for cell in cells]
    text = described(context, *rerun)
    told = text.count("<outputs cell=")
    assert len(text) <= 4_000 and 5 < told <= 20
    assert f"[{500 - told} more cells with new outputs]" in text


# --- the agent's own changes ---------------------------------------------------------


def test_its_own_cells_are_no_news(told: Context) -> None:
    told.noted("n", "1 + 1")
    told.noted("b", "edited = True")
    ran = code("n", "1 + 1", out("2"), execution_count=3)
    edited = code("b", "edited = True", out("x"))
    assert described(told, A, edited, C, ran) == ""
    assert told.source_seen("n") == "1 + 1" and told.source_seen("b") == "edited = True"
    assert described(told, A, edited, C, code("n", "1 + 1", out("3"))) == (
        '<changes><outputs cell="n" change="new" status="running, or not run">3</outputs></changes>'
    )


def test_its_own_deletions_are_no_news(told: Context) -> None:
    told.noted("c", None)
    assert described(told, A, B) == ""
    assert told.source_seen("c") is None


def test_what_the_person_made_of_its_cell_is_news(told: Context) -> None:
    told.noted("n", "1 + 1")
    assert '<cell id="n" place="4" type="code" change="edited">1 + 2</cell>' in described(
        told, A, B, C, code("n", "1 + 2")
    )


def test_the_source_last_seen_guards_edits(told: Context) -> None:
    assert told.source_seen("c") == "df.head()"
    assert told.source_seen("unknown") is None
    described(told, A, B, code("c", "df.tail()"))
    assert told.source_seen("c") == "df.tail()"
    told.seen(code("c", "df.describe()", out("1")))
    assert told.source_seen("c") == "df.describe()"
    assert described(told, A, B, code("c", "df.describe()", out("1"))) == ""
    told.seen_source("c", "df.info()")
    told.seen_source("new", "x")
    assert told.source_seen("c") == "df.info()" and told.source_seen("new") == "x"


def test_reading_a_long_cell_makes_it_seen() -> None:
    long = code("x", "y = 1\n" * 5_000)
    context = Context()
    described(context, long)
    context.seen(long)
    assert context.source_seen("x") == long.source
    assert described(context, long) == ""
    assert context.source_seen("x") == long.source


# --- over a restart ------------------------------------------------------------------


def test_the_state_survives_as_json(told: Context) -> None:
    told.noted("n", "1 + 1")
    stored = msgspec.json.encode(told.state)
    again = Context(msgspec.json.decode(stored, type=ContextState))
    assert again.state == told.state
    assert described(again, A, B, C, code("n", "1 + 1", out("2"))) == ""


# --- moves ---------------------------------------------------------------------------


@given(st.permutations([f"c{n}" for n in range(8)]), st.sets(st.integers(0, 9), max_size=4))
def test_moves_explain_the_new_order(new: list[str], gone: set[int]) -> None:
    old = [f"c{n}" for n in range(8)]
    left = [cell for cell in new if int(cell[1:]) not in gone]
    moved = set(_moved(old, left))
    steady = [cell for cell in left if cell not in moved]
    assert steady == [cell for cell in old if cell in set(steady)]


@pytest.mark.parametrize(
    ("new", "moved"),
    [("abcd", ""), ("dabc", "d"), ("bcda", "a"), ("badc", "bd"), ("acxbd", "c"), ("", "")],
)
def test_few_moves(new: str, moved: str) -> None:
    assert len(_moved("abcd", new)) == len(moved)
