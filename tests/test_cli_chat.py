"""``jupyter codeinterp chat`` in a terminal, ``run --continue``, and notebooks that are made."""

from __future__ import annotations

import re
from typing import Any

import pexpect
import pytest

from tests.cli import Cli
from tests.test_cli_terminal import ended

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def prompt(child: Any, mode: str = "Review") -> str:
    """Wait for the line that asks; what came before it, without escapes."""
    child.expect(rf"\x1b\[\?2004h[^>]*{mode}>")
    return _ESCAPES.sub("", child.before)


def test_a_conversation_keeps_kernel_and_history(cli: Cli) -> None:
    total = cli.folder / ".codeinterp" / "skills" / "total"
    total.mkdir(parents=True)
    (total / "SKILL.md").write_text("#echo Add up $ARGUMENTS")
    with cli.terminal("chat", "new.ipynb", "--yes", PROMPT_TOOLKIT_NO_CPR="1") as child:
        child.expect(r"^Starting a kernel for new\.ipynb …\r\n")
        child.expect("Made new.ipynb.")
        assert "Ask about new.ipynb" in prompt(child, "Auto")
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


def test_a_mode_says_what_it_asks_and_keeps_what_yes_covers(cli: Cli) -> None:
    with cli.terminal("chat", "a.ipynb", "--yes=edits", PROMPT_TOOLKIT_NO_CPR="1") as child:
        started = prompt(child, "Auto")
        assert "Ask about a.ipynb" in started and "conversation" not in started
        for name, words in (
            ("plan", "Nothing runs or changes."),
            ("review", "Asks before each run and change."),
        ):
            child.send(f"/mode {name}\r")
            assert words in prompt(child, name.title())
        child.send("#edit_theirs\r")
        child.expect(r"Run it\?")
        child.sendline("n")
        assert "rejected" in prompt(child)
        child.send("/mode auto\r")
        assert "changes of your cells run without asking" in prompt(child, "Auto")
        child.send("#edit_theirs\r")
        assert "Cells: 1 edited" in prompt(child, "Auto")


def test_what_is_typed_during_a_turn_waits_at_the_prompt(cli: Cli) -> None:
    waits = "import pathlib, time;"
    waits += "\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    with cli.terminal("chat", "a.ipynb", "--yes", PROMPT_TOOLKIT_NO_CPR="1") as child:
        prompt(child, "Auto")
        child.send(f"\x1b[200~#code ```{waits}```\x1b[201~\r")
        child.expect("running")
        child.send("early words")
        (cli.folder / "go").touch()
        prompt(child, "Auto")
        child.expect("early words")
        child.send("\x03")
        prompt(child, "Auto")
        ignores = "while True:\n    try:\n        time.sleep(0.05)\n    except KeyboardInterrupt:\n"
        child.send(f"\x1b[200~#code ```{ignores}        pass```\x1b[201~\r")
        child.expect("running")
        for _ in range(60):  # Two signals in the same moment are one.
            child.send("\x03")
            if child.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=0.5) == 0:
                break
        else:
            raise AssertionError("the chat goes on")


def test_run_continues_the_latest_conversation(cli: Cli) -> None:
    assert cli.run("run", "a.ipynb", "#one_cell", "--yes", "--continue").code == 2
    assert cli.run("run", "a.ipynb", "#one_cell first", "--yes").code == 0
    ran = cli.run("run", "a.ipynb", "#knows", "--yes", "--continue")
    assert ran.code == 0 and "I know of both." in ran.out
    assert ran.err == "Continuing: #one_cell first\n"
    assert len(cli.conversations()) == 1


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
    assert "at most 7 here" in said and "with --yes: 90 for a turn" in said and "claude-" in said
    assert "--yes=edits" in said
    ran = cli.run("run", "a.ipynb", "#count", "--yes", "--max-steps", "3")
    assert ran.code == 3 and "To continue: jupyter codeinterp run a.ipynb --continue" in ran.err


def test_a_chat_needs_a_terminal(cli: Cli) -> None:
    ran = cli.run("chat", "a.ipynb")
    assert ran.code == 2 and "No terminal" in ran.err
