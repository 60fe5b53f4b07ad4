"""``jupyter codeinterp`` sessions, export, key, doctor and replay."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from jupyter_codeinterp import demo
from jupyter_codeinterp._version import __version__
from jupyter_codeinterp.cli.commands.replay import OwnCells
from jupyter_codeinterp.cli.terminal.fronts import Program, Word
from jupyter_codeinterp.core.events import Draft
from tests.cli import CANARY, Cli, fake_process, make_cli

GIVEN = "sk-ant-canary-9876543210-given-at-the-prompt"


@pytest.fixture(scope="module")
def fake() -> Iterator[str]:
    with fake_process() as url:
        yield url


@pytest.fixture
def cli(tmp_path: Path, fake: str) -> Cli:
    return make_cli(tmp_path, fake)


def session_of(cli: Cli) -> str:
    return str(json.loads(cli.run("sessions", "--json").out.splitlines()[0])["session_id"])


# --- conversations -----------------------------------------------------------------------


def test_conversations_are_listed_and_exported(cli: Cli) -> None:
    assert cli.run("sessions").out == "No conversations.\n"
    (cli.folder / "b.ipynb").write_bytes(cli.file.read_bytes())
    cli.run("run", "a.ipynb", "#three_cells Sum it up", "--yes", "--json")
    cli.run("run", "b.ipynb", "#prose \x1b[31m Hello", "--plan", "--json")
    lines = cli.run("sessions").out.splitlines()
    assert ["(b.ipynb)" in lines[0], "(a.ipynb)" in lines[1], len(lines)] == [True, True, 2]
    assert "\x1b" not in lines[0]
    (only,) = cli.run("sessions", "a.ipynb").out.splitlines()
    assert "#three_cells Sum it up" in only
    short = only.split()[0]
    markdown = cli.run("export", short)
    assert markdown.code == 0 and "> #three_cells Sum it up" in markdown.out
    recording = cli.run("export", short, "--to", "recording")
    assert recording.code == 0
    header, *steps = map(json.loads, recording.out.splitlines())
    assert header["version"] == 1 and len(steps) == 4


@pytest.mark.parametrize("given", ["ffff", "f" * 32, "../x", "x", "", "%"])
def test_a_conversation_that_there_is_not(cli: Cli, given: str) -> None:
    ran = cli.run("export", given)
    assert ((ran.code, ran.out) == (2, "") and "SESSION" in ran.err) or "no conversation" in ran.err


def test_a_list_that_nobody_reads(cli: Cli) -> None:
    cli.run("run", "a.ipynb", "#prose", "--plan", "--json")
    with cli.started("sessions") as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


# --- keys ----------------------------------------------------------------------------------


def kept(cli: Cli) -> Path:
    return cli.data / "codeinterp" / "credentials.json"


def test_a_key_is_read_kept_and_never_shown(cli: Cli, fake: str) -> None:
    del cli.environment["ANTHROPIC_API_KEY"]
    set_it = cli.run("key", "set", "--url", fake, given=f"{GIVEN}\n")
    assert set_it.code == 0, set_it
    assert json.loads(kept(cli).read_text())["connections"]["anthropic"]["key"] == GIVEN
    assert stat.S_IMODE(kept(cli).stat().st_mode) == 0o600
    listed = cli.run("key", "list")
    assert listed.code == 0 and "a kept key, for 127.0.0.1" in listed.out
    deleted = cli.run("key", "delete")
    assert deleted.code == 0 and "is deleted" in deleted.out
    cli.environment["ANTHROPIC_API_KEY"] = CANARY
    assert f"a key from ANTHROPIC_API_KEY, for {fake[7:]}" in cli.run("key", "list").out
    refused = cli.run("key", "set", "--url", fake, given=f"{GIVEN}\n")
    assert refused.code == 1 and "ANTHROPIC_API_KEY in the environment" in refused.err
    assert not kept(cli).exists()
    for ran in (set_it, listed, deleted, refused):
        assert GIVEN not in ran.out + ran.err and CANARY not in ran.out + ran.err
    assert "No key was kept" in cli.run("key", "delete").out


def test_a_key_is_typed_without_an_echo(cli: Cli, fake: str) -> None:
    del cli.environment["ANTHROPIC_API_KEY"]
    with cli.terminal("key", "set", "--url", fake) as child:
        child.expect("not shown")
        child.sendline(GIVEN)
        child.expect(pexpect.EOF)
        child.wait()
        assert (child.exitstatus, GIVEN in child.before) == (0, False)
    assert json.loads(kept(cli).read_text())["connections"]["anthropic"]["key"] == GIVEN


@pytest.mark.parametrize(
    ("given", "url", "code", "words"),
    [
        ("", "", 2, "no key"),
        ("two words\n", "", 1, "characters that no key has"),
        (f"{GIVEN}\n", "ftp://x", 1, "http"),
        (f"{GIVEN}\n", "http://127.0.0.1:9", 1, "not kept"),
    ],
)
def test_a_key_that_is_not_kept(cli: Cli, given: str, url: str, code: int, words: str) -> None:
    del cli.environment["ANTHROPIC_API_KEY"]
    ran = cli.run("key", "set", *(("--url", url) if url else ()), given=given)
    assert ran.code == code and words in ran.err and GIVEN not in ran.err
    assert not kept(cli).exists()


def test_keys_of_several_providers(cli: Cli, fake: str) -> None:
    """The fake is asked by the wire that both speak; it has its list where Moonshot has."""
    set_it = cli.run("key", "set", "--provider", "moonshot", "--url", fake, given=f"{GIVEN}\n")
    assert set_it.code == 0, set_it
    listed = cli.run("key", "list").out
    assert "Moonshot (Kimi): a kept key" in listed and "Anthropic: a key from" in listed
    assert "No key was kept" in cli.run("key", "delete").out
    assert "is deleted" in cli.run("key", "delete", "--provider", "moonshot").out
    unknown = cli.run("key", "set", "--provider", "nobody", given=f"{GIVEN}\n")
    assert unknown.code == 1 and "no provider “nobody”" in unknown.err


def test_a_key_is_no_argument(cli: Cli) -> None:
    """Others on the machine could read it there."""
    assert cli.run("key", "set", GIVEN).code == 2


# --- doctor ----------------------------------------------------------------------------------


def enabled(cli: Cli, server: bool = True) -> None:
    """As an installation leaves it, wherever the tests run."""
    folder = Path(cli.environment["JUPYTER_CONFIG_DIR"]) / "jupyter_server_config.d"
    folder.mkdir(parents=True, exist_ok=True)
    given = {"ServerApp": {"jpserver_extensions": {"jupyter_codeinterp": server}}}
    (folder / "jupyter_codeinterp.json").write_text(json.dumps(given))


def built(cli: Cli, version: str) -> None:
    folder = cli.data / "labextensions" / "jupyter-codeinterp"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": version}))


def test_the_doctor_finds_nothing_wrong(cli: Cli) -> None:
    enabled(cli)
    built(cli, __version__)
    ran = cli.run("doctor")
    assert (ran.code, ran.err) == (0, ""), ran
    for words in ("kernel python3", "ANTHROPIC_API_KEY", "models can be reached", "labextension"):
        assert words in ran.out
    assert CANARY not in ran.out and "✗" not in ran.out


def test_the_doctor_has_a_line_for_each_provider_that_can_answer(cli: Cli) -> None:
    """A key that other programs may have left there is no problem as long as nobody asks."""
    enabled(cli)
    url = cli.environment["ANTHROPIC_BASE_URL"]
    cli.run("key", "set", "--provider", "moonshot", "--url", url, given=f"{GIVEN}\n")
    ran = cli.run("doctor")
    lines = ran.out.splitlines()
    assert f"✓ Moonshot (Kimi): a kept key, for {url.partition('://')[2]}" in lines
    assert "✓ Offline demo: needs no key" in lines
    assert not any("OpenAI" in line or "Bedrock" in line for line in lines), "they have no key"
    hides = "import sys; sys.modules['openai'] = None"
    (cli.folder / "sitecustomize.py").write_text(hides)
    cli.environment |= {"OPENAI_API_KEY": GIVEN, "PYTHONPATH": str(cli.folder)}
    (line,) = (one for one in cli.run("doctor").out.splitlines() if "OpenAI" in one)
    assert line.startswith("· OpenAI: a key from OPENAI_API_KEY") and "pip install" in line


def bad_kernel(cli: Cli) -> None:
    folder = cli.data / "kernels" / "bad"
    folder.mkdir(parents=True)
    spec = {"argv": ["/nowhere/python"], "display_name": "Bad\x1b[31m", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))


def disabled_lab(cli: Cli) -> None:
    folder = Path(cli.environment["JUPYTER_CONFIG_DIR"]) / "labconfig"
    folder.mkdir(parents=True)
    given = {"disabledExtensions": {"jupyter-codeinterp": True}}
    (folder / "page_config.json").write_text(json.dumps(given))


def no_key(cli: Cli) -> None:
    del cli.environment["ANTHROPIC_API_KEY"], cli.environment["ANTHROPIC_BASE_URL"]


def no_server(cli: Cli) -> None:
    cli.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"


def no_region(cli: Cli) -> None:
    cli.environment["AWS_BEARER_TOKEN_BEDROCK"] = GIVEN


def wrong_key(cli: Cli) -> None:
    """Which worked when it was kept."""
    url = cli.environment["ANTHROPIC_BASE_URL"]
    cli.run("key", "set", "--provider", "moonshot", "--url", url, given=f"{GIVEN}\n")
    kept(cli).write_text(kept(cli).read_text().replace(GIVEN, "sk-wrong-0123456789"))


def broken_settings(cli: Cli) -> None:
    folder = Path(cli.environment["JUPYTER_CONFIG_DIR"])
    (folder / "jupyter_server_config.json").write_text("{")


def no_folder(cli: Cli) -> None:
    cli.data.mkdir()
    (cli.data / "codeinterp").write_text("")


@pytest.mark.parametrize(
    ("spoil", "words", "advice"),
    [
        (bad_kernel, "kernel bad: its program /nowhere/python", "jupyter kernelspec remove bad"),
        (disabled_lab, "labextension is disabled in", "jupyter labextension enable"),
        (lambda cli: built(cli, "0.0.1"), "is 0.0.1, the package", "load JupyterLab's page anew"),
        (lambda cli: enabled(cli, False), "server extension is disabled", "extension enable"),
        (no_key, "has no key", "jupyter codeinterp key set"),
        (no_server, "Anthropic: a key from ANTHROPIC_API_KEY, for 127.0.0.1:9", "reached"),
        (no_region, "Claude on Amazon Bedrock: a key from AWS_BEARER", "Name the region"),
        (wrong_key, "Moonshot (Kimi): a kept key", "does not accept the API key"),
        (broken_settings, "cannot be read, and may set a limit", "Mend or remove that file"),
        (no_folder, "Conversations cannot be kept in", "c.CodeInterp.data_dir"),
    ],
)
def test_the_doctor_says_what_to_do(cli: Cli, spoil: Any, words: str, advice: str) -> None:
    enabled(cli)
    spoil(cli)
    ran = cli.run("doctor")
    assert ran.code == 1 and "Traceback" not in ran.err
    found = ran.out.splitlines()
    (number,) = (index for index, line in enumerate(found) if words in line)
    assert found[number].startswith("✗") and advice in found[number + 1]
    assert "\x1b" not in ran.out


# --- replay ----------------------------------------------------------------------------------


def recorded(cli: Cli, prompt: str = "#three_cells") -> Path:
    """A recording of a conversation in a copy of the notebook."""
    cli.run("run", "a.ipynb", prompt, "--yes", "--output", "then.ipynb")
    ran = cli.run("export", session_of(cli), "--to", "recording")
    file = cli.folder / "recording.jsonl"
    file.write_text(ran.out)
    return file


def test_a_recording_is_played_with_its_code_run_now(cli: Cli) -> None:
    recorded(cli)
    del cli.environment["ANTHROPIC_BASE_URL"]
    ran = cli.run("replay", "a.ipynb", "recording.jsonl", "--yes")
    assert (ran.code, ran.err) == (0, ""), ran
    assert "The revenue is 460 in all." in ran.out
    assert [cell.execution_count for cell in cli.book().cells[1:]] == [1, 3]


def test_a_replay_asks_for_each_run(cli: Cli) -> None:
    recorded(cli)
    assert cli.run("replay", "a.ipynb", "recording.jsonl").code == 2
    with cli.terminal("replay", "a.ipynb", "recording.jsonl") as child:
        for word in ("y", "n"):
            child.expect(r"Run it\? \[y\]es, \[n\]o, \[e\]dit: ")
            child.sendline(word)
        child.expect(pexpect.EOF)
        child.wait()
        # It could not be played to its end.
        assert child.exitstatus == 1
    assert len(cli.sources()) == 2


def test_a_replay_that_departs_is_no_success(cli: Cli) -> None:
    file = recorded(cli)
    file.write_text(file.read_text().replace("turnover", "revenue"))
    ran = cli.run("replay", "a.ipynb", "recording.jsonl", "--yes")
    assert ran.code == 1 and "recording" in ran.out


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines(keepends=True)


def test_a_recording_that_is_not_played(cli: Cli) -> None:
    file = recorded(cli)
    good = file.read_text()
    header, *steps = lines_of(file)
    theirs = json.loads(steps[0])
    theirs["content"][-1] |= {"name": "edit_cell"}
    theirs["content"][-1]["input"] |= {"cell_id": cli.book().cells[0].id}
    before = cli.file.read_bytes()
    for text, code, words in (
        ("", 1, "no recording"),
        ("Hello\n", 1, "no recording"),
        ("[1]\n", 1, "no recording"),
        (header.replace('"version":1', '"version":2'), 1, "version 2 of the format; 1 is known"),
        (header, 1, "cut off"),
        (header + steps[0], 1, "cut off"),
        (good[: len(good) // 2], 1, "cut off"),
        (good[:-10], 1, "cut off"),
        (header + "{}\n" + "".join(steps), 1, "line 2"),
        (header + json.dumps(theirs) + "\n" + steps[-1], 1, "a cell that it has not made"),
    ):
        file.write_text(text)
        ran = cli.run("replay", "a.ipynb", "recording.jsonl", "--yes")
        assert (ran.code, ran.out) == (code, ""), (text[:80], ran)
        assert words in ran.err and "Traceback" not in ran.err
    assert cli.run("replay", "a.ipynb", "none.jsonl", "--yes").code == 2
    assert cli.file.read_bytes() == before


@pytest.mark.parametrize("yes", [False, True])
async def test_a_draft_on_a_cell_of_the_persons_is_rejected_whatever_a_result_said(
    yes: bool,
) -> None:
    """Which cell is meant is read from results, and code can say much in those."""

    class Agrees(Program):
        async def decide(self, draft: Draft) -> Word:
            return Word("run", draft.source)

    front = OwnCells(Agrees(), yes)

    async def word(kind: Any, cell_id: str) -> str:
        draft = Draft("d", "c", kind, cell_id, "Title", "source", "nonce")
        return (await front.decide(draft)).action

    assert await word("insert", "own") == "run" and await word("markdown", "words") == "run"
    for cell_id in ("own", "words"):
        assert await word("edit", cell_id) == await word("delete", cell_id) == "run"
    for kind in ("edit", "delete"):
        assert await word(kind, "theirs") == "reject"


def test_the_demos_recording_can_be_played(cli: Cli) -> None:
    notebook = demo.copy_demo(cli.folder)
    recording = cli.folder / "growth.jsonl"
    recording.write_bytes(demo.read("growth.jsonl"))
    ran = cli.run("replay", str(notebook), "growth.jsonl", "--yes")
    assert ran.code == 0 and "South grew fastest" in ran.out
