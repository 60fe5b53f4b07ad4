"""A recording of somebody else's, played with ``jupyter codeinterp replay --yes``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.cli import Cli, make_cli

PAYLOAD = "open('owned.txt', 'w').close()"
HIDDEN = {
    "above blank lines": f"{PAYLOAD}\n" + "\n" * 40,
    "below blank lines": "x = 1" + "\n" * 200 + PAYLOAD,
    "behind blanks": f"x = 1;{' ' * 400}{PAYLOAD}",
    "turned round": f"x = '\u202e1'\n{PAYLOAD}",
    "of no width": f"x = 1\u200b\n{PAYLOAD}".replace("1\u200b", "'1\u200b'"),
}
FETCHES = "![](https://evil.example/x.png)"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = make_cli(tmp_path, "http://127.0.0.1:9")
    del made.environment["ANTHROPIC_API_KEY"]
    return made


def recording(cli: Cli, name: str, expect: dict[str, Any] | None = None, **given: str) -> None:
    call = {"type": "tool_use", "id": "one", "name": name, "input": {"title": "Harmless", **given}}
    step: dict[str, Any] = {"role": "assistant", "content": [call]}
    if expect is not None:
        step["expect"] = {"one": expect}
    said = {"role": "assistant", "content": [{"type": "text", "text": "All done."}]}
    header = {"title": "Harmless", "version": 1, "questions": ["Do it"]}
    lines = map(json.dumps, (header, step, said))
    (cli.folder / "theirs.jsonl").write_text("\n".join(lines) + "\n")


def replayed(cli: Cli) -> Any:
    return cli.run("replay", "a.ipynb", "theirs.jsonl", "--yes")


@pytest.mark.parametrize("how", HIDDEN)
def test_code_that_nobody_sees_runs_unasked(cli: Cli, how: str) -> None:
    recording(cli, "run_cell", source=HIDDEN[how])
    ran = replayed(cli)
    assert ran.code == 1 and "no one could be asked: Harmless (" in ran.err, ran
    assert not (cli.folder / "owned.txt").exists() and cli.sources() == ["import math"]
    recording(cli, "run_cell", source=PAYLOAD)
    assert replayed(cli).code == 0, "what can be seen runs"
    assert (cli.folder / "owned.txt").exists()


@pytest.mark.parametrize("how", ["below blank lines", "turned round"])
def test_in_a_terminal_the_person_is_asked(cli: Cli, how: str) -> None:
    recording(cli, "run_cell", source=HIDDEN[how])
    with cli.terminal("replay", "a.ipynb", "theirs.jsonl", "--yes") as child:
        child.expect(r"Run it\? \[y\]es, \[n\]o, \[e\]dit: ")
        assert "Hidden character" in child.before or "are blank" in child.before
        child.sendline("n")
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus == 1
    assert not (cli.folder / "owned.txt").exists()


def test_a_text_that_fetches_is_written_unasked(cli: Cli) -> None:
    recording(cli, "add_markdown", source=FETCHES)
    ran = replayed(cli)
    assert ran.code == 1 and "no one could be asked" in ran.err, ran
    assert cli.sources() == ["import math"]


def test_a_file_says_that_nothing_need_be_asked(cli: Cli) -> None:
    recording(cli, "run_cell", source=PAYLOAD)
    file = cli.folder / "theirs.jsonl"
    file.write_text(file.read_text().replace('{"title"', '{"always_ask": false, "title"', 1))
    assert cli.run("replay", "a.ipynb", "theirs.jsonl").code == 2
    with cli.terminal("replay", "a.ipynb", "theirs.jsonl") as child:
        child.expect(r"Run it\? \[y\]es, \[n\]o, \[e\]dit: ")
        child.sendline("n")
        child.expect(pexpect.EOF)
    assert not (cli.folder / "owned.txt").exists()


@pytest.mark.parametrize("reads", ["(a+)+!", "(a|aa)+!", "(?P<x>(a*)*)b\\2!"])
def test_a_pattern_that_searches_for_ever_stops_the_program(cli: Cli, reads: str) -> None:
    recording(cli, "run_cell", {"reads": reads}, source="print('a' * 5_000)")
    ran = replayed(cli)
    assert ran.code == 1 and "This run differs from the recording" in ran.out, ran
    recording(cli, "run_cell", {"reads": "^(?P<all>a+)$"}, source="print('a' * 50)")
    assert "All done." in replayed(cli).out


@pytest.mark.parametrize("reads", ["a{99999999999999999999}", "(" * 20_000, "a" * 20_000, "(?<x"])
def test_a_pattern_that_cannot_be_read_is_refused_in_words(cli: Cli, reads: str) -> None:
    recording(cli, "run_cell", {"reads": reads}, source="x = 1")
    ran = replayed(cli)
    assert ran.code == 1 and "line 2 is not a valid step" in ran.err, ran
    assert "Traceback" not in ran.err and "Internal error" not in ran.err


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_sign_that_the_terminal_lacks_ends_the_program(cli: Cli, encoding: str) -> None:
    """And what a person decides on shows it all the same."""
    cli.environment["PYTHONIOENCODING"] = encoding
    recording(cli, "run_cell", source="x = 'δ变😀'\nprint(x)")
    ran = replayed(cli)
    assert (ran.code, ran.err) == (0, ""), ran
    assert "\\u03b4\\u53d8\\U0001f600" in ran.out and "All done." in ran.out
    (cli.folder / "δ.ipynb").write_bytes(cli.file.read_bytes())
    for command in (["sessions"], ["sessions", "δ.ipynb"], ["key", "list"], ["doctor"], ["δ"]):
        assert "Traceback" not in (told := cli.run(*command)).err + told.out, command
        assert "Internal error" not in told.err, command
