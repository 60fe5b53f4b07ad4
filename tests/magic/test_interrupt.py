"""A kernel's interrupt, in a stream, in code and at the beginning, leaves the kernel usable."""

from __future__ import annotations

import asyncio

from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text
from tests.kernels import until
from tests.magic.test_widgets import Page, with_page


async def test_in_a_stream(api: FakeAnthropic) -> None:
    api.play([answer(text("One two three four")).cut_by("stall", 1), answer(text("Back."))])

    def work(page: Page) -> None:
        page.run("kept = 1")
        asked = page.begin("%%ai\ncount")
        page.until(asked, "One two")
        page.interrupt()
        page.ended(asked)
        assert page.below(asked).rstrip().endswith("Stopped.")
        assert "error" not in page.kinds(asked)
        assert "1" in page.below(page.run("kept"))
        assert "Back." in page.below(page.run("%%ai\nagain"))

    await with_page(work)(api)


async def test_in_code(api: FakeAnthropic) -> None:
    source = "made = 1\nimport time\nprint('be' + 'gun', flush=True)\ntime.sleep(600)\nlate = 1"
    api.play([answer(run_cell(source)), answer(text("Back."))])

    def work(page: Page) -> None:
        asked = page.begin("%%ai -y\nsleep")
        page.until(asked, "begun")
        page.interrupt()
        page.ended(asked)
        assert page.below(asked).rstrip().endswith("Stopped.")
        assert "error" not in page.kinds(asked)
        assert "(1, False)" in page.below(page.run("made, 'late' in globals()"))
        assert "Back." in page.below(page.run("%%ai\nagain"))

    await with_page(work)(api)
    assert "KeyboardInterrupt" in str(api.requests[1].body)


async def test_in_code_that_a_click_has_begun(api: FakeAnthropic) -> None:
    source = "made = 1\nimport time\nprint('be' + 'gun', flush=True)\ntime.sleep(600)"
    api.play([answer(run_cell(source)), answer(text("Back."))])

    def work(page: Page) -> None:
        asked = page.run("%%ai\nsleep")
        clicked = page.press_on("Run")
        page.until(asked, "begun")
        page.interrupt()
        page.ended(clicked)
        assert page.below(asked).rstrip().endswith("Stopped.")
        assert "1" in page.below(page.run("made"))
        assert "Back." in page.below(page.run("%%ai\nagain"))

    await with_page(work)(api)


async def test_before_the_model_has_said_anything(api: FakeAnthropic) -> None:
    api.play([answer(text("Late.")).at(first=600.0), answer(text("Back."))])

    def work(page: Page) -> None:
        page.run("%ai model")
        asked = page.begin("%%ai\ncount")
        asyncio.run_coroutine_threadsafe(api.seen(1), loop).result(100)
        page.interrupt()
        page.ended(asked)
        assert page.below(asked).strip() == "Stopped."
        assert "Back." in page.below(page.run("%%ai\nagain"))

    loop = asyncio.get_running_loop()
    await with_page(work)(api)


async def test_pressed_many_times(api: FakeAnthropic) -> None:
    source = "print('be' + 'gun', flush=True)\nimport time\ntime.sleep(600)"
    api.play([answer(run_cell(source)), answer(text("Back."))])

    def work(page: Page) -> None:
        asked = page.begin("%%ai -y\nsleep")
        page.until(asked, "begun")
        for _ in range(5):
            page.interrupt()
        page.ended(asked)
        assert "Stopped." in page.below(asked) and "Traceback" not in page.below(asked)
        assert "2" in page.below(page.run("1 + 1"))
        assert "Back." in page.below(page.run("%%ai\nagain"))

    await with_page(work)(api)


async def test_while_models_are_listed(api: FakeAnthropic) -> None:
    api._models_delay = 600.0

    def work(page: Page) -> None:
        page.run("%ai model")
        asked = page.begin("%ai models")
        asyncio.run_coroutine_threadsafe(until(lambda: bool(api.exchanges)), loop).result(100)
        page.interrupt()
        page.ended(asked)
        assert page.below(asked).strip() == "Stopped."
        assert "2" in page.below(page.run("1 + 1"))

    loop = asyncio.get_running_loop()
    await with_page(work)(api)
