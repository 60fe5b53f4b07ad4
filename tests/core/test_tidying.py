"""What is proposed beside the order: imports on top, marks and headings. Each a table of cases."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.core.order.headings import headings
from jupyter_codeinterp.core.order.imports import with_imports_on_top
from jupyter_codeinterp.core.order.ordering import Cell
from jupyter_codeinterp.core.order.proposal import Line, proposed
from jupyter_codeinterp.core.order.unused import unused


def cells(*sources: str) -> list[Cell]:
    """ "0", "1", …; one that begins with "M:" is Markdown, with "F:" one that failed, with "S:" one
    that shows something."""
    found = []
    for number, given in enumerate(sources):
        kind, mark, rest = given.partition(":")
        source = rest if mark and kind in ("M", "F", "S") else given
        found.append(
            Cell(
                str(number),
                "markdown" if given.startswith("M:") else "code",
                source,
                None,
                given.startswith("F:"),
                given.startswith("S:"),
            )
        )
    return found


NP, PD = "import numpy as np", "import pandas as pd"


@pytest.mark.parametrize(
    ("sources", "after"),
    [
        # The first cell has imports already.
        ((f"{NP}\na = 1", f"{PD}\nb = 2"), (f"{NP}\n{PD}\na = 1", "b = 2")),
        ((NP, f"b = 2\n{NP}\nc = 3"), (NP, "b = 2\nc = 3")),
        ((NP, PD, "np, pd"), (f"{NP}\n{PD}", "np, pd")),
        ((f"{NP}\nprint(1)\n{PD}",), (f"{NP}\n{PD}\nprint(1)",)),
        (("# All\n" + NP, f"# More\n{PD}"), (f"# All\n{NP}\n# More\n{PD}",)),
        (
            (NP, "from a import (\n    b,\n    c,\n)\nb()"),
            (f"{NP}\nfrom a import (\n    b,\n    c,\n)", "b()"),
        ),
        (
            (f"%matplotlib inline\n{NP}", f"{PD}\nb = 1"),
            (f"%matplotlib inline\n{NP}\n{PD}", "b = 1"),
        ),
        # It has none: a new cell.
        (("a = 1", f"{NP}\nb = 2"), (NP, "a = 1", "b = 2")),
        (("M:# Title", "a = 1", f"{NP}\nb = 2"), ("# Title", NP, "a = 1", "b = 2")),
        (("M:Words", "a = 1", f"{NP}\nb = 2"), (NP, "Words", "a = 1", "b = 2")),
        (("a = os.path.join('x')", f"{NP}\nb = 2"), (NP, "a = os.path.join('x')", "b = 2")),
        # Outputs of a cell stay with it.
        ((NP, f"S:{PD}"), (f"{NP}\n{PD}", "")),
    ],
)
def test_imports_that_move(sources: tuple[str, ...], after: tuple[str, ...]) -> None:
    found = with_imports_on_top(cells(*sources))
    assert tuple(cell.source for cell in found.cells) == after
    assert not found.stay
    again = with_imports_on_top(found.cells)
    assert again.cells == found.cells and not again.moved


@pytest.mark.parametrize(
    "sources",
    [
        (NP,),
        (NP, "print(1)"),
        ("import sys\nsys.path.append('lib')", "import mine\nmine.run()"),
        ("import os\nos.chdir('lib')", f"{PD}\nx = 1"),
        ("import os\nos.environ['A'] = '1'", f"{PD}\nx = 1"),
        ("import warnings\nwarnings.filterwarnings('ignore')", f"{PD}\nx = 1"),
        ("import matplotlib\nmatplotlib.use('Agg')", "import matplotlib.pyplot as plt\nx = 1"),
        ("a = 1", "!pip install b", "import b\nb.c"),
        ("a = 1", "%load_ext b", "import b\nb.c"),
        ("a = 1", "exec(code)", f"{NP}\nx = 1"),
        ("a = 1", "from math import *\nsin(1)"),
        ("a = 1", "from . import b\nb"),
        ("a = 1", "from __future__ import annotations\nb = 1"),
        ("a = 1", "if a:\n    import b"),
        ("a = 1", "try:\n    import b\nexcept ImportError:\n    b = None"),
        ("a = 1", "def f():\n    import b"),
        ("a = 1", "import b; b.run()"),
        ("a = 1", f"F:{NP}\nnp.nope"),
        ("np = 1", f"print(np)\n{NP}\nnp.ones(1)"),
        ("from a import f\nf()", "from b import f\nf()"),
        ("a = 1", f"{NP}\nnp = 2"),
        (NP, f"{PD}\nx = 1", "del pd"),
        ("sum([1])", "from numpy import sum\nsum([1])"),
        ("a = 1", f"a\n{NP}"),
        ("open('mine.py', 'w').write('x = 1')", "import mine\nmine.x"),
        ("a = 1", "%%time\nimport b\nb.c"),
    ],
)
def test_imports_that_stay(sources: tuple[str, ...]) -> None:
    given = tuple(cells(*sources))
    assert with_imports_on_top(given).cells == given


def test_why_an_import_stays() -> None:
    found = proposed(cells("import sys\nsys.path.append('x')", "import mine\nmine.run()"))
    words = "An import of Code cell 2 stays: the code above it may change how it is imported."
    assert found.left == (Line("1", words),) and not found.edited


@pytest.mark.parametrize(
    ("sources", "marked"),
    [
        (("x = 1", "F:print(y)", "print(x)"), ["1"]),
        (("x = 1", "F:z = y", "print(z)"), []),
        (("df = 1", "F:df['a'] = nope", "print(df)"), []),
        (("x = f(1)", "x = f(2)", "print(x)"), ["0"]),
        (("def f(): return 1", "def f(): return 2", "f()"), ["0"]),
        (("x = f(1)", "print(x)", "x = f(2)"), []),
        (("x = f(1)", "x = x + 1", "print(x)"), []),
        (("x = 1", "def f(): return x", "f()", "x = 2", "x"), []),
        (("S:x = f(1)", "x = f(2)", "print(x)"), []),
        (("x = 1\nsave(x)", "x = 2", "print(x)"), []),
        (("x, y = 1, 2", "x = 2", "print(x, y)"), []),
        (("x = 1", "x += 1", "print(x)"), []),
        (("import a", "import a", "a.b"), []),
        (("x = 1", "print(2)"), []),
        (("x = 1", "%run other.py", "x = 2", "x"), []),
        (("M:x = 1", "x = 1", "x = 2", "x"), ["1"]),
    ],
)
def test_cells_that_nothing_uses(sources: tuple[str, ...], marked: list[str]) -> None:
    assert [one[0] for one in unused(cells(*sources))] == marked


def test_what_is_marked_already_or_may_fail_is_not_marked() -> None:
    for tags in (("unused",), ("raises-exception",)):
        cell = Cell("0", "code", "print(y)", 1, True, False, tags)
        assert not list(unused([cell, *cells("x = 1")[:0]]))


SIX = ("a = 1", "b = 1", "c = 1", "d = 1")


@pytest.mark.parametrize(
    ("sources", "titles"),
    [
        (("# --- Load the data ---\na = 1", "b = 1"), {"0": "Load the data"}),
        (("# ==== Model\na = 1",), {"0": "Model"}),
        (("## Clean\na = 1",), {"0": "Clean"}),
        (("# 2. Clean the table\na = 1",), {"0": "2. Clean the table"}),
        (("# Step 1: Load\na = 1",), {"0": "Step 1: Load"}),
        (("M:Words above", "# --- Load ---\na = 1"), {}),
        (("M:## Load", "a = 1", "# --- load ---\nb = 1"), {}),
        (("# --- x = f(1) ---\na = 1",), {}),
        (("# -----\na = 1",), {}),
        (("# ----- TODO: clean\na = 1",), {}),
        (("#%% Load\na = 1",), {}),
        (("# Load the data\na = 1", "b = 1"), {}),
        (
            ("# Load the data\na = 1", *SIX, "# Plot it\nplot()"),
            {"0": "Load the data", "5": "Plot it"},
        ),
        (("M:# Title", "# Load the data\na = 1", *SIX, "# Plot it\nplot()"), {}),
        (("# Load the data\n# from the server\na = 1", *SIX, "# Plot it\nplot()"), {}),
        (tuple(f"# Part number {'abcdef'[n]}\na = {n}" for n in range(6)), {}),
        (("# print(a)\na = 1", *SIX, "# b = 2\nplot()"), {}),
    ],
)
def test_headings(sources: tuple[str, ...], titles: dict[str, str]) -> None:
    assert dict(headings(cells(*sources))) == titles


def test_the_whole_proposal() -> None:
    found = proposed(
        cells(
            "M:# Sales",
            "print(total)",
            "F:nope",
            "# --- Sum up ---\nimport math\ntotal = math.fsum([1])",
        )
    )
    (imports, heading) = (one.cell_id for one in (found.added[1], found.added[0]))
    assert found.cells == ("0", imports, heading, "3", "1", "2") or found.cells == (
        *("0", imports, "2", heading, "3", "1"),
    )
    assert [one.source for one in found.added] == ["## Sum up", "import math"]
    assert [(one.cell_id, one.source) for one in found.edited] == [
        ("3", "# --- Sum up ---\ntotal = math.fsum([1])")
    ]
    words = [
        line.words for lines in (found.imports, found.unused, found.headings) for line in lines
    ]
    assert words == [
        "`import math` of Code cell 3 goes to the new first cell.",
        "Code cell 2 failed, and no cell uses what it makes.",
        "“Sum up” above Code cell 3, as its comment says.",
    ]
    assert not found.left and [line.cell_id for line in found.moves]
