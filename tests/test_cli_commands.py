"""``jupyter codeinterp`` key and doctor, and the export of its conversations."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.cli import CANARY, Cli

GIVEN = "sk-ant-canary-9876543210-given-at-the-prompt"


@pytest.fixture
def of_the_folder(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Packages in the folder are found, as by a program that is started there."""
    monkeypatch.syspath_prepend(str(cli.folder))
    yield
    for name in ("adds_tools", "audit_hook"):
        sys.modules.pop(name, None)


FOR_MODEL = (
    *("read_output", "shown to you", "can fetch it", "kernel reports", "%pip install", "<cell id"),
    *("Go on ", "add a new cell instead", "Write the plan", "<output-"),
)
"""Parts of what only the model is to read."""


# --- conversations -----------------------------------------------------------------------


def test_an_export_has_the_pictures_and_no_words_for_the_model(cli: Cli) -> None:
    draws = [
        "import matplotlib.pyplot as plt",
        "from IPython.display import SVG, display",
        "print('line\\n' * 3000)",
        "display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>'))",
        "for n in range(4): plt.plot([n]); plt.show()",
    ]
    shown = []
    asked = [("#code ```\n" + "\n".join(draws) + "\n```", "--yes"), ("#inspect", "--yes")]
    asked += [("#code ```print(gone)```", "--yes"), ("#code ```import no_such_module```", "--yes")]
    asked += [("#restart", "--yes"), ("#edit_theirs", "--yes"), ("#one_cell", "--plan")]
    for number, (prompt, option) in enumerate(asked):
        more = ["--continue"] if number else []
        shown.append(cli.run("run", "a.ipynb", prompt, option, *more).out)
    exported = cli.exported()
    assert exported.count("![picture](data:image/png;base64,iVBORw0KGgo") == 4
    assert "[image" not in exported and "[SVG]" in exported
    assert "characters left out …]" in exported and "nobody can be asked here." in exported
    for text in (exported, *shown):
        for words in FOR_MODEL:
            assert words not in text, words


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
    assert listed.code == 0 and "a saved key, for 127.0.0.1" in listed.out
    deleted = cli.run("key", "delete")
    assert deleted.code == 0 and "Key deleted" in deleted.out
    cli.environment["ANTHROPIC_API_KEY"] = CANARY
    assert f"a key from ANTHROPIC_API_KEY, for {fake[7:]}" in cli.run("key", "list").out
    refused = cli.run("key", "set", "--url", fake, given=f"{GIVEN}\n")
    assert (
        refused.code == 1 and "ANTHROPIC_API_KEY in the Jupyter server's environment" in refused.err
    )
    assert not kept(cli).exists()
    for ran in (set_it, listed, deleted, refused):
        assert GIVEN not in ran.out + ran.err and CANARY not in ran.out + ran.err
    assert "No saved key" in cli.run("key", "delete").out


def test_list_and_delete_speak_of_the_saved_key(cli: Cli, fake: str) -> None:
    """Whether or not a key in the environment overrides it."""
    for saved, also in ((False, False), (False, True), (True, False), (True, True)):
        cli.environment.pop("ANTHROPIC_API_KEY", None)
        if saved:
            assert cli.run("key", "set", "--url", fake, given=f"{GIVEN}\n").code == 0
        if also:
            cli.environment["ANTHROPIC_API_KEY"] = CANARY
        listed, deleted = cli.run("key", "list"), cli.run("key", "delete")
        assert ("a key from ANTHROPIC_API_KEY" in listed.out) == also
        assert ("a saved key" in listed.out) == (saved and not also), listed
        assert deleted.out.startswith("Key deleted." if saved else "No saved key."), deleted
        assert ("a key from ANTHROPIC_API_KEY" in deleted.out) == also
        assert not kept(cli).exists()
        for ran in (listed, deleted):
            assert GIVEN not in ran.out + ran.err and CANARY not in ran.out + ran.err


def test_a_key_is_typed_without_an_echo(cli: Cli, fake: str) -> None:
    del cli.environment["ANTHROPIC_API_KEY"]
    with cli.terminal("key", "set", "--url", fake) as child:
        child.expect("not shown")
        child.sendline(GIVEN)
        child.expect(pexpect.EOF)
        child.wait()
        assert (child.exitstatus, GIVEN in child.before) == (0, False)
    assert json.loads(kept(cli).read_text())["connections"]["anthropic"]["key"] == GIVEN


def test_a_key_that_is_not_kept(cli: Cli) -> None:
    del cli.environment["ANTHROPIC_API_KEY"]
    for given, url, code, words in (
        ("", "", 2, "No key was entered"),
        ("two words\n", "", 1, "invalid characters"),
        (f"{GIVEN}\n", "ftp://x", 1, "http"),
        (f"{GIVEN}\n", "http://127.0.0.1:9", 1, "not saved"),
    ):
        ran = cli.run("key", "set", *(("--url", url) if url else ()), given=given)
        assert ran.code == code and words in ran.err and GIVEN not in ran.err, ran
        assert not kept(cli).exists()
    # Others on the machine could read an argument.
    assert cli.run("key", "set", GIVEN).code == 2


def test_keys_of_several_providers(cli: Cli, fake: str) -> None:
    """The fake is asked by the wire that both speak; it has its list where Moonshot has."""
    set_it = cli.run("key", "set", "--provider", "moonshot", "--url", fake, given=f"{GIVEN}\n")
    assert set_it.code == 0, set_it
    listed = cli.run("key", "list").out
    assert "Moonshot (Kimi): a saved key" in listed and "Anthropic: a key from" in listed
    assert "No saved key" in cli.run("key", "delete").out
    assert "Key deleted" in cli.run("key", "delete", "--provider", "moonshot").out
    unknown = cli.run("key", "set", "--provider", "nobody", given=f"{GIVEN}\n")
    assert unknown.code == 1 and "Unknown provider “nobody”" in unknown.err


# --- doctor ----------------------------------------------------------------------------------


def test_the_doctor_finds_nothing_wrong(cli: Cli) -> None:
    ran = cli.program("doctor")
    assert (ran.code, ran.err) == (0, ""), ran
    for words in ("ANTHROPIC_API_KEY", "models available"):
        assert words in ran.out
    assert CANARY not in ran.out and "✗" not in ran.out


def test_the_doctor_has_a_line_for_each_provider_that_can_answer(cli: Cli) -> None:
    """A key that other programs may have left there is no problem as long as nobody asks."""
    url = cli.environment["ANTHROPIC_BASE_URL"]
    cli.run("key", "set", "--provider", "moonshot", "--url", url, given=f"{GIVEN}\n")
    ran = cli.run("doctor")
    lines = ran.out.splitlines()
    assert f"✓ Moonshot (Kimi): a saved key, for {url.partition('://')[2]}" in lines
    assert not any("OpenAI" in line or "Bedrock" in line for line in lines), "they have no key"
    cli.environment["AWS_BEARER_TOKEN_BEDROCK"] = GIVEN
    (line,) = (one for one in cli.run("doctor").out.splitlines() if "Bedrock" in one)
    assert line.startswith("· Claude on Amazon Bedrock: a key from") and "AWS_REGION" in line
    hides = "import sys; sys.modules['openai'] = None"
    (cli.folder / "sitecustomize.py").write_text(hides)
    cli.environment |= {"OPENAI_API_KEY": GIVEN, "PYTHONPATH": str(cli.folder)}
    (line,) = (one for one in cli.program("doctor").out.splitlines() if "OpenAI" in one)
    assert line.startswith("· OpenAI: a key from OPENAI_API_KEY") and "pip install" in line


def no_key(cli: Cli) -> None:
    del cli.environment["ANTHROPIC_API_KEY"], cli.environment["ANTHROPIC_BASE_URL"]


def no_server(cli: Cli) -> None:
    cli.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"


def wrong_key(cli: Cli) -> None:
    """Which worked when it was kept."""
    url = cli.environment["ANTHROPIC_BASE_URL"]
    cli.run("key", "set", "--provider", "moonshot", "--url", url, given=f"{GIVEN}\n")
    kept(cli).write_text(kept(cli).read_text().replace(GIVEN, "sk-wrong-0123456789"))


def broken_settings(cli: Cli) -> None:
    folder = Path(cli.environment["JUPYTER_CONFIG_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "jupyter_server_config.json").write_text("{")


ADDS = """
import msgspec
from jupyter_codeinterp.api import Seen, Tool, ToolContext

async def look(context: ToolContext, given: msgspec.Struct) -> Seen:
    return Seen("")

LOOKS = Tool("look_up", "Look up", "Look up.", msgspec.Struct, run=look)
MORE = Tool("look_in", "Look in", "Look in.", msgspec.Struct, run=look)
REFUSED = Tool("run_cell", "Run", "Run.", msgspec.Struct, run=look)
"""
POINTS = """
[jupyter_codeinterp.tools]
look_up = adds_tools:LOOKS
look_in = adds_tools:MORE
"""


def adding(cli: Cli, more: str = "") -> None:
    """A package that adds tools."""
    info = cli.folder / "adds_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Adds_Tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS + more)
    (cli.folder / "adds_tools.py").write_text(ADDS)


def broken_tool(cli: Cli) -> None:
    adding(cli, "broken = adds_tools:MISSING\n")


def refused_tool(cli: Cli) -> None:
    adding(cli, "taken = adds_tools:REFUSED\n")


def broken_provider(cli: Cli) -> None:
    adding(cli, "[jupyter_codeinterp.providers]\nacme = nowhere_at_all:ACME\n")


def test_the_doctor_names_what_other_packages_add(cli: Cli, of_the_folder: None) -> None:
    adding(cli)
    lines = cli.run("doctor").out.splitlines()
    assert {"✓ The tool “look_up” of Adds_Tools", "✓ The tool “look_in” of Adds_Tools"} <= {*lines}
    cli.configure(allowed_packages=["others"])
    lines = cli.run("doctor").out.splitlines()
    left = "· The tool “look_up” of Adds_Tools was left out: the admin does not allow its package"
    assert left in lines
    cli.configure(allowed_packages=["adds-tools"])
    assert any(one.startswith("✓ The tool “look_up”") for one in cli.run("doctor").out.splitlines())


def test_the_doctor_says_once_that_a_server_cannot_be_reached(cli: Cli) -> None:
    no_server(cli)
    ran = cli.run("doctor")
    assert ran.out.count("✗") == 1 and "does not list" not in ran.out, ran


def nowhere(cli: Cli) -> None:
    """Where nobody can make a folder, although the permissions allow it."""
    cli.configure(data_dir="/proc/codeinterp")


def no_folder(cli: Cli) -> None:
    cli.data.mkdir()
    (cli.data / "codeinterp").write_text("")


def early_journal(cli: Cli) -> None:
    """Of a version that this one cannot read."""
    (cli.data / "codeinterp").mkdir(parents=True)
    with closing(sqlite3.connect(cli.data / "codeinterp" / "sessions.db")) as db:
        db.execute("CREATE TABLE sessions (id)")
        db.execute("PRAGMA user_version=1")


@pytest.mark.parametrize(
    ("spoil", "words", "advice"),
    [
        (no_key, "has no key", "jupyter codeinterp key set"),
        (no_server, "Anthropic: a key from ANTHROPIC_API_KEY, for 127.0.0.1:9", "reached"),
        (wrong_key, "Moonshot (Kimi): a saved key", "rejected the API key"),
        (broken_settings, "which may set a limit", "Fix or remove that file"),
        (broken_tool, "The tool “broken” of Adds_Tools was left out: AttributeError", "Update"),
        (refused_tool, "“taken” of Adds_Tools was left out: ValueError", "Update or remove"),
        (broken_provider, "provider “acme” of Adds_Tools was left out: Module", "Update"),
        (nowhere, "Cannot use the journal /proc", "c.CodeInterp.data_dir"),
        (no_folder, "Cannot use the journal", "c.CodeInterp.data_dir"),
        (early_journal, "Move it to another folder", "c.CodeInterp.data_dir"),
    ],
)
def test_the_doctor_says_what_to_do(
    cli: Cli, of_the_folder: None, spoil: Any, words: str, advice: str
) -> None:
    spoil(cli)
    ran = cli.run("doctor")
    assert ran.code == 1 and "Traceback" not in ran.err
    found = ran.out.splitlines()
    (number,) = (index for index, line in enumerate(found) if words in line)
    assert found[number].startswith("✗") and advice in found[number + 1]
    assert "\x1b" not in ran.out
