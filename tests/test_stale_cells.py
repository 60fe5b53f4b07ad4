"""The rule for stale cells, as a table: what the cells hold, what happens, and what is stale."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.core.cell_code.cell_names import names_of
from jupyter_codeinterp.core.staleness.runs import MOST, Runs
from jupyter_codeinterp.core.staleness.stale import EDITED, Cell, find


class Notebook:
    """A notebook of Python cells, and what its kernel has run."""

    def __init__(self, **cells: str) -> None:
        self.cells = dict(cells)
        self.runs = Runs()
        self.count = 0

    def do(self, steps: str) -> Notebook:
        """``a`` runs a cell, ``-a`` deletes it, ``a=x = 2`` edits it, ``restart``. Steps are
        separated by bars."""
        for step in filter(None, map(str.strip, steps.split("|"))):
            cell, equals, source = step.partition("=")
            if step == "restart":
                self.count = 0
            elif step.startswith("-"):
                del self.cells[step[1:]]
            elif equals:
                self.cells[cell] = source
            else:
                self.count += 1
                self.runs.ran(cell, self.count, self.cells[cell])
        return self

    @property
    def stale(self) -> dict[str, str]:
        """Reasons of the cells that are marked."""
        found = find([Cell(*cell) for cell in self.cells.items()], self.runs)
        return {cell: stale.reason for cell, stale in found.items() if stale.marked}


def changed(name: str, number: int) -> str:
    return f"{name} was changed by In [{number}] after this ran."


def from_(name: str, number: int) -> str:
    return f"{name} comes from In [{number}], which is out of date."


X = {"a": "x = 1", "b": "print(x)"}
CHAIN = {"a": "x = 1", "b": "y = x + 1", "c": "print(y)"}
TABLE = {"a": "df = load()", "b": 'df["x"] = df.y * 2', "c": "print(df)"}

CASES: dict[str, tuple[dict[str, str], str, dict[str, str]]] = {
    # --- runs and edits
    "run from the top": (CHAIN, "a|b|c", {}),
    "nothing ran": (CHAIN, "", {}),
    "an upstream cell runs again": (X, "a|b|a", {"b": changed("`x`", 3)}),
    "and the cell after it": (X, "a|b|a|b", {}),
    "a cell runs again by itself": (X, "a|b|b", {}),
    "only what reads the name": (
        {"a": "x = 1", "b": "z = 1", "c": "print(x)", "d": "print(z)"},
        "a|b|c|d|a",
        {"c": changed("`x`", 5)},
    ),
    "what reads the result of a stale cell": (
        CHAIN,
        "a|b|c|a",
        {"b": changed("`x`", 4), "c": from_("`y`", 2)},
    ),
    "the middle one ran again": (CHAIN, "a|b|c|a|b", {"c": changed("`y`", 5)}),
    "edited upstream, not run": (X, "a|b|a=x = 2", {"a": EDITED}),
    "edited back": (X, "a|b|a=x = 2|a=x = 1", {}),
    "edited and run": (X, "a|b|a=x = 2|a", {"b": changed("`x`", 3)}),
    "edited and run, and no longer writes the name": (X, "a|b|a=q = 2|a", {}),
    "only a comment was added": (X, "a|b|a=x = 1  # one", {}),
    "edited in a magic": ({"a": "%time x = 1"}, "a|a=%timeit x = 1", {"a": EDITED}),
    "run before its input ever ran": (X, "b|a", {"b": changed("`x`", 2)}),
    "a new cell between": (
        {"a": "x = 1", "n": "x = 3", "b": "print(x)"},
        "a|b|n",
        {"b": changed("`x`", 3)},
    ),
    # --- order in the notebook
    "bound again in a lower cell": ({**X, "c": "x = 2"}, "a|b|c", {}),
    "bound again in a lower cell, which runs again": ({**X, "c": "x = 2"}, "a|b|c|c", {}),
    "changed in a lower cell": (
        {"a": "df = load()", "b": "print(df)", "c": 'df["x"] = 1'},
        "a|b|c",
        {},
    ),
    "bound in a lower cell alone": (
        {"b": "print(x)", "a": "x = 1"},
        "a|b|a",
        {"b": changed("`x`", 3)},
    ),
    "a built-in name that a lower cell takes": ({"b": "print(sum)", "a": "sum = 1"}, "b|a", {}),
    "bound twice above, and the first runs again": (
        {"a": "x = 1", "b": "x = 2", "c": "print(x)"},
        "a|b|c|a",
        {},
    ),
    # --- deleted cells
    "deleted upstream": (X, "a|b|-a", {"b": "In [1], which set `x`, was deleted."}),
    "deleted, but another sets the name": ({"z": "x = 0", **X}, "z|a|b|-a", {}),
    "cut and pasted": (X, "a|b|-a|p=x = 1", {}),
    "deleted, and no cell reads what it set": ({**X, "c": "q = 1"}, "a|c|b|-c", {}),
    "what an edited cell set before, deleted": (
        X,
        "a|b|a=pass|a|-a",
        {"b": "In [1], which set `x`, was deleted."},
    ),
    # --- changes in place
    "a column": (TABLE, "a|b|c|b", {"c": changed("`df`", 4)}),
    "the table under it": (
        TABLE,
        "a|b|c|a",
        {"b": changed("`df`", 4), "c": from_("`df`", 2)},
    ),
    "list.append": (
        {"a": "l = []", "b": "l.append(1)", "c": "print(l)"},
        "a|b|c|b",
        {"c": changed("`l`", 4)},
    ),
    "df.append returns another": (
        {"a": "df = load()", "b": "other = df.append(1)", "c": "print(df)"},
        "a|b|c|b",
        {},
    ),
    "inplace=True": (
        {"a": "df = load()", "b": "df.dropna(inplace=True)", "c": "print(df)"},
        "a|b|c|b",
        {"c": changed("`df`", 4)},
    ),
    "augmented assignment": (
        {"a": "x = 1", "b": "x += 1", "c": "print(x)"},
        "a|b|c|b",
        {"c": changed("`x`", 4)},
    ),
    "a model is fitted again": (
        {"a": "m = Model()", "b": "m.fit(t)", "c": "m.predict(t)"},
        "a|b|c|b",
        {"c": changed("`m`", 4)},
    ),
    "an attribute": (
        {"a": "o = O()", "b": "o.size = 2", "c": "print(o)"},
        "a|b|c|b",
        {"c": changed("`o`", 4)},
    ),
    # --- imports
    "an import runs again": ({"a": "import numpy as np", "b": "np.ones(2)"}, "a|b|a", {}),
    "another cell imports the same": (
        {"a": "import numpy as np", "n": "import numpy as np", "b": "np.ones(2)"},
        "a|b|n",
        {},
    ),
    "an import is changed": (
        {"a": "import numpy as np", "b": "np.ones(2)"},
        "a|b|a=import cupy as np|a",
        {"b": changed("`np`", 3)},
    ),
    "a setting in a module": (
        {"a": "import sys", "b": "sys.path.append('x')", "c": "print(sys.path)"},
        "a|b|c|b",
        {},
    ),
    # --- functions
    "a function reads a global name": (
        {"a": "rate = 2", "f": "def f(u):\n    return u * rate", "b": "print(f(1))"},
        "a|f|b|a",
        {"b": changed("`rate`, which `f` reads,", 4)},
    ),
    "and through another function": (
        {
            "a": "rate = 2",
            "f": "def f(u):\n    return u * rate",
            "g": "def g(u):\n    return f(u)",
            "b": "print(g(1))",
        },
        "a|f|g|b|a",
        {"b": changed("`rate`, which `f` reads,", 5)},
    ),
    "a method reads one": (
        {"a": "rate = 2", "f": "class C:\n    def m(self):\n        return rate", "b": "C().m()"},
        "a|f|b|a",
        {"b": changed("`rate`, which `C` reads,", 4)},
    ),
    "a function runs again unchanged": ({"f": "def f():\n    return 1", "b": "f()"}, "f|b|f", {}),
    "a function is changed": (
        {"f": "def f():\n    return 1", "b": "f()"},
        "f|b|f=def f():\n    return 2|f",
        {"b": changed("`f`", 3)},
    ),
    "a parameter hides the name": (
        {"a": "x = 1", "f": "def f(x):\n    return x", "b": "f(2)"},
        "a|f|b|a",
        {},
    ),
    "a function changes a global name": (
        {"a": "l = []", "f": "def f():\n    l.append(1)", "c": "f()", "b": "print(l)"},
        "a|f|c|b|c",
        {"b": changed("`l`", 5)},
    ),
    # --- what is no plain Python
    "%time": ({"a": "%time x = 1", "b": "print(x)"}, "a|b|a", {"b": changed("`x`", 3)}),
    "%%time": ({"a": "%%time\nx = 1", "b": "%%time\nx"}, "a|b|a", {"b": changed("`x`", 3)}),
    "%%capture": ({"a": "%%capture out\nx = 1", "b": "out"}, "a|b|a", {"b": changed("`out`", 3)}),
    "%%bash": ({"a": "x = 1", "b": "%%bash\necho x"}, "a|b|a", {}),
    "a shell command": ({"a": "x = !ls", "b": "print(x)"}, "a|b|a", {"b": changed("`x`", 3)}),
    "a shell command of its own": ({"a": "!pip install x", "b": "print(x)"}, "a|b|a", {}),
    "a syntax error upstream": ({"a": "x = (", "b": "print(x)"}, "a|b|a", {}),
    "a syntax error in the cell": ({"a": "x = 1", "b": "print(x"}, "a|b|a", {}),
    "a comprehension's own name": ({"a": "x = 1", "b": "[x for x in y]"}, "a|b|a", {}),
    "a loop's own name": ({"a": "i = 1", "b": "for i in y:\n    print(i)"}, "a|b|a", {}),
    # --- the kernel
    "the kernel was restarted": (X, "a|b|a|restart", {"b": changed("`x`", 3)}),
    "and a cell runs": (X, "a|b|a|restart|a", {}),
    "and both": (X, "a|b|a|restart|a|b|a", {"b": changed("`x`", 3)}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_table(case: str) -> None:
    cells, steps, expected = CASES[case]
    assert Notebook(**cells).do(steps).stale == expected


def test_an_edited_cell_makes_others_wait() -> None:
    """They are not marked: until the edited cell runs, its old values are in use."""
    notebook = Notebook(**CHAIN).do("a|b|c|a=x = 2")
    found = find([Cell(*cell) for cell in notebook.cells.items()], notebook.runs)
    assert {cell: stale.reason for cell, stale in found.items()} == {
        "a": EDITED,
        "b": "`x` comes from In [1], which was edited after it ran.",
        "c": "`y` comes from In [2], which depends on an edited cell.",
    }


def test_news_of_a_run_may_come_twice_or_late() -> None:
    runs = Runs()
    for cell, number, source in [("a", 1, "x = 1"), ("b", 3, "x"), ("a", 2, "x = 1")]:
        runs.ran(cell, number, source)
        runs.ran(cell, number, source)
    assert find([Cell("a", "x = 1"), Cell("b", "x")], runs) == {}


@pytest.mark.parametrize(
    ("source", "reads", "defines"),
    [
        ('print("x=%d" % n)\ny = 1', {"print", "n"}, {"y"}),
        ('q = """\n%time a\nreally?\n"""', set(), {"q"}),
        ("%time x = y", {"y"}, {"x"}),
        ("%time for i in y: z = i", {"y"}, {"i", "z"}),
        ("files, n = !ls\nx?", set(), {"files", "n"}),
        ("x: int\ny: int = x", {"int", "x"}, {"y"}),
        ("x = 1\ndel x", set(), set()),
        ("try:\n    a = 1\nexcept E as e:\n    print(e)", {"E", "print"}, {"a"}),
        ("def f():\n    import os\n    return y", set(), {"f"}),
        ("%%bash\necho $y", set(), set()),
    ],
)
def test_names_of_a_cell(source: str, reads: set[str], defines: set[str]) -> None:
    names = names_of(source)
    assert (set(names.reads), set(names.defines), names.known) == (reads, defines, True)


@pytest.mark.parametrize(
    "source",
    [
        "from a import *",
        "%run a.py",
        "%%R -o x\nx",
        "exec('a = 1')",
        "SELECT a",
        "x = " + "1" * 10_000,
    ],
)
def test_cells_that_may_define_any_name(source: str) -> None:
    assert not names_of(source).known


def test_very_long_and_very_deep_cells_have_no_names() -> None:
    long = "x = 1\n" * 10_000
    deep = "x = " + "(" * 80 + "1" + ",)" * 80
    for source in (long, deep):
        assert Notebook(a=source, b="print(x)").do("a|b|a").stale == {}


def test_a_kernels_oldest_runs_are_forgotten() -> None:
    kernel = Runs()
    for number in range(1, MOST + 11):
        kernel.ran(f"c{number}", number, "x = y")
    assert len(kernel.last) == len(kernel.writes["x"]) == MOST
    assert "c10" not in kernel.last and "c11" in kernel.last
