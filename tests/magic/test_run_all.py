"""``%%ai`` under Run All: what fails under ``--strict`` stops the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text
from tests.magic.notebooks import run, said

CODE = "made = [2, 3, 5]\nlen(made)"


def script(api: FakeAnthropic) -> None:
    """Code for each prompt, then a text."""
    api.play(
        lambda request: (
            answer(text("Made.")) if request.step else answer(text("I make it."), run_cell(CODE))
        )
    )


FAILS = {
    "%%ai --strict\nmake them": "stopped",
    "%%ai --plan --strict -m no-such-model\nx": "no-such-model",
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


async def test_a_broken_package_shows_nothing(api: FakeAnthropic, tmp_path: Path) -> None:
    """Its traceback is no part of a notebook."""
    api.play(lambda request: answer(text("Told.")))
    info = tmp_path / "broken_tool-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken_tool\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[jupyter_codeinterp.tools]\nmine = broken_tool:MISSING\n"
    )
    (tmp_path / "broken_tool.py").write_text("")
    (asked,) = await run(api, "%%ai --plan\nhello", folder=tmp_path, PYTHONPATH=str(tmp_path))
    assert said(asked) == "Told."
