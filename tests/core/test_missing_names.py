"""Names, attributes and arguments that the kernel does not have, on a draft before the run."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.core.checks.names.absent import findings, question
from jupyter_codeinterp.core.checks.names.wanted import Needs, Wanted, needs
from jupyter_codeinterp.core.checks.shared.source import parsed
from jupyter_codeinterp.kernel_side import lookups
from tests.core.conftest import Room
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]


def missing(source: str, before: str = "") -> list[str]:
    """What the card would say of a cell after ``before`` ran."""
    namespace: dict[str, Any] = {}
    exec(before, namespace)
    tree = parsed(source)
    assert tree is not None
    wanted = needs(source, tree)
    asked = question(wanted)
    answer = lookups.missing(asked["wanted"], list(asked["imports"]), namespace)
    return [one.sentence for one in findings(wanted, answer)]


TABLE = "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': [1], 'b c': [2]})\ns = df['a']"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("print(salse)", "Nothing defines `salse`; `sales` exists."),
        ("total = qty * 2", "Nothing defines `qty`."),
        ("def f():\n    return later\nf()", "Nothing defines `later`."),
        ("pd.read_cvs('x')", "`pd` has no `read_cvs`; it has `read_csv`."),
        ("import pandas as p\np.read_cvs('x')", "`pandas` has no `read_cvs`; it has `read_csv`."),
        ("from math import sqroot", "`math` has no `sqroot`; it has `sqrt`."),
        ("from pandas import reed_csv", "`pandas` has no `reed_csv`; it has `read_csv`."),
        ("np.in1dd([1], [2])", "`np` has no `in1dd`."),
        (
            "pd.read_csv('x', seperator=';')",
            "`pd.read_csv` takes no argument `seperator`.",
        ),
        (
            "df.sort_values('a', ascendin=False)",
            "`df.sort_values` takes no argument `ascendin`; it takes `ascending`.",
        ),
        ("df.append(df)", "`df` has no `append`."),
        ("s.iteritems()", "`s` has no `iteritems`."),
        (
            "from datetime import datetime\ndatetime.utcnwo()",
            "`datetime.datetime` has no `utcnwo`; it has `utcnow`.",
        ),
        ("pd.DataFrame(dta=[1])", "`pd.DataFrame` takes no argument `dta`; it takes `data`."),
    ],
)
def test_what_is_not_there_is_told(source: str, sentence: str) -> None:
    assert missing(source, f"{TABLE}\nsales = 1") == [sentence]


@pytest.mark.parametrize(
    "source",
    [
        "print(df.a, s.mean(), df['b c'])",
        "x = 1\nprint(x)",
        "for i in range(3): print(i)\nlambda q: q\n[z for z in 'ab']",
        "try:\n    missing_name\nexcept NameError:\n    pass",
        "import contextlib\nwith contextlib.suppress(NameError):\n    missing_name",
        "if False:\n    missing_name",
        "def f():\n    return missing_name",
        "exec('y = 1')\nprint(y)",
        "from math import *\nprint(sin(1))",
        "%run other.py\nprint(y)",
        "ls",
        "np.linalg.norm([1]); np.testing.assert_equal(1, 1); np.f2py",
        "import xml\nxml.sax",
        "import not_installed_here\npd.nothing()",
        "df['new'] = 1\nprint(df.new)",
        "for name in 'xy':\n    df[name] = 1\nprint(df.x)",
        "df.columns = ['q', 'r']\nprint(df.q)",
        "def add(t):\n    t['n' + 'ew'] = 1\nadd(df)\nprint(df.new)",
        "from tqdm.auto import tqdm\ntqdm.pandas()\ndf.progress_apply(len)",
        "df.groupby('a', anything=1) if False else 0",
        "df.agg('sum', odd=1)",
        "pd.options.display.anything_else",
        "print(__name__)",
        "match df:\n    case [first, *rest]:\n        print(first, rest)",
        "class A:\n    x = 1\n    y = x\nA.x",
        "global later\nlater = 1\nprint(later)",
        "try:\n    1/0\nexcept ZeroDivisionError as error:\n    print(error)",
    ],
)
def test_what_may_be_there_gets_no_word(source: str) -> None:
    assert missing(source, TABLE) == []


def test_no_code_of_others_runs_and_nothing_is_imported() -> None:
    import sys

    before = (
        "import types\n"
        "seen = []\n"
        "class Meta(type):\n"
        "    def __getattribute__(self, name): seen.append(name); raise SystemExit\n"
        "class Odd(metaclass=Meta):\n"
        "    def __getattribute__(self, name): seen.append(name); raise SystemExit\n"
        "class Sub(types.ModuleType):\n"
        "    def __getattribute__(self, name): seen.append(name); raise SystemExit\n"
        "odd, sub = Odd(), Sub('sub')\n"
        "lazy = types.ModuleType('lazy')\n"
        "lazy.__getattr__ = lambda name: seen.append(name)\n"
        "seen.clear()"
    )
    namespace: dict[str, Any] = {}
    exec(before, namespace)
    source = "odd.a; odd(x=1); Odd.b; Odd(y=1); sub.c; lazy.d; import this; this.e"
    tree = parsed(source)
    assert tree is not None
    asked = question(needs(source, tree))
    assert len(asked["wanted"]) == 7
    assert lookups.missing(asked["wanted"], [], namespace) == []
    assert namespace["seen"] == [] and "this" not in sys.modules


def test_an_answer_in_another_form_is_nothing() -> None:
    needed = Needs((Wanted("a"),))
    right: dict[str, Any] = {"number": 0, "what": "name", "name": "a", "near": "secret"}
    others: list[Any] = [None, {}, [1], [dict(right, number="0")], [dict(right, what="x")]]
    for answer in others:
        assert findings(needed, answer) == ()
    assert findings(needed, [dict(right, number=7), dict(right, number=-1)]) == ()
    (found,) = findings(needed, [right], lambda name: name == "secret")
    assert found.sentence == "Nothing defines `a`."


def test_a_long_cell_asks_for_a_bounded_number() -> None:
    source = "\n".join(f"name_{number}" for number in range(500))
    tree = parsed(source)
    assert tree is not None and isinstance(tree.tree, ast.Module)
    assert len(needs(source, tree).wanted) == 60


async def test_the_draft_says_it_and_a_rejection_tells_the_model(
    bench: Benches, room: Room
) -> None:
    await room.run("import json\nsales = 1")
    b = bench(run("json.lodas(salse)"), say("Sorry."))
    b.send()
    draft = await b.draft()
    # In the order of the code's tree.
    assert sorted(draft.notices) == [
        "Names: Nothing defines `salse`; `sales` exists.",
        "Names: `json` has no `lodas`; it has `loads`.",
    ]
    b.decide(draft, "reject")
    await b.ended()
    assert "`json` has no `lodas`; it has `loads`." in b.sent_results[0]
    fine = bench(run("json.dumps(sales)"), say("Done."))
    fine.send()
    assert (await fine.draft()).notices == ()
    fine.decide(await fine.draft())
    await fine.ended()


async def test_nobody_waits_for_a_busy_kernel(bench: Benches, room: Room) -> None:
    running = room.person.run("import time\ntime.sleep(2)")
    await room.person.begun(running)
    b = bench(run("nothing_here"), say("Done."))
    b.send()
    assert (await b.draft()).notices == ()
    await room.person.finished(running)
    b.decide(await b.draft(), "reject")
    await b.ended()
