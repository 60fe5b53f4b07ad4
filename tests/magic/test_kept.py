"""``%%ai`` under Run All: a kept answer is used again, and what fails or waits stops the rest.

The table of docs/magic.md, row by row, in real kernels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


async def again(api: FakeAnthropic, folder: Path, first: list[str], *cells: str) -> list[str]:
    """Run ``first`` in one kernel, then the cells in another; return those cells."""
    data: Any = {"JUPYTER_DATA_DIR": str(folder / "data")}
    await run(api, *first, folder=folder, **data)
    return [said(cell) for cell in await run(api, *cells, folder=folder, **data)]


SAME = "%%ai -y\nmake them"
ANEW = {
    "another prompt": "%%ai -y\nmake others",
    "--again": "%%ai -y --again\nmake them",
    "another model": "%%ai -y -m claude-opus-5-5\nmake them",
    "another form": "%%ai -y --as text\nmake them",
    # It could run code that the person approved for a cell of their own.
    "code that calls the magic": "get_ipython().run_cell_magic('ai', '-t', 'say it\\n')",
    "without -y": "%%ai\nmake them",
}


async def test_what_uses_the_kept_answer_and_what_asks_anew(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    script(api)
    kept = "%%ai -t\nsay it"
    shown, told, *anew = await again(api, tmp_path, [SAME, kept], SAME, kept, *ANEW.values())
    assert "no model was asked" in shown and "--again asks it again" in shown
    assert shown.index("I make it.") < shown.index("made = [2, 3, 5]") < shown.index("Made.")
    assert "\n3\n" in shown and "no model was asked" in told
    for what, below in zip(ANEW, anew, strict=True):
        assert below and "no model was asked" not in below, what
    (tmp_path / "b").mkdir()
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    (elsewhere,) = await run(api, SAME, folder=tmp_path / "b", **env)
    assert "Made." in said(elsewhere) and "no model was asked" not in said(elsewhere)


async def test_values_count_as_the_model_saw_them(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Told.")))
    asking = "%%ai -t\nwhat is {n}?"
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    await run(api, "n = 1", asking, "n = 2", asking, "n = 1", asking, folder=tmp_path, **env)
    assert len(api.requests) == 2


FILE = "import json, pathlib; (file,) = pathlib.Path('data/codeinterp/answers').iterdir()"
UNSEEN = """\
kept = json.loads(file.read_bytes())
kept["parts"][1]["text"] = "made = 1 #\\u202e so trompi"
file.write_text(json.dumps(kept)); del made"""


async def test_a_kept_answer_that_others_could_have_written(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    """It is not used, nor is a broken one. And each kept cell says itself whether the person
    decided on exactly its code."""
    script(api)
    cells = {
        "kept": SAME,
        "found": FILE,
        "modes": "[oct(one.stat().st_mode)[-3:] for one in (file, file.parent)]",
        "used": SAME,
        "unseen": UNSEEN,
        "not run": SAME,
        "made": "'made' in globals()",
        "forget": "%ai reset",
        "open": "file.chmod(0o666)",
        "asked": SAME,
        "broken": "file.write_text('{'); file.chmod(0o600)",
        "asked again": SAME,
    }
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    ran = await run(api, *cells.values(), folder=tmp_path, **env)
    shown = dict(zip(cells, map(said, ran), strict=True))
    assert shown["modes"] == "['600', '700']" and "no model was asked" in shown["used"]
    assert "Made." in shown["asked"] and "Made." in shown["asked again"]
    assert "even with -y" in shown["not run"] and shown["made"] == "False"
    assert len(api.requests) == 6


async def test_kept_code_that_fails_now_stops(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(
        lambda request: answer(text("Read.")) if request.step else answer(run_cell("print(data)"))
    )
    asking = "%%ai -y\nread it"
    strict = asking.replace("-y", "-y --strict")
    env: Any = {"JUPYTER_DATA_DIR": str(tmp_path / "data")}
    cells = ("data = 1", asking, "del data", asking, strict)
    *_, cell, raised = await run(api, *cells, folder=tmp_path, fails=True, **env)
    assert len(api.requests) == 2 and "NameError" in said(cell)
    assert "The kept code did not run to its end" in said(cell) and "Read." not in said(cell)
    assert "The kept code failed" in said(raised) and _errors(raised)[-1:] == ["PromptFailed"]


# --- failures and waiting --------------------------------------------------------------------

FAILS = {
    "%%ai --strict\nmake them": "stopped",
    "%%ai -y --max-steps 1 --strict\nmake them": "limit of 1 model call",
    "%%ai -t --strict -m no-such-model\nx": "no-such-model",
    "%%ai -t --strict --as json\nx": "not JSON",
    "%%ai --strict --nonsense\nx": "no option --nonsense",
    "%%ai --strict\n": "The prompt is empty",
}


async def test_strict_raises_and_nothing_else_does(api: FakeAnthropic) -> None:
    script(api)
    for strict in (True, False):
        cells = [cell if strict else cell.replace(" --strict", "") for cell in FAILS]
        ran = await run(api, *cells, fails=True)
        for cell, words in zip(ran, FAILS.values(), strict=True):
            assert _errors(cell) == ["PromptFailed"] * strict, (cell["source"], said(cell))
            assert words in said(cell) or not strict
            assert said(cell) and "extension.py" not in said(cell)
    assert "Made." in said((await run(api, "%%ai -y --strict\nmake them"))[0])


def _errors(cell: dict[str, Any]) -> list[str]:
    return [one["ename"] for one in cell["outputs"] if one["output_type"] == "error"]


async def test_a_rejected_draft_is_not_kept_and_one_that_waits_holds_cells_back(
    api: FakeAnthropic,
) -> None:
    """They would fail, or find another prompt in their way."""
    script(api)

    def work(there: Page) -> None:
        for _ in range(2):
            rejected = there.run("%%ai\nmake them")
            there.press("Discard")
            assert "no model was asked" not in there.below(rejected)
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
    assert len(api.requests) == 6


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
