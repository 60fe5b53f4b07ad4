"""A provider that another package adds: its models are listed and answer, on a real server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic
from tests.installed import installed
from tests.site import Site

PACKAGE = """
import os

from jupyter_codeinterp.api import (
    Message, ModelDone, ModelInfo, ModelText, ModelToolInput, Provider, Text, ToolUse, Usage,
    assistant,
)

asked, closed = [], []


class AcmeModels:
    always_ask = False

    def __init__(self, credentials, settings):
        assert credentials.key is None and settings.max_tokens == 16_000

    async def info(self, model):
        if model == "unknown":
            raise KeyError(model)
        return ModelInfo(model, f"Acme {model}", 50_000, (1.0, 2.0, 0.0, 0.0))

    async def list_models(self):
        return [await self.info("fast"), await self.info("team/slow")]

    async def stream(self, request):
        asked.append(request)
        if request.model == "broken":
            raise ZeroDivisionError("of mine")
        if len(request.messages) == 1:
            call = ToolUse("call-1", "run_cell", {"source": "import os; print(os.environ['K'])"})
            yield ModelToolInput(0, call.id, call.name, {})
            yield ModelDone(assistant(call), "tool_use", Usage(10, 1))
        else:
            yield ModelText(0, "Acme says so.")
            yield ModelDone(assistant(Text("Acme says so.")), "end_turn", Usage(20, 2))

    async def aclose(self):
        closed.append(True)


ACME = Provider(
    "acme", "Acme", AcmeModels, "fast", key_variables=("ACME_KEY",), url="https://acme.example"
)
CAREFUL = Provider("careful", "Careful", AcmeModels, "fast", needs_key=False, always_ask=True)


def never(credentials, settings):
    raise RuntimeError("of mine")


NEVER = Provider("never", "Never", never, needs_key=False)
"""
POINTS = """
[jupyter_codeinterp.providers]
acme = acme_models:ACME
careful = acme_models:CAREFUL
never = acme_models:NEVER
missing = acme_models:MISSING
ends = acme_ends:ANY
anthropic = acme_models:ACME
"""
ACME_KEY = "the-key-of-acme-0123456789"


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {}


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ACME_KEY", ACME_KEY)
    monkeypatch.setenv("K", ACME_KEY)
    with installed(tmp_path, monkeypatch, "acme_models", PACKAGE, POINTS) as place:
        (place / "acme_ends.py").write_text("import sys\nsys.exit(3)\n")
        yield


def acme() -> Any:
    return sys.modules["acme_models"]


def of_others(site: Site, listed: list[str]) -> list[str]:
    """Without models of our own providers, however many of them need no key; the demo stays."""
    ours = site.extension.workbench.models._providers._ours
    return [name for name in listed if "/" not in name or name.partition("/")[0] not in ours]


async def test_its_model_is_listed_and_answers(site: Site, api: FakeAnthropic) -> None:
    assert "acme_models" not in sys.modules, "the server's start needs none of it"
    assert (await site.get("status"))["default_model"] == "claude-sonnet-5-5"
    assert "acme_models" not in sys.modules

    listed = [model["id"] for model in (await site.get("models"))["models"]]
    ours = listed.index("offline-demo") + 1
    assert not [name for name in listed[:ours] if "/" in name]
    theirs = ["acme/fast", "acme/team/slow", "careful/fast", "careful/team/slow"]
    assert of_others(site, listed[ours:]) == theirs == listed[-len(theirs) :]

    w = await site.window(kernel_id=await site.kernel())
    before = len(api.requests)
    assert (await w.ask("Say so", mode="auto", model="acme/fast")).error is None
    assert (await w.ended()).stop_reason == "end_turn"
    assert w.of(e.TurnStarted)[0].model == "acme/fast"
    assert w.of(e.TextDone)[0].text == "Acme says so."
    assert len(api.requests) == before, "nobody else is told of it"
    assert {request.model for request in acme().asked} == {"fast"}
    assert w.of(e.UsageChanged)[-1].cost == pytest.approx((30 * 1.0 + 3 * 2.0) / 1e6)
    (ran,) = w.of(e.ToolDone)
    assert ran.status == "ok" and "[key removed]" in ran.detail and ACME_KEY not in ran.detail
    await site.extension.workbench.models.close()
    assert acme().closed


async def test_one_whose_models_always_ask(site: Site) -> None:
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Say so", mode="auto", model="careful/fast")
    draft = await w.draft()
    assert draft.can_run_all, "the person's own word"
    await w.decide(draft, "reject")
    await w.ended()


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ("acme/broken", "server_error", "Acme failed (ZeroDivisionError)."),
        ("acme/unknown", "server_error", "Acme failed (KeyError)."),
        ("never/fast", "server_error", "Never failed (RuntimeError)."),
        ("missing/fast", "unknown_model", "Could not load the provider “missing”."),
        ("ends/fast", "unknown_model", "Could not load the provider “ends”."),
    ],
)
async def test_what_fails_ends_the_turn_in_words(
    site: Site, api: FakeAnthropic, model: str, code: str, words: str
) -> None:
    w = await site.window(kernel_id=await site.kernel())
    before = len(api.requests)
    await w.ask("Say so", model=model)
    ended = await w.ended()
    assert (ended.stop_reason, ended.code) == ("error", code)
    assert words in ended.message and "of mine" not in ended.message
    assert len(api.requests) == before, "nobody else is asked instead"


class TestByDefault:
    """An admin has made a model of another package the default; nobody has a key of ours."""

    @pytest.fixture
    def environment(self) -> dict[str, str]:
        return {}

    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"model": "acme/fast"}

    async def test_it_needs_no_key_of_ours(self, site: Site) -> None:
        status = await site.get("status")
        assert (status["configured"], status["default_model"]) == (True, "acme/fast")
        listed = [model["id"] for model in (await site.get("models"))["models"]]
        assert of_others(site, listed)[:2] == ["offline-demo", "acme/fast"]
        w = await site.window("codeinterp-demo/a.ipynb", kernel_id=await site.kernel())
        await w.ask("Say so")
        await w.decide(await w.draft())
        await w.ended()
        assert w.of(e.TurnStarted)[0].model == "acme/fast"
