"""Packages of a sandboxed kernel, kept by a person for later kernels: pip in real sandboxes."""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.cli import arguments
from jupyter_codeinterp.cli.commands.sandbox import sandbox
from jupyter_codeinterp.cli.commands.sandboxes import packages
from jupyter_codeinterp.cli.local.problems import Problem
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from jupyter_codeinterp.sandbox.network import pypi
from jupyter_codeinterp.sandbox.overlay import trees
from jupyter_codeinterp.sandbox.packages import kept, names, running
from jupyter_codeinterp.sandbox.shared import interpreter
from jupyter_codeinterp.sandbox.shared.place import start_of
from jupyter_codeinterp.sandbox.walls import launching
from tests.kernels import run, text
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import folder
from tests.sandbox.test_network import kernel
from tests.sandbox.test_pypi import wheel
from tests.sandbox.web import web

__all__ = ["folder"]
TAG = f"python3.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    pypi._configured.cache_clear()
    yield
    pypi._configured.cache_clear()


def options(*words: str) -> argparse.Namespace:
    return arguments.parser().parse_args(["sandbox", "packages", *words])


@runs_here
async def test_a_person_keeps_packages_for_later_kernels(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def said(*words: str) -> str:
        await packages.packages(options(*words))
        return capsys.readouterr().out

    def mine() -> running.Running:
        (found,) = [one for one in running.running() if one.notebook == str(folder)]
        return found

    async def imported(made: Any, name: str) -> str:
        _, done = await run(made, f"import {name}\nprint({name}.NUMBER, {name}.__file__)")
        return text(done) if done.status == "ok" else str(done.outputs[-1]["ename"])

    async with web() as index:
        for name, number, needs in (
            ("tinyone", "1.0", ""), ("tinyone", "2.0", ""), ("tinytwo", "1.0", "tinyone"),
        ):  # fmt: skip
            file = f"{name}-{number}-py3-none-any.whl"
            page = index.files.get(f"/simple/{name}/", b"")
            index.files[f"/simple/{name}/"] = page + f"<a href='/f/{file}'>{file}</a>".encode()
            index.files[f"/f/{file}"] = wheel(name, number, needs)
        monkeypatch.setenv("PIP_INDEX_URL", f"http://{index.at}/simple")
        (kept.place() / "sandboxed").mkdir(parents=True)
        kept.note_start(kept.place(), "sandboxed", "of a start with packages for another Python")
        async with kernel(tmp_path / "1", "pypi") as (made, _):
            assert kept.faults(kept.place()) == {}
            with pytest.raises(Problem, match="installed no packages"):
                await said("keep", mine().name, "--yes")
            _, done = await run(made, "%pip install -q tinyone==1.0")
            assert "tinyone 1.0" in await said("list"), done.outputs
            # What it leaves beside them is copied only where it is a file or a folder.
            code = """
import os, pathlib, tinyone
at = pathlib.Path(tinyone.__file__).parent
(at / 'link').symlink_to('/etc/passwd'); os.mkfifo(at / 'pipe'); (at / 'mine.py').touch()
(at / 'folder').symlink_to('/usr'); (at / 'mine.py').chmod(0o777)
"""
            _, done = await run(made, code)
            assert done.status == "ok", done.outputs
            assert "Kept 1 package." in await said("keep", mine().name, "--yes")
        (layer,) = kept.layers(kept.place(), "sandboxed")
        assert layer.tag == TAG
        assert {path.name for path in layer.path.iterdir()} == {
            "tinyone.py", "tinyone-1.0.dist-info", "mine.py", "__pycache__",
        }  # fmt: skip
        assert (layer.path / "mine.py").stat().st_mode & 0o7777 == 0o755

        async with kernel(tmp_path / "2", "pypi") as (made, _):
            assert await imported(made, "tinyone") == "1.0 /run/packages/0/tinyone.py\n"
            code = "import tinyone; open(tinyone.__file__, 'a')"
            _, done = await run(made, code)
            assert "Read-only" in done.outputs[-1]["evalue"]
            # pip knows what is kept, and a newer version hides it.
            _, done = await run(made, "%pip install -q tinytwo")
            requested = [one for one in index.requests if "tinyone" in one.split("\n")[0]]
            _, done = await run(made, "%pip install -q tinytwo")
            assert len(requested) == 2, index.requests
            _, done = await run(made, "%pip install -q tinyone==2.0")
            listed = await said("list")
            assert "tinyone 2.0\n" in listed and f"tinyone 1.0 ({TAG})" in listed
            assert "Kept 2 packages." in await said("keep", mine().name, "--yes")
        assert f"tinyone 1.0 ({TAG})" not in await said("list")

    # Without a network, too; and no other kernelspec has them.
    async with kernel(tmp_path / "3") as (made, _):
        assert (await imported(made, "tinyone")).startswith("2.0 /run/packages/0/")
        assert (await imported(made, "tinytwo")).startswith("1.0 /run/packages/0/")
        assert [one for one in running.running() if one.notebook == str(folder)] == []
    assert kept.mounted(kept.place(), "other", TAG) == []
    assert kept.mounted(kept.place(), "sandboxed", "python3.8") == []
    with monkeypatch.context() as patched, pytest.raises(Problem, match="Add --yes"):
        patched.setattr("sys.stdin", io.StringIO())
        await said("forget", "sandboxed")
    await said("forget", "sandboxed", "--yes")
    assert kept.specs(kept.place()) == []


@runs_here
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("json.py", "raise ValueError('\\x1b[31mbad')", "ValueError: \\x1b[31mbad"),
        pytest.param(
            *("json.py", "import time; time.sleep(600)", "nothing"),
            marks=pytest.mark.nightly,
        ),
    ],
)
async def test_a_kernel_starts_without_packages_that_keep_it_from_starting(
    tmp_path: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    code: str,
    said: str,
) -> None:
    made = kept.place() / "sandboxed" / "1" / "lib" / TAG / "site-packages"
    made.mkdir(parents=True)
    (made / name).write_text(code)
    monkeypatch.setattr(launching, "STARTS", 8)
    words = "did not start with the packages kept for sandboxed"
    async with kernel(tmp_path / "1") as (one, _):
        _, done = await run(one, "import json")
        assert (done.status, words in done.note) == ("ok", True), done
        _, done = await run(one, "1")
        assert done.note == ""
    sandbox(arguments.parser().parse_args(["sandbox", "doctor"]), Stopping())
    shown = capsys.readouterr().out
    assert words in shown and f"It wrote: {said}\n" in shown, shown
    # A start with better packages is noted, too.
    (made / name).unlink()
    async with kernel(tmp_path / "2"):
        assert kept.faults(kept.place()) == {}


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"Name: one\nVersion: 1.0\n\nName: two\n", [("one", "1.0")]),
        (b"name:one\r\nVERSION:  2\r\n\r\nVersion: 3", [("one", "2")]),
        (b"Name: " + b"x" * 1_000, [("x" * names.LONGEST, "")]),
        (b"Name: \xff\n", [("\ufffd", "")]),
        (b"Summary: " + b"x" * names.HEAD + b"\nName: late", []),
        (b"\nName: after the head", []),
        (b"", []),
    ],
)
def test_names_are_read_as_text(
    tmp_path: Path, content: bytes, found: list[tuple[str, str]]
) -> None:
    for name in ("a.dist-info", "b.dist-info", "no", "link.dist-info", "pipe.dist-info"):
        (tmp_path / name).mkdir()
    (tmp_path / "a.dist-info" / "METADATA").write_bytes(content)
    (tmp_path / "link.dist-info" / "METADATA").symlink_to(tmp_path / "a.dist-info" / "METADATA")
    os.mkfifo(tmp_path / "pipe.dist-info" / "METADATA")
    with trees.opened(str(tmp_path)) as number:
        assert [tuple(one) for one in names.of(number)] == found


@pytest.mark.parametrize("name", ["", ".", "..", ".new", "../x", "a/b", "a\0b"])
def test_a_kernelspec_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "x" / "1" / "lib" / TAG).mkdir(parents=True)
    root = tmp_path / "root"
    root.mkdir()
    assert kept.layers(root, name) == []
    with pytest.raises(kept.KeepError):
        kept.forget(root, name)


@pytest.fixture
def installed(tmp_path: Path) -> running.Running:
    """As if this process was a kernel that has installed something."""
    info = tmp_path / "packages" / "lib" / TAG / "site-packages" / "one-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: one\nVersion: 1\n")
    at, me = str(tmp_path / "packages"), os.getpid()
    return running.Running("name", "spec", "/notebook", at, TAG, me, start_of(me))


def test_forgotten_packages_go_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: running.Running
) -> None:
    """A kernel that starts in this moment gets no half of them."""
    root = tmp_path / "kept"
    kept.keep(root, installed)
    assert kept.specs(root) == ["spec"]
    (mounted,) = kept.mounted(root, "spec", TAG)

    def killed(path: Path) -> None:
        assert path.is_dir()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(shutil, "rmtree", killed)
        kept.forget(root, "spec")
    assert not mounted.exists()
    assert kept.specs(root) == []
    assert kept.layers(root, "spec") == []
    kept.keep(root, installed)
    assert [path.name for path in root.iterdir()] == ["spec"]


def test_what_a_killed_copy_left_goes(tmp_path: Path, installed: running.Running) -> None:
    home = tmp_path / "kept" / "spec"
    for name, age in (("old", 2 * kept.UNFINISHED), ("at work", 0)):
        (home / f".new-{name}" / "lib").mkdir(parents=True)
        then = (home / f".new-{name}").stat().st_mtime - age
        os.utime(home / f".new-{name}", (then, then))
    kept.keep(tmp_path / "kept", installed)
    assert sorted(path.name for path in home.iterdir()) == [".new-at work", "1"]


@runs_here
async def test_a_kernel_starts_though_its_packages_were_just_forgotten(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "mounted", lambda *_: [tmp_path / "gone"])
    async with kernel(tmp_path / "1") as (made, _):
        _, done = await run(made, "print(1)")
        assert text(done) == "1\n"


async def test_the_list_goes_on_after_what_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    installed: running.Running,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Packages that are just removed, and a kernel that an older version has started."""
    kept.keep(kept.place(), installed)
    (kept.place() / "another" / "1" / "lib" / TAG).mkdir(parents=True)
    places = [tmp_path / name for name in ("place-1", "place-2")]
    for path, tag in zip(places, ("", TAG), strict=True):
        path.mkdir()
        (path / running.ABOUT).write_text(json.dumps(installed._replace(tag=tag)))
    monkeypatch.setattr(running, "places", lambda: places)
    await packages.packages(options("list"))
    said = capsys.readouterr().out
    assert "cannot be read" in said
    assert f"one 1 ({TAG})" in said
    assert "2: spec, in /notebook\none 1\n" in said


def test_the_interpreter_itself_says_its_version(tmp_path: Path) -> None:
    """Its path may name another one."""
    folder = tmp_path / "python3.9" / "envs" / "new"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    assert interpreter.tag(str(folder / "bin" / "python")) == TAG
    without_lock = tmp_path / "python"
    without_lock.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c "
        '\'import sys; sys.abiflags = "t"; exec(sys.argv[1])\' "$2"\n'
    )
    without_lock.chmod(0o755)
    assert interpreter.tag(str(without_lock)) == f"{TAG}t"


@pytest.mark.parametrize(("bound", "value"), [("FILES", 1), ("BYTES", 3)])
def test_packages_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(kept, bound, value)
    for name in ("source", "target"):
        (tmp_path / name).mkdir()
    for name in ("a", "b"):
        (tmp_path / "source" / name).write_text("12")
    source, target = (os.open(tmp_path / one, os.O_RDONLY) for one in ("source", "target"))
    try:
        with pytest.raises(kept.KeepError, match="more than"):
            kept._copy(source, target)
    finally:
        os.close(source)
        os.close(target)
    assert list((tmp_path / "target").iterdir()) == []
