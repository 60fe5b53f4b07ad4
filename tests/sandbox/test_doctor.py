"""What people read where no sandbox can start, and what the kernel menu says."""

from __future__ import annotations

import platform
import shutil
import sys
import warnings
from pathlib import Path

import pytest
from traitlets.config import Config

from jupyter_codeinterp.cli.arguments import parser
from jupyter_codeinterp.cli.commands import sandbox
from jupyter_codeinterp.cli.commands.run import _sandboxed as sandboxed
from jupyter_codeinterp.cli.local.problems import DONE, FAILED, USAGE, Problem
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from jupyter_codeinterp.sandbox import doctor, is_sandboxed
from jupyter_codeinterp.sandbox.install import install
from jupyter_codeinterp.sandbox.walls.launching import LaunchError
from tests.sandbox.here import runs_here
from tests.sandbox.test_sandboxed_kernel import kernel, run

GATEWAY = "kernel gateway (c.GatewayClient.url)"


def bwrap(folder: Path, lines: str) -> str:
    """A program with this name that a test has written."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{lines}\n")
    program.chmod(0o755)
    return str(program)


NO_NAMESPACES = """[ "$1" = --version ] && echo bubblewrap 0.9.0 && exit 0
echo "bwrap: No permissions to create new namespace" && exit 1"""


def test_not_on_another_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    said = doctor.problem()
    assert said.startswith("The sandbox needs Linux; this is Darwin.")
    assert GATEWAY in said


def test_not_on_an_unknown_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert "not riscv64" in doctor.problem()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (None, ["bubblewrap is not installed", "sudo apt install bubblewrap"]),
        ("echo bubblewrap 0.4.1", ["bubblewrap 0.4.1 is too old", "0.8 or newer"]),
        (NO_NAMESPACES, ["No permissions", "user namespaces", "AppArmor", GATEWAY]),
    ],
)
def test_what_bubblewrap_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str | None, words: list[str]
) -> None:
    monkeypatch.setattr(doctor, "_wrong_machine", lambda: "")
    found = bwrap(tmp_path, lines) if lines else None
    monkeypatch.setattr(shutil, "which", lambda name: found)
    said = doctor.problem()
    assert [one for one in words if one not in said] == []


@pytest.mark.parametrize("overlay", [False, True])
def test_without_bubblewrap_nothing_is_installed_or_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, overlay: bool
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "problem", lambda: "bubblewrap is not installed.")
    options = parser().parse_args(["sandbox", "install", "--user", *["--overlay"] * overlay])
    with pytest.raises(Problem, match="bubblewrap") as raised:
        sandbox.sandbox(options, Stopping())
    assert raised.value.code == FAILED
    assert not list(tmp_path.rglob("kernel.json"))
    assert sandbox.sandbox(parser().parse_args(["sandbox", "doctor"]), Stopping()) == FAILED
    install("python3", user=True, overlay=overlay)
    with pytest.raises(Problem, match="bubblewrap") as raised:
        sandboxed(Config())
    assert raised.value.code == USAGE


@pytest.mark.parametrize(
    ("overlay", "name", "title"),
    [
        (False, "python3-sandboxed", "Python 3 (sandboxed)"),
        (True, "python3-overlay", "Python 3 (sandboxed, with an overlay)"),
    ],
)
def test_with_it_the_kernel_menu_says_what_it_is(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    overlay: bool,
    name: str,
    title: str,
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(doctor, "problem", lambda: "")
    options = parser().parse_args(["sandbox", "install", "--user", *["--overlay"] * overlay])
    assert sandbox.sandbox(options, Stopping()) == DONE
    assert capsys.readouterr().out.startswith(f"Installed {title} in ")
    assert sandboxed(Config()) == name


async def test_without_bubblewrap_no_kernel_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "work"
    folder.mkdir()
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "bwrap" else which(name))
    with pytest.raises(LaunchError, match="bubblewrap is not installed"):
        async with kernel(tmp_path, folder):
            pass


@runs_here
async def test_a_kernelspec_that_names_another_wall_starts_in_bubblewrap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    folder = tmp_path / "work"
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # traitlets does not know the setting
        async with kernel(tmp_path, folder, wall="landlock") as (manager, client):
            assert is_sandboxed(manager)
            reply = await run(client, "assert __import__('os').path.exists('/run/kernel')")
            assert reply["status"] == "ok"
