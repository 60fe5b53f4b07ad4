"""``%%ai`` under Run All: a kept answer is used again, and what fails or waits stops the rest.

The table of docs/magic.md, row by row, in real kernels.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nbclient.exceptions import CellExecutionError

from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text
from tests.magic.notebooks import run, said
from tests.magic.test_widgets import Page, with_page

CODE = "made = [2, 3, 5]\nlen(made)"


def script(api: FakeAnthropic) -> None:
    """Code for each prompt, then a text."""
    api.play(
        lambda request: (
            answer(text("Made.")) if request.step else answer(text("I make it."), run_cell(CODE))
        )
    )


async def again(
    api: FakeAnthropic, folder: Path, first: str, second: str, *cells: str, **env: str
) -> tuple[dict[str, Any], int]:
    """Run ``first`` in one kernel, then the cells and ``second`` in another. The last cell's
    look, and how often the model was asked the second time."""
    data: Any = {"JUPYTER_DATA_DIR": str(folder / "data")}
    await run(api, first, folder=folder, **data)
    before = len(api.requests)
    ran = await run(api, *cells, second, folder=folder, **{**data, **env})
    return ran[-1], len(api.requests) - before


SAME = "%%ai -y\nmake them"
ANEW = {
    "another prompt": "%%ai -y\nmake others",
    "--again": "%%ai -y --again\nmake them",
    "another model": "%%ai -y -m claude-opus-5-5\nmake them",
    "another form": "%%ai -y --as text\nmake them",
    "without -y": "%%ai\nmake them",
}


async def test_the_same_prompt_uses_the_kept_answer(api: FakeAnthropic, tmp_path: Path) -> None:
    script(api)
    cell, asked = await again(api, tmp_path, SAME, SAME)
    shown = said(cell)
    assert asked == 0 and "no model was asked" in shown and "--again asks it again" in shown
    assert shown.index("I make it.") < shown.index("made = [2, 3, 5]") < shown.index("Made.")
    assert any(one.get("data", {}).get("text/plain") == "3" for one in cell["outputs"])


@pytest.mark.parametrize("what", ANEW)
async def test_what_asks_the_model_anew(api: FakeAnthropic, tmp_path: Path, what: str) -> None:
    script(api)
    cell, asked = await again(api, tmp_path, SAME, ANEW[what])
    assert asked and "no model was asked" not in said(cell)


async def test_values_count_as_the_model_saw_them(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Told.")))
    asking = "%%ai -t\nwhat is {n}?"
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    await run(api, "n = 1", asking, "n = 2", asking, "n = 1", asking, folder=tmp_path, **env)
    assert len(api.requests) == 2


async def test_another_folder_asks_anew(api: FakeAnthropic, tmp_path: Path) -> None:
    script(api)
    (tmp_path / "b").mkdir()
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    await run(api, SAME, folder=tmp_path, **env)
    await run(api, SAME, folder=tmp_path / "b", **env)
    assert len(api.requests) == 4


async def test_code_that_calls_the_magic_gets_no_kept_answer(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    """It could run code that the person approved for a cell of their own."""
    script(api)
    kept = "%%ai -t\nmake them"
    calls = "get_ipython().run_cell_magic('ai', '-t', 'make them\\n')"
    _, asked = await again(api, tmp_path, kept, calls)
    assert asked


async def test_a_kept_answer_that_others_may_write_is_not_used(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    script(api)
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    await run(api, SAME, folder=tmp_path, **env)
    (file,) = (tmp_path / "data" / "codeinterp" / "answers").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    file.chmod(0o666)
    await run(api, SAME, folder=tmp_path, **env)
    assert len(api.requests) == 4
    (file,) = (tmp_path / "data" / "codeinterp" / "answers").iterdir()
    file.write_text("{")
    file.chmod(0o600)
    await run(api, SAME, folder=tmp_path, **env)
    assert len(api.requests) == 6


async def test_code_in_the_file_that_no_one_reviewed_still_asks(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    """Each kept cell says itself whether the person decided on exactly its code."""
    script(api)
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    asking = "%%ai -y\nhide it"
    await run(api, asking, folder=tmp_path, **env)
    (file,) = (tmp_path / "data" / "codeinterp" / "answers").iterdir()
    kept = json.loads(file.read_bytes())
    kept["parts"][1]["text"] = "made = 1 #" + " " * 300 + "import os"
    file.write_text(json.dumps(kept))
    cell, *_ = await run(api, asking, "'made' in globals()", folder=tmp_path, **env)
    assert "even with -y" in said(cell)


async def test_kept_code_that_fails_now_stops(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(
        lambda request: answer(text("Read.")) if request.step else answer(run_cell("print(data)"))
    )
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    asking = "%%ai -y\nread it"
    await run(api, "data = 1", asking, folder=tmp_path, **env)
    before = len(api.requests)
    (cell,) = await run(api, asking, folder=tmp_path, **env)
    assert len(api.requests) == before and "NameError" in said(cell)
    assert "The kept code did not run to its end" in said(cell) and "Read." not in said(cell)
    with pytest.raises(CellExecutionError, match="The kept code failed"):
        await run(api, asking.replace("-y", "-y --strict"), folder=tmp_path, **env)


# --- failures and waiting --------------------------------------------------------------------

FAILS = {
    "%%ai --strict\nmake them": "stopped",
    "%%ai -y --max-steps 1 --strict\nmake them": "step limit",
    "%%ai -t --strict -m no-such-model\nx": "no-such-model",
    "%%ai -t --strict --as json\nx": "not JSON",
    "%%ai --strict --nonsense\nx": "no option --nonsense",
    "%%ai --strict\n": "The prompt is empty",
}


@pytest.mark.parametrize("cell", FAILS)
async def test_strict_raises_and_nothing_else_does(api: FakeAnthropic, cell: str) -> None:
    script(api)
    with pytest.raises(CellExecutionError, match=FAILS[cell]) as raised:
        await run(api, cell, "after = 1")
    assert "PromptFailed" in str(raised.value) and "extension.py" not in str(raised.value)
    first, after = await run(api, cell.replace(" --strict", ""), "print('went on')")
    assert said(after) == "went on\n" and said(first)


async def test_strict_lets_a_success_pass(api: FakeAnthropic) -> None:
    script(api)
    assert "Made." in said((await run(api, "%%ai -y --strict\nmake them"))[0])


async def test_a_prompt_that_waits_holds_the_cells_below_back(api: FakeAnthropic) -> None:
    """They would fail, or find another prompt in their way."""
    script(api)

    def work(there: Page) -> None:
        asked = there.begin("%%ai\nmake them")
        later = [there.begin(source) for source in ("print(made)", "%%ai -y\nmake more")]
        for msg_id in (asked, *later):
            there.ended(msg_id)
        assert "Run All" in there.below(asked)
        for msg_id in later:
            assert there.kinds(msg_id) <= {"status"}, "it did not run"
        there.press("Run")
        assert "Made." in there.below(asked)
        assert "[2, 3, 5]" in there.below(there.run("print(made)"))
        again = there.run("%%ai\nmake them")
        after = there.run("print(len(made))")
        assert "no model was asked" in there.below(again) and "3" in there.below(after)

    await with_page(work)(api)
    assert len(api.requests) == 2


async def test_a_rejected_draft_is_not_kept(api: FakeAnthropic) -> None:
    script(api)

    def work(there: Page) -> None:
        there.run("%%ai\nmake them")
        there.press("Discard")
        again = there.run("%%ai\nmake them")
        assert "no model was asked" not in there.below(again)

    await with_page(work)(api)


async def test_a_model_that_is_not_listed_is_refused(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text(str(request.body["model"]))))
    chosen, refused, asked = await run(
        api, "%ai model claude-opus-5-5", "%ai model nosuch/thing", "%%ai -t\nwhich?"
    )
    assert said(chosen) == "The model is claude-opus-5-5.\n"
    assert "There is no model “nosuch/thing” here." in said(refused)
    assert said(asked).startswith("claude-opus-5-5")


async def test_a_broken_package_is_one_line(api: FakeAnthropic, tmp_path: Path) -> None:
    """Its traceback is no part of a notebook."""
    api.play(lambda request: answer(text("Told.")))
    info = tmp_path / "broken_tool-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken_tool\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[jupyter_codeinterp.tools]\nmine = broken_tool:MISSING\n"
    )
    (tmp_path / "broken_tool.py").write_text("")
    first, second = await run(
        api, "%%ai -t\nhello", "%%ai -t\nand?", folder=tmp_path, PYTHONPATH=str(tmp_path)
    )
    assert said(first).count("Left out: the tool “mine” of broken_tool.") == 1
    assert "Traceback" not in said(first) and "Left out" not in said(second)
