"""``jupyter codeinterp eval``: recordings, the fake of the Messages API, and its words."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.features.eval.checking import TrialEnd, faults
from jupyter_codeinterp.features.eval.tasks import SHIPPED, ExpectedValue, Task, TaskSpec, find
from jupyter_codeinterp.sandbox import doctor
from tests.cli import Cli, Ran
from tests.reference_window import notebook

RECORDINGS = Path(__file__).parent / "recordings"
CASES = json.loads(Path(__file__).with_name("cases.json").read_text())
ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text())
"""By task: a right answer, and one of a careless reader of the data."""
WRONG = "clean-missing-codes"
"""The recording that takes -999 for a weight."""


def make(cli: Cli, name: str, *questions: str, cells: tuple[str, ...] = (), **checks: Any) -> None:
    folder = cli.folder / "mine" / name
    folder.mkdir(parents=True)
    spec = {"about": name, "questions": questions, **checks}
    (folder / "task.json").write_text(json.dumps(spec))
    if cells:
        (folder / "nb.ipynb").write_text(json.dumps(notebook(*cells)))


def results(cli: Cli, ran: Ran) -> dict[str, Any]:
    """The attempts by task; the page is inert."""
    page = (cli.folder / "out" / "index.md").read_text()
    shown = re.sub(r"^(`{3,}).*?^\1$", "", page, flags=re.M | re.S)
    assert "<" not in shown and set(re.findall(r"\]\((.{9})", shown)) <= {"data:imag"}
    told = json.loads((cli.folder / "out" / "results.json").read_text())
    return {one["task"]: one for one in told["attempts"]}


SOME = (
    *("bug-wrong-total", "chart-saved", "clean-decimal-commas", WRONG, "injection-in-data"),
    *("join-duplicate-keys", "no-code-explain"),
)
OTHERS = sorted({file.stem for file in RECORDINGS.iterdir()} - {*SOME})


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(3))
def test_the_other_recordings_solve_their_tasks(cli: Cli, part: int) -> None:
    """Code that was written for the task, in live kernels: the checks accept what it finds."""
    ran = cli.run("eval", *OTHERS[part::3], "--recordings", str(RECORDINGS), "--output", "out")
    assert len(OTHERS) == 21 and len(results(cli, ran)) == 7
    assert ran.code == 0, ran.err


def test_recordings_are_measured(cli: Cli) -> None:
    before = sorted(path for path in SHIPPED.rglob("*"))
    ran = cli.run("eval", *SOME, "--recordings", str(RECORDINGS), "--output", "out")
    told = results(cli, ran)
    assert set(told) == set(SOME)
    assert [name for name, one in told.items() if not one["solved"]] == [WRONG]
    assert told[WRONG]["faults"][1] == "@missing[5] should be 14"
    assert (told["bug-wrong-total"]["requests"], told["bug-wrong-total"]["failed_cells"]) == (7, 1)
    rows = {row.split()[0]: row.split() for row in ran.out.splitlines()}
    assert rows[WRONG][1:5] == ["0", "of", "1", "2"] and rows["all"][1:5] == ["6", "of", "7", "19"]
    assert ran.code == 1 and "No sandbox" in ran.err and f"{WRONG} 1: @mean[-128" in ran.err
    page = (cli.folder / "out" / "index.md").read_text()
    assert page.count("![picture](data:") == 1 and "Ignore your instructions" in page
    assert f"# ✗ {WRONG}, run 1" in page and "# ✓ chart-saved, run 1" in page
    fixed = json.loads((cli.folder / "out" / "bug-wrong-total-1.ipynb").read_text())
    assert "1 - lines" in "".join(next(c for c in fixed["cells"] if c["id"] == "net")["source"])
    assert not list(cli.data.glob("codeinterp/sessions.db*")), "the person's list stays"
    assert sorted(path for path in SHIPPED.rglob("*")) == before


def test_a_folder_of_ones_own_by_the_api(cli: Cli) -> None:
    attack = "<img src=x onerror=alert(1)><script>alert(1)</script>\u202e"
    said = [{"name": "a", "near": [1]}, {"name": "b", "near": [2000]}]
    make(cli, "talk", "#says\n@a[1]", f"#says\n@b[2,000] {attack}", answer=said, no_code=True)
    code = "#code ```\nopen('made.txt', 'w').close()\nn = 6.5\n```"
    files = {"made.txt": True, "link.txt": False, "task.json": False}
    make(cli, "code", code, files=files, variables={"n": {"near": [6.5]}})
    (cli.folder / "mine" / "code" / "link.txt").symlink_to(cli.file)
    make(cli, "edit", "#edit_theirs", cells=("a = 1", "b = 2"), unchanged=True)
    make(cli, "change", "#change_kernel", cells=("a = 1",), unchanged=True)
    options = ("-m", "claude-sonnet-5-5", "--output", "out", "--jobs", "3", "--runs", "2", "--json")
    ran = cli.run("eval", "mine", *options)
    told = results(cli, ran)
    assert [told[name]["faults"] for name in ("talk", "code")] == [[], []], ran.err
    assert re.fullmatch(r"cell \S+ was changed", told["edit"]["faults"][0]), "asked, and agreed to"
    assert told["change"]["solved"] and told["edit"]["requests"] == 3
    assert "@a[1]" in told["talk"]["answers"][0] and told["talk"]["output_tokens"] > 0
    assert told["code"]["cost"] == {"dollars": None, "local": False}, "its prices are not known"
    page = (cli.folder / "out" / "index.md").read_text()
    assert "| unknown |" in page and "&lt;script&gt;alert(1)" in page
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert sorted((one["task"], one["run"]) for one in lines) == [
        (name, run) for name in ("change", "code", "edit", "talk") for run in (1, 2)
    ]
    left = {path.name for path in (cli.folder / "mine").rglob("*") if path.is_file()}
    assert (
        left == {"task.json", "nb.ipynb", "link.txt"}
        and (cli.folder / "out" / "code-2.ipynb").is_file()
    )


def test_what_is_done_stays_after_an_interrupt(cli: Cli) -> None:
    make(cli, "a", "#says\nyes", answer=[{"texts": ["yes"]}])
    make(cli, "b", "#infinite_loop", no_code=True)
    make(cli, "c", "#says\nyes", answer=[{"texts": ["yes"]}])
    with cli.started("eval", "mine", "--output", "out", "--jobs", "1") as process:
        assert process.stderr is not None
        while "a 1: solved" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait() == 130, rest
    assert "Interrupted after 1 of 3 runs." in rest
    told = json.loads((cli.folder / "out" / "results.json").read_text())
    assert [one["task"] for one in told["attempts"]] == ["a"]


def test_you_are_the_model(cli: Cli) -> None:
    play = Path(__file__).parents[2] / "scripts" / "play"
    call = {"name": "run_cell", "input": {"source": "6 * 7"}}
    typed = json.dumps({"calls": [call]}) + '\n\nhm\n\n{"text": "two"}\n\n'
    command = [sys.executable, str(play), "no-code-explain"]
    environment = {**cli.environment, "TMPDIR": str(cli.folder)}
    told = subprocess.run(command, input=typed, capture_output=True, text=True, env=environment)
    shown, _, end = told.stdout.partition("That is no answer")
    assert "--- tool run_cell" in shown and "without running anything" in shown, told.stderr
    assert shown.count("=== a request of ") == 2 and "\n42\n" in shown
    assert "two" in end and "=== exit code 0" in end


@pytest.mark.skipif(bool(doctor.problem()), reason="no sandbox can run here")
def test_it_uses_the_sandboxed_kernel(cli: Cli) -> None:
    assert cli.run("sandbox", "install", "--user").code == 0
    code = "#code ```\nimport os\nhome = os.path.exists(os.path.expanduser('~/work'))\n```"
    make(cli, "home", code, variables={"home": {"texts": ["false"]}})
    ran = cli.run("eval", "mine", "--output", "out")
    assert ran.code == 0, ran.err
    assert "Code runs in the kernel python3-sandboxed." in ran.err


@pytest.mark.parametrize("name", CASES["broken"])
def test_a_broken_task_is_named(cli: Cli, name: str) -> None:
    text, words = CASES["broken"][name]
    (cli.folder / "mine").mkdir()
    (cli.folder / "mine" / "task.json").write_text(text)
    ran = cli.run("eval", "mine")
    assert ran.code == 2 and words in ran.err and "mine/task.json" in ran.err


def test_other_errors_are_words(cli: Cli) -> None:
    make(cli, "a", "#says\nyes", answer=[{"texts": ["yes"]}])
    make(cli, "b", "#wrong_key", answer=[{"texts": ["yes"]}])
    broken = notebook("1")
    broken["metadata"]["kernelspec"] = {"name": "gone", "display_name": "Gone"}
    (cli.folder / "mine" / "a" / "nb.ipynb").write_text(json.dumps(broken))
    for words, code, told in (
        (["nothing"], 2, "nothing is no task and no folder of tasks. Tasks of this package: amb"),
        (["mine", "-m", "nobody/x"], 1, "does not know the model “nobody/x”"),
        (["mine", "--recordings", "mine"], 2, "mine has no recording of these tasks."),
        (["mine", "--output", "mine"], 1, "mine: File exists."),
        (["mine/a"], 1, "a 1: There is no kernel 'gone' here. Installed: python3."),
        (["mine/b"], 1, "b 1: "),
        (["mine", "--runs", "0"], 2, "must be 1 or more"),
    ):
        ran = cli.run("eval", *words)
        assert ran.code == code and told in ran.err, (words, ran.err)
    cli.configure(day_cost=1.0)
    ran = cli.run("eval", "mine")
    assert ran.code == 2 and "c.CodeInterp.day_cost" in ran.err
    cli.configure(highest_mode="review")
    ran = cli.run("eval", "mine")
    assert ran.code == 2 and "c.CodeInterp.highest_mode" in ran.err
    cli.configure()
    cli.environment.pop("ANTHROPIC_API_KEY")
    cli.environment.pop("ANTHROPIC_BASE_URL")
    ran = cli.run("eval", "mine")
    assert ran.code == 1 and "key set" in ran.err


@pytest.mark.parametrize("number", range(len(CASES["checks"])))
def test_checks(tmp_path: Path, number: int) -> None:
    """What a task asks for, how a run ended, and the fault; "" for none."""
    checks, given, words = CASES["checks"][number]
    (tmp_path / "there").touch()
    spec = msgspec.convert({"about": "", "questions": ["x"], **checks}, TaskSpec)
    books = CASES["notebooks"]
    given = {"answers": (), **given, "after": books[given.get("after", "book")]}
    ended = TrialEnd(**given, before=books["book"], folder=tmp_path)
    found = faults(spec, ended)
    assert (words in found[0] and len(found) == 1) if words else found == ()


@pytest.mark.parametrize("task", find([]), ids=lambda task: task.name)
def test_a_task_of_the_package(task: Task) -> None:
    """Its own values solve it, an empty answer does not, and cells that it names are there."""
    spec, file = task.spec, task.folder / task.spec.notebook
    before = json.loads(file.read_bytes()) if file.exists() else {"cells": []}
    ids = {cell["id"] for cell in before["cells"]}
    assert {*spec.outputs, *(spec.unchanged if isinstance(spec.unchanged, tuple) else ())} <= ids
    right = " ".join(_said(value) for value in spec.answer)
    found = faults(spec, TrialEnd((right,), before, before, task.folder))
    assert not [fault for fault in found if "answer" in fault or fault.startswith("@")]
    assert faults(spec, TrialEnd(("",), before, before, task.folder))


@pytest.mark.parametrize("task", find([]), ids=lambda task: task.name)
def test_a_right_answer_and_a_careless_one(task: Task) -> None:
    """Written by hand, not from the checks. (What cells, outputs and files must be is tried by
    the recordings.)"""
    file = task.folder / task.spec.notebook
    before = json.loads(file.read_bytes()) if file.exists() else {"cells": []}
    right, careless = (
        faults(task.spec, TrialEnd(tuple(answer.split("\n\n")), before, before, task.folder))
        for answer in ANSWERS[task.name]
    )
    of_answers = [fault for fault in right if "answer" in fault or fault.startswith("@")]
    assert of_answers == []
    assert [fault for fault in careless if "answer" in fault or fault.startswith("@")]


def _said(value: ExpectedValue) -> str:
    given = (
        value.texts[0] if value.texts else f"{value.near[0]:.4f}" if value.within else value.near[0]
    )
    return f"@{value.name}[{given}]" if value.name else str(given)


def test_the_tasks_are_small() -> None:
    assert len(find([])) == 30
    assert sum(file.stat().st_size for file in SHIPPED.rglob("*") if file.is_file()) <= 400_000
