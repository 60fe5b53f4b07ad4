"""``jupyter codeinterp chat`` in a terminal, ``run --continue``, and notebooks that are made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import Cli, fake_process, make_cli
from tests.test_cli_terminal import ended

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process() as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    return make_cli(tmp_path, fake)


def prompt(child: Any, mode: str = "Review") -> str:
    """Wait for the line that asks; what came before it, without escapes."""
    child.expect(rf"\x1b\[\?2004h[^>]*{mode}>")
    return _ESCAPES.sub("", child.before)


def test_a_conversation_keeps_kernel_and_history(cli: Cli) -> None:
    commands = cli.folder / ".codeinterp" / "commands"
    commands.mkdir(parents=True)
    (commands / "total.md").write_text("#echo Add up $ARGUMENTS")
    with cli.terminal("chat", "new.ipynb", "--yes", PROMPT_TOOLKIT_NO_CPR="1") as child:
        child.expect("Made new.ipynb.")
        prompt(child, "Auto")
        child.send("#code ```kept = 42```\r")
        assert "Cells: 1 added" in prompt(child, "Auto")
        child.send("/nosuch\r")
        assert "There is no command /nosuch" in prompt(child, "Auto")
        child.send("/help\r")
        shown = prompt(child, "Auto")
        assert "/model" in shown and "/total" in shown
        child.send("/mode review\r")
        prompt(child)
        child.send("#code ```print(kept + 1)```\r")
        child.expect(r"Run it\?")
        child.sendline("r")
        assert "43" in prompt(child)
        child.send("#slow_text\r")
        child.expect("Paragraph")
        child.send("\x03")
        assert "Stopped." in prompt(child)
        child.send("half a line\x03")
        prompt(child)
        child.send("\x1b[A")
        child.expect("slow_text")
        child.send("\x03")
        prompt(child)
        child.send("\x04")
        assert ended(child) == 0
    assert cli.sources("new.ipynb") == ["kept = 42", "print(kept + 1)"]


def test_run_continues_the_latest_conversation(cli: Cli) -> None:
    assert cli.run("run", "a.ipynb", "#one_cell", "--yes", "--continue").code == 2
    assert cli.run("run", "a.ipynb", "#one_cell first", "--yes").code == 0
    ran = cli.run("run", "a.ipynb", "#knows", "--yes", "--continue")
    assert ran.code == 0 and "I know of both." in ran.out
    assert len(cli.run("sessions", "--json").out.splitlines()) == 1


@pytest.mark.parametrize("name", ["new.ipynb", "no/new.ipynb", "new.txt"])
def test_a_notebook_that_is_not_there(cli: Cli, name: str) -> None:
    ran = cli.run("run", name, "#one_cell", "--yes")
    made = name == "new.ipynb"
    assert (ran.code == 0) is made and ("Made new.ipynb." in ran.err) is made
    assert cli.run("run", "other.ipynb", "#one_cell", "--plan").code == 2
    if made:
        assert cli.sources(name) == ["1 + 1"]
    else:
        assert "an existing folder" in ran.err and not (cli.folder / name).exists()


def test_help_names_the_limits(cli: Cli) -> None:
    cli.configure(max_steps=7, turn_timeout=90.0)
    said = " ".join(cli.run("run", "--help").out.split())
    assert "at most 7 here" in said and "--yes 90" in said and "claude-" in said
    assert "--yes=edits" in said and "/help lists" in cli.run("chat", "--help").out
    ran = cli.run("run", "a.ipynb", "#count", "--yes", "--max-steps", "3")
    assert ran.code == 3 and "To go on: jupyter codeinterp run a.ipynb --continue" in ran.err


def test_a_chat_needs_a_terminal(cli: Cli) -> None:
    ran = cli.run("chat", "a.ipynb")
    assert ran.code == 2 and "No terminal" in ran.err
