"""What ``%load_ext`` registers and costs, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fake_anthropic import FakeAnthropic, answer, call, run_cell, text
from tests.magic.notebooks import run, said


async def test_y_from_code_does_not_count(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Told.")))
    call = "get_ipython().run_cell_magic('ai', '-y', 'do it')"
    line = "get_ipython().run_line_magic('ai', '-y fix it')"
    hook = (
        "def again(*_):\n    ip.events.unregister('post_run_cell', again)\n"
        f"    {call}\nip = get_ipython()\nip.events.register('post_run_cell', again)"
    )
    ran = await run(
        api,
        call,
        f"def hidden():\n    {call}\nhidden()",
        f"get_ipython().run_cell({'%%ai -y' + chr(10) + 'do it'!r});",
        hook,
        "'after the hook'",
        line,
        "%%ai -y\nmine",
        "%ai -y fix it",
        "get_ipython().run_cell_magic('ai', '--plan', 'without -y')",
    )
    refused = [said(cell) for cell in (*ran[:3], ran[5])]
    assert all("-y works only in a cell that you typed" in one for one in refused)
    assert "works only" in said(ran[3]) + said(ran[4])
    assert [said(cell) for cell in ran[6:]] == ["Told."] * 3
    assert len(api.requests) == 3


async def test_code_that_runs_for_a_prompt_cannot_ask(api: FakeAnthropic) -> None:
    nested = "get_ipython().run_cell_magic('ai', '-y', 'more')\nprint('went on')"
    thread = (
        "import threading\nmagic = get_ipython().run_cell_magic\n"
        "asking = threading.Thread(target=magic, args=('ai', '', 'more'))\n"
        "asking.start(); asking.join()"
    )
    api.play([answer(run_cell(nested)), answer(run_cell(thread)), answer(text("Done."))])
    asked, other = await run(api, "%%ai -y\ndo it", thread)
    assert said(asked).count("cannot start another prompt") == 2 and "went on" in said(asked)
    assert "on the main thread" in said(other) and len(api.requests) == 3


async def test_it_can_be_loaded_again_and_unloaded(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Ours.")))
    ran = await run(
        api,
        "%reload_ext jupyter_codeinterp",
        "%%ai\nx",
        "%unload_ext jupyter_codeinterp",
        "'ai' in get_ipython().magics_manager.magics['cell']",
    )
    assert said(ran[1]) == "Ours." and said(ran[3]) == "False"


async def test_outputs_of_all_kinds_reach_the_cell_and_the_model(api: FakeAnthropic) -> None:
    source = (
        "import sys, subprocess, logging\nfrom IPython.display import display, HTML\n"
        "print('to stdout')\nprint('to stderr', file=sys.stderr)\n"
        "display(HTML('<b>shown</b>'))\nlogging.getLogger('x').warning('logged')\n"
        "{'a': 1}"
    )
    api.play(
        [
            answer(run_cell(source)),
            answer(run_cell("raise SystemExit(3)")),
            answer(run_cell("import asyncio\nawait asyncio.sleep(0, 'sl' + 'ept')")),
            answer(text("That is all.")),
        ]
    )
    asked, after = await run(api, "%%ai -y\ndo it", "await asyncio.sleep(0, 'still')")
    shown = said(asked)
    assert "'slept'" in shown and said(after) == "'still'"
    for words in ("to stdout", "to stderr", "logged", "{'a': 1}"):
        assert words in shown, words
        assert words in str(api.requests[1].body), words
    assert "SystemExit" in str(api.requests[2].body)


STAYS = "the cell itself is not known here"


@pytest.mark.parametrize(
    ("name", "given", "shown", "read"),
    [
        ("run_cells", {"cell_ids": ["in-2", "in-3"]}, "3\n", "2 of 2 cells."),
        ("scratch", {"source": "print('scratched', sum(values))"}, "scratched 3\n", "status=ok e"),
        ("add_markdown", {"source": "## Hi"}, "", "place=3/3"),
        ("move_cell", {"cell_ids": ["in-3"], "position": "start"}, "", STAYS),
        ("edit_cell", {"cell_id": "in-3", "source": "1", "run": False}, "", STAYS),
        ("edit_cell", {"cell_id": "in-3", "source": "1"}, "", STAYS),
        ("delete_cell", {"cell_ids": ["in-2", "in-3"]}, "", STAYS),
        ("run_cell", {"source": "%pip install --help x"}, "no one can be asked", "status=not_run"),
    ],
)
async def test_tools_for_cells_do_what_they_can_here(
    api: FakeAnthropic, name: str, given: dict[str, Any], shown: str, read: str
) -> None:
    """The person's cells are what ran, not cells of a notebook."""
    api.play([answer(call(name, given)), answer(text("That is all."))])
    ran = await run(api, "values = [1, 2]", "print(sum(values))", "%%ai -y\ndo it", "values")
    told = said(ran[2])
    assert told.endswith("That is all.") and shown in told and said(ran[3]) == "[1, 2]"
    assert read in str(api.requests[1].body["messages"][-1])
    assert ("```" in told) is (name in ("run_cells", "scratch", "run_cell"))


async def test_prompts_have_a_conversation_with_a_journal(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    api.play(lambda request: answer(text(f"{len(request.said)} said")))
    count = f"import pathlib\nlen(list(pathlib.Path({str(tmp_path)!r}).glob('*/sessions.db')))"
    asks = [f"%%ai --plan\n{n}" for n in range(3)]
    cells = (*asks[:2], count, "%ai reset", count, asks[2], count)
    ran = [said(one) for one in await run(api, *cells, TMPDIR=str(tmp_path))]
    del ran[3]
    assert ran == ["1 said", "2 said", "1", "0", "1 said", "1"]
    assert not _journals(tmp_path), "the kernel has ended"


def _journals(folder: Path) -> list[Path]:
    return list(folder.glob("*/sessions.db"))


async def test_a_private_cell_is_not_sent(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Read.")))
    tag = (
        "parent = get_ipython().kernel.get_parent('shell')\n"
        "parent['metadata']['tags'] = ['codeinterp-private']\nsecret = 'pass' + 'word'\nsecret"
    )
    await run(api, tag, "%%ai --plan\nlook at secret", folder=tmp_path)
    body = str(api.requests[0].body)
    assert "password" not in body and "secret" in body and "get_parent" not in body


def test_loading_imports_nothing_heavy() -> None:
    rooms = ["agent", "app", "journal", "models", "notebook", "run", "session", "view", "wire"]
    code = (
        "import sys; from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance(); before = set(sys.modules)\n"
        "shell.run_line_magic('load_ext', 'jupyter_codeinterp')\n"
        "new = set(sys.modules) - before\n"
        "print(sorted(name for name in new if not name.startswith('jupyter_codeinterp')))\n"
        f"print([name for name in new if [*name.split('.'), ''][1] in {rooms}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100
    )
    others, core = done.stdout.splitlines()
    heavy = ("anthropic", "httpx2", "msgspec", "asyncio", "jupyter_server", "tornado", "ipywidgets")
    assert not [name for name in heavy if f"'{name}" in others], others
    assert core == "[]"
