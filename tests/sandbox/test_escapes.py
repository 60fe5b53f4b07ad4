"""Some of the attempts of scripts/escape, in each run of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from jupyter_codeinterp.sandbox.overlay.changes import NAMED, Entry, refusal
from jupyter_codeinterp.sandbox.shared import bpf, folders, seccomp
from scripts.escapes.attempt import Attempt, Control
from scripts.escapes.attempts import AREAS
from scripts.escapes.running import Result, results
from tests.kernels import kernel_manager, run, running_kernel
from tests.sandbox.here import runs_here


@runs_here
@pytest.mark.timeout(180)
async def test_code_in_the_sandbox_reaches_no_server_and_decides_on_no_draft() -> None:
    """The same code in a plain kernel does."""
    found = await results(["the server"])
    assert len(found) == len(AREAS["the server"])
    assert [(one.attempt.name, one.fault) for one in found if one.fault] == []
    assert all(one.outside for one in found)


@runs_here
@pytest.mark.timeout(180)
async def test_nothing_gets_past_an_overlay_into_the_folder() -> None:
    found = await results(["an overlay"])
    assert [(one.attempt.name, one.fault) for one in found if one.fault] == []
    assert sum(bool(one.outside) for one in found) > 12


def test_there_are_at_least_80_attempts_and_most_succeed_outside() -> None:
    every = [attempt for attempts in AREAS.values() for attempt in attempts]
    names = {(area, one.name) for area, attempts in AREAS.items() for one in attempts}
    assert len(every) == len(names) >= 80
    assert sum(one.control in (Control.PLAIN, Control.ROOT) for one in every) > 100


@pytest.mark.parametrize(
    ("got_out", "outside", "fault"),
    [
        (True, True, "it got out"),
        (False, True, ""),
        (False, None, ""),
        (False, False, "it does not succeed in a plain kernel either: why"),
    ],
)
def test_an_attempt_that_cannot_succeed_is_a_fault(
    got_out: bool, outside: bool | None, fault: str
) -> None:
    one = Result("an area", Attempt("an attempt", ""), got_out, outside, "why")
    assert one.fault == fault


def test_folders_that_lead_to_a_repository_cannot_be_renamed(tmp_path: Path) -> None:
    for name in ("a/b/.git", "venv/src/.git", "c/.vscode"):
        (tmp_path / "work" / name).mkdir(parents=True)
    work = Path(os.path.realpath(tmp_path / "work"))
    found = folders.folders_of(str(work), [work / "venv"], [])
    assert set(found.fixed) == {work / "a", work / "a" / "b"}


@pytest.mark.parametrize(
    "name",
    [
        *(".git", ".gitattributes", ".gitmodules", ".github", ".gitlab-ci.yml", ".hg"),
        *(".ipynb_checkpoints", ".codeinterp", "AGENTS.md", ".vscode", ".idea", ".env", ".envrc"),
        *(".jupyter", ".jupyter_ystore.db", "jupyter_config.json", "jupyter_server_config.py"),
        *("kernel.json", "sitecustomize.py", "usercustomize.py", ".GIT", "Agents.md"),
        *("pyvenv.cfg", "conda-meta"),
    ],
)
def test_a_name_that_other_programs_run_is_read_only_and_never_kept(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).touch()
    assert folders.protected(tmp_path) == [tmp_path / name]
    entry = Entry("file", "", 0, 0o600, (0, 0, 0, 0))
    for path in (name, f"a/{name}", f"{name}/a"):
        assert refusal(path, entry) == NAMED


@pytest.mark.parametrize("name", folders.ENVIRONMENTS)
def test_an_environment_beside_the_notebook_is_read_only(tmp_path: Path, name: str) -> None:
    for path in (f"a/env/{name}", "a/env/lib/x.pth", "a/data.csv", "lib/b.csv", "bin/c"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    env = tmp_path / "a" / "env"
    found = folders.folders_of(str(tmp_path), [], [])
    assert (found.protected, found.fixed) == ((env,), (tmp_path / "a",))
    # The notebook may be in the environment's own folder. Code writes there, but not in its parts.
    assert set(folders.protected(env)) == {env / name, env / "lib"}


async def test_python_runs_the_path_files_of_an_environment_and_none_of_the_notebooks_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So environments are protected, and other files of that name, such as weights, are not."""
    mark = tmp_path / "ran"
    text = f"import pathlib; pathlib.Path({str(mark)!r}).touch()\n"
    (tmp_path / "x.pth").write_text(text)
    monkeypatch.chdir(tmp_path)

    def runs(python: str) -> bool:
        subprocess.run([python, "-c", ""], check=True)
        return mark.exists()

    assert not runs(sys.executable)
    async with kernel_manager() as kernels, running_kernel(kernels) as (_, made, _):
        _, done = await run(made, "import os\nassert os.path.exists('x.pth')")
        assert done.status == "ok" and not mark.exists()
    venv.create(tmp_path / ".venv", symlinks=True)
    inside = str(tmp_path / ".venv" / "bin" / "python")
    assert not runs(inside)
    (site,) = (tmp_path / ".venv" / "lib").glob("python*/site-packages")
    (site / "x.pth").write_text(text)
    assert runs(inside)
    assert folders.protected(tmp_path) == [tmp_path / ".venv"]


@pytest.mark.parametrize("machine", bpf.ARCHITECTURES)
def test_the_filter_is_no_longer_than_linux_takes(machine: str) -> None:
    assert len(seccomp.compiled(machine)) // 8 < 4096
