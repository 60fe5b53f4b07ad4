"""Runs of cells as the marks of stale cells know them, and the names of a cell."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.cell_code.cell_names import names_of
from jupyter_codeinterp.run.turn.staleness import EDITED, MOST_RUNS, NotebookCell, Runs, find


def told(*ran: tuple[str, str], cells: dict[str, str]) -> dict[str, Sentence]:
    runs = Runs()
    for number, (cell, source) in enumerate(ran):
        runs.ran(cell, number + 1, source)
    return find([NotebookCell(*one) for one in cells.items()], runs)


X = {"a": "x = 1", "b": "print(x)"}
B = ("b", "print(x)")


@pytest.mark.parametrize(
    ("ran", "cells", "reasons"),
    [
        (
            [("a", "x = 0"), B, ("a", "x = 1")],
            X,
            {"b": "`x` was changed by [3] after this ran."},
        ),
        ([("a", "x = 1"), B], {"b": "print(x)"}, {"b": "[1], which set `x`, was deleted."}),
        ([("a", "x = 1"), B], {"p": "x = 1", "b": "print(x)"}, {}),
        ([("a", "x = 0"), B], X, {"a": EDITED}),
        (
            [("a", "x = 1"), ("c", "x += 1"), ("c", "x += 1")],
            {"a": "x = 1", "c": "x += 1"},
            {"c": "This ran 2 times, and each run changed `x`."},
        ),
        (
            [("a", "x = 0"), ("c", "y = x"), ("b", "print(y)"), ("a", "x = 1")],
            {"a": "x = 1", "c": "y = x", "b": "print(y)"},
            {
                "c": "`x` was changed by [4] after this ran.",
                "b": "`y` comes from [2], which is out of date.",
            },
        ),
    ],
)
def test_a_mark_says_why(
    ran: list[tuple[str, str]], cells: dict[str, str], reasons: dict[str, str]
) -> None:
    assert told(*ran, cells=cells) == reasons


def test_news_of_a_run_may_come_late() -> None:
    runs = Runs()
    for cell, number, source in [("a", 1, "x = 1"), ("b", 3, "x"), ("a", 2, "x = 1")]:
        runs.ran(cell, number, source)
    assert find([NotebookCell("a", "x = 1"), NotebookCell("b", "x")], runs) == {}


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
    assert (set(names.reads), set(names.defines)) == (reads, defines)


def test_very_long_and_very_deep_cells_have_no_names() -> None:
    long = "x = 1\n" * 10_000
    deep = "x = " + "(" * 80 + "1" + ",)" * 80
    for source in (long, deep):
        runs = Runs()
        for number, (cell, text) in enumerate([("a", source), ("b", "print(x)"), ("a", source)]):
            runs.ran(cell, number + 1, text)
        assert find([NotebookCell("a", source), NotebookCell("b", "print(x)")], runs) == {}


def test_a_kernels_oldest_runs_are_forgotten() -> None:
    kernel = Runs()
    for number in range(1, MOST_RUNS + 11):
        kernel.ran(f"c{number}", number, "x = y")
    assert len(kernel.last) == MOST_RUNS
    assert "c10" not in kernel.last and "c11" in kernel.last
