"""A kernel's interrupt, in a stream, in code and at the beginning, leaves the kernel usable."""

from __future__ import annotations

import asyncio

from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text
from tests.kernels import until
from tests.magic.pages import Page, with_page

SLEEPS = "made = 1\nimport time\nprint('be' + 'gun', flush=True)\ntime.sleep(600)"
TIMES = (("%%ai", "One two", 1), ("%%ai -y", "begun", 1), ("%%ai -y", "begun", 5))


async def test_in_a_stream_and_in_code(api: FakeAnthropic) -> None:
    """Once, and many times."""
    sleeps = answer(run_cell(f"{SLEEPS}\nlate = 1"))
    back = answer(text("Back."))
    streams = answer(text("One two three four")).cut_by("stall", 1)
    api.play([streams, back, sleeps, back, sleeps, back])

    def work(page: Page) -> None:
        page.run("kept = 1")
        for prompt, begun, times in TIMES:
            asked = page.begin(f"{prompt}\ngo on")
            page.until(asked, begun)
            for _ in range(times):
                page.interrupt()
            page.ended(asked)
            assert page.below(asked).rstrip().endswith("Stopped.")
            assert "error" not in page.kinds(asked) and "Traceback" not in page.below(asked)
            assert "1" in page.below(page.run("kept"))
            assert "Back." in page.below(page.run("%%ai\nagain"))
        assert "(1, False)" in page.below(page.run("made, 'late' in globals()"))

    await with_page(work)(api)
    assert "KeyboardInterrupt" in str(api.requests[3].body)


async def test_before_anything_has_come(api: FakeAnthropic) -> None:
    """Neither the models nor what one of them says."""
    api._models_delay = 600.0
    api.play([answer(text("Late.")).at(first=600.0), answer(text("Back."))])

    def work(page: Page) -> None:
        for line in ("%ai models", "%%ai\ncount"):
            asked = page.begin(line)
            heard = api.seen(1) if line == "%%ai\ncount" else until(lambda: bool(api.exchanges))
            asyncio.run_coroutine_threadsafe(heard, loop).result(100)
            page.interrupt()
            page.ended(asked)
            assert page.below(asked).strip() == "Stopped."
            assert "2" in page.below(page.run("1 + 1"))
            api._models_delay = 0.0
        assert "Back." in page.below(page.run("%%ai\nagain"))

    loop = asyncio.get_running_loop()
    await with_page(work)(api)
