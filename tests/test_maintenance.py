"""What runs elsewhere is what runs here: workflows and hooks name the same checks, and ask for
no more than they need."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
SLOW = {"docs", "bundle", "jest"}
"""Checks that are too slow for a commit, or need a build."""


def _read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_hooks_of_a_commit_are_the_quick_checks() -> None:
    checks = re.findall(r"^check '(.+?)'", (ROOT / "scripts/check").read_text(), re.MULTILINE)
    (local,) = _read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    assert {hook["name"] for hook in local["hooks"]} == set(checks) - SLOW


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_little_and_runs_once(path: Path) -> None:
    workflow = _read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        for step in job["steps"]:
            assert re.fullmatch(r"[\w./-]+@v\d+", step.get("uses", "a@v1"))
            # Text of others goes in by the environment: a run's text is shell.
            assert "inputs." not in step.get("run", "")
            assert "github." not in step.get("run", "")


def test_every_part_of_the_tests_has_a_workflow() -> None:
    parts = re.search(r"^parts='(.+)'$", (ROOT / "scripts/test").read_text(), re.MULTILINE)
    assert parts
    steps = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    for part in set(parts[1].split()) - {"check"}:
        assert f"scripts/test --only {part}" in steps
    assert "- run: scripts/check" in steps


def test_what_the_whole_leaves_out_runs_at_night() -> None:
    night = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8")
    assert "- run: scripts/attack\n" in night and "- run: scripts/torture\n" in night
    assert "-m nightly" in (ROOT / "scripts/torture").read_text(encoding="utf-8")
    assert "more=(--nightly)" in (ROOT / "scripts/attack").read_text(encoding="utf-8")


def test_the_ci_runs_everything() -> None:
    assert "exec scripts/test </dev/null" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_the_oldest_lab_that_is_claimed_is_tried() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    oldest = re.search(r'^lab = \["jupyterlab>=([\d.]+),', project, re.MULTILINE)
    assert oldest
    rows = _read(ROOT / ".github/workflows/build.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert [row["lab"] for row in rows["include"]] == [f"{oldest[1]}.0"]
    least = re.search(r'^requires-python = ">=([\d.]+)"', project, re.MULTILINE)
    assert least
    assert rows["python"][0] == least[1]
    # ruff refuses syntax that the oldest Python lacks, mypy names of the standard library.
    assert f'target-version = "py{least[1].replace(".", "")}"' in project
    assert f'python_version = "{least[1]}"' in project
    claimed = re.findall(r'"Programming Language :: Python :: (\d\.\d+)"', project)
    assert claimed == rows["python"]


def test_the_pictures_are_those_of_their_specs() -> None:
    folders = (ROOT / "docs/images").glob("*.png"), (ROOT / "ui-tests/pictures").iterdir()
    files = sorted(path for found in folders for path in found if path.is_file())
    digests = [
        f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(ROOT)}" for path in files
    ]
    kept = (ROOT / "docs/images/made-from.sha256").read_text(encoding="utf-8")
    assert sorted(kept.splitlines()) == sorted(digests), (
        "a picture or its spec has changed: run scripts/pictures and look at the pictures"
    )


def test_every_picture_of_the_docs_is_made_and_shown() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"images/([\w-]+\.png)", text))
    made = {path.name for path in (ROOT / "docs" / "images").glob("*.png")}
    assert shown <= made
    assert made - shown == {"dark.png", "light-answer.png", "dark-answer.png"}
