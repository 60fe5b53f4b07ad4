"""Code that is pushed out of a person's sight is said, and asks in every mode."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.run.approval.code_warnings import warnings_on
from jupyter_codeinterp.run.approval.out_of_sight import out_of_sight
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Mode
from tests.core.conftest import Room
from tests.core.conftest import bench as bench
from tests.core.conftest import jp_asyncio_loop as jp_asyncio_loop
from tests.core.conftest import room as room
from tests.core.conftest import shared_room as shared_room
from tests.core.conftest import store as store
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]

PAYLOAD = "import os\nos.environ.clear()"
WORDS = "\n".join(f"# This is remark number {n} of many." for n in range(60))

N = "\n"
REPEATED = "are mostly blank, comments or repeated. More code follows below."


def blank(first: int, last: int) -> str:
    return f"Lines {first} to {last} are blank. More code follows below."


def no_code(first: int, last: int) -> str:
    return f"Lines {first} to {last} contain no code. More code follows below."


def goes_on(line: int) -> str:
    return f"Line {line} goes on after 100 or more blanks."


HIDDEN = {
    "a payload above 500 blank lines": (f"{PAYLOAD}{N * 501}total = 1", blank(3, 502)),
    "a payload below 500 blank lines": (f"total = 1{N * 501}{PAYLOAD}", blank(2, 501)),
    "a payload above blank lines at the end": (
        f"{PAYLOAD}{N * 30}",
        "Lines 3 to 32 are blank. The code is above them.",
    ),
    "blank lines at the beginning": (f"{N * 20}{PAYLOAD}", blank(1, 20)),
    "lines of blanks and tabs": ("a = 1\n" + "  \t \n" * 25 + PAYLOAD, blank(2, 26)),
    "form feeds between the lines": ("a = 1\n" + "\f\n" * 25 + PAYLOAD, blank(2, 26)),
    "lines of a bare #": ("a = 1\n" + "#\n" * 25 + PAYLOAD, no_code(2, 26)),
    "lines of dashes, semicolons and pass in turn": (
        "a = 1\n" + "# ----\n;\npass\n" * 10 + PAYLOAD,
        no_code(2, 31),
    ),
    "lines that are continued and hold nothing": (
        "a = 1 + \\\n" + "\\\n" * 25 + "b()",
        no_code(2, 26),
    ),
    "lines of an empty string": ("a = (\n" + '    ""\n' * 25 + ")\n" + PAYLOAD, no_code(2, 27)),
    "blank lines in a string": (f'a = """{N * 30}"""\n{PAYLOAD}', no_code(2, 31)),
    "blank lines with a remark every nineteen": (
        "a = 1\n" + ("\n" * 18 + "# on\n") * 5 + PAYLOAD,
        "Lines 2 to 96 are mostly blank, comments or repeated. More code follows below.",
    ),
    "sixty lines of remarks": (f"a = 1\n{WORDS}\n{PAYLOAD}", REPEATED),
    "one line a hundred times": ("a = 1\n" + "a = a\n" * 100 + PAYLOAD, REPEATED),
    "two lines in turn, fifty times": ("a = 1\n" + "a = a\nb = a\n" * 50 + PAYLOAD, REPEATED),
    "a string of two hundred lines": (
        'a = """' + "\n".join(f"line {n}" for n in range(200)) + f'"""\n{PAYLOAD}',
        "Lines 1 to 200 are one text. More code follows below.",
    ),
    "two thousand lines": (
        "\n".join(f"a{n} = {n}" for n in range(2000)),
        "There are 2,000 lines with 23,779 characters.",
    ),
    "long lines of data after the code": (
        f"{PAYLOAD}\n" + "\n".join(f"a{n} = {[n] * 100}" for n in range(200)),
        "There are 202 lines with",
    ),
    "a statement after 300 blanks": (f"a = 1;{' ' * 300}import os", goes_on(1)),
    "a statement after tabs": (f"a = 1;{chr(9) * 20}import os", goes_on(1)),
    "a statement after blanks that are broken up": (
        f"a = 1;{(' ' * 40 + ';') * 3}import os",
        goes_on(1),
    ),
    "code that is indented by 200 blanks": (f"if True:\n{' ' * 200}import os", goes_on(2)),
    "a line of 600 characters": (f"a = '{'x' * 600}'", "Line 1 has more than 500 characters."),
    "a statement behind a long string": (
        f"a = '{'word ' * 30}'; import os",
        "Line 1 has a statement to the right of column 100.",
    ),
    "a statement behind a long string, in a cell with a magic": (
        f"%time 1\na = '{'word ' * 30}'; import os",
        "Line 2 has a statement to the right of column 100.",
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_is_said(name: str) -> None:
    source, words = HIDDEN[name]
    assert any(words in line for line in out_of_sight(source)), out_of_sight(source)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        "def f(x):\n\n\n    return x\n" + "\n" * 12 + "f(1)",
        "# A remark\n# of three\n# lines\nx = 1",
        "\n".join(f"# remark {n}" for n in range(30)) + "\nx = 1",
        "m = [\n" + "    [0, 0, 1],\n    [0, 1, 0],\n" * 9 + "]",
        "x = {'a': 1,      'b': 2}  # aligned",
        "if a:\n    if b:\n" + " " * 40 + "f()",
        "plt.title('" + "long " * 40 + "')",
        "\n".join(f"a{n} = f({n})\n" for n in range(300)),
        "text = '''" + "\n".join(f"row {n}" for n in range(40)) + "'''\nprint(text)",
    ],
)
def test_code_as_people_write_it_is_left_alone(source: str) -> None:
    assert out_of_sight(source) == ()


def test_stretches_and_lines_are_not_listed_without_end() -> None:
    said = out_of_sight(("x = 1\n" + "\n" * 25) * 200 + "y = 2\n" + "'" + "x" * 501 + "'\n" * 90)
    assert len(said) < 12
    assert "196 more ranges" in said[5]


@pytest.mark.parametrize("mode", ["auto", "review"])
async def test_a_payload_above_500_blank_lines_asks_in_every_mode(
    bench: Benches, room: Room, mode: Mode
) -> None:
    source, words = HIDDEN["a payload above 500 blank lines"]
    b = bench(run(source), say("Done."))
    b.send(mode=mode)
    draft = await b.draft()
    assert words in draft.notices
    assert await room.ran() == []
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == []


async def test_an_edit_in_auto_that_hides_code_asks(bench: Benches, room: Room) -> None:
    source, words = HIDDEN["a statement after 300 blanks"]
    b = bench(
        run("a = 1"), lambda r: call("edit_cell", cell_id=last_cell(r), source=source), say("Done.")
    )
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.kind == "edit" and words in draft.notices
    b.decide(draft, "reject")
    await b.ended()
    assert await room.ran() == ["a = 1"]


async def test_hidden_code_in_the_rest_of_run_all_asks(bench: Benches, room: Room) -> None:
    source, words = HIDDEN["a payload above blank lines at the end"]
    b = bench(run("a = 1"), run(source), say("Done."))
    b.send()
    b.decide(await b.draft(), run_all=True)
    draft = await b.draft(2)
    assert words in draft.notices
    b.decide(draft, "reject")
    await b.ended()
    assert [x.by for x in b.of(e.DraftDecided)] == ["person", "person"]
    assert await room.ran() == ["a = 1"]


async def test_hidden_code_asks_whom_a_program_leaves_its_turn_to(
    bench: Benches, room: Room
) -> None:
    source, words = HIDDEN["a payload above 500 blank lines"]
    b = bench(ModelError("overloaded", "Busy."), run(source), say("Done."))
    b.session.send("Go", "review", "", alone="run")
    assert (await b.ended()).retry
    b.session.retry()
    draft = await b.draft()
    assert words in draft.notices
    b.decide(draft, "reject")
    await b.ended(2)
    assert await room.ran() == []


@pytest.mark.parametrize(
    ("source", "asks"), [("a = 1" + "\n" * 40 + "b = 2", False), ("a\u202e", True)]
)
async def test_where_nobody_reads_it_a_card_says_it_all_the_same(source: str, asks: bool) -> None:
    """A person may open the card in JupyterLab. Hidden characters ask, too."""
    unread = await warnings_on(source, "python", (), unread=True)
    assert unread.lines and unread.ask is asks
    assert (await warnings_on(source, "python", (), unread=False)).ask
