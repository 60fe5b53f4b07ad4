"""The prompts of ``%%ai`` in a kernel, answered as a front end does."""

from __future__ import annotations

from tests.fake_anthropic import FakeAnthropic, answer, call, edit_cell, run_cell, text
from tests.magic.pages import Page, with_page

CHOICES = "[r]un, [n]o REASON: "


async def test_a_letter_runs_the_code_and_it_goes_on_until_it_works(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("I add."), run_cell("total = sum(valuess)")),
            lambda request: answer(edit_cell(request.last_cell, "total = sum(values)\ntotal")),
            answer(text("It is six.")),
        ]
    )

    def work(page: Page) -> None:
        page.run("values = [1, 2, 3]")
        asked = page.begin("%%ai\nadd")
        assert page.asked() == CHOICES
        page.until(asked, "total = sum(valuess)")
        assert "I add." in page.below(asked) and "NameError" not in page.below(asked)
        page.client.input("r")
        assert page.asked() == CHOICES
        page.until(asked, "total = sum(values)\n")
        assert "name 'valuess' is not defined" in page.below(asked)
        page.client.input("run")
        page.ended(asked)
        assert "\n6\n" in page.below(asked) and "It is six." in page.below(asked)
        assert "6" in page.below(page.run("total"))

    await with_page(work)(api)


async def test_reject_answer_and_stop(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(run_cell("x = 2")),
            answer(text("As you like.")),
            answer(call("ask_user", {"question": "Which one?", "options": ["red", "blue"]})),
            answer(text("Fine.")),
            answer(run_cell("x = 3")),
            answer(text("Not asked for.")),
        ]
    )

    def work(page: Page) -> None:
        asked = page.run("%%ai\nx", "what?", "e", "n use a name of mine")
        assert "Answer with one letter" in page.below(asked)
        assert "As you like." in page.below(asked)
        asked = page.run("%%ai\nchoose", "2")
        assert "Which one? 1. red 2. blue" in " ".join(page.below(asked).split())
        assert "Fine." in page.below(asked)
        asked = page.begin("%%ai\nx")
        page.asked()
        page.interrupt()
        page.ended(asked)
        assert page.below(asked).rstrip().endswith("Stopped.")
        assert "error" not in page.kinds(asked)
        assert "False" in page.below(page.run("'x' in globals()"))

    await with_page(work)(api)
    assert "They say: use a name of mine" in str(api.requests[1].body)
    assert "blue" in str(api.requests[3].body["messages"][-1])
    assert len(api.requests) == 5


async def test_a_warning_is_above_the_prompt(api: FakeAnthropic) -> None:
    api.play([answer(run_cell("import os\nos.system('true')")), answer(text("Done."))])

    def work(page: Page) -> None:
        asked = page.begin("%%ai\ndo it")
        page.asked()
        page.until(asked, "! Line 2 runs a shell command (os.system).")
        page.client.input("n")
        page.ended(asked)

    await with_page(work)(api)


async def test_run_all_waits_at_the_prompt(api: FakeAnthropic) -> None:
    api.play([answer(run_cell("made = [2, 3, 5]")), answer(text("Made."))])

    def work(page: Page) -> None:
        asked = page.begin("%%ai\nmake them")
        later = page.begin("print(made)")
        page.asked()
        page.client.input("r")
        page.ended(later)
        assert "Made." in page.below(asked) and "[2, 3, 5]" in page.below(later)

    await with_page(work)(api)
