"""``jupyter codeinterp run`` as a program calls it: exit codes, events, the notebook after it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.agent.agent import SPOKEN_TO as CAUTION
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.cli.arguments import parse, parser
from jupyter_codeinterp.cli.commands.turn import exit_code
from jupyter_codeinterp.cli.terminal.drawing import Screen
from jupyter_codeinterp.cli.terminal.fronts import covers, more
from jupyter_codeinterp.cli.terminal.people import Person
from jupyter_codeinterp.cli.terminal.stopping import Stopping
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.run.approval.policy import NEEDS_SANDBOX, SPOKEN_TO
from jupyter_codeinterp.wire import events as e
from tests.cli import CANARY, Cli, Ran, is_running, until


def code(*lines: str) -> str:
    """A prompt that has this run."""
    return "\n".join(["#code ```", *lines, "```"])


def outputs(cell: Any) -> str:
    return "".join(one.get("text", "") for one in cell.outputs)


# --- a task to its end ---------------------------------------------------------------------


def test_a_program_gets_events_and_nothing_else(cli: Cli) -> None:
    """No settings beside the notebook: they may have come with it."""
    (cli.folder / "jupyter_server_config.py").write_text("open('ran.txt', 'w')")
    ran = cli.program("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.ended.stop_reason == "end_turn" and len(ran.ended.added) == 2
    assert any(isinstance(event, e.TextDone) for event in ran.events)
    book = cli.book()
    assert book.cells[0].source == "import math"
    assert [cell.execution_count for cell in book.cells[1:]] == [1, 3]
    assert [cell.cell_type for cell in book.cells] == ["code"] * 3
    assert not (cli.folder / "ran.txt").exists()


def first_message(cli: Cli) -> str:
    """What the model read first in the latest conversation."""
    (journal,) = cli.data.rglob("sessions.db")
    store = SqliteStore(journal)
    said = store.all_messages(store.list(None)[0].session_id)[0]
    store.close()
    return str(said.content)


def test_a_log_gets_words_without_colours(cli: Cli) -> None:
    (cli.folder / "AGENTS.md").write_text("Use polars.", "utf-8")
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes")
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out and "The revenue is 460 in all." in ran.out
    assert '│ sales["turnover"].sum()' in ran.out and "KeyError: 'turnover'" in ran.out
    assert "Use polars." in first_message(cli)


@pytest.mark.parametrize("how", ["unchanged", "with a new cell"])
def test_what_a_person_put_back_stays_as_they_put_it(cli: Cli, how: str) -> None:
    """As with ``git checkout``, a backup, or a script that writes the notebook anew."""
    before = cli.file.read_text()
    assert cli.program("run", "a.ipynb", code("x = 1"), "--yes", "--json").code == 0
    assert [cell.source for cell in cli.book().cells] == ["import math", "x = 1"]
    put_back = json.loads(before)
    if how == "with a new cell":
        put_back["cells"].append({**put_back["cells"][0], "id": "new", "source": "y = 2"})
    cli.file.write_text(json.dumps(put_back))
    ran = cli.program("run", "a.ipynb", code("z = 3"), "--yes", "--json")
    assert ran.code == 0 and len(ran.ended.added) == 1
    theirs = [cell["source"] for cell in put_back["cells"]]
    assert [cell.source for cell in cli.book().cells] == [*theirs, "z = 3"]


def test_new_cells_go_to_the_end_where_two_cells_share_an_id(cli: Cli) -> None:
    """Jupyter gives one of them another id at each read, until the notebook is saved."""
    book = json.loads(cli.file.read_text())
    book["cells"] = [{**book["cells"][0], "source": source} for source in ("a = 1", "b = 2")]
    cli.file.write_text(json.dumps(book))
    assert cli.run("run", "a.ipynb", "#three_cells", "--yes").code == 0
    sources = cli.sources()
    assert sources[:2] == ["a = 1", "b = 2"] and len(sources) == 4


FILTER = """#code
```
import pandas as pd
df = pd.DataFrame({'r': ['North'], 'n': [1]})
df[df.r == 'Nord'].n.sum()
```"""


def test_a_program_gets_findings_and_where_figures_come_from(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", FILTER, "--yes", "--json")
    (finding,) = next(event.findings for event in ran.events if isinstance(event, e.ToolDone))
    line = "Line 3: `df.r == 'Nord'` matched 0 of 1 rows"
    assert str(finding).startswith(line)
    assert f"! {line}" in cli.run("run", "a.ipynb", FILTER, "--yes").out
    ran = cli.run("run", "a.ipynb", "#figures", "--yes", "--json")
    (found,) = (event for event in ran.events if isinstance(event, e.FiguresFound))
    assert {one.origin.cell_id for one in found.figures if one.origin} <= set(ran.ended.added)


def test_a_log_tells_why_nothing_happens(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#rate_limit", "--plan")
    assert ran.code == 0, ran
    assert "↻ The rate limit of" in ran.out and "Retrying in 1 s." in ran.out


def test_a_dash_reads_the_prompt_from_standard_input(cli: Cli) -> None:
    given = "#prose Größer\nin lines\n"
    ran = cli.program("run", "a.ipynb", "-", "--plan", "--json", given=given)
    (begun,) = (event for event in ran.events if isinstance(event, e.TurnStarted))
    assert ran.code == 0 and begun.text.strip() == given.strip()
    ran = cli.run("run", "a.ipynb", "-", "--plan", "--json", given=" \n")
    assert ran.code == 2 and "The prompt is empty." in ran.err


def test_help_names_the_first_steps_and_the_exit_codes(cli: Cli) -> None:
    ran = cli.run("--help")
    assert (ran.code, ran.err) == (0, "")
    for words in ("doctor", "key set", "COMMAND --help", "3 limit reached, 130 interrupted"):
        assert words in ran.out


def test_plan_runs_and_changes_nothing(cli: Cli) -> None:
    before = cli.file.read_bytes()
    ran = cli.run("run", "a.ipynb", "#three_cells", "--plan", "--json")
    assert ran.code == 0
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)
    assert cli.file.read_bytes() == before


def test_a_notebook_elsewhere(cli: Cli, tmp_path: Path) -> None:
    """Its own folder is what its paths are told from, and what its kernel works in."""
    there = tmp_path / "elsewhere"
    there.mkdir()
    (there / "b.ipynb").write_bytes(cli.file.read_bytes())
    prompt = code("import os; print(os.getcwd())")
    ran = cli.run("run", str(there / "b.ipynb"), prompt, "--yes", "--json")
    assert ran.code == 0
    assert [one.notebook for one in cli.conversations()] == [str(there / "b.ipynb")]
    assert str(there) in (there / "b.ipynb").read_text()


# --- exit codes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "options", "expected", "words"),
    [
        ("#wrong_key", (), 1, "rejected the API key"),
        ("#three_cells", ("--max-steps", "2"), 3, "Stopped at the limit of 2 model calls"),
    ],
)
def test_how_it_ends_is_the_exit_code(
    cli: Cli, prompt: str, options: tuple[str, ...], expected: int, words: str
) -> None:
    ran = cli.run("run", "a.ipynb", prompt, "--yes", "--json", *options)
    assert ran.code == expected
    assert words in ran.ended.message


def test_the_exit_codes_of_other_ends() -> None:
    ends: dict[e.StopReason, int] = {"end_turn": 0, "refusal": 1, "error": 1, "budget": 3}
    for reason, expected in ends.items():
        assert exit_code(e.TurnEnded(1, reason)) == expected


def test_the_limit_of_cost_holds_here_too(cli: Cli) -> None:
    prices = {"claude-sonnet-5-5": [1000.0, 1000.0, 1000.0, 1000.0]}
    cli.configure(max_cost=0.01, prices=prices)
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json")
    assert ran.code == 3 and "cost limit" in ran.ended.message


# --- usage -----------------------------------------------------------------------------------


GO = ("run", "a.ipynb", "Go")
UNUSABLE: list[tuple[tuple[str, ...], str]] = [
    ((), "COMMAND"),
    ((), "See: jupyter codeinterp --help"),
    (("sing",), "sing"),
    (("run",), "See: jupyter codeinterp run --help"),
    (("run", "a.ipynb"), "PROMPT"),
    ((*GO, "--yes", "--all"), "--all"),
    ((*GO, "--ye"), "--ye"),
    ((*GO, "--jason"), "See: jupyter codeinterp --help"),
    ((*GO, "--yes", "--plan"), "not allowed with"),
    (GO, "No terminal to ask in. Add --yes"),
    ((*GO, "--json"), "cannot ask. Add --yes"),
    (("run", "a.ipynb", "  ", "--yes"), "prompt is empty. Put the task after NOTEBOOK"),
    (("run", "a.ipynb", "Use sk-ant-api03-0123456789abcdef", "--yes"), "looks like an API key"),
    (("run", "a.ipynb", "x" * 100_001, "--yes"), "The limit is 100,000"),
    (("run", "no/none.ipynb", "Go", "--yes"), "does not exist. NOTEBOOK must be an .ipynb file"),
    (("run", ".", "Go", "--yes"), "is not a file"),
    (("run", "words.txt", "Go", "--yes"), "not JSON"),
    (("run", "list.ipynb", "Go", "--yes"), "no cells"),
    (("run", "fixed.ipynb", "Go", "--yes"), "is not writable"),
    ((*GO, "--yes", "--kernel", "cobol"), "no kernel 'cobol'"),
    ((*GO, "--yes", "--kernel", "cobol"), "Installed: python3"),
    (("verify", "a.ipynb", "--kernel", "cobol"), "Installed: python3"),
    ((*GO, "--yes", "--max-steps", "0"), "1 or more"),
    ((*GO, "--yes", "--max-steps", "x"), "invalid"),
    ((*GO, "--yes", "--max-steps", "101"), "exceeds the limit"),
]
"""Arguments, and what the error says of them or to do next."""


def test_what_cannot_be_begun(cli: Cli) -> None:
    (cli.folder / "words.txt").write_text("No notebook\x1b[31m")
    (cli.folder / "list.ipynb").write_text("[1, 2]")
    (cli.folder / "fixed.ipynb").write_bytes(cli.file.read_bytes())
    (cli.folder / "fixed.ipynb").chmod(0o444)
    before = {path.name: path.read_bytes() for path in cli.folder.iterdir()}
    for arguments, words in UNUSABLE:
        ran = cli.run(*arguments)
        assert (ran.code, ran.out) == (2, ""), (arguments, ran)
        assert words in ran.err and "Traceback" not in ran.err, (arguments, ran)
    assert cli.program(*GO).code == 2
    assert {path.name: path.read_bytes() for path in cli.folder.iterdir()} == before
    assert not cli.conversations()


def test_a_kernel_that_does_not_start(cli: Cli) -> None:
    before = cli.file.read_bytes()
    for name, program in (("ends", "/bin/false"), ("missing", "/nowhere/python")):
        kernel(cli, name, program)
        ran = cli.run("run", "a.ipynb", "#three_cells", "--yes", "--json", "--kernel", name)
        assert (ran.code, ran.out) == (1, "")
        assert "kernel" in ran.err and "Traceback" not in ran.err
    assert cli.file.read_bytes() == before


def kernel(cli: Cli, name: str, *argv: str) -> None:
    folder = cli.data / "kernels" / name
    folder.mkdir(parents=True)
    spec = {"argv": argv, "display_name": name, "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))


def test_a_mode_that_an_admin_does_not_allow(cli: Cli) -> None:
    cli.configure(highest_mode="review")
    ran = cli.run("run", "a.ipynb", "#three_cells", "--yes")
    words = "Auto is not allowed here: Review is the limit (c.CodeInterp.highest_mode)."
    assert ran.code == 2 and f"{words} Leave out --yes." in ran.err
    cli.configure(highest_mode="plan")
    assert "Add --plan." in cli.run("run", "a.ipynb", "#three_cells", "--yes").err
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


# --- what nobody has allowed -------------------------------------------------------------------


def test_what_must_be_asked_is_not_done_where_nobody_is(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#edit_theirs", "--yes", "--json")
    assert "Not done, because no one could be asked" in ran.err
    assert cli.sources() == ["import math"]
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)
    (decided,) = (event for event in ran.events if isinstance(event, e.DraftDecided))
    assert decided.by == "nobody" and "add a new cell instead" in decided.reason
    told = [event.detail for event in ran.events if isinstance(event, e.ToolDone) and event.cell_id]
    assert any(decided.reason in detail for detail in told)
    assert not any("person rejected" in detail for detail in told)
    assert "To allow it: --yes=edits" in ran.err
    assert statuses(ran) == ["not_run"]
    ran = cli.run("run", "a.ipynb", "#invisible", "--yes", "--json")
    assert "Hidden character" in ran.err
    assert not any(isinstance(event, e.RunStarted) for event in ran.events)


def statuses(ran: Ran) -> list[str]:
    ends = [event for event in ran.events if isinstance(event, e.ToolDone)]
    return [event.status for event in ends if event.name != "read_notebook"]


@pytest.mark.parametrize(
    ("kind", "notices", "always", "edits", "everything"),
    [
        ("edit", (), False, True, True),
        ("edit", ("Line 1 runs a shell command (!ls).",), False, True, True),
        ("edit", ("It installs packages: requests.",), True, False, True),
        ("insert", ("It installs packages: requests.",), True, False, True),
        ("delete", (), False, False, True),
        ("kernel", (), False, False, True),
        ("tool", (), False, False, True),
        ("edit", (NEEDS_SANDBOX,), True, False, False),
        ("insert", (NEEDS_SANDBOX,), True, False, False),
        ("insert", (SPOKEN_TO,), True, False, True),
        ("edit", (SPOKEN_TO,), True, False, True),
    ],
)
def test_what_yes_covers(
    kind: Any, notices: tuple[Sentence, ...], always: bool, edits: bool, everything: bool
) -> None:
    draft = e.Draft("d", "c", kind, "", Sentence(""), "x", "n", notices=notices, always=always)
    assert [covers(yes, draft) for yes in ("", "run", "edits", "all")] == [
        *(False, False, edits, everything)
    ]
    code = msgspec.structs.replace(draft, runs=True)
    barred = NEEDS_SANDBOX in notices or SPOKEN_TO in notices
    option = "--yes=edits" if edits else "--yes=all" if everything else ""
    assert more(code) == " or ".join(filter(None, ("--sandbox" if barred else "", option)))


def test_the_end_lists_what_was_not_done(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#edit_theirs", "--yes")
    (title,) = {line.split(": ")[1] for line in ran.err.splitlines() if "Not done, because" in line}
    end = " ".join(ran.out[ran.out.index("Cells") :].split()) if "Cells" in ran.out else ran.out
    assert f"! Not done: {title.removesuffix('. To allow it')}. To allow it: --yes=edits." in end
    ran = cli.run("run", "a.ipynb", "#three_cells", "--plan")
    assert "! Not done: " in ran.out and "To allow it" not in ran.out


def test_the_end_lists_failed_cells_that_it_removed(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#leave_failed", "--yes")
    assert "! Removed after a failure: Divide." in ran.out
    assert cli.sources() == ["import math"]


def test_each_thing_not_done_has_its_own_option() -> None:
    file = StringIO()
    person = Person(Screen(file=file, width=100), Stopping(), False, "run")
    for draft in (
        e.Draft("1", "c", "edit", "", Sentence("Set y"), "x", "n"),
        e.Draft("2", "c", "delete", "", Sentence("Drop x"), "x", "n"),
        e.Draft("3", "c", "edit", "", Sentence("Set z"), "x", "n"),
    ):
        asyncio.run(person.decide(draft))
    person.show(e.TurnEnded(1, "end_turn"), b"")
    lines = file.getvalue().splitlines()
    assert "! Not done: Set y; Set z. To allow it: --yes=edits." in lines
    assert "! Not done: Drop x. To allow it: --yes=all." in lines
    person.show(e.TurnEnded(2, "end_turn", run_again=("a", "b"), failed_again=("b",)), b"")
    assert "✓ Cells: 2 run as they were (1 failed)." in file.getvalue()


def test_yes_to_edits_and_to_all(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#edit_theirs", "--yes=edits", "--json")
    assert (ran.code, statuses(ran)) == (0, ["ok"]) and cli.sources() != ["import math"]
    ran = cli.run("run", "a.ipynb", "#invisible", "--yes=edits", "--json")
    assert statuses(ran)[:1] == ["not_run"] and "To allow it: --yes=all" in ran.err
    ran = cli.run("run", "a.ipynb", "#invisible", "--yes=all", "--json")
    assert any(isinstance(event, e.RunStarted) for event in ran.events)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--yes", "can be run, not changed or deleted (add cells instead)"),
        ("--yes=edits", "can be changed, not deleted"),
        ("--yes=all", "nobody answers questions"),
        ("--plan", ""),
    ],
)
def test_the_model_knows_at_once_what_cannot_happen_where_nobody_is(
    cli: Cli, option: str, words: str
) -> None:
    cli.run("run", "a.ipynb", "#prose", option, "--json")
    told = first_message(cli)
    assert ("Nobody can be asked" in told) == bool(words) and words in told


FAR = f"a = '{'word ' * 30}'; print('done')"


def test_code_out_of_sight_runs_where_nobody_reads_it(cli: Cli) -> None:
    """It asks a person in every mode: ``attacks/test_out_of_sight.py``."""
    ran = cli.run("run", "a.ipynb", code(FAR), "--yes", "--json")
    assert (statuses(ran), ran.err) == (["ok"], "")


def test_a_question_gets_an_answer_where_nobody_is(cli: Cli) -> None:
    ran = cli.run("run", "a.ipynb", "#ask", "--yes", "--json")
    assert ran.code == 0
    (answered,) = (event for event in ran.events if isinstance(event, e.QuestionAnswered))
    assert "No one can answer" in answered.answer
    (done,) = (event for event in ran.events if isinstance(event, e.ToolDone))
    assert "No one can answer" in done.detail and "person" not in done.detail


# --- keys, and what kernels write ----------------------------------------------------------------


def test_without_a_key_nothing_is_begun(cli: Cli) -> None:
    del cli.environment["ANTHROPIC_API_KEY"], cli.environment["ANTHROPIC_BASE_URL"]
    ran = cli.run("run", "a.ipynb", "Hello", "--yes", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "Anthropic has no key." in ran.err and "ANTHROPIC_API_KEY" in ran.err
    assert not cli.conversations()
    assert not list(Path(cli.environment["JUPYTER_RUNTIME_DIR"]).glob("kernel-*"))


def test_no_key_is_anywhere_but_in_the_request(cli: Cli) -> None:
    cli.environment["ANOTHER_NAME"] = f"Bearer {CANARY}"
    cli.environment["ORDINARY"] = "stays"
    prompt = code("import os", "print(sorted(os.environ.items()))")
    refused = cli.run("run", "a.ipynb", f"{prompt}\n# {CANARY}", "--yes")
    assert refused.code == 2 and CANARY not in refused.out + refused.err
    for start, options in ((cli.program, ("--json",)), (cli.run, ())):
        ran = start("run", "a.ipynb", prompt, "--yes", *options)
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
    ran = cli.program("run", "a.ipynb", prompt, "--yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.ended.stop_reason == "end_turn"


# --- stopping ------------------------------------------------------------------------------------


def read_until(process: subprocess.Popen[str], kind: type[e.Event]) -> Any:
    assert process.stdout is not None
    for line in process.stdout:
        event = e.read_event(line)
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


def test_a_signal_while_code_runs(cli: Cli) -> None:
    with cli.started("run", "a.ipynb", code(*ENDLESS), "--yes", "--json") as process:
        read_until(process, e.RunStarted)
        until((cli.folder / "running").exists, "the code runs")
        kernels = kernels_of(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
    ended = e.read_event(out.splitlines()[-1])
    assert isinstance(ended, e.TurnEnded) and ended.stop_reason == "cancelled"
    last = cli.book().cells[-1]
    assert last.outputs[-1].ename == "KeyboardInterrupt"
    assert kernels
    until(lambda: not any(map(is_running, kernels)), "the kernel goes on")


@pytest.mark.parametrize(
    ("prompt", "kind", "number"),
    [
        ("#slow_text", e.TextDelta, signal.SIGINT),
        ("#slow_code", e.DraftOpened, signal.SIGTERM),
        ("#stalls", e.StepStarted, signal.SIGHUP),
    ],
)
def test_a_signal_while_the_model_speaks(
    cli: Cli, prompt: str, kind: Any, number: signal.Signals
) -> None:
    with cli.started("run", "a.ipynb", prompt, "--yes", "--json") as process:
        read_until(process, kind)
        kernels = kernels_of(process)
        process.send_signal(number)
        out, err = process.communicate()
        assert (process.returncode, err) == (130, "")
    assert '"stop_reason":"cancelled"' in out.splitlines()[-1]
    assert cli.sources() == ["import math"], "no draft is left behind"
    assert kernels
    until(lambda: not any(map(is_running, kernels)), "the kernel goes on")


def test_a_signal_while_the_kernel_starts(cli: Cli) -> None:
    kernel(cli, "slow", "sh", "-c", "touch started; exec sleep 1000", "{connection_file}")
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


def test_the_widest_yes_holds() -> None:
    for given, held in (("", None), ("-y", "run"), ("--yes --yes=edits", "edits"),
                        ("--yes=all -y", "all")):  # fmt: skip
        for command in (["run", "a.ipynb", "Go"], ["chat", "a.ipynb"]):
            assert parser().parse_args([*command, *given.split()]).yes == held


@pytest.mark.parametrize(
    ("words", "prompt"),
    [
        ("run a.ipynb Go --continue", "Go"),
        ("run a.ipynb --continue Go", "Go"),
        ("run --yes a.ipynb --model m Go", "Go"),
        ("run a.ipynb --yes -", "-"),
        ("run a.ipynb --continue", None),
    ],
)
def test_the_prompt_may_stand_after_options(words: str, prompt: str | None) -> None:
    assert parse(words.split()).prompt == prompt


@pytest.mark.parametrize(
    "words", ["run a.ipynb Go --yes more", "run a.ipynb --bogus Go", "chat a.ipynb --plan Go"]
)
def test_other_words_are_refused(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(words.split())
    assert "unrecognized arguments" in capsys.readouterr().err


def test_a_card_names_the_cell_and_its_picture_and_shows_a_table() -> None:
    file = StringIO()
    person = Person(Screen(file=file, width=100), Stopping(), False, notebook=Path("nb.ipynb"))
    head, figure = "status=ok cell_id=c place=4/6", "[image: <Figure size 800x450 with 1 Axes>]"
    table = "\n".join(f"row {number}" for number in range(40))
    for event in (
        e.ToolDone("1", "move_cell", Sentence("Move “Chart”"), "ok", cell_id="c", detail=head),
        e.ToolDone("2", "move_cell", Sentence("Move a cell"), "ok", detail="status=ok"),
        e.ToolDone(
            "3", "run_cell", Sentence("Chart"), "ok", cell_id="c", detail=f"{head}\n{figure}"
        ),
        e.ToolDone("4", "run_cell", Sentence("List"), "ok", cell_id="c", detail=f"{head}\n{table}"),
        e.ToolDone(
            "5", "run_cell", Sentence("Long"), "ok", cell_id="c", detail=f"{head}\n{table * 2}"
        ),
    ):
        person.show(event, b"")
    said = file.getvalue()
    assert "✓ Move “Chart”  (now cell 4)\n" in said and "Move a cell" not in said
    assert "[picture: in cell 4 of nb.ipynb]" in said and "Figure" not in said
    assert "row 20" in said.partition("Long")[0] and said.count("lines more") == 1


def test_edits_by_title_the_report_of_verify_and_a_caution_are_shown() -> None:
    file = StringIO()
    person = Person(Screen(file=file, width=100), Stopping(), False)
    report = "status=error\n1 failed, 1 same.\ncell 2: failed: KeyError: 'b'"
    caution = Sentence(CAUTION, signs="“ignore your instructions”")
    for event in (
        e.ToolDone("1", "verify", Sentence("Verify the notebook"), "error", detail=report),
        e.ToolDone("2", "edit_cell", Sentence("Mend the total"), "ok", cell_id="c"),
        e.Note(caution, "warning"),
        e.TurnEnded(1, "end_turn", edited=("c",)),
    ):
        person.show(event, b"")
    said = " ".join(file.getvalue().split())
    assert "✗ Verify the notebook" in said and "cell 2: failed: KeyError: 'b'" in said
    assert "Data that the model read has words like instructions" in said
    assert "✓ Cells: 1 edited (Mend the total)." in said
