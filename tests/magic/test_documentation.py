"""Every example of docs/magic.md runs, and there is one for each option and command."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_codeinterp.magic.extension import COMMANDS, OPTIONS
from tests.fake_anthropic import FakeAnthropic, Request, Turn, answer, run_cell, text
from tests.magic.notebooks import LOAD, run, said

PAGE = Path(__file__).parents[2] / "docs" / "magic.md"
EXAMPLES = re.findall(r"^```text\n(.*?)\n```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
NOBODY = "Not run: no one can be asked here."


def test_there_is_an_example_for_each_option_and_command() -> None:
    lines = "\n".join(EXAMPLES)
    missing = [name for name in OPTIONS if not re.search(rf"^%%ai\b.* {name}\b", lines, re.M)]
    missing += [f"%ai {name}" for name in COMMANDS if f"%ai {name}" not in lines]
    assert not missing


async def test_every_example_runs(api: FakeAnthropic) -> None:
    def script(request: Request) -> Turn:
        if request.step == 0:
            return answer(text("I do it."), run_cell("made = [2, 3, 5]\nmade"))
        return answer(text("Done."))

    api.play(script)
    assert EXAMPLES[0] == LOAD
    cells = [*EXAMPLES[1:], "made"]
    ran = await run(api, *cells)
    for source, cell in zip(cells, ran, strict=True):
        told = [one["text"] for one in cell["outputs"] if one.get("name") == "stderr"]
        waits = source.startswith("%%ai\n")
        assert len(told) == waits and all(NOBODY in one for one in told), (source, told)
        assert cell["outputs"], source
    assert said(ran[-1]) == "[2, 3, 5]"
