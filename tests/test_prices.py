"""What models cost and can do: the file of it, what servers say, and what is made of both."""

from __future__ import annotations

import json
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import pytest

from jupyter_codeinterp.models.anthropic.services import ANTHROPIC, ROWS, providers
from jupyter_codeinterp.models.http.facts import ModelFact, completed, fact, facts
from jupyter_codeinterp.models.http.listing import entry
from jupyter_codeinterp.models.http.model import is_loopback
from jupyter_codeinterp.models.http.service import resolve
from jupyter_codeinterp.models.openai.services import SERVICES
from jupyter_codeinterp.run.turn.meter import Meter, price_of
from jupyter_codeinterp.wire.messages import Usage
from jupyter_codeinterp.wire.ports import ModelInfo
from jupyter_codeinterp.wire.providers import Credentials, Settings
from tests.fake_anthropic import FakeAnthropic

VENDORS = {
    "anthropic": "platform.claude.com",
    "openai": "developers.openai.com",
    "zai": "docs.z.ai",
}
"""Where each says what its models cost."""
FIRST = date(2026, 11, 23)
"""When the file was begun."""


# --- the file --------------------------------------------------------------------------------


@pytest.mark.parametrize("row", facts(), ids=lambda row: f"{row.provider}/{row.model}")
def test_each_row_has_a_source_and_a_day(row: ModelFact) -> None:
    parts = urlsplit(row.source)
    assert (parts.scheme, parts.netloc) == ("https", VENDORS[row.provider])
    assert FIRST <= date.fromisoformat(row.seen) <= date.today()
    assert row.context_window is None or row.context_window > 1_000
    prices = [row.prices] if row.prices else []
    if row.long_prompts is not None:
        assert row.prices and row.long_prompts.over > 1_000
        assert all(
            long >= short for long, short in zip(row.long_prompts.prices, row.prices, strict=True)
        )
        prices.append(row.long_prompts.prices)
    for read, written, kept, again in prices:
        assert 0 < again <= read <= kept and read < written < 1_000


def test_no_model_has_two_rows() -> None:
    names = [(row.provider, row.model) for row in facts()]
    assert len(names) == len(set(names)) > 10


def test_each_provider_of_the_file_is_one() -> None:
    known = {ANTHROPIC.name, *(row.name for row in ROWS), *(one.name for one in SERVICES)}
    assert {row.provider for row in facts()} <= known


def test_a_snapshot_costs_what_its_model_costs() -> None:
    for name in ("claude-opus-5-5-20260922", "claude-opus-5-5-2026-09-22"):
        assert fact("anthropic", name) == fact("anthropic", "claude-opus-5-5") is not None
    assert fact("anthropic", "claude-opus-5-5-large") is None
    assert fact("openai", "claude-opus-5-5") is None


# --- what is made of it ----------------------------------------------------------------------


def test_prices_are_those_of_the_vendors_own_api_only() -> None:
    plain = ModelInfo("claude-opus-5-5", "Opus")
    own = completed(plain, "anthropic", None, local=False)
    assert (own.prices, own.prices_seen) == ((4.0, 20.0, 5.0, 0.2), "2026-11-23")
    assert completed(plain, "", None, local=False) == plain
    set_by_admin = completed(plain, "anthropic", (1.0, 2.0, 0.0, 0.0), local=False)
    assert (set_by_admin.prices, set_by_admin.prices_seen) == ((1.0, 2.0, 0.0, 0.0), "")


def test_what_the_server_says_wins_over_the_file() -> None:
    told = ModelInfo("claude-opus-5-5", "Opus", 5_000, (9.0, 9.0, 9.0, 9.0))
    done = completed(told, "anthropic", None, local=False)
    assert (done.context_window, done.prices) == (5_000, told.prices)
    assert done.prices_seen == ""


def test_a_model_of_this_machine_is_local_unless_it_has_a_price() -> None:
    plain = ModelInfo("small", "small")
    assert completed(plain, "", None, local=True).local
    assert not completed(plain, "", (1.0, 1.0, 1.0, 1.0), local=True).local
    priced = ModelInfo("small", "small", prices=(1.0, 1.0, 1.0, 1.0))
    assert not completed(priced, "", None, local=True).local


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:1", True),
        ("http://127.9.9.9", True),
        ("http://[::1]:1/v1", True),
        ("http://localhost:1", True),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://192.168.1.2:1", False),
        ("http://0.0.0.0", False),
        ("https://api.example.org/127.0.0.1", False),
    ],
)
def test_what_counts_as_this_machine(url: str, here: bool) -> None:
    assert is_loopback(url) is here


async def test_only_a_server_that_runs_models_is_local() -> None:
    """A gateway on this machine sends requests on, to whoever wants to be paid."""
    names = {"llama": "Llama", "gpt-oss:120b-cloud": "GPT"}
    async with FakeAnthropic(models=names) as api:
        found: dict[str, list[bool]] = {}
        for provider in providers({}):
            if provider.name in ("ollama", "litellm", "zai"):
                model = provider.connect(Credentials("a-key-for-this", api.url), Settings())
                found[provider.name] = [info.local for info in await model.list_models()]
                await model.aclose()
    assert found == {"ollama": [True, False], "litellm": [False] * 2, "zai": [False] * 2}


async def test_prices_of_a_service_are_not_those_of_another_address() -> None:
    service = next(one for one in SERVICES if one.name == "openai")
    assert resolve(service, "sk-a-key", None).vendor == "openai"
    assert resolve(service, "sk-a-key", "https://gateway.example.org/v1").vendor == ""


# --- what servers say ------------------------------------------------------------------------


def told(**said: Any) -> Any:
    return entry(json.dumps({"id": "m", **said}).encode())


@pytest.mark.parametrize(
    ("pricing", "prices"),
    [
        ({"prompt": "0.000002", "completion": "0.00001"}, (2.0, 10.0, 2.0, 2.0)),
        (
            {
                "prompt": "0.000002",
                "completion": "0.00001",
                "input_cache_write": "0.0000025",
                "input_cache_read": "0.0000001",
                "request": "0",
            },
            (2.0, 10.0, 2.5, 0.1),
        ),
        ({"prompt": "0", "completion": "0"}, (0.0, 0.0, 0.0, 0.0)),
        ({"prompt": "0.1"}, None),
        ({"prompt": "-1", "completion": "-1"}, None),
        ({"prompt": "1e999", "completion": "1"}, None),
        ({"prompt": "nan", "completion": "1"}, None),
        ({"prompt": True, "completion": "1"}, None),
        ({"prompt": "cheap", "completion": []}, None),
        ({"prompt": "0.1", "completion": "0.1", "request": "0.01"}, None),
        ("free", None),
    ],
)
def test_prices_are_read_from_a_list_that_has_them(pricing: Any, prices: Any) -> None:
    assert told(pricing=pricing).prices == prices


# --- what a call costs -----------------------------------------------------------------------

OPENAI = completed(ModelInfo("gpt-6-sol", ""), "openai", None, local=False)


def test_a_long_prompt_has_its_own_prices() -> None:
    assert price_of(OPENAI, Usage(272_000, 1_000_000)) == pytest.approx(0.544 + 10.0)
    longer = Usage(200_000, 1_000_000, 0, 72_001)
    assert price_of(OPENAI, longer) == pytest.approx(0.8 + 15.0 + 0.4 * 0.072001)


def test_unknown_is_not_nothing_and_local_is_neither() -> None:
    assert price_of(ModelInfo("x", ""), Usage(1, 1)) is None
    assert price_of(ModelInfo("x", "", local=True), Usage(1, 1)) == 0.0


def test_the_cost_is_told_for_each_model_and_each_turn() -> None:
    meter = Meter()
    meter.begin_turn(ModelInfo("here", "", local=True))
    first = meter.add(Usage(1_000, 10))
    assert first.local and first.turn is not None and first.turn.local
    assert (first.cost, first.turn.dollars, first.context_known) == (0.0, 0.0, False)
    meter.begin_turn(OPENAI)
    second = meter.add(Usage(1_000_000 // 4, 0))
    assert not second.local and second.turn is not None
    assert (second.cost, second.turn.dollars) == (0.5, 0.5)
    meter = Meter(second)
    meter.begin_turn(ModelInfo("unpriced", "", 1_000))
    third = meter.add(Usage(1, 1))
    assert third.turn is not None and (third.cost, third.turn.dollars) == (None, None)
    assert [(use.model, use.cost, use.local, use.prices_seen) for use in third.models] == [
        ("here", 0.0, True, ""),
        ("gpt-6-sol", 0.5, False, "2026-11-23"),
        ("unpriced", None, False, ""),
    ]
