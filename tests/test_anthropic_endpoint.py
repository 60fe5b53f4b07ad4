"""Which keys go where, which models there are, and what the adapter costs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.wire.ports import ModelText
from tests.anthropic_talk import CLAUDE, KEY, asking, connected, events, failure, joined
from tests.anthropic_talk import environment as environment  # a fixture
from tests.fake_anthropic import FakeAnthropic, answer, on_loop, text

# --- keys ------------------------------------------------------------------------------


@on_loop
async def test_no_key_for_anthropic_sends_nothing() -> None:
    error = await failure(key=None)
    assert error.code == "no_key" and "ANTHROPIC_API_KEY" in error.message


@on_loop
async def test_a_server_that_wants_no_key_gets_none() -> None:
    async with FakeAnthropic(check=False) as api:
        model = connected(ANTHROPIC, None, api.url)
        with pytest.raises(ModelError) as caught:
            await events(model, asking())
        await model.aclose()
    headers = api.requests[0].headers
    assert "authorization" not in headers and "x-api-key" not in headers
    assert caught.value.code == "no_key"  # the fake does want one


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_the_environment_gives_key_and_address(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic([answer(text("Hi."))]) as api:
            monkeypatch.setenv(variable, KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{api.url}/")
            model = connected(CLAUDE)
            assert joined(await events(model, asking()), ModelText) == "Hi."
            await model.aclose()
        assert api.requests[0].headers["authorization"] == f"Bearer {KEY}"

    run()


def test_the_environments_key_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic() as home, FakeAnthropic(check=False) as elsewhere:
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Secret: {KEY}\nX-Other: {KEY}")
            monkeypatch.setenv("ANTHROPIC_BASE_URL", home.url)
            model = connected(ANTHROPIC, None, elsewhere.url)
            with pytest.raises(ModelError):
                await events(model, asking())
            await model.info("claude-sonnet-5-5")
            await model.aclose()
        assert len(elsewhere.exchanges) == 2 and not home.exchanges
        assert KEY not in json.dumps([exchange.headers for exchange in elsewhere.exchanges])

    run()


@pytest.mark.parametrize("key", ["ключ", "a b", "a\x00b", "a\nb"])
def test_an_impossible_key_is_refused_without_quoting_it(key: str) -> None:
    @on_loop
    async def run() -> None:
        with pytest.raises(ModelError) as caught:
            await events(connected(ANTHROPIC, key), asking())
        assert caught.value.code == "wrong_key" and key not in caught.value.message

    run()


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://x", "http://", "http://x:port"])
def test_an_impossible_address_is_said(url: str) -> None:
    @on_loop
    async def run() -> None:
        with pytest.raises(ModelError) as caught:
            await events(connected(ANTHROPIC, KEY, url), asking())
        assert caught.value.code == "bad_request" and url in caught.value.message

    run()


# --- models ----------------------------------------------------------------------------


@on_loop
async def test_the_server_knows_its_models_and_is_asked_once() -> None:
    async with FakeAnthropic(models={"claude-opus-5-5": "Opus!"}, context_window=123_456) as api:
        model = connected(CLAUDE, KEY, api.url)
        for _ in range(3):
            info = await model.info("claude-opus-5-5")
        assert (info.name, info.context_window) == ("Opus!", 123_456)
        assert info.prices == (4.0, 20.0, 5.0, 0.2)
        assert len(api.exchanges) == 1
        assert await model.list_models() == (info,)
        await model.aclose()


@pytest.mark.parametrize("server", [{"models_api": False}, {"models_delay": 60.0}])
def test_without_the_servers_word_the_table_serves(server: Any) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic(**server) as api:
            model = connected(ANTHROPIC, KEY, api.url)
            info = await asyncio.wait_for(model.info("claude-sonnet-5-5"), 30)
            assert (info.name, info.prices) == ("Claude Sonnet 5.5", None)
            assert (await model.info("claude-sonnet-5-5")) == info
            assert len(api.exchanges) == 1
            assert (await model.info("qwen")).context_window is None
            await model.aclose()

    run()


@pytest.mark.parametrize("reply", [{"hello": 1}, [], "text"])
def test_information_never_fails_the_turn(reply: Any) -> None:
    @on_loop
    async def run() -> None:
        path = "GET /v1/models/claude-haiku-5-5"
        async with FakeAnthropic(routes={path: lambda _: reply}) as api:
            model = connected(ANTHROPIC, KEY, api.url)
            assert (await model.info("claude-haiku-5-5")).name == "Claude Haiku 5.5"
            await model.aclose()

    run()


@on_loop
async def test_prices_can_be_set() -> None:
    async with FakeAnthropic(models={"qwen": "Qwen"}) as api:
        model = connected(ANTHROPIC, KEY, api.url, prices={"qwen": (1.0, 2.0, 0.0, 0.0)})
        assert (await model.info("qwen")).prices == (1.0, 2.0, 0.0, 0.0)
        assert [info.prices for info in await model.list_models()] == [(1.0, 2.0, 0.0, 0.0)]
        await model.aclose()


@on_loop
async def test_the_list_of_models_falls_back_or_says_why_not() -> None:
    async with FakeAnthropic(models_api=False) as api:
        model = connected(ANTHROPIC, KEY, api.url)
        ids = [info.id for info in await model.list_models()]
        assert ids == ["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"]
        await model.aclose()
        model = connected(ANTHROPIC, "wrong", api.url)
        with pytest.raises(ModelError) as caught:
            await model.list_models()
        assert caught.value.code == "wrong_key"
        await model.aclose()


# --- cost to the server ----------------------------------------------------------------


MODELS = """
import asyncio, sys, threading
from pathlib import Path
from jupyter_codeinterp.models.offered import Models
from jupyter_codeinterp.view.redaction.secrets import Secrets

models = Models(Path(sys.argv[1]), Secrets(), default_model="sonnet", base_url=None)
"""


def printed(script: str, *arguments: str) -> str:
    """In a process of its own, for the import to be the first."""
    command = [sys.executable, "-c", MODELS + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_the_servers_start_and_its_status_need_imports_no_sdk(tmp_path: Path) -> None:
    script = """
models.configured, models.default_for("a.ipynb"), models.connections(), models.key_variables()
print([n for n in ("anthropic", "openai", "httpx2", "pydantic") if n in sys.modules])
"""
    assert printed(script, str(tmp_path)).strip() == "[]"


def test_the_sdk_is_imported_in_a_thread_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    script = """
class Spy:
    def find_spec(self, name, *_):
        if name in ("anthropic", "httpx2"):
            print(name, threading.current_thread() is threading.main_thread())

sys.meta_path.insert(0, Spy())

async def main():
    await models.get("claude-sonnet-5-5")
    await models.close()

asyncio.run(main())
"""
    assert sorted(printed(script, str(tmp_path)).splitlines()) == [
        "anthropic False",
        "httpx2 False",
    ]
