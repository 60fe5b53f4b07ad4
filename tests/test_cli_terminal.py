"""``jupyter codeinterp run`` in a terminal: what a person sees, is asked, and says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jupyter_codeinterp.base.visible import visible
from jupyter_codeinterp.cli.terminal.people import cells_of, without_cells
from tests.cli import Cli

ASKED = r"Run it\? \[r\]un, \[e\]dit, \[n\]o REASON, \[a\]ll code in this turn: "
TOTALS = 'sales["revenue"].sum()'
_OURS = re.compile(r"\x1b\[(?:[0-9;]*m|\?25[hl]|1A|2K)")
"""Colours and the cursor: all that ``rich`` uses."""


def ended(child: Any) -> int:
    """The exit code; what was not read yet is in ``child.before``."""
    child.expect(pexpect.EOF)
    child.wait()
    assert "Traceback" not in child.before
    return int(child.exitstatus)


def code(*lines: str) -> str:
    return "\n".join(["#code ```", *lines, "```"])


def test_each_run_is_asked_for_until_all_may_run(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#three_cells") as child:
        child.expect(ASKED)
        assert "import" in child.before and "│" in child.before
        child.sendline("r")
        child.expect(ASKED)
        child.sendline("a")
        child.expect("The revenue is 460 in all")
        assert ended(child) == 0
    assert cli.sources()[2] == TOTALS


def test_at_a_limit_the_person_lets_it_go_on(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#three_cells", "--yes", "--max-steps", "3") as child:
        child.expect(r"Stopped at the limit of 3 model calls.*Continue\? \[y\]es, \[n\]o: ")
        child.sendline("y")
        child.expect(r"thinking|writing|running|✓|■")
        while child.expect([r"Continue\? \[y\]es, \[n\]o: ", pexpect.EOF]) == 0:
            child.sendline("n")
        child.wait()
        assert child.exitstatus in (0, 3)
    assert len(cli.sources()) >= 2


def test_no_runs_nothing(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", code("open('ran.txt', 'w')")) as child:
        child.expect(ASKED)
        for no_word in ("maybe", "yes but only the first"):
            child.sendline(no_word)
            child.expect("Nothing was decided. Answer with one letter; only n takes a reason.")
            child.expect(ASKED)
        child.sendline("n use a name of mine")
        ended(child)
        assert "They say: use a name of mine" in child.before
    assert not (cli.folder / "ran.txt").exists()


def test_what_follows_a_stop_at_the_question_begins_a_line(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", code("1")) as child:
        child.expect(ASKED)
        child.sendintr()
        ended(child)
        assert re.match(r"(\^C)?\r\n", _OURS.sub("", child.before))


def test_what_was_typed_before_the_question_is_no_answer(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#slow_cell") as child:
        child.expect("writing")
        child.send("y\ny\ny\n")
        child.expect(ASKED)
        child.sendline("n")
        ended(child)
    assert cli.sources() == ["import math"]


def editor(cli: Cli, *lines: str) -> str:
    """The path of one that does this."""
    editor = cli.folder.parent / "editor"
    editor.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    editor.chmod(0o755)
    return str(editor)


def test_a_cell_is_edited_shown_again_and_run_as_it_then_is(cli: Cli) -> None:
    writes = editor(cli, 'echo "print(6 * 7)" > "$1"')
    with cli.terminal("run", "a.ipynb", code("open('ran.txt', 'w')"), EDITOR=writes) as child:
        child.expect(ASKED)
        child.sendline("e")
        child.expect(ASKED)
        assert "7" in child.before
        child.sendline("y")
        child.expect("42")
        assert ended(child) == 0
    assert cli.sources() == ["import math", "print(6 * 7)"]
    assert not (cli.folder / "ran.txt").exists()


def test_an_editor_that_fails_leaves_the_cell_as_it_was(cli: Cli) -> None:
    fails_and_goes = editor(cli, 'rm "$0"', "exit 1")
    with cli.terminal("run", "a.ipynb", code("print(1)"), VISUAL=fails_and_goes) as child:
        for words in ("failed.", "Cannot start"):
            child.expect(ASKED)
            child.sendline("e")
            child.expect(words)
        child.expect(ASKED)
        child.sendline("y")
        assert ended(child) == 0
    assert cli.sources() == ["import math", "print(1)"]


def test_a_question_of_the_models_is_answered(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#ask") as child:
        child.expect("Your answer: ")
        child.sendline("1")
        assert ended(child) == 0
    said = cli.exported()
    assert re.search(r"^> \w+", said.partition("## Answer")[2], re.M), said


def test_an_edit_of_the_persons_cell_is_asked_for_in_every_mode(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#edit_theirs", "--yes") as child:
        child.expect(r"Run it\? \[r\]un, \[e\]dit, \[n\]o REASON: ")
        assert "-import" in _OURS.sub("", child.before)
        child.sendline("n")
        ended(child)
    assert cli.sources() == ["import math"]


@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_ctrl_c_and_ctrl_d_while_a_question_waits(cli: Cli, key: str) -> None:
    with cli.terminal("run", "a.ipynb", code("open('ran.txt', 'w')")) as child:
        child.expect(ASKED)
        child.send(key)
        assert ended(child) == 130
        assert "Stopped." in _OURS.sub("", child.before)
    assert cli.sources() == ["import math"] and not (cli.folder / "ran.txt").exists()


def test_ctrl_c_while_the_model_speaks(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", "#slow_text") as child:
        child.expect("Paragraph")
        child.send("\x03")
        assert ended(child) == 130
        assert child.before.rindex("\x1b[?25h") > child.before.find("\x1b[?25l"), "a cursor is left"


def test_a_terminal_that_is_closed_runs_nothing_more(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", code("open('ran.txt', 'w')")) as child:
        child.expect(ASKED)
        child.ptyproc.fileobj.close()
        child.wait()
    assert cli.sources() == ["import math"] and not (cli.folder / "ran.txt").exists()


HOSTILE = (
    "\x1b]0;owned\x07",
    "\x1b[2J\x1b[H\x1b[35;45m",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x9b35;45m",
    "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "\x1bPq#0\x1b\\",
    "[on magenta]x[/] [link=https://evil.example]y[/link]",
    "&#27;[35;45m &#x9b;35;45m &#x202E;",
    "[a link](https://evil.example)",
    "\u202eabc\u2066",
    "over\rwritten\x08\x08\x7f",
)
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("place", ["text", "question", "code", "title"])
def test_no_words_of_others_reach_the_terminal_as_commands(cli: Cli, place: str) -> None:
    said = "\n".join(HOSTILE)
    prompts = {
        "text": f"#says\n{said}",
        "question": f"#asks\n{said}",
        "code": code(f"x = 1\n# {said}\nprint({said!r})\nraise ValueError({said!r})"),
        "title": f"#titles\n{said}",
    }
    seen = ""
    with cli.terminal("run", "a.ipynb", prompts[place]) as child:
        while (found := child.expect([r"\[n\]o REASON", "Your answer: ", pexpect.EOF])) < 2:
            seen += child.before
            child.sendline("y" if found == 0 else "Yes")
        seen += child.before
    assert seen.count("wri") >= (3 if place == "code" else 1)
    assert "window" not in seen, "a person is told of none here"
    text = _OURS.sub("", seen)
    assert not _NO_TEXT.search(text), repr(_NO_TEXT.search(text))
    assert "over\rwritten" not in seen
    # Of what looks like ours, nothing came from there.
    assert not re.search(r"\x1b\[(?:[HJ]|2J|[0-9;]*45)", seen)


def test_a_sign_that_the_terminal_lacks_is_an_escape(cli: Cli) -> None:
    """Also in the code that a person decides on."""
    cli.environment["PYTHONIOENCODING"] = "ascii"
    ran = cli.program("run", "a.ipynb", code("x = 'δ变😀'", "print(x)"), "--yes")
    assert (ran.code, ran.err) == (0, ""), ran
    assert "\\u03b4\\u53d8\\U0001f600" in ran.out
    (cli.folder / "δ.ipynb").write_bytes(cli.file.read_bytes())
    for command in (["verify", "δ.ipynb"], ["key", "list"], ["δ"]):
        assert "Traceback" not in (told := cli.program(*command)).err + told.out, command
        assert "Internal error" not in told.err, command


def test_the_terminal_shows_the_work(cli: Cli) -> None:
    """Its last line while it runs, the cell of a link by its number, and the files at the end."""
    waits = code(
        "import pathlib, time",
        "print('first\\nstep 1 of 2', flush=True)",
        "while not pathlib.Path('go').exists(): time.sleep(0.05)",
        "open('new.csv', 'w').write('a')",
    )
    with cli.terminal("run", "a.ipynb", waits, "--yes") as child:
        child.expect(r"running .*\d+ s  step 1 of 2")
        (cli.folder / "go").touch()
        child.expect(r"Files written: .*new\.csv \(new\)")
        assert ended(child) == 0


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        *(("one", "it (cell 1 [7])"), ("two", "it (cell 2 [1])"), ("three", "it (cell 3 [1])")),
        *(("text", "it (cell 4)"), ("odd", "it (cell 5)"), ("gone", "it (cell deleted)")),
    ],
)
def test_links_name_cells_by_their_numbers(tmp_path: Path, cell: str, shown: str) -> None:
    counts = {"one": 7, "two": 1, "three": 1, "text": None, "odd": [1]}
    file = tmp_path / "a.ipynb"
    cells = [{"id": name, "execution_count": count} for name, count in counts.items()]
    file.write_text(json.dumps({"cells": cells}))
    assert without_cells(f"[it](#cell:{cell})", cells_of(file)) == shown
    several = '[1](#cell:one), [2](#cell:two), [3](#cell:one)\n[4](#cell:one "Kiel (a), b")'
    shown = "1, 2, 3 (cell 1 [7], cell 2 [1])\n4 (cell 1 [7])"
    assert without_cells(several, cells_of(file)) == shown
    assert cells_of(None) == {} and cells_of(tmp_path) == {}
    for unsure in ({}, {"two": (0, 1)}):
        assert without_cells("[it](#cell:one)", unsure, are_all=False) == "it"
    assert without_cells("[it](#cell:one)", {}) == "it"
    numbered = "[Cell 1](#cell:one), [the sum of cell 1](#cell:one), [cell 12](#cell:one)"
    shown = "Cell 1, the sum of cell 1, cell 12 (cell 1 [7])"
    assert without_cells(numbered, {"one": (1, 7)}) == shown


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\x1b[2J\x07\u202e\u200b\ud800\U000e0041b") == (
        "a\\x1b[2J\\x07\\u202e\\u200b\\ud800\\U000e0041b"
    )
    assert visible("tab\tline\n é 变量 😀") == "tab\tline\n é 变量 😀"
    assert visible("👩\u200d🔬") == "👩\u200d🔬"
    assert visible("a\u200db", code=True) == "a\\u200db"
