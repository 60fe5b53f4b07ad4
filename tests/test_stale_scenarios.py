"""Stale marks against real runs: cells of a notebook run in some order, and again from its top.

A cell is out of date if a run of the notebook from its top, in a fresh interpreter, shows another
result of it. One exception: where a cell such as ``x += 1`` ran twice, that cell is out of date
and not those after it. So a second fresh run repeats cells as often as they ran.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.run.turn.staleness import NotebookCell, Runs, find

DF = "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3], 'b': [4, 5, 6]})"
SCENARIOS: dict[str, tuple[dict[str, str], str]] = {
    # The cells from the top, and steps: ``a`` runs a cell, ``a=…`` edits it, ``-a`` deletes it.
    "from the top": ({"a": "x = 1", "b": "print(x)"}, "a|b"),
    "input changed": ({"a": "x = 1", "b": "print(x)"}, "a|b|a=x = 2|a"),
    "input ran again": ({"a": "x = 1", "b": "print(x)"}, "a|b|a"),
    "input changed, cell ran": ({"a": "x = 1", "b": "print(x)"}, "a|b|a=x = 2|a|b"),
    "edited, not run": ({"a": "print(1)", "b": "print(2)"}, "a|b|a=print(3)"),
    "edited back": ({"a": "print(1)"}, "a|a=print(3)|a=print(1)"),
    "a comment": ({"a": "print(1)"}, "a|a=print(1)  # one"),
    "a chain": ({"a": "x = 1", "b": "y = x + 1", "c": "print(y)"}, "a|b|c|a=x = 5|a"),
    "a chain, middle ran": ({"a": "x = 1", "b": "y = x", "c": "print(y)"}, "a|b|c|a=x = 5|a|b"),
    "another name": ({"a": "x = 1; z = 1", "b": "print(z)"}, "a|b|a=x = 2; z = 1|a"),
    "x += 1 twice": ({"a": "x = 1", "b": "x += 1", "c": "print(x)"}, "a|b|b|c"),
    "x += 1 twice, late": ({"a": "x = 1", "b": "x += 1", "c": "print(x)"}, "a|b|c|b"),
    "x += 1 once more from x": ({"a": "x = 1", "b": "x += 1", "c": "print(x)"}, "a|b|b|a|b|c"),
    "x = x + 1 twice": ({"a": "x = 1", "b": "x = x + 1", "c": "print(x)"}, "a|b|b|c"),
    "append twice": ({"a": "l = []", "b": "l.append(1)", "c": "print(l)"}, "a|b|b|c"),
    "extend of another": (
        {"a": "l = [1]", "b": "print(l)", "c": "m = [2]\nm.extend(l)", "d": "print(m)"},
        "a|b|c|d|a=l = [5]|a",
    ),
    "sort twice": ({"a": "l = [2, 1]", "b": "l.sort()", "c": "print(l)"}, "a|b|b|c"),
    "update changed": (
        {"a": "d = {}", "b": "d.update(k=1)", "c": "print(d)"},
        "a|b|c|b=d.update(k=2)|b",
    ),
    "another column": ({"a": DF, "b": "print(df['b'].sum())", "c": "df['a'] = 0"}, "a|b|c"),
    "another column above": (
        {"a": DF, "c": "df['a'] = 0", "b": "print(df['b'].sum())"},
        "a|c|b|c=df['a'] = 9|c",
    ),
    "the same column": (
        {"a": DF, "c": "df['a'] = 0", "b": "print(df['a'].sum())"},
        "a|c|b|c=df['a'] = 9|c",
    ),
    "the whole table": (
        {"a": DF, "c": "df['a'] = 0", "b": "print(df.sum())"},
        "a|c|b|c=df['a'] = 9|c",
    ),
    "a column from another, twice": (
        {"a": DF, "b": "df['c'] = df['a'] * 2", "c": "print(df)"},
        "a|b|c|b",
    ),
    "a column times two, twice": (
        {"a": DF, "b": "df['a'] *= 2", "c": "print(df['a'].sum())"},
        "a|b|b|c",
    ),
    "inplace=True twice": (
        {"a": DF, "b": "df.drop_duplicates(inplace=True)", "c": "print(df)"},
        "a|b|c|b",
    ),
    "inplace=True changed": (
        {"a": DF, "b": "df.drop(columns='a', inplace=True)", "c": "print(df)"},
        "a|b|c|a|b=df.drop(columns='b', inplace=True)|b",
    ),
    "a filter of itself twice": (
        {"a": DF, "b": "df = df[df['a'] > 1]", "c": "print(len(df))"},
        "a|b|b|c",
    ),
    "a slice changed": (
        {"a": "l = [1, 2, 3]", "b": "l[1:] = [9]", "c": "print(l)"},
        "a|b|c|a|b=l[1:] = [7]|b",
    ),
    "loc changed": (
        {"a": DF, "b": "df.loc[0, 'a'] = 9", "c": "print(df['a'].sum())"},
        "a|b|c|b=df.loc[0, 'a'] = 70|b",
    ),
    "a function reads a global": (
        {"a": "r = 2", "f": "def f(u):\n    return u * r", "b": "print(f(1))"},
        "a|f|b|a=r = 3|a",
    ),
    "a function ran again": ({"f": "def f():\n    return 1", "b": "print(f())"}, "f|b|f"),
    "a function changed": (
        {"f": "def f():\n    return 1", "b": "print(f())"},
        "f|b|f=def f():\n    return 2|f",
    ),
    "a function changes a global": (
        {"a": "n = []", "f": "def f():\n    n.append(1)", "c": "f()", "b": "print(n)"},
        "a|f|c|b|c",
    ),
    "an argument is changed": (
        {"f": "def f(u):\n    u.append(1)", "a": "l = []", "b": "f(l)", "c": "print(l)"},
        "f|a|b|b|c",
    ),
    "an import again": ({"a": "import math", "b": "print(math.pi)"}, "a|b|a"),
    "an import changed": (
        {"a": "from math import floor as f", "b": "print(f(1.5))"},
        "a|b|a=from math import ceil as f|a",
    ),
    "a loop's own name": ({"a": "i = 5", "b": "for i in range(2):\n    print(i)"}, "a|b|a=i = 7|a"),
    "a loop adds up": (
        {"a": "t = 0", "b": "for i in range(3):\n    t += i", "c": "print(t)"},
        "a|b|b|c",
    ),
    "a loop over the input": (
        {"a": "l = [1]", "b": "for i in l:\n    print(i)"},
        "a|b|a=l = [2]|a",
    ),
    "a comprehension's own name": ({"a": "x = 1", "b": "print([x for x in [3]])"}, "a|b|a=x = 2|a"),
    "del": ({"a": "x = 1", "b": "print(x)", "c": "del x"}, "a|b|c"),
    "deleted": ({"a": "x = 1", "b": "print(x)"}, "a|b|-a"),
    "bound again below": ({"a": "x = 1", "b": "print(x)", "c": "x = 2"}, "a|b|c"),
    "ran out of order": ({"a": "x = 1", "b": "x = 2", "c": "print(x)"}, "b|a|c"),
    "ran after a cell below": ({"a": "x = 1", "b": "print(x)", "c": "x = 2"}, "a|c|b"),
    "an alias": (
        {"a": "l = []", "b": "m = l", "c": "m.append(1)", "d": "print(l)"},
        "a|b|c|d|c=m.append(2)|a|b|c",
    ),
    "a magic": ({"a": "%time x = 1", "b": "print(x)"}, "a|b|a=%time x = 2|a"),
    "query('@x')": ({"a": DF, "x": "x = 1", "b": "print(df.query('a > @x'))"}, "a|x|b|x=x = 2|x"),
    "eval": ({"a": "x = 1", "b": "print(eval('x'))"}, "a|b|a=x = 2|a"),
    "a file": (
        {"a": "open('f.txt', 'w').write('1')", "b": "print(open('f.txt').read())"},
        "a|b|a=open('f.txt', 'w').write('2')|a",
    ),
    "a seed": ({"a": "import random\nrandom.seed(1)", "b": "print(random.random())"}, "a|b|b"),
    "a swap twice": ({"a": "x, y = 1, 2", "b": "x, y = y, x", "c": "print(x)"}, "a|b|b|c"),
    "the same value": ({"a": "x = 1", "b": "print(x)"}, "a|b|a=x = 2 - 1|a"),
}
MOST_FALSE = 3

SHOWS = """
import contextlib, io, json, os, re, sys
import pandas
def show(sources):
    shown, space = [], {}
    for source in sources:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(re.sub(r"^%time ", "", source), space)
            except Exception as error:
                print(type(error).__name__)
        names = [n for n in re.findall(r"^(?:%time )?\\s*([a-z]+)", source, re.M) if n in space]
        values = [repr(space[n]) for n in names if type(space[n]) in (int, list, dict)
                  or type(space[n]).__name__ == "DataFrame"]
        shown.append(out.getvalue() + " ".join(values))
    return shown
for line in sys.stdin:
    folder, sources = json.loads(line)
    if not os.fork():
        os.chdir(folder)
        print(json.dumps(show(sources)), flush=True)
        os._exit(0)
    os.wait()
"""

Shows = Callable[[list[str]], list[str]]


def judge(shown: Shows, cells: dict[str, str], steps: str) -> tuple[set[str], set[str]]:
    """The marked cells, and those that are out of date."""
    cells, runs, order = dict(cells), Runs(), list[tuple[str, str]]()
    for step in steps.split("|"):
        cell, equals, source = step.partition("=")
        if step.startswith("-"):
            del cells[step[1:]]
        elif equals:
            cells[cell] = source
        else:
            order.append((cell, cells[cell]))
            runs.ran(cell, len(order), cells[cell])
    marked = set(find([NotebookCell(*one) for one in cells.items()], runs))
    ran = dict(zip((cell for cell, _ in order), (source for _, source in order), strict=True))
    shows = dict(zip((c for c, _ in order), shown([s for _, s in order]), strict=True))
    here = [cell for cell in cells if cell in ran]
    edited = {cell for cell in here if cells[cell] != ran[cell]}
    once = dict(zip(here, shown([ran[cell] for cell in here]), strict=True))
    repeated = [cell for cell in here for _ in range(order.count((cell, ran[cell])))]
    often: dict[str, list[str]] = {}
    for cell, text in zip(repeated, shown([ran[cell] for cell in repeated]), strict=True):
        often.setdefault(cell, []).append(text)
    stale = {
        cell
        for cell in here
        if cell not in edited
        and once[cell] != shows[cell]
        and (often[cell][-1] != shows[cell] or often[cell][0] != shows[cell])
    }
    now = dict(zip(here, shown([cells[cell] for cell in here]), strict=True))
    return marked, stale | {cell for cell in edited if now[cell] != once[cell]}


def test_the_marks_are_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong: dict[str, Any] = {}
    right = false = missing = 0
    program = subprocess.Popen([sys.executable, "-c", SHOWS], stdin=PIPE, stdout=PIPE)
    assert program.stdin is not None and program.stdout is not None
    asked, said = program.stdin, program.stdout

    def shown(sources: list[str]) -> list[str]:
        """What each run shows in a fresh interpreter: its output, and the values of its names."""
        asked.write(msgspec.json.encode((str(folder), sources)) + b"\n")
        asked.flush()
        return msgspec.json.decode(said.readline(), type=list[str])

    for number, (name, (cells, steps)) in enumerate(SCENARIOS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        marked, stale = judge(shown, cells, steps)
        false += bool(marked - stale)
        missing += bool(stale - marked and not marked - stale)
        right += marked == stale
        if marked != stale:
            wrong[name] = f"marked {sorted(marked)}, out of date {sorted(stale)}"
    asked.close()
    assert program.wait() == 0
    said.close()
    with capsys.disabled():
        print(f"\n{len(SCENARIOS)} scenarios: {right} right, {false} false, {missing} missing")
        for name, words in wrong.items():
            print(f"  {name}: {words}")
    assert false <= MOST_FALSE
    assert right >= 44
