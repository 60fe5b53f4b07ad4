"""Examples in a person's message: which are found, and what the kernel makes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.cells.trying import looks_at
from jupyter_codeinterp.core.checks.run import tried
from jupyter_codeinterp.core.checks.shared import examples
from jupyter_codeinterp.core.checks.shared.contract import Contract
from jupyter_codeinterp.core.checks.shared.kernel_report import seen_run
from jupyter_codeinterp.core.hooks.hook import CellCode, CellOutputs
from jupyter_codeinterp.kernel_side.examples import same
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]
FOUND: list[tuple[str, list[tuple[str, str]]]] = [
    ("Write square, e.g. f(3) should give 9", [("f(3)", "9")]),
    ("`slugify('A b')` → 'a-b'", [("slugify('A b')", "'a-b'")]),
    ("`f(3)` should return `9`", [("f(3)", "9")]),
    (">>> f(2)\n4\n>>> f(3)\n9\n", [("f(2)", "4"), ("f(3)", "9")]),
    ("f([1,2]) == 3", [("f([1,2])", "3")]),
    ("f(2) should be 4 and f(3) should be 9.", [("f(2)", "4"), ("f(3)", "9")]),
    ("- f(1) -> 1\n2. f(2) => 4\n", [("f(1)", "1"), ("f(2)", "4")]),
    ("A square (e.g. f(2) == 4), please.", [("f(2)", "4")]),
    ("For example, f(2) returns 4.", [("f(2)", "4")]),
    ("How many are there? Also half(3) == 1.5.", [("half(3)", "1.5")]),
    ("f(3) = 9", [("f(3)", "9")]),
    ("```python\nassert f(3) == 9\n```", [("f(3)", "9")]),
    ("count('it is not here') must return 3", [("count('it is not here')", "3")]),
    ("leap(1900) must be False, leap(2000) must be True.",
     [("leap(1900)", "False"), ("leap(2000)", "True")]),
    ("f(a=3, b='x') -> {'k': [1, -2.5]}", [("f(a=3, b='x')", "{'k': [1, -2.5]}")]),
    ("parse('2024-02-30') must return None", [("parse('2024-02-30')", "None")]),
    ("Returns None if the date is wrong, as in\nf(2) → 4 (two squared)", []),
    ("Return None if the date is not valid:\n>>> f(3)\n9", [("f(3)", "9")]),
]  # fmt: skip
QUIET = [
    "Write a function f(x) that squares.",
    "For 2024-02-30 it must return None.",
    "f(2) returns 4",
    "f(3) returns 8 but should return 9",
    "f(3) == 9\nf(3) == 10",
    "Why is f(3) = 9?",
    "Does f(3) == 9?",
    "Where is the bug? Here f(3) == 9",
    "This is wrong:\n- f(3) -> 8\n- f(4) -> 9",
    "I get this, which is wrong\n>>> f(3)\n8\n\n>>> f(4)\n9",
    "The sum of f(2) and f(3) should be 9",
    "f(2) + f(3) == 13",
    "2*f(3) == 9",
    "f(3) == 9*2",
    "f(3) == 9 + 2",
    "x = f(3) == 9",
    "if f(3) == 9: pass",
    "f(g(3)) == 9",
    "f(x) == 9",
    "f(3) == y",
    "a.f(3) == 9",
    "f(*[3]) == 9",
    "f(**{'x': 3}) == 9",
    "f(3) should be about 9",
    "f(3) should be 9 %",
    "f(3) should be 9 or 10",
    "f(3) should give 9, 10",
    "f(3) should give 9 rows",
    "f(3) should not be 9",
    "f([1, 2]) should give [1, 2, ...]",
    "f(3) == " + "[" * 100 + "]" * 100,
    ">>> f(3)\n",
    ">>> x = f(3)\n9",
    ">>> print(f(3))\n9",
    ">>> f(3)\nTraceback (most recent call last):",
]


@pytest.mark.parametrize(("message", "calls"), FOUND)
def test_examples_are_found(message: str, calls: list[tuple[str, str]]) -> None:
    assert [(one.call, one.expected) for one in examples.of_message(message)] == calls


@pytest.mark.parametrize("message", QUIET)
def test_other_words_are_none(message: str) -> None:
    assert examples.of_message(message) == ()


@pytest.mark.parametrize("part", ["f(3) == 9\n", "f(", "f('", "f(3) = ", "- ", ", (", "f([[", "(("])
def test_reading_takes_no_time(part: str) -> None:
    began = time.process_time()
    assert len(examples.of_message(part * 100_000)) <= examples.MOST
    assert time.process_time() - began < 0.5


def test_only_functions_that_the_code_defines() -> None:
    message = "f(3) == 9\ng(3) == 9\nlen('ab') == 2"
    found = examples.examples(message, "def f(x): ...\nclass A:\n    def g(self): ...\nlen\n")
    assert [one.call for one in found] == ["f(3)"]
    assert examples.examples(message, "def f(x") == ()


@pytest.mark.parametrize(
    ("expected", "got", "written", "is_same"),
    [
        (9, 9.0, "9", True),
        (0.3, 0.1 + 0.2, "0.3", True),
        (0.33, 1 / 3, "0.33", True),
        (0.34, 1 / 3, "0.34", False),
        (1.5, 1.46, "1.5", False),
        ([1, 2], (1, 2), "", False),
        ([1.0, 2], [1, 2.0], "", True),
        ({"a": 1}, {"a": 1.0}, "", True),
        ({"a": 1}, {"b": 1}, "", False),
        ("9", 9, "'9'", False),
        (None, 0, "None", False),
        (10**400, 2.0, "1", False),
        (2.0, 10**400, "2.0", False),
        (2.25, float("inf"), "2.25", False),
    ],
)
def test_what_is_the_same(expected: Any, got: Any, written: str, is_same: bool) -> None:
    assert same(expected, got, written) is is_same


# --- with a real kernel -------------------------------------------------------------------

SQUARE = "def f(x):\n    return x * x\n"


async def sentences(b: Bench, question: str) -> list[tuple[str, ...]]:
    await b.turn(question, mode="auto")
    return [tuple(one.sentence for one in done.findings) for done in b.of(e.ToolDone)]


async def test_examples_that_hold_give_no_finding(bench: Benches) -> None:
    b = bench(run(SQUARE), run("f(4)"), say("Done."))
    assert await sentences(b, "Write f: f(3) == 9, f(0.1) == 0.01.") == [(), ()]


async def test_an_example_that_fails_is_a_finding(bench: Benches) -> None:
    cell = (
        "import numpy as np\n"
        "def f(x):\n    if x == 0:\n        raise ValueError('no')\n    return x + x\n"
        "def total(numbers):\n    return np.int64(sum(numbers))\n"
        "def show(x):\n    print(x)\n"
        "def table():\n    return np\n"
        "async def later():\n    pass\n"
    )
    b = bench(run(cell), say("Done."))
    question = (
        "f(3) == 9\nf(0) == 0\ntotal([1, 2]) == 3\nshow(3) should be 3\n"
        "table() == 3\nlater() == 3\nlen('a') == 3\nf(1, 2) == 3"
    )
    assert await sentences(b, question) == [
        (
            "`f(3)` gave 6; the question says 9.",
            "`f(0)` raised ValueError; the question says 0.",
            "`show(3)` gave None; the question says 3.",
            "`f(1, 2)` raised TypeError; the question says 3.",
        )
    ]
    assert "`f(3)` gave 6; the question says 9." in b.results[0]


async def test_calls_show_nothing_and_what_they_change_is_told(bench: Benches) -> None:
    cell = (
        "%matplotlib inline\nimport sys, warnings, matplotlib.pyplot as plt\n"
        "count = 0\n"
        "def f(x):\n    global count, made\n    count += 1\n    made = [x]\n"
        "    print('loud'); print('loud', file=sys.stderr); warnings.warn('loud')\n"
        "    display('loud'); plt.figure(); sys.stdout = None\n    return x\n"
    )
    b = bench(run(cell), run("print(count, made, plt.get_fignums())"), say("Done."))
    assert await sentences(b, "f(3) == 3") == [(), ()]
    assert "loud" not in b.results[0] and "Figure" not in b.results[0]
    assert "1 [3] []" in b.results[1]


async def test_calls_end_after_a_second(bench: Benches) -> None:
    cell = (
        "import time\ndef f(x):\n    if x == 2:\n        time.sleep(30)\n    return x\n"
        "def g():\n    try:\n        return f(2)\n    except Exception:\n        return 1\n"
    )
    b = bench(run(cell), run("print('on')"), say("Done."))
    began = time.monotonic()
    told = await sentences(b, "f(1) == 1\ng() == 1\nf(3) == 3\n")
    late = "`g()` did not end within 1 second; the question says 1."
    assert told == [("The example `f(3)` of the question was not tried.", late), ()]
    assert time.monotonic() - began < 29
    assert "on" in b.results[1]


async def test_calls_that_nothing_could_end_are_not_made(bench: Benches) -> None:
    timer = "import signal\nsignal.setitimer(signal.ITIMER_REAL, 600)\n"
    b = bench(run(timer + SQUARE), run(timer.replace("600", "0")), say("Done."))
    told = ("The examples `f(3)` and `f(4)` of the question were not tried.",)
    assert await sentences(b, "f(3) == 9\nf(4) == 10") == [told, ()]


async def test_the_card_says_that_examples_will_be_tried(bench: Benches) -> None:
    b = bench(run(SQUARE), run("x = 1"), say("Done."))
    b.send("f(3) == 9 and f(4) == 10")
    first = await b.draft()
    told = "After the run, the kernel tries the examples of your message: `f(3)`, `f(4)`"
    assert told in first.notices
    b.decide(first)
    second = await b.draft(2)
    assert told not in second.notices
    b.decide(second)
    await b.ended()
    (finding,) = b.of(e.ToolDone)[0].findings
    assert finding.sentence == "`f(4)` gave 16; the question says 10."


def test_nothing_is_sent_where_there_are_none() -> None:
    assert looks_at(None, ()) is None
    assert looks_at(Contract(name="x"), ()) == Contract(name="x").asked


async def test_a_cell_that_fails_or_defines_nothing_tries_none(bench: Benches) -> None:
    cells = [
        SQUARE + "1 / 0",
        "seen = []\nlambda f: f(3)",
        "f = print\n",
        "def g(x):\n    return x\n",
    ]
    b = bench(*map(run, cells), say("Done."))
    assert await sentences(b, "f(3) == 10") == [()] * len(cells)
    assert all("gave" not in result for result in b.results)


def test_a_report_in_another_form_is_nothing() -> None:
    wanted = (examples.Example("f", "f(3)", "9"),)
    cell, outputs = CellCode("a.ipynb", "c1", SQUARE), CellOutputs("ok", ())
    reports: list[Any] = [7, "x", [7], [{"call": "f(3)", "got": 7}], [{"call": "g(1)", "got": "7"}]]
    for told in reports:
        seen = seen_run(cell, outputs, {"examples": told}, examples=wanted)
        assert seen.examples == () and not list(tried.read(seen))
    long = [{"call": "f(3)", "got": "x" * 10_000}] * 1_000
    seen = seen_run(cell, outputs, {"examples": long}, examples=wanted)
    assert len(seen.examples) <= examples.MOST
    assert all(len(one.sentence) < 300 for one in tried.read(seen))
