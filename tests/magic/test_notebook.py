"""``%%ai`` in a real ipykernel: the answer, the code that it runs, and what it is told."""

from __future__ import annotations

from pathlib import Path

from tests.fake_anthropic import (
    FakeAnthropic,
    Request,
    answer,
    by_words,
    call,
    echo,
    edit_cell,
    run_cell,
    scenario,
    text,
)
from tests.magic.notebooks import prompts, run, said


async def test_code_runs_in_the_namespace_is_mended_and_answered(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("I add them."), run_cell("total = sum(valuess)\nprint('nev' + 'er')")),
            lambda request: answer(edit_cell(request.last_cell, "total = sum(values)\ntotal")),
            answer(text("The total is **6**.")),
        ]
    )
    look = "print(sorted(name for name in set(globals()) - before if not name.startswith('_')))"
    _, _, asked, after, left, history = await run(
        api,
        "before = None; before = set(globals())",
        "values = [1, 2, 3]",
        "%%ai -y\nadd up {values}, f'{x:>3}' and {{y}}",
        "print(total)",
        look,
        "In[4:5], len(Out)",
    )
    shown = said(asked)
    assert shown.index("I add them.") < shown.index("total = sum(valuess)")
    assert shown.index("NameError") < shown.index("total = sum(values)\ntotal")
    assert "The total is **6**." in shown and "never" not in shown
    assert said(after) == "6\n" and said(left) == "['total', 'values']\n"
    assert "add up" in said(history), "it has the cell, not what ran for it"
    assert "add up {values}, f'{x:>3}' and {{y}}" in prompts(api)[0], "unchanged"
    assert any(output.get("data", {}).get("text/plain") == "6" for output in asked["outputs"])


async def test_what_the_model_is_told(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play(lambda request: answer(text("Read.")))
    (tmp_path / "sales.csv").write_text("a,b\n")
    (tmp_path / "AGENTS.md").write_text("Use polars.", "utf-8")
    (tmp_path / ".codeinterp").mkdir()
    (tmp_path / ".codeinterp" / "rules.md").write_text("Answer in French.", "utf-8")
    (tmp_path / "work").mkdir()
    book = await run(
        api,
        "revenue = 1234\nrevenue + 1",
        "revenue / nought",
        "%%ai --plan\nwhat is there?",
        "%%ai --plan\nand now?",
        folder=tmp_path,
        fails=True,
    )
    told, later = prompts(api)
    assert '<cell id="in-2"' in told and "revenue + 1" in told and "1235" in told
    assert "NameError: name 'nought' is not defined" in told
    assert "revenue: int value=1234" in told and "sales.csv" in told
    assert "Use polars." in told and "Answer in French." in told
    assert later.count("nought") == told.count("nought"), "only what is new"
    assert said(book[3]) == "Read."
    await run(api, "%%ai --plan\nHello", folder=tmp_path / "work")
    assert "Use polars." not in prompts(api)[-1], "how far up is not known here"


async def test_without_anybody_to_ask_code_is_shown_and_not_run(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(run_cell("made = 1")),
            answer(run_cell("made = 1 # \u200b")),
            answer(text("Without it.")),
        ]
    )
    ran = await run(api, "%%ai\nmake it", "%%ai -y\nhide it", "'made' in globals()")
    assert "Nobody can be asked" not in prompts(api)[0]
    assert "Nobody can be asked: the person's cells can be run" in prompts(api)[1]
    assert "made = 1" in said(ran[0]) and "Not run: no one can be asked here." in said(ran[0])
    assert "even with -y" in said(ran[1])
    assert said(ran[2]) == "False" and len(api.requests) == 3


async def test_plan_and_model(api: FakeAnthropic) -> None:
    api.play(
        by_words(
            {
                "plan": scenario(answer(run_cell("ran = 1")), answer(text("First, then."))),
                "whichmodel": lambda request: answer(text(str(request.body["model"]))),
            },
            echo,
        )
    )
    ran = await run(
        api,
        "%%ai --plan\n#plan",
        "%%ai --plan -m claude-opus-5-5\n#whichmodel",
        "%%ai --plan --model=claude-haiku-5-5\n#whichmodel",
        "'ran' in globals()",
    )
    assert said(ran[0]) == "First, then."
    assert said(ran[1]).endswith("claude-opus-5-5")
    assert said(ran[2]).endswith("claude-haiku-5-5")
    assert said(ran[3]) == "False"


async def test_a_question_in_one_line(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text(f"Asked: {request.said[-1]}")))
    ran = await run(api, "%ai what is a monoid?", "%ai --plan in short", "%ai reset the index")
    assert said(ran[0]) == "Asked: what is a monoid?" and "in short" in said(ran[1])
    assert said(ran[2]) == "Asked: reset the index"


async def test_commands(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Told.")))
    ran = await run(
        api,
        "%ai reset",
        "wanted = 1\nwnated + 1",
        "%ai fix",
        "%ai models",
        "%ai reset",
        "%ai help",
        "%ai",
        fails=True,
    )
    shown = [said(cell) for cell in ran]
    assert shown[0] == "No conversation to forget.\n" and shown[2] == "Told."
    assert "name 'wnated' is not defined" in prompts(api)[0]
    assert "* claude-sonnet-5-5  Claude Sonnet 5.5\n" in shown[3]
    assert shown[4] == "Conversation forgotten.\n"
    assert "-m MODEL" in shown[5] and shown[5] == shown[6]


async def test_bad_input_is_a_line_in_words(api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Told.")))
    wrong = {
        "%%ai\n": "The prompt is empty",
        "%%ai\nUse sk-ant-api03-Zq7Tr4Wm9KxPv2Bn8Lc": "looks like an API key",
        "%%ai -y\n   \n": "The prompt is empty",
        "%%ai --yess\nx": "There is no option --yess. See: %ai help",
        "%%ai -m\nx": "-m needs a value: -m MODEL",
        "%%ai -m -y\nx": "-m needs a value: -m MODEL",
        "%%ai -m= x\nx": "-m needs a value: -m MODEL",
        "%%ai -y --plan\nx": "-y runs code, but --plan runs nothing.",
        "%%ai --plan -m no-such-model\nx": "no-such-model",
        "%ai -y": "The prompt is empty",
    }
    ran = await run(api, *wrong)
    for cell, words in zip(ran, wrong.values(), strict=True):
        (output,) = cell["outputs"]
        assert output["output_type"] == "stream" and output["name"] == "stderr"
        assert words in output["text"] and output["text"].count("\n") == 1, output["text"]
    assert "sk-ant" not in str([exchange.body for exchange in api.requests])


async def test_it_stays_in_its_kernel(api: FakeAnthropic) -> None:
    restart = answer(call("kernel", {"action": "restart"}))
    api.play([restart, answer(text("Then you do it."))])
    _, asked, after = await run(api, "kept = 6", "%%ai -y\nrestart", "print(kept)")
    assert "Then you do it." in said(asked) and said(after) == "6\n"
    assert "Not available here" in Request(api.requests[1].body).results[-1]
