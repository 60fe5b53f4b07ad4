"""docs/cli.md: its examples do what they say, and each option has one."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pexpect
import pytest

from jupyter_codeinterp.cli import arguments
from tests.cli import CANARY, DEADLINE, Cli, fake_process, make_cli
from tests.nightly import spread
from tests.sandbox.here import MISSING, MUST_RUN

DOCUMENT = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCKS = re.findall(r"^```console\n(.+?)^```", DOCUMENT.read_text("utf-8"), re.M | re.S)
ANSWER = re.compile(r"^(.+\?.+: )(\w)$")


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process("--scenario", "growth") as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    """With ``jupyter codeinterp`` as an installation has it, and ``sales.ipynb``."""
    cli = make_cli(tmp_path, fake)
    cli.file.rename(cli.folder / "sales.ipynb")
    programs = tmp_path / "bin"
    programs.mkdir()
    script = programs / "jupyter-codeinterp"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jupyter_codeinterp.cli "$@"\n')
    script.chmod(0o755)
    jupyter = programs / "jupyter"
    jupyter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m jupyter "$@"\n')
    jupyter.chmod(0o755)
    cli.environment |= {
        "PATH": f"{programs}:{cli.environment['PATH']}",
        "MY_KEY": CANARY,
        "MY_SERVER": fake,
        "LC_ALL": "C.UTF-8",
    }
    return cli


@pytest.mark.parametrize("block", spread(BLOCKS, every=3))
def test_an_example_does_what_it_says(cli: Cli, block: str) -> None:
    if "--sandbox" in block and MISSING and not MUST_RUN:
        pytest.skip(MISSING)
    if "key set" in block:
        del cli.environment["ANTHROPIC_API_KEY"]  # It would come first.
    for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, expected = step.partition("\n")
        if ANSWER.search(expected) or any(map(ANSWER.match, expected.splitlines())):
            _in_terminal(cli, command, expected)
        else:
            ran = subprocess.run(
                ["bash", "-c", command],
                cwd=cli.folder,
                env=cli.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=DEADLINE,
                check=False,
            )
            _compare(expected, ran.stdout)


def _in_terminal(cli: Cli, command: str, expected: str) -> None:
    child = pexpect.spawn(
        "bash",
        ["-c", command],
        cwd=str(cli.folder),
        env={**cli.environment, "TERM": "xterm-256color"},
        encoding="utf-8",
        timeout=DEADLINE,
        dimensions=(50, 160),
    )
    seen = ""
    try:
        for match in filter(None, map(ANSWER.match, expected.splitlines())):
            child.expect_exact(match[1])
            seen += child.before + match[1]
            child.sendline(match[2])
        child.expect(pexpect.EOF)
        seen += child.before
    finally:
        child.close(force=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
    _compare(expected, plain)


def _compare(expected: str, said: str) -> None:
    """Each line of it is there, in this order; ``…`` stands for anything."""
    place = 0
    for line in filter(str.strip, expected.splitlines()):
        parts = [re.escape(" ".join(part.split())) for part in line.split("…")]
        found = re.compile(".*?".join(parts).replace("\\ ", r"\s+")).search(said, place)
        assert found, f"{line!r} is not in {said[place:]!r}"
        place = found.end() if line.strip() != "…" else place


def test_each_option_has_an_example() -> None:
    examples = "\n".join(line for block in BLOCKS for line in block.splitlines() if line[:1] == "$")
    table = (DOCUMENT.parent / "eval.md").read_text("utf-8")
    for name, command in _commands(arguments.parser()):
        assert f"jupyter codeinterp {name}" in examples
        told = examples + table.replace("`", " ") if name == "eval" else examples
        for action in command._actions:
            options = set(action.option_strings) - {"-h", "--help"}
            assert not options or any(f" {one}" in told for one in options), (name, options)


def _commands(
    parser: argparse.ArgumentParser, before: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"{before}{name}", command
                yield from _commands(command, f"{before}{name} ")


def test_an_installation_has_the_command() -> None:
    (script,) = entry_points(group="console_scripts", name="jupyter-codeinterp")
    assert script.value == "jupyter_codeinterp.cli.main:main"
