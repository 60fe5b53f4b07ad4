"""Simple questions cost no cell: the mechanism over the real server, and ``scripts/choices``."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.core import events as e
from scripts import choosing
from tests.choices import questions
from tests.fake_anthropic import FakeAnthropic, Request, answer, call, on_loop, run_cell, text
from tests.fake_anthropic.turns import Answer, wrong_key
from tests.site import Site

WORDS = "Less than 0.05, say **0.0321**, in 12.5 % of 1,234 cases. See `sales`."
"""An answer with figures that no output has."""
A_SESSION = 20
"""Questions of a conversation."""
OF = {one.asked: one for one in questions()}


def obedient(request: Request) -> Answer:
    """Runs one trivial cell where a run is expected."""
    asked = request.said[-1]
    if OF[asked].expected == "run" and request.step == 0:
        return answer(run_cell(f"{len(request.messages)}", title="Look"))
    return answer(text(WORDS if OF[asked].expected == "words" else "Done."))


def test_half_of_the_questions_need_no_run() -> None:
    expected = [one.expected for one in questions()]
    assert (expected.count("words"), expected.count("run"), len(OF)) == (50, 50, 100)


async def test_an_answer_without_a_cell_is_complete(site: Site, api: FakeAnthropic) -> None:
    """Each question is one request, or two with a cell; nothing asks the model again."""
    api.play(obedient)
    w = await site.window(kernel_id=await site.kernel())
    before = len(w.cells)
    halves = [[one for one in questions() if one.expected == kind] for kind in ("words", "run")]
    mixed = [one for pair in zip(*halves, strict=True) for one in pair]
    for number, question in enumerate(mixed):
        if number % A_SESSION == 0:
            w.session_id = ""
        asked, cells = len(api.requests), len(w.cells)
        await w.ask(question.asked, mode="auto")
        assert (await w.ended(number + 1)).stop_reason == "end_turn"
        needs_run = question.expected == "run"
        assert len(api.requests) - asked == 1 + needs_run, question
        assert len(w.cells) - cells == needs_run, question
    assert len(w.of(e.ToolStarted)) == len(w.of(e.RunStarted)) == 50 == len(w.cells) - before
    assert w.of(e.DraftWaiting) == w.of(e.Note) == w.of(e.FiguresFound) == []


# --- the command ------------------------------------------------------------------------------


def chooser(request: Request) -> Answer:
    """As expected but for four questions."""
    asked = request.said[-1]
    if asked == "What is a p-value?":
        return answer(run_cell("from scipy import stats"))
    if asked == "What is the total revenue?":
        return answer(text("It is 2,425."))
    if asked == "How many rows does sales have?":
        return answer(call("inspect_variables", {"names": ["sales"]}))
    if asked == "Thanks, that helped!":
        return wrong_key()
    return obedient(request)


def test_the_command_prints_where_a_model_agrees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[choosing.Choice] = []

    @on_loop
    async def ask() -> None:
        async with FakeAnthropic(chooser) as api:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-choices")
            found.extend(await choosing.ask("claude-sonnet-5-5", 100, 8))
            assert len(api.requests) == 100 and not api.violations

    ask()
    words = choosing.table(found)
    rows = {line.split("|")[2].strip(): line.split("|")[3:-1] for line in words.splitlines()[2:11]}
    counts = {group: [int(cell) for cell in cells] for group, cells in rows.items() if group}
    assert counts["a term"] == [13, 12, 12, 1, 0, 0]
    assert counts["a figure"] == [13, 11, 1, 11, 1, 0]
    assert counts["advice"] == [13, 12, 12, 0, 0, 1]
    assert counts["all"] == [100, 96, 49, 49, 1, 1]
    assert "run → words : What is the total revenue?" in words
    assert "words → failed" in words and "run → look inspect_variables" in words


def test_the_command_says_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert choosing.main(["--model", "nobody/none", "--most", "1"]) == 1
    with pytest.raises(SystemExit):
        choosing.main(["--most", "0"])
    assert "--most and --at-once take numbers from 1 on" in capsys.readouterr().err
