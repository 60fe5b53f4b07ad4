"""``%%ai`` in a real ipykernel: the answer, the code that it runs, and what it is told."""

from __future__ import annotations

from tests.fake_anthropic import FakeAnthropic, answer, edit_cell, run_cell, text
from tests.magic.notebooks import prompts, run, said


async def test_code_runs_in_the_namespace_is_mended_and_answered(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("I add them."), run_cell("total = sum(valuess)\nprint('nev' + 'er')")),
            lambda request: answer(edit_cell(request.last_cell, "total = sum(values)\ntotal")),
            answer(text("The total is **6**.")),
        ]
    )
    cells = ("values = [1, 2, 3]", "%%ai -y\nadd up {values}", "print(total)")
    _, asked, after = await run(api, *cells)
    shown = said(asked)
    assert shown.index("I add them.") < shown.index("total = sum(valuess)")
    assert shown.index("NameError") < shown.index("total = sum(values)\ntotal")
    assert "The total is **6**." in shown and "never" not in shown
    assert said(after) == "6\n"
    assert "add up [1, 2, 3]" in prompts(api)[0]
    assert any(output.get("data", {}).get("text/plain") == "6" for output in asked["outputs"])
