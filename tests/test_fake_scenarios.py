"""The named conversations of the fake, each played by the real adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from jupyter_codeinterp.adapters.providers.anthropic.model import AnthropicModel
from jupyter_codeinterp.adapters.providers.anthropic.profile import ANTHROPIC
from jupyter_codeinterp.core import messages as core
from jupyter_codeinterp.core.errors import ModelError
from jupyter_codeinterp.core.ports import ModelDone, ModelRequest
from jupyter_codeinterp.core.tools.registry import ToolRegistry
from tests.fake_anthropic import FakeAnthropic, Request, on_loop
from tests.fake_anthropic.scenarios import DISOBEDIENT, OBEDIENT, SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo


def test_half_of_the_scenarios_are_disobedient() -> None:
    assert len(DISOBEDIENT) >= len(OBEDIENT)


def test_the_persons_words_choose_the_scenario() -> None:
    script = by_words(SCENARIOS, otherwise=echo)

    def chosen(*said: str) -> str:
        turns = [{"role": "user", "content": words} for words in said]
        return str(script(Request({"messages": turns})))

    assert "Squares" in chosen("#plot it")
    assert "scratch" in chosen("#plot it", "now #delete it")
    assert "Squares" in chosen("#plot it", "go on")
    assert "You said: hello" in chosen("<context>\n#plot\n</context>\nhello")
    assert "Broken" in chosen("#broken_json")


@asynccontextmanager
async def playing() -> AsyncIterator[tuple[AnthropicModel, FakeAnthropic]]:
    async with FakeAnthropic(by_words(SCENARIOS, otherwise=echo)) as api:
        model = AnthropicModel(
            lambda: ("k", api.url), profile=ANTHROPIC, wait=lambda attempt: 0.0, stall=1.0
        )
        try:
            yield model, api
        finally:
            await model.aclose()


async def play(model: AnthropicModel, name: str) -> tuple[str, int]:
    """A turn in which every call succeeds: its stop reason, and the number of answers."""
    said: tuple[core.Message, ...] = (core.user(core.Text(f"#{name} please")),)
    for step in range(1, 9):
        request = ModelRequest("claude-sonnet-5-5", "Be brief.", ToolRegistry().specs(), said)
        async for event in model.stream(request):
            last = event
        assert isinstance(last, ModelDone)
        said = (*said, last.message)
        calls = core.tool_uses(last.message)
        if calls:
            words = (core.Text(f"status=ok cell_id=c{step} …\n2025"),)
            said = (*said, core.user(*(core.ToolResult(call.id, words) for call in calls)))
        elif last.stop_reason != "pause_turn":
            return last.stop_reason, step
    return "", step


SLOW = {"slow_text", "slow_code"}
ENDS = {
    "refusal": "refusal",
    "context_full": "model_context_window_exceeded",
    "max_tokens": "max_tokens",
    "endless": "",
    "endless_growing": "",
}


@pytest.mark.parametrize("name", [n for n in (*OBEDIENT, *DISOBEDIENT) if n not in SLOW])
def test_each_scenario_plays_to_its_end(name: str) -> None:
    @on_loop
    async def run() -> None:
        async with playing() as (model, api):
            stop, steps = await play(model, name)
            assert stop == ENDS.get(name, "end_turn")
            assert name != "three_cells" or steps == 4
        assert api.violations == []

    run()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("rate_limit", ""),
        ("overloaded", ""),
        ("spend_limit", "spend_limit"),
        ("wrong_key", "wrong_key"),
        ("breaks_once", "broken_stream"),
        ("breaks_in_text", "broken_stream"),
        ("breaks_always", "broken_stream"),
        ("stalls", "broken_stream"),
    ],
)
def test_each_fault_is_what_its_name_says(name: str, code: str) -> None:
    @on_loop
    async def run() -> None:
        async with playing() as (model, _):
            if code:
                with pytest.raises(ModelError) as caught:
                    await play(model, name)
                assert caught.value.code == code
            if not code or name in ("breaks_once", "breaks_in_text"):
                assert (await play(model, name))[0] == "end_turn"

    run()
