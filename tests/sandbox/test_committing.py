"""``--commit`` and ``sandbox changes``: what a person sees, is asked, and gets in their folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.cli import Cli, fake_process, make_cli
from tests.sandbox.here import runs_here

CODE = "open('new.csv', 'w').write('1'); open('old.csv', 'a').write('2'); import os\n"
CODE += "os.makedirs('x/.git'); open('x/.git/config', 'w'); open('\\x1b[2J', 'w')"
PROMPT = f"#code ```\n{CODE}\n```"
ASKED = r"into the folder\? \[y\]es, \[n\]o: "


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process() as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    made = make_cli(tmp_path, fake)
    (made.folder / "old.csv").write_text("1")
    ran = made.run("sandbox", "install", "--user")
    assert ran.code == 0, ran.err
    return made


def written(cli: Cli) -> str:
    """The name of the one layer whose files wait."""
    ran = cli.run("run", "a.ipynb", PROMPT, "--yes", "--sandbox", "--commit")
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
def test_a_run_lists_the_files_and_asks(cli: Cli) -> None:
    with cli.terminal("run", "a.ipynb", PROMPT, "--yes", "--sandbox", "--commit") as child:
        child.expect(ASKED)
        listed = child.before
        assert "+ new.csv  1 bytes" in listed
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
    refused = cli.run("sandbox", "changes", name, "--commit")
    assert (refused.code, "Add --yes" in refused.err) == (2, True)
    assert cli.run("sandbox", "changes", "00000000").code == 2
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
    with cli.terminal("run", "a.ipynb", PROMPT, "--yes", "--sandbox", "--commit") as child:
        child.expect(ASKED)
        child.sendeof()
        child.expect("They wait")
        assert ended(child) == 0
    assert not (cli.folder / "new.csv").exists()


@runs_here
def test_commit_needs_a_sandbox(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", PROMPT, "--yes", "--commit")
    assert (ran.code, "--commit needs --sandbox" in ran.err) == (2, True)
