"""Which keys go where, which models there are, and what is asked of each service."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.http.provider import provider_of
from jupyter_codeinterp.models.http.service import resolve
from jupyter_codeinterp.models.offered import Models
from jupyter_codeinterp.models.openai.services import SERVICES
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire.ports import ModelText
from jupyter_codeinterp.wire.providers import Credentials, Providers
from tests.anthropic_talk import connected, joined
from tests.fake_anthropic import answer, on_loop, text
from tests.fake_openai import AZURE, GEMINI, LOCAL, MISTRAL, RESPONSES, FakeOpenAI, errors
from tests.wires import KEY, OF, WIRES, Wire, every
from tests.wires import environment as environment  # a fixture

CHAT = WIRES["chat"]
OURS = tuple(f"jupyter_codeinterp.models.openai.{name}" for name in ("chat", "client", "responses"))

# --- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["openai", "gemini", "mistral", "xai"])
def test_no_key_for_a_public_service_sends_nothing(name: str) -> None:
    @on_loop
    async def run() -> None:
        with pytest.raises(ModelError) as caught:
            await anext(connected(OF[name]).stream(CHAT.asking()))
        assert caught.value.code == "no_key"
        assert OF[name].label in caught.value.message
        assert OF[name].key_variables[0] in caught.value.message

    run()


@on_loop
async def test_a_server_without_an_address_is_asked_for_one() -> None:
    with pytest.raises(ModelError) as caught:
        await anext(connected(OF["openai-compatible"]).stream(CHAT.asking()))
    assert caught.value.code == "bad_request" and "Name the address" in caught.value.message


@every(("responses", "chat"))
def test_what_the_environment_has_for_openai_goes_nowhere_else(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    @on_loop
    async def run() -> None:
        async with wire.fake() as elsewhere:
            for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID"):
                monkeypatch.setenv(name, KEY)
            monkeypatch.setenv("OPENAI_PROJECT_ID", KEY)
            monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", KEY)
            monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Secret: {KEY}\nAuthorization: {KEY}")
            model = wire.connect(None, elsewhere.url)
            for call in (model.list_models(), anext(model.stream(wire.asking()))):
                with pytest.raises(ModelError) as caught:
                    await call
                assert caught.value.code == "no_key", "the fake does want one"
            await model.aclose()
        assert len(elsewhere.exchanges) == 2
        sent = [exchange.headers for exchange in elsewhere.exchanges]
        assert KEY not in json.dumps(sent)
        assert not any("authorization" in headers for headers in sent)

    run()


def test_the_environment_gives_key_address_and_organization(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @on_loop
    async def run() -> None:
        async with FakeOpenAI(RESPONSES, [answer(text("Hi."))]) as api:
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            monkeypatch.setenv("OPENAI_BASE_URL", f"{api.url}/v1/")
            monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
            model = connected(OF["openai"])
            shown = [event async for event in model.stream(CHAT.asking())]
            assert joined(shown, ModelText) == "Hi."
            await model.aclose()
        headers = api.requests[0].headers
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers["openai-organization"] == "org-x"

    run()


def test_a_resource_of_azure_is_asked_where_its_api_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ModelError, match=r"such as https://my-resource\.openai\.azure\.com"):
        resolve(OF["azure-openai"], KEY, None)

    @on_loop
    async def run() -> None:
        async with FakeOpenAI(AZURE, [answer(text("Hi."))]) as api:
            monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", f"{api.url}/")
            monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
            monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-0123456789")
            model = connected(OF["azure-openai"])
            shown = [event async for event in model.stream(CHAT.asking())]
            assert joined(shown, ModelText) == "Hi."
            await model.aclose()
            monkeypatch.delenv("AZURE_OPENAI_API_KEY")
            with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY"):
                connected(OF["azure-openai"])
        (exchange,) = api.exchanges
        assert exchange.headers["authorization"] == f"Bearer {KEY}"

    run()


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("https://a.example/openai/v1/?x=1", "https://a.example/openai/v1"),
    ],
)
def test_an_address_may_lack_the_path_of_the_api(given: str, root: str) -> None:
    assert resolve(OF["openai"], KEY, given).base_url == root


# --- what is asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "name", "words"),
    [
        ("responses", "include", "Encrypted content is not supported with this model."),
        ("responses", "reasoning.summary", "Your organization must be verified."),
        ("responses", "reasoning", "Unsupported parameter: 'reasoning'."),
        ("chat", "stream_options", "Unrecognized request argument: 'stream_options'"),
    ],
)
def test_what_a_model_does_not_take_is_left_out_from_then_on(
    wire: str, name: str, words: str
) -> None:
    @on_loop
    async def run() -> None:
        ok = answer(text("Hi."))
        async with WIRES[wire].talking(errors.refused(name, words), ok, ok) as (model, api):
            for _ in range(2):
                shown = [event async for event in model.stream(WIRES[wire].asking())]
                assert joined(shown, ModelText) == "Hi."
            bodies = [exchange.body for exchange in api.requests]
        top, _, inner = name.partition(".")
        assert [top in body for body in bodies] == [True, False, False]
        assert inner in ("", "summary")

    run()


@on_loop
async def test_a_newer_name_of_the_limit_is_used_where_the_older_is_refused() -> None:
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    async with FakeOpenAI(
        LOCAL, [errors.refused("max_tokens", words), answer(text("Hi."))], check=False
    ) as api:
        model = connected(OF["openai-compatible"], KEY, api.url)
        shown = [event async for event in model.stream(CHAT.asking())]
        await model.aclose()
        assert joined(shown, ModelText) == "Hi."
        assert api.requests[1].body["max_completion_tokens"] == 16_000
        assert "max_tokens" not in api.requests[1].body


@on_loop
async def test_openai_keeps_nothing_and_gives_its_reasoning_encrypted() -> None:
    async with WIRES["responses"].talking(answer(text("Hi."))) as (model, api):
        await anext(model.stream(CHAT.asking()))
        body = api.requests[0].body
    assert body["store"] is False and body["include"] == ["reasoning.encrypted_content"]


# --- models ----------------------------------------------------------------------------------


@on_loop
async def test_only_models_that_talk_can_be_chosen() -> None:
    async with FakeOpenAI(RESPONSES) as api:
        model = connected(OF["openai"], KEY, api.url)
        ids = [info.id for info in await model.list_models()]
        await model.aclose()
    assert ids == ["gpt-6-sol", "gpt-6-luna", "gpt-6.1-terra"]


@on_loop
async def test_gemini_lists_its_models_by_longer_names() -> None:
    async with FakeOpenAI(GEMINI, models={"gemini-3-pro": ""}) as api:
        model = connected(OF["gemini"], KEY, api.url)
        assert [info.id for info in await model.list_models()] == ["gemini-3-pro"]
        await model.aclose()


@pytest.mark.parametrize(
    "entry",
    [
        {"context_length": 4_096},
        {"max_context_length": 4_096},
        {"max_model_len": 4_096},
        {"loaded_context_length": 4_096},
        {"meta": {"n_ctx": 4_096}},
        {"meta": "x", "context_length": True, "max_model_len": 4_096},
    ],
    ids=json.dumps,
)
def test_the_window_is_read_by_any_of_its_names(entry: dict[str, Any]) -> None:
    @on_loop
    async def run() -> None:
        listed = {"GET /v1/models": lambda _: {"data": [{"id": "m", **entry}]}}
        async with FakeOpenAI(LOCAL, routes=listed) as api:
            model = connected(OF["openai-compatible"], None, api.url)
            info = await model.info("m")
            assert (info.context_window, info.prices) == (4_096, None)
            assert (await model.info("other")).context_window is None
            await model.aclose()

    run()


@on_loop
async def test_mistral_says_how_long_a_conversation_may_be() -> None:
    async with FakeOpenAI(MISTRAL, context_window=32_768) as api:
        prices = {"gpt-6-sol": (1.0, 2.0, 0.0, 0.0)}
        model = connected(OF["mistral"], KEY, api.url, prices=prices)
        info = await model.info("gpt-6-sol")
        await model.aclose()
    assert (info.context_window, info.prices) == (32_768, prices["gpt-6-sol"])


# --- as providers ----------------------------------------------------------------------------


def test_each_service_is_a_provider() -> None:
    found = {provider.name: provider for provider in map(provider_of, SERVICES)}
    names = ["openai", "azure-openai", "gemini", "mistral", "xai", "openai-compatible"]
    assert list(found) == names
    openai = found["openai"]
    assert (openai.label, openai.key_variables) == ("OpenAI", ("OPENAI_API_KEY",))
    assert openai.url == "https://api.openai.com/v1" and openai.needs_key
    assert not openai.ready(Credentials()) and openai.ready(Credentials(KEY))
    compatible = found["openai-compatible"]
    assert not compatible.ready(Credentials()), "there is no address"
    assert compatible.ready(Credentials(url="http://127.0.0.1:8080")), "a key is not needed"


@pytest.mark.parametrize(
    ("model_id", "provider", "model"),
    [
        ("openai/gpt-6-sol", "openai", "gpt-6-sol"),
        ("mistral/devstral", "mistral", "devstral"),
        ("openai-compatible//models/a.gguf", "openai-compatible", "/models/a.gguf"),
        ("mistral", "first", "mistral"),
        ("first/openai/gpt-6-sol", "first", "openai/gpt-6-sol"),
    ],
)
def test_a_models_name_says_whose_it_is(model_id: str, provider: str, model: str) -> None:
    """A bare name is the default provider's: other servers call a model "mistral"."""
    ours = tuple(map(provider_of, SERVICES))
    known = Providers(replace(ours[0], name="first"), *ours)
    found, name = known.find(model_id)
    assert (found.name, name) == (provider, model)
    assert known.id_of(found, name) == model_id


@on_loop
async def test_without_the_package_the_line_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """To whoever wants it; a key may lie in the environment for other programs."""
    monkeypatch.setitem(sys.modules, "openai", None)
    for module in [name for name in sys.modules if name.startswith(OURS)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    install = 'pip install "jupyter_codeinterp[openai]"'
    models = Models(tmp_path, Secrets(), default_model="m", base_url=None)
    listed, error = await models.available()
    assert error is None and not any(info.id.startswith("openai/") for info in listed)
    assert models.described("openai").said.endswith(install)
    with pytest.raises(ModelError) as caught:
        await models.get("openai/gpt-6-sol")
    assert caught.value.code == "not_installed"
    assert caught.value.message.endswith(install)
    await models.close()


@on_loop
async def test_a_server_is_connected_by_its_address_and_answers(tmp_path: Path) -> None:
    async with FakeOpenAI(LOCAL, [answer(text("Hi."))]) as api:
        models = Models(tmp_path, Secrets(), default_model="m", base_url=None)
        await models.connect("openai-compatible", KEY, api.url)
        assert models.default == "openai-compatible/gpt-6-sol", "nothing else could answer"
        listed, error = await models.available()
        assert error is None
        assert "openai-compatible/gpt-6-luna" in [info.id for info in listed]
        model = await models.get(models.default)
        stream = model.stream(CHAT.asking(model=models.default))
        assert joined([event async for event in stream], ModelText) == "Hi."
        assert api.requests[0].body["model"] == "gpt-6-sol"
        with pytest.raises(ModelError) as caught:
            await models.connect("openai-compatible", "sk-wrong", api.url)
        assert caught.value.code == "wrong_key"
        await models.close()
