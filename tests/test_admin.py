"""What an admin allows holds on every way to a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from jupyter_codeinterp.app.config import BadConfig, CodeInterp, settings
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.reference_window import body
from tests.site import Site

DOC = Path(__file__).parents[1] / "docs" / "admin.md"
SONNET, OPUS = "claude-sonnet-5-5", "claude-opus-5-5"


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {
        "allowed_providers": ["anthropic"],
        "allowed_models": ["anthropic/claude-sonnet-*"],
        "keys_from_environment": True,
    }


@pytest.mark.parametrize(
    "prices",
    [
        [1.0],
        {"m": 3},
        {"m": (1.0, 2.0)},
        {"m": (1, 2, 3, -1)},
        {"m": "1234"},
        {"m": (1, 2, 3, "4")},
    ],
)
def test_prices_of_a_wrong_shape_are_refused_at_the_start(prices: Any) -> None:
    with pytest.raises(BadConfig, match=r"A setting of CodeInterp is wrong: .*prices"):
        settings(Config({"CodeInterp": {"prices": prices}}))
    right = settings(Config({"CodeInterp": {"prices": {"m": (1, 2.5, 3, 0)}}}))
    assert right.prices == {"m": [1.0, 2.5, 3.0, 0.0]}


async def test_a_model_that_is_not_allowed_is_asked_by_nobody(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(lambda request: answer(text("Hello.")))
    listed = [info["id"] for info in (await site.get("models"))["models"]]
    assert listed == [SONNET]

    w = await site.window(kernel_id=await site.kernel())
    for number, model in enumerate((OPUS, f"anthropic/{OPUS}", "ollama/any", "offline-demo"), 1):
        await w.ask("Hi", model=model)
        ended = await w.ended(number)
        assert (ended.stop_reason, ended.code) == ("error", "not_allowed"), model
        assert "The admin of this server does not allow" in ended.message
    assert api.requests == []

    await w.ask("Hi", model=SONNET)
    assert (await w.ended(5)).stop_reason == "end_turn"
    assert [request.body["model"] for request in api.requests] == [SONNET]


async def test_nothing_can_be_entered_where_keys_are_the_admins(
    site: Site, api: FakeAnthropic
) -> None:
    page = await site.of_a_page()
    asked = len(api.exchanges)
    for path, given in (
        ("connections/anthropic", {"key": "sk-ant-mine", "base_url": "http://evil.example"}),
        ("connections/ollama", {}),
    ):
        response = await site.request("POST", path, json_body=given, headers=dict(page))
        assert (response.code, body(response)["code"]) == (403, "not_allowed"), path
    assert len(api.exchanges) == asked
    (only,) = (await site.get("connections"))["connections"]
    assert (only["provider"], only["source"]) == ("anthropic", "env")
    assert KEY not in str(only)
    status = await site.get("status")
    assert status["keys_from_admin"] and status["demo_model"] == ""


def test_the_settings_of_the_page_are_there() -> None:
    """The first example is read as a configuration file is; unknown names fail it."""
    example = re.findall(r"```python\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)[0]
    config = Config()
    exec(example, {"c": config})
    traits = CodeInterp.class_traits(config=True)
    assert set(config.CodeInterp) <= set(traits)
    made = CodeInterp(config=config)
    assert made.models_allowed.providers == ("anthropic", "vllm")
    named = set(re.findall(r"^\| ([^|]+) \|", DOC.read_text("utf-8"), re.MULTILINE))
    assert {name for cell in named for name in re.findall(r"`(\w+)`", cell)} <= set(traits)
