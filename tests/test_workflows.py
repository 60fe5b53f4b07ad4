"""The commands of the workflows, without running them."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WITH_SANDBOXES = (
    # a job and what it runs: tests of sandboxed kernels are among it, and must not be skipped
    ("build", "test", "scripts/test --only pytest"),
    ("build", "coverage", "scripts/test --coverage"),
    ("nightly", "sandboxed-browser", "scripts/test --only playwright"),
    ("nightly", "escape", "scripts/escape"),
    ("nightly", "torture", "scripts/torture"),
    ("nightly", "engines", "scripts/engines ${{ matrix.engine }}"),
)


def steps() -> dict[tuple[str, str], list[str]]:
    """The commands of each job, by workflow and job."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in WORKFLOWS:
        jobs: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))["jobs"]
        for name, job in jobs.items():
            lines = [line for one in job["steps"] for line in one.get("run", "").splitlines()]
            found[path.stem, name] = lines
    return found


@pytest.mark.parametrize(("workflow", "job"), steps())
def test_what_a_job_runs_is_there(workflow: str, job: str) -> None:
    for line in steps()[workflow, job]:
        for script in re.findall(r"\bscripts/\w+", line):
            assert os.access(ROOT / script, os.X_OK), line
        for module in re.findall(r"python -m (scripts\.\w+)", line):
            assert find_spec(module) is not None, line


@pytest.mark.parametrize(("workflow", "job", "command"), WITH_SANDBOXES)
def test_a_job_with_sandboxes_has_bubblewrap_before(workflow: str, job: str, command: str) -> None:
    lines = steps()[workflow, job]
    installs = next(at for at, line in enumerate(lines) if "install -y -qq bubblewrap" in line)
    allowed = next(at for at, line in enumerate(lines) if "restrict_unprivileged_userns=0" in line)
    assert installs < allowed < lines.index(command)


def test_each_nightly_script_is_named_in_the_guide() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = {
        script
        for (workflow, _), lines in steps().items()
        for line in lines
        for script in re.findall(r"\bscripts/\w+", line)
        if workflow == "nightly"
    }
    assert {one for one in named if one not in guide} == set()
