"""A connection a provider: what is kept, where each key goes, what an admin allows."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError, ModelError
from jupyter_codeinterp.models.anthropic.services import ROWS, providers
from jupyter_codeinterp.models.http.service import Service
from jupyter_codeinterp.models.offered import AllowedModels, Models, registry
from jupyter_codeinterp.run.turn.ending import Ending
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire.messages import Message, Text
from jupyter_codeinterp.wire.ports import ModelDone, ModelRequest, ModelRetry
from jupyter_codeinterp.wire.providers import Credentials, Provider, Settings, origin
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, rate_limited, text
from tests.fake_clouds import FakeBedrock
from tests.local_addresses import NOBODY, elsewhere

KEY = "sk-a-key-that-is-kept-for-one"
ANOTHER = "sk-ant-the-environments-own-key"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_AUTH_TOKEN")) or name.startswith("ANTHROPIC_"):
            monkeypatch.delenv(name)


def models(folder: Path, secrets: Secrets | None = None, **given: Any) -> Models:
    addresses = given.pop("local_addresses", elsewhere())
    return Models(
        folder,
        secrets or Secrets(),
        default_model=given.pop("default_model", "sonnet"),
        base_url=None,
        local_addresses=addresses,
        **given,
    )


def kept(folder: Path) -> Any:
    return json.loads((folder / "credentials.json").read_text("utf-8"))


def ask(model: str) -> ModelRequest:
    return ModelRequest(model, "Be brief.", (), (Message("user", (Text("Hi"),)),))


# --- what is kept --------------------------------------------------------------------------


async def test_one_connection_a_provider(tmp_path: Path, api: FakeAnthropic) -> None:
    secrets = Secrets()
    made = models(tmp_path, secrets)
    await made.connect("anthropic", KEY, api.url)
    await made.connect("moonshot", KEY + "-2", api.url)
    assert stat.S_IMODE((tmp_path / "credentials.json").stat().st_mode) == 0o600
    assert kept(tmp_path)["version"] == 2
    again = models(tmp_path, secrets)
    assert [x.provider for x in again.connections() if x.connected] == ["anthropic", "moonshot"]
    assert again.default == "sonnet", "what answers by default does so still"
    assert secrets.scrub(f"{KEY}-2") == "[key removed]"
    again.forget("anthropic")
    assert list(kept(tmp_path)["connections"]) == ["moonshot"]
    again.forget("moonshot")
    assert not (tmp_path / "credentials.json").exists()


async def test_a_cloud_is_connected_at_its_place_and_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    secrets = Secrets()
    made = models(tmp_path, secrets)
    with pytest.raises(CommandError, match="an address such as https://") as caught:
        await made.connect("bedrock", KEY, "evil.example")
    assert caught.value.code == "bad_address"
    async with FakeBedrock() as api:
        with pytest.raises(ModelError) as refused:
            await made.connect("bedrock", f"{KEY}-wrong", api.url)
        assert refused.value.code == "wrong_key" and not made.described("bedrock").connected
        await made.connect("bedrock", KEY, api.url)
        assert api.exchanges[-1].headers["authorization"] == f"Bearer {KEY}"
        assert [one.id for one in (await made.available())[0] if "bedrock" in one.id] == [
            f"bedrock/global.anthropic.{name}"
            for name in ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
        ]
    assert made.described("bedrock").origin == api.url
    assert kept(tmp_path)["connections"]["bedrock"] == {"url": api.url, "key": KEY}
    await made.close()


async def test_a_later_version_is_set_aside_and_not_lost(tmp_path: Path) -> None:
    later = {"version": 3, "connections": {"anthropic": [KEY]}}
    (tmp_path / "credentials.json").write_text(json.dumps(later))
    made = models(tmp_path)
    assert "another version" in made.warning and not made.configured
    assert json.loads((tmp_path / "credentials.json.damaged").read_text()) == later


async def test_two_programs_keep_keys_side_by_side(tmp_path: Path, api: FakeAnthropic) -> None:
    one, two = models(tmp_path), models(tmp_path)
    await one.connect("anthropic", KEY, api.url)
    await two.connect("vllm", KEY, api.url)
    assert set(kept(tmp_path)["connections"]) == {"anthropic", "vllm"}


async def test_a_full_disk_leaves_all_as_it_was(
    tmp_path: Path, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = models(tmp_path)
    await made.connect("anthropic", KEY, api.url)
    before = (tmp_path / "credentials.json").read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(CommandError, match="No space left on device") as caught:
        await made.connect("vllm", KEY + "-2", api.url)
    assert caught.value.code == "not_kept" and KEY not in caught.value.message
    monkeypatch.undo()
    assert (tmp_path / "credentials.json").read_bytes() == before
    assert not (tmp_path / "credentials.json.new").exists()
    assert not made.described("vllm").connected


async def test_the_environment_comes_before_what_is_kept(
    tmp_path: Path, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    made = models(tmp_path)
    await made.connect("anthropic", KEY, "")
    assert made.described("anthropic").source == "file"
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANOTHER)
    now = made.described("anthropic")
    assert (now.source, now.variable) == ("env", "ANTHROPIC_API_KEY")
    assert (await made.test("anthropic")).works
    assert api.exchanges[-1].headers["authorization"] == f"Bearer {ANOTHER}"
    with pytest.raises(CommandError, match="ANTHROPIC_API_KEY in the Jupyter server's environment"):
        await made.connect("anthropic", KEY, "")
    async with FakeAnthropic() as elsewhere:
        await made.connect("anthropic", KEY, elsewhere.url)
        assert made.described("anthropic").source == "file", "it belongs to another address"
        await made.test("anthropic")
        assert all(ANOTHER not in str(x.headers) for x in elsewhere.exchanges)
    await made.close()


async def test_what_answers_by_default_once_there_is_something(
    tmp_path: Path, api: FakeAnthropic
) -> None:
    made = models(tmp_path, local_addresses=elsewhere(ollama=api.url))
    api._keyless = True
    assert not made.configured
    await made.connect("ollama", "", "")
    assert made.default == "ollama/claude-sonnet-5-5" and made.configured, "its first model"
    await made.connect("vllm", "", api.url, "claude-opus-5-5")
    assert made.default == "vllm/claude-opus-5-5", "the one that was chosen"
    await made.connect("ollama", "", "")
    assert made.default == "vllm/claude-opus-5-5", "it can be asked still"
    made.forget("vllm")
    assert made.default == "sonnet"


async def test_what_cannot_be_connected(tmp_path: Path, api: FakeAnthropic) -> None:
    made = models(tmp_path)
    for name, key, url, code in (
        ("nobody", KEY, "", "unknown_provider"),
        ("offline-demo", KEY, "", "unknown_provider"),
        ("deepseek", "", "", "empty_key"),
        ("deepseek", KEY, "file:///etc/passwd", "bad_address"),
        ("deepseek", "sk-wrong-one", api.url, "wrong_key"),
        ("deepseek", "two words", api.url, "wrong_key"),
        ("ollama", "", NOBODY, "offline"),
    ):
        with pytest.raises((CommandError, ModelError)) as caught:
            await made.connect(name, key, url)
        assert caught.value.code == code, name
        assert not key or key not in caught.value.message
    assert not (tmp_path / "credentials.json").exists()


# --- servers that speak the Messages API ---------------------------------------------------


def test_each_row_says_all_that_a_person_needs() -> None:
    assert len({row.name for row in ROWS}) == len({row.label for row in ROWS}) == 10
    for row in ROWS:
        scheme, remote = ("http", False) if row.local else ("https", True)
        assert origin(row.url).startswith(f"{scheme}://") and not row.url.endswith(("/", "/v1"))
        assert bool(row.key_variables) is bool(row.key_page) is remote


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_each_server_is_asked_as_it_wants_to_be(
    row: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own key in its own headers, under its own path; Anthropic's key stays here."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANOTHER)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Gateway: {ANOTHER}")
    path = row.url[len(origin(row.url).rpartition(":")[0]) :].partition("/")[2]
    prefix = f"/{path}" if path and not row.local else ""
    key = "" if row.local else KEY
    listed = {"data": [{"id": "theirs"}]}
    routes: dict[str, Any] = {f"GET {row.list_url}": lambda _: listed} if row.list_url else {}
    if row.key_url:
        routes[f"GET {row.key_url.removeprefix(prefix)}"] = lambda _: {"data": []}
    turns = [answer(text("One."), call("run_cell", {"code": "1"})), answer(text("Two."))]
    async with FakeAnthropic(
        in_order(turns),
        keyless=row.local,
        prefix=prefix,
        routes=routes,
        models={"theirs": "Theirs"},
        models_api=not row.models,
    ) as fake:
        (one,) = [p for p in providers({row.name: fake.url + prefix}) if p.name == row.name]
        for variable in row.key_variables:
            monkeypatch.setenv(variable, key)
        for entered in (Credentials(), Credentials(key or None, fake.url + prefix)):
            connection = one.connect(entered, Settings())
            found = [info.id for info in await connection.list_models()]
            assert found == list(row.models or ["theirs"])
            events = [event async for event in connection.stream(ask("theirs"))]
            assert isinstance(events[-1], ModelDone)
            await connection.aclose()
        for exchange in fake.exchanges:
            assert ANOTHER not in str(exchange.headers)
            assert exchange.headers.get("authorization", "") == (f"Bearer {KEY}" if key else "")
            both = bool(key) and row.x_api_key
            assert exchange.headers.get("x-api-key", "") == (KEY if both else "")
        assert row.models or not fake.violations, "but for the empty one that asks who is there"
        async with FakeAnthropic(keyless=True) as other:
            connection = one.connect(Credentials(None, other.url), Settings())
            await connection.list_models()
            await connection.aclose()
            assert all(KEY not in str(x.headers) for x in other.exchanges), "bound to its origin"


async def test_another_providers_request_to_anthropic_has_no_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The SDK would take it by itself; it may be a gateway's."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANOTHER)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.example")
    (one,) = [provider for provider in providers() if provider.name == "ollama"]
    there = "https://api.anthropic.com"
    made: Any = one.connect(Credentials(None, there), Settings())
    assert ANOTHER not in (made._client.api_key or "")
    await made.aclose()


async def test_a_new_key_counts_from_the_next_turn_and_a_running_answer_goes_on(
    tmp_path: Path,
) -> None:
    turns = [answer(text("One. Two.")), answer(text("Three."))]
    async with FakeAnthropic(in_order(turns), keyless=True) as api:
        made = models(tmp_path)
        await made.connect("anthropic", KEY, api.url)
        model = await made.get("claude-sonnet-5-5")
        assert await made.get("claude-opus-5-5") is model, "one connection for all of its models"
        events = model.stream(ask("claude-sonnet-5-5"))
        await anext(events)
        await made.connect("anthropic", ANOTHER, api.url)
        assert isinstance([event async for event in events][-1], ModelDone)
        async for _ in (await made.get("claude-sonnet-5-5")).stream(ask("claude-sonnet-5-5")):
            pass
        sent = [request.headers["authorization"] for request in api.requests]
        assert sent == [f"Bearer {KEY}", f"Bearer {ANOTHER}"]
        await made.close()


@pytest.mark.parametrize("change", ["forgotten", "replaced"])
async def test_an_earlier_key_is_in_no_later_request_of_a_turn(tmp_path: Path, change: str) -> None:
    """Neither in that of a later step, nor after the wait that a busy server asks for."""
    turns = answer(text("One.")), rate_limited("0.2"), answer(text("Two."))
    async with FakeAnthropic(in_order(turns), keyless=True) as api:
        made = models(tmp_path)
        await made.connect("anthropic", KEY, api.url)
        model = await made.get("claude-sonnet-5-5")
        async for _ in model.stream(ask("claude-sonnet-5-5")):
            pass
        waits = model.stream(ask("claude-sonnet-5-5"))
        assert isinstance(await anext(waits), ModelRetry)
        if change == "forgotten":
            made.forget("anthropic")
        else:
            await made.connect("anthropic", ANOTHER, api.url)
        for later in (waits, model.stream(ask("claude-sonnet-5-5"))):
            with pytest.raises(ModelError, match="connection of Anthropic was changed") as caught:
                await anext(later)
            assert Ending("error", caught.value.code).retry
        assert len(api.requests) == 2
        await made.close()


@pytest.mark.parametrize("name", ["openrouter", "zai", "deepseek"])
async def test_a_wrong_key_is_found_where_the_list_is_open_or_missing(
    name: str, tmp_path: Path
) -> None:
    routes: dict[str, Any] = {}
    if name == "openrouter":
        routes["GET /v1/models"] = lambda _: {"data": [{"id": "theirs"}]}
    async with FakeAnthropic(routes=routes, models_api=False) as fake:
        made = models(tmp_path)
        with pytest.raises(ModelError) as caught:
            await made.connect(name, "sk-wrong-one", fake.url)
        assert caught.value.code == "wrong_key"


async def test_an_import_that_takes_long_is_not_in_the_time_to_list_models(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Heavy:
        def __init__(self, *given: Any) -> None:
            time.sleep(0.3)

        async def list_models(self) -> list[Any]:
            return ["its own"]

        async def aclose(self) -> None:
            pass

    monkeypatch.setattr(registry, "LIST_TIMEOUT", 0.2)
    heavy: Any = Heavy
    found: list[Any] = await registry._try(Provider("a", "A", heavy), Credentials(), Settings())
    assert found == ["its own"]


# --- what an admin allows ------------------------------------------------------------------


async def test_only_what_is_allowed_answers(tmp_path: Path, api: FakeAnthropic) -> None:
    limits = AllowedModels(("anthropic", "vllm"), ("anthropic/claude-sonnet-*", "vllm/*"))
    api._keyless = True
    made = models(tmp_path, limits=limits, local_addresses=elsewhere(vllm=api.url, ollama=api.url))
    assert {one.provider for one in made.connections()} == {"anthropic", "vllm"}
    await made.connect("anthropic", KEY, api.url)
    await made.connect("vllm", "", "")
    ids = [info.id for info in (await made.available())[0]]
    assert ids[0] == "claude-sonnet-5-5" and "vllm/claude-opus-5-5" in ids
    assert "claude-opus-5-5" not in ids and made.demo == ""
    for refused in (
        "claude-opus-5-5",
        "anthropic/claude-opus-5-5",
        "anthropic/anthropic/claude-opus-5-5",
        "ollama/claude-sonnet-5-5",
        "offline-demo",
        "ollama",
        "",
    ):
        with pytest.raises(ModelError) as caught:
            await made.get(refused)
        assert caught.value.code == "not_allowed", refused
    for allowed in ("claude-sonnet-5-5", "anthropic/claude-sonnet-5-5", "vllm/any"):
        await made.get(allowed)
    with pytest.raises(CommandError, match="does not allow Ollama"):
        await made.connect("ollama", "", "")
    assert [x.provider for x in (await made.local_servers()).servers] == ["vllm"]
    await made.close()


async def test_keys_from_the_environment_only(
    tmp_path: Path, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    await models(tmp_path).connect("anthropic", KEY, api.url, "claude-opus-5-5")
    made = models(tmp_path, limits=AllowedModels(environment_only=True))
    assert not made.configured and made.default == "sonnet"
    origin = made.described("anthropic").origin
    assert origin == "https://api.anthropic.com:443", "an address that was entered counts no more"
    with pytest.raises(CommandError, match="Only the admin"):
        await made.connect("anthropic", KEY, api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", ANOTHER)
    assert made.described("anthropic").source == "env" and made.configured


async def test_local_servers_are_not_looked_for_on_a_machine_of_others(tmp_path: Path) -> None:
    made = models(tmp_path)
    made.looks_around = False
    with pytest.raises(CommandError, match="may run on another machine"):
        await made.local_servers()
