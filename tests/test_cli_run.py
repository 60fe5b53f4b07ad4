"""``jupyter codeinterp run`` as a program calls it: exit codes, events, the notebook after it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.adapters.storage.sqlite import SqliteStore
from jupyter_codeinterp.core import events as e
from tests.cli import CANARY, Cli, fake_process, is_running, make_cli, until


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process() as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    return make_cli(tmp_path, fake)


def code(*lines: str) -> str:
    """A prompt that has this run."""
    return "\n".join(["#code ```", *lines, "```"])


def outputs(cell: Any) -> str:
    return "".join(one.get("text", "") for one in cell.outputs)


# --- a task to its end ---------------------------------------------------------------------


def test_a_program_gets_events_and_nothing_else(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.ended.stop_reason == "end_turn" and len(ran.ended.added) == 2
    assert any(isinstance(event, e.TextDone) for event in ran.events)
    book = cli.book()
    assert book.cells[0].source == "import math"
    assert [cell.execution_count for cell in book.cells[1:]] == [1, 3]
    assert [cell.cell_type for cell in book.cells] == ["code"] * 3


@pytest.mark.parametrize("copied", [False, True])
def test_the_persons_wishes_are_read_here_too(cli: Cli, copied: bool) -> None:
    (cli.folder / "AGENTS.md").write_text("Use polars.", "utf-8")
    to = ("--output", "b.ipynb") if copied else ()
    assert cli.run("run", "a.ipynb", "#three_cells", "--yes", *to).code == 0
    (journal,) = Path(cli.environment["JUPYTER_DATA_DIR"]).rglob("sessions.db")
    store = SqliteStore(journal)
    (info,) = store.list(None)
    said = store.all_messages(info.session_id)[0]
    store.close()
    assert "Use polars." in str(said.content)


def test_a_log_gets_words_without_colours(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out and "The revenue is 460 in all." in ran.out
    assert '│ sales["turnover"].sum()' in ran.out and "KeyError: 'turnover'" in ran.out


FILTER = """#code
```
import pandas as pd
df = pd.DataFrame({'r': ['North'], 'n': [1]})
df[df.r == 'Nord'].n.sum()
```"""


def test_a_program_gets_findings_and_where_figures_come_from(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", FILTER, "--yes", "--json")
    (finding,) = next(event.findings for event in ran.events if isinstance(event, e.ToolDone))
    assert str(finding).startswith("Line 3: `df.r == 'Nord'` matched 0 of 1 rows")
    ran = cli.run("run", "a.ipynb", "#figures", "--yes", "--json")
    (found,) = (event for event in ran.events if isinstance(event, e.FiguresFound))
    assert {figure.origin.cell_id for figure in found.figures} <= set(ran.ended.added)


def test_a_log_has_findings_as_lines(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", FILTER, "--yes")
    assert "! Line 3: `df.r == 'Nord'` matched 0 of 1 rows" in ran.out


def test_a_log_tells_why_nothing_happens(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#rate_limit", "--plan")
    assert ran.code == 0, ran
    assert "↻ The rate limit of" in ran.out and "Retrying in 1 s." in ran.out


@pytest.mark.parametrize(
    ("given", "exit_code", "words"),
    [
        ("#prose Größer", 0, ""),
        ("#prose two\nlines\n", 0, ""),
        ("", 2, "The prompt is empty."),
        (" \n", 2, "The prompt is empty."),
    ],
)
def test_a_dash_reads_the_prompt_from_standard_input(
    cli: Cli, given: str, exit_code: int, words: str
) -> None:
    ran = cli.run("run", "a.ipynb", "-", "--plan", "--json", given=given)
    assert ran.code == exit_code and words in ran.err, ran
    if not exit_code:
        (begun,) = (event for event in ran.events if isinstance(event, e.TurnStarted))
        assert begun.text.strip() == given.strip()


NEXT_STEPS = {
    (): "See: jupyter codeinterp --help",
    ("frobnicate",): "See: jupyter codeinterp --help",
    ("run",): "See: jupyter codeinterp run --help",
    ("run", "a.ipynb", "Go", "--jason"): "See: jupyter codeinterp --help",
    ("run", "a.ipynb", "Go"): "Add --yes",
    ("run", "none.ipynb", "Go", "--yes"): "must be an existing .ipynb file",
    ("run", "a.ipynb", "Go", "--yes", "--kernel", "cobol"): "Installed: python3",
    ("run", "a.ipynb", "", "--yes"): "Put the task after NOTEBOOK",
    ("verify", "a.ipynb", "--kernel", "cobol"): "Installed: python3",
    ("export", "ffff"): "`sessions` lists them",
}
"""Arguments, and what the error says to do next."""


@pytest.mark.parametrize("arguments", NEXT_STEPS, ids=" ".join)
def test_an_error_names_the_next_step(cli: Cli, arguments: tuple[str, ...]) -> None:
    ran = cli.run(*arguments)
    assert ran.code in (1, 2) and NEXT_STEPS[arguments] in ran.err, ran


def test_help_names_the_first_steps(cli: Cli) -> None:
    whole, of_run = cli.run("--help"), cli.run("run", "--help")
    for words in ("doctor", "key set", "COMMAND --help"):
        assert words in whole.out
    assert "< task.txt" in of_run.out


def test_plan_runs_and_changes_nothing(cli: Cli) -> None:
    before = cli.file.read_bytes()
    ran = cli.run("run", "a.ipynb", "#three_cells", "--plan", "--json")
    assert ran.code == 0
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)
    assert cli.file.read_bytes() == before


def test_it_stays_in_its_notebook(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#new_notebook", "--yes", "--json")
    (done,) = (event for event in ran.events if isinstance(event, e.ToolDone))
    assert "Not available here: only this notebook is open." in done.summary
    assert ran.code == 0 and not (cli.folder / "Regions.ipynb").exists()


def test_a_copy_is_worked_on(cli: Cli) -> None:
    """With the files that lie beside the notebook itself."""
    (cli.folder / "data.txt").write_text("42")
    (cli.folder / "out").mkdir()
    before = cli.file.read_bytes()
    prompt = code("print(open('data.txt').read())")
    ran = cli.run("run", "a.ipynb", prompt, "--yes", "--output", "out/b.ipynb")
    assert ran.code == 0, ran
    assert cli.file.read_bytes() == before
    assert outputs(cli.book("out/b.ipynb").cells[1]) == "42\n"
    ran = cli.run("run", "a.ipynb", prompt, "--yes", "--output", "out/b.ipynb")
    assert ran.code == 2 and "already exists" in ran.err
    assert len(cli.sources("out/b.ipynb")) == 2
    assert [path.name for path in (cli.folder / "out").iterdir()] == ["b.ipynb"]


def test_a_notebook_elsewhere(cli: Cli, tmp_path: Path) -> None:
    """Its own folder is what its paths are told from, and what its kernel works in."""
    there = tmp_path / "elsewhere"
    there.mkdir()
    (there / "b.ipynb").write_bytes(cli.file.read_bytes())
    prompt = code("import os; print(os.getcwd())")
    ran = cli.run("run", str(there / "b.ipynb"), prompt, "--yes", "--json")
    assert ran.code == 0
    listed = cli.run("sessions", str(there / "b.ipynb"), "--json")
    assert json.loads(listed.out)["notebook"] == "b.ipynb"
    assert str(there) in (there / "b.ipynb").read_text()


def test_a_server_that_is_started_there_has_the_conversation(cli: Cli) -> None:
    (cli.folder / "deep").mkdir()
    (cli.folder / "deep" / "b.ipynb").write_bytes(cli.file.read_bytes())
    assert cli.run("run", "deep/b.ipynb", "#prose Hello", "--yes", "--json").code == 0
    start = """
import asyncio, json, sys
from jupyter_server.serverapp import ServerApp
app = ServerApp(port=0, open_browser=False, allow_root=True, root_dir=".")
app.initialize(argv=[], new_httpserver=False)
(found,) = app.extension_manager.extension_apps["jupyter_codeinterp"]
print("!", [info.title for info in found.manager.list("deep/b.ipynb")])
"""
    command = [sys.executable, "-c", start]
    server = subprocess.run(
        command, cwd=cli.folder, env=cli.environment, capture_output=True, text=True, check=True
    )
    assert "! ['#prose Hello']" in server.stdout


# --- exit codes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "options", "expected", "words"),
    [
        ("#refusal", (), 1, "not one that I help with"),
        ("#wrong_key", (), 1, "rejected the API key"),
        ("#max_tokens", (), 1, "cut off"),
        ("#endless", ("--max-steps", "2"), 3, "step limit"),
        ("#infinite_loop", ("--timeout", "8"), 3, "limit of 8 seconds"),
    ],
)
def test_how_it_ends_is_the_exit_code(
    cli: Cli, prompt: str, options: tuple[str, ...], expected: int, words: str
) -> None:
    ran = cli.run("run", "a.ipynb", prompt, "--yes", "--json", *options)
    assert ran.code == expected
    assert words in ran.ended.message
    cli.book()


def test_a_half_finished_notebook_says_where_it_stopped(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json", "--max-steps", "1")
    assert ran.code == 3
    last = cli.book().cells[-1]
    assert "[The code interpreter stopped here: Stopped at the step limit" in outputs(last)


def test_the_limit_of_cost_holds_here_too(cli: Cli) -> None:
    prices = {"claude-sonnet-5-5": [1000.0, 1000.0, 1000.0, 1000.0]}
    cli.configure(max_cost=0.01, prices=prices)
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert ran.code == 3 and "cost limit" in ran.ended.message


# --- usage -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "COMMAND"),
        (("sing",), "sing"),
        (("run", "a.ipynb"), "PROMPT"),
        (("run", "a.ipynb", "Go", "--yes", "--all"), "--all"),
        (("run", "a.ipynb", "Go", "--ye"), "--ye"),
        (("run", "a.ipynb", "Go", "--yes", "--plan"), "not allowed with"),
        (("run", "a.ipynb", "Go"), "No terminal to ask in. Add --yes"),
        (("run", "a.ipynb", "Go", "--json"), "cannot ask. Add --yes"),
        (("run", "a.ipynb", "  ", "--yes"), "prompt is empty"),
        (("run", "a.ipynb", "Use sk-ant-api03-0123456789abcdef", "--yes"), "looks like an API key"),
        (("run", "a.ipynb", "x" * 100_001, "--yes"), "The limit is 100,000"),
        (("run", "none.ipynb", "Go", "--yes"), "does not exist"),
        (("run", ".", "Go", "--yes"), "is not a file"),
        (("run", "words.txt", "Go", "--yes"), "not JSON"),
        (("run", "list.ipynb", "Go", "--yes"), "no cells"),
        (("run", "fixed.ipynb", "Go", "--yes"), "is not writable"),
        (("run", "a.ipynb", "Go", "--yes", "--kernel", "cobol"), "no kernel 'cobol'"),
        (("run", "a.ipynb", "Go", "--yes", "--max-steps", "0"), "1 or more"),
        (("run", "a.ipynb", "Go", "--yes", "--max-steps", "x"), "invalid"),
        (("run", "a.ipynb", "Go", "--yes", "--max-steps", "26"), "exceeds the limit"),
        (("run", "a.ipynb", "Go", "--yes", "--timeout", "0"), "more than 0"),
        (("run", "a.ipynb", "Go", "--yes", "--timeout", "nan"), "more than 0"),
        (("run", "a.ipynb", "Go", "--yes", "--output", "words.txt"), "already exists"),
        (("run", "a.ipynb", "Go", "--yes", "--output", "no/b.ipynb"), "Cannot write"),
    ],
)
def test_what_cannot_be_begun(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    (cli.folder / "words.txt").write_text("No notebook\x1b[31m")
    (cli.folder / "list.ipynb").write_text("[1, 2]")
    (cli.folder / "fixed.ipynb").write_bytes(cli.file.read_bytes())
    (cli.folder / "fixed.ipynb").chmod(0o444)
    before = {path.name: path.read_bytes() for path in cli.folder.iterdir()}
    ran = cli.run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err and "Traceback" not in ran.err
    assert {path.name: path.read_bytes() for path in cli.folder.iterdir()} == before
    assert cli.run("sessions").out == "No conversations.\n"


@pytest.mark.parametrize("argv", [["/bin/false"], ["/nowhere/python"]])
def test_a_kernel_that_does_not_start(cli: Cli, argv: list[str]) -> None:
    folder = cli.data / "kernels" / "bad"
    folder.mkdir(parents=True)
    spec = {"argv": argv, "display_name": "Bad", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    before = cli.file.read_bytes()
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json", "--kernel", "bad")
    assert (ran.code, ran.out) == (1, "")
    assert "kernel" in ran.err and "Traceback" not in ran.err
    assert cli.file.read_bytes() == before


@pytest.mark.parametrize("mode", ["plan", "review"])
def test_a_mode_that_an_admin_does_not_allow(cli: Cli, mode: str) -> None:
    cli.configure(highest_mode=mode)
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes")
    assert ran.code == 2 and "c.CodeInterp.highest_mode" in ran.err
    assert cli.sources() == ["import math"]


def test_settings_that_cannot_be_read_stop_it(cli: Cli) -> None:
    """A limit may stand there."""
    cli.configure()
    config = Path(cli.environment["JUPYTER_CONFIG_DIR"])
    (config / "jupyter_server_config.py").write_text("c.CodeInterp.max_cost = 1\noops(")
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes")
    assert ran.code == 1 and f"Cannot read {config / 'jupyter_server_config.py'}" in ran.err
    (config / "jupyter_server_config.py").write_text("print('hello'); c.CodeInterp.max_cost = 'x'")
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert (ran.code, ran.out) == (1, "") and "max_cost" in ran.err
    assert cli.sources() == ["import math"]


def test_settings_beside_the_notebook_are_not_read(cli: Cli) -> None:
    """They may have come with it."""
    (cli.folder / "jupyter_server_config.py").write_text("open('ran.txt', 'w')")
    assert cli.run("run", "a.ipynb", "#prose", "--yes", "--json").code == 0
    assert not (cli.folder / "ran.txt").exists()


# --- what nobody has allowed -------------------------------------------------------------------


def test_what_must_be_asked_is_not_done_where_nobody_is(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#edit_theirs", "--yes", "--json")
    assert "Not done, because no one could be asked" in ran.err
    assert cli.sources() == ["import math"]
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)
    ran = cli.run("run", "a.ipynb", "#invisible", "--yes", "--json")
    assert "Hidden character" in ran.err
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)


def test_a_question_gets_an_answer_where_nobody_is(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#ask", "--yes", "--json")
    assert ran.code == 0
    (answered,) = (event for event in ran.events if isinstance(event, e.QuestionAnswered))
    assert "No one can answer" in answered.answer


# --- keys, and what kernels write ----------------------------------------------------------------


def test_without_a_key_nothing_is_begun(cli: Cli) -> None:
    del cli.environment["ANTHROPIC_API_KEY"], cli.environment["ANTHROPIC_BASE_URL"]
    ran = cli.run("run", "a.ipynb", "Hello", "--yes", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "Anthropic has no key." in ran.err and "ANTHROPIC_API_KEY" in ran.err
    assert cli.run("sessions", "--json").out == ""
    assert not list(Path(cli.environment["JUPYTER_RUNTIME_DIR"]).glob("kernel-*"))


def test_no_key_is_anywhere_but_in_the_request(cli: Cli) -> None:
    cli.environment["ANOTHER_NAME"] = f"Bearer {CANARY}"
    cli.environment["ORDINARY"] = "stays"
    prompt = code("import os", "print(sorted(os.environ.items()))")
    refused = cli.run("run", "a.ipynb", f"{prompt}\n# {CANARY}", "--yes")
    assert refused.code == 2 and CANARY not in refused.out + refused.err
    for options in (("--json",), ()):
        ran = cli.run("run", "a.ipynb", prompt, "--yes", *options)
        assert ran.code == 0
        assert CANARY not in ran.out + ran.err
    said = outputs(cli.book().cells[1])
    assert "ORDINARY" in said and "ANTHROPIC_API_KEY" not in said and "ANOTHER_NAME" not in said
    for path in (path for path in cli.folder.parent.rglob("*") if path.is_file()):
        assert CANARY.encode() not in path.read_bytes(), path


def test_what_a_kernel_writes_past_its_cell_goes_nowhere(cli: Cli) -> None:
    prompt = code(
        "import os, subprocess, sys",
        "subprocess.run(['sh', '-c', 'echo one >&2; echo two'])",
        "print('\\x1b]0;three', file=sys.__stdout__, flush=True)",
        "os.system('echo four > /dev/tty')",
        "for fd in (1, 2): os.write(fd, b'five\\n')",
    )
    ran = cli.run("run", "a.ipynb", prompt, "--yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.ended.stop_reason == "end_turn"


# --- stopping ------------------------------------------------------------------------------------


def read_until(process: subprocess.Popen[str], kind: type[e.Event]) -> Any:
    assert process.stdout is not None
    for line in process.stdout:
        event = msgspec.json.decode(line, type=e.Event)
        if isinstance(event, kind):
            return event
    raise AssertionError(process.communicate())


def kernels_of(process: subprocess.Popen[str]) -> list[int]:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children]


ENDLESS = (
    "import os, time",
    "while True:",
    "    open('running', 'w').close()",
    "    time.sleep(0.01)",
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_code_runs(cli: Cli, number: signal.Signals) -> None:
    with cli.started("run", "a.ipynb", code(*ENDLESS), "--yes", "--json") as process:
        read_until(process, e.RunStarted)
        until((cli.folder / "running").exists, "the code runs")
        kernels = kernels_of(process)
        process.send_signal(number)
        out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
    ended = msgspec.json.decode(out.splitlines()[-1], type=e.Event)
    assert isinstance(ended, e.TurnEnded) and ended.stop_reason == "cancelled"
    last = cli.book().cells[-1]
    assert last.outputs[-1].ename == "KeyboardInterrupt"
    assert kernels
    until(lambda: not any(map(is_running, kernels)), "the kernel goes on")


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [("#slow_text", e.TextDelta), ("#slow_code", e.DraftOpened), ("#stalls", e.StepStarted)],
)
def test_a_signal_while_the_model_speaks(cli: Cli, prompt: str, kind: Any) -> None:
    with cli.started("run", "a.ipynb", prompt, "--yes", "--json") as process:
        read_until(process, kind)
        kernels = kernels_of(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
    assert '"stop_reason":"cancelled"' in out.splitlines()[-1]
    assert cli.sources() == ["import math"], "no draft is left behind"
    assert kernels
    until(lambda: not any(map(is_running, kernels)), "the kernel goes on")


def test_a_signal_while_the_kernel_starts(cli: Cli) -> None:
    folder = cli.data / "kernels" / "slow"
    folder.mkdir(parents=True)
    argv = ["sh", "-c", "touch started; exec sleep 1000", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Slow", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    options = ("--yes", "--json", "--kernel", "slow")
    with cli.started("run", "a.ipynb", "#three_cells", *options) as process:
        until((cli.folder / "started").exists, "the kernel starts")
        kernels = kernels_of(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, "")
        assert "Interrupted" in err and "Traceback" not in err
    assert kernels
    until(lambda: not any(map(is_running, kernels)), "the kernel goes on")
    assert cli.sources() == ["import math"]


def test_the_second_signal_leaves_at_once(cli: Cli) -> None:
    """Also where code does not obey the first."""
    prompt = code(
        "import signal, time",
        "signal.signal(signal.SIGINT, lambda *_: open('heard', 'w').close())",
        *ENDLESS,
    )
    with cli.started("run", "a.ipynb", prompt, "--yes", "--json") as process:
        until((cli.folder / "running").exists, "the code runs")
        kernels = kernels_of(process)
        process.send_signal(signal.SIGINT)
        until((cli.folder / "heard").exists, "it is interrupted")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130 and "Traceback" not in err
    until(lambda: not any(map(is_running, kernels)), "the kernel ends")
    cli.book()


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes there")
def test_a_killed_one_leaves_a_valid_notebook_and_no_kernel(cli: Cli) -> None:
    with cli.started("run", "a.ipynb", code(*ENDLESS), "--yes", "--json") as process:
        until((cli.folder / "running").exists, "the code runs")
        kernels = kernels_of(process)
        process.kill()
        process.communicate()
    assert cli.sources()[0] == "import math" and len(cli.sources()) == 2
    until(lambda: not any(map(is_running, kernels)), "the kernel notices")
    # And the next one goes on from there.
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert ran.code == 0
    cli.book()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_pipe_that_closes_ends_it_in_silence(cli: Cli, options: tuple[str, ...]) -> None:
    with cli.started("run", "a.ipynb", "#growth", "--yes", *options) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        assert (process.wait(), err) == (130, "")
    cli.book()


def test_help_says_what_the_exit_codes_mean(cli: Cli) -> None:
    for arguments in (("--help",), ("run", "--help")):
        ran = cli.run(*arguments)
        assert (ran.code, ran.err) == (0, "")
        assert re.search(r"3 limit reached, 130 interrupted", ran.out)
