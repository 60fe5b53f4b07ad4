"""``sandbox changes``: what a person sees, is asked, and gets in their folder."""

from __future__ import annotations

import fcntl
import re
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jupyter_codeinterp.cli import arguments
from jupyter_codeinterp.cli.commands import run as run_module
from jupyter_codeinterp.cli.commands.sandboxes import overlays
from jupyter_codeinterp.cli.local.problems import Problem
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from tests.cli import Cli, make_cli
from tests.sandbox.here import runs_here

CODE = "open('new.csv', 'w').write('1'); open('old.csv', 'a').write('2'); import os\n"
CODE += "os.makedirs('x/.git'); open('x/.git/config', 'w'); open('\\x1b[2J', 'w')"
PROMPT = f"#code ```\n{CODE}\n```"
ASKED = r"into the folder\? \[y\]es, \[n\]o: "


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    made = make_cli(tmp_path, fake)
    (made.folder / "old.csv").write_text("1")
    ran = made.run("sandbox", "install", "--user", "--overlay")
    assert ran.code == 0, ran.err
    return made


def written(cli: Cli) -> str:
    """The name of the one layer whose files wait."""
    ran = cli.run("run", "a.ipynb", PROMPT, "--yes", "--sandbox")
    assert ran.code == 0, ran.err
    found = re.search(
        r"wait outside of the folder\..* sandbox changes ([0-9a-f]{8}) --commit", ran.err
    )
    assert found, ran.err
    return found[1]


def ended(child: Any) -> int:
    child.expect(pexpect.EOF)
    child.wait()
    assert "Traceback" not in child.before
    return int(child.exitstatus)


@runs_here
def test_the_files_are_listed_before_the_question(cli: Cli) -> None:
    with cli.terminal("sandbox", "changes", written(cli), "--commit") as child:
        child.expect(ASKED)
        listed = child.before
        assert "+ new.csv  1 byte" in listed
        assert "~ old.csv  2 bytes" in listed
        assert "x/.git/config" in listed and "take instructions" in listed
        assert "\x1b[2J" not in listed and "\\x1b[2J" in listed
        assert (cli.folder / "old.csv").read_text() == "1"
        child.sendline("y")
        assert ended(child) == 0
    assert (cli.folder / "new.csv").read_text() == "1"
    assert (cli.folder / "old.csv").read_text() == "12"
    assert not (cli.folder / "x" / ".git").exists()


@runs_here
def test_files_wait_until_someone_copies_or_deletes_them(cli: Cli) -> None:
    name = written(cli)
    assert not (cli.folder / "new.csv").exists()
    listed = cli.run("sandbox", "changes")
    assert (listed.code, "+ new.csv" in listed.out) == (0, True)
    assert "Add --commit to copy" in listed.out
    refused = cli.run("sandbox", "changes", name, "--commit")
    assert (refused.code, "Add --yes" in refused.err) == (2, True)
    assert cli.run("sandbox", "changes", "00000000").code == 2
    # Those of a kernel that runs are not copied behind its back.
    found = list(cli.folder.parent.rglob(f"codeinterp-overlays/{name}/lock"))
    with found[0].open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = cli.run("sandbox", "changes", name, "--commit", "--yes")
        assert (refused.code, "still runs" in refused.err) == (1, True)
        assert not (cli.folder / "new.csv").exists()
        assert "+ new.csv" in cli.run("sandbox", "changes", name).out
    (cli.folder / "old.csv").write_text("changed since")
    copied = cli.run("sandbox", "changes", name, "--commit", "--yes")
    assert "has changed in the folder" in copied.out
    assert (cli.folder / "new.csv").read_text() == "1"
    assert (cli.folder / "old.csv").read_text() == "changed since"
    with cli.terminal("sandbox", "changes", name, "--discard") as child:
        child.expect(r"Delete .*\? \[y\]es, \[n\]o: ")
        child.sendline("y")
        assert ended(child) == 0
    assert cli.run("sandbox", "changes").out == "No files wait.\n"


@runs_here
def test_no_answer_copies_nothing(cli: Cli) -> None:
    with cli.terminal("sandbox", "changes", written(cli), "--commit") as child:
        child.expect(ASKED)
        child.sendeof()
        assert ended(child) == 0
    assert not (cli.folder / "new.csv").exists()


@runs_here
def test_a_file_that_cannot_be_copied_is_in_the_exit_code(cli: Cli) -> None:
    with cli.terminal("sandbox", "changes", written(cli), "--commit") as child:
        child.expect(ASKED)
        # Since the list was shown.
        (cli.folder / "new.csv").write_text("mine")
        child.sendline("y")
        child.expect("new.csv  It has changed in the folder")
        assert ended(child) == 1
    assert (cli.folder / "old.csv").read_text() == "12"


@runs_here
def test_a_run_that_breaks_off_still_says_that_files_wait(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, with the layer of an earlier run for the one that the broken one leaves."""
    name = written(cli)
    root = next(iter(cli.folder.parent.rglob(f"codeinterp-overlays/{name}"))).parent

    class Broken:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        async def start_kernel(self, *_: object) -> None:
            raise Problem("It broke off.")

    monkeypatch.setattr(run_module, "TerminalConversation", Broken)
    monkeypatch.setattr(run_module, "_sandboxed", lambda config: "python3-sandboxed")
    monkeypatch.setattr(overlays, "names", lambda root: frozenset())
    monkeypatch.setattr(overlays, "root", lambda config: root)
    words = ["run", str(cli.file), "x", "--yes", "--sandbox"]
    options = arguments.parser().parse_args(words)
    with pytest.raises(Problem, match="It broke off"):
        run_module.run(options, Stopping())
    assert f"sandbox changes {name} --commit" in capsys.readouterr().err
