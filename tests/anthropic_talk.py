"""A model of the adapter and the fake API that it talks to, for the tests of both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import msgspec
import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.models.http.model import ATTEMPTS, HttpModel, backoff
from jupyter_codeinterp.models.http.provider import provider_of
from jupyter_codeinterp.models.http.service import Service
from jupyter_codeinterp.wire.messages import Message, Text, user
from jupyter_codeinterp.wire.ports import (
    ModelDone,
    ModelEvent,
    ModelRequest,
    ModelText,
    ModelThinking,
    ToolSpec,
)
from jupyter_codeinterp.wire.providers import Credentials, Settings
from tests.fake_anthropic import FakeAnthropic, Step

KEY = "sk-ant-test-key-0123456789"
CLAUDE = msgspec.structs.replace(ANTHROPIC, claude="everywhere")
"""Anthropic's own API at any address, such as the fake's."""
TOOLS = (
    ToolSpec(
        "run_cell",
        "Run code.",
        {
            "type": "object",
            "properties": {"title": {"type": "string"}, "source": {"type": "string"}},
            "required": ["source"],
        },
    ),
)
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No credentials of the person who runs the tests."""
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))


def connected(
    service: Service,
    key: str | None = None,
    url: str | None = None,
    *,
    attempts: int = ATTEMPTS,
    wait: Callable[[int], float] = backoff,
    silence: float | None = None,
    **settings: Any,
) -> HttpModel:
    """The models of a service as the registry connects them. ``attempts``, ``wait`` and
    ``silence`` (seconds without a byte) are a test's."""
    model: Any = provider_of(service).connect(Credentials(key, url), Settings(**settings))
    model.attempts, model.wait = attempts, wait
    if silence is not None:
        model._client.timeout = httpx2.Timeout(silence, connect=10.0)
    assert isinstance(model, HttpModel)
    return model


def asking(*messages: Message, model: str = "claude-sonnet-5-5") -> ModelRequest:
    return ModelRequest(model, "Be brief.", TOOLS, messages or (user(Text("Add."), Text("Now.")),))


@asynccontextmanager
async def talking(
    *steps: Step, service: Service = CLAUDE, key: str | None = KEY, **options: Any
) -> AsyncIterator[tuple[HttpModel, FakeAnthropic]]:
    """A model and the fake that it talks to; nothing that it sends may be wrong."""
    async with FakeAnthropic(steps) as api:
        options = {"wait": lambda attempt: 0.0, **options}
        model = connected(service, key, api.url, **options)
        try:
            yield model, api
        finally:
            await model.aclose()
        assert api.violations == []


async def events(model: HttpModel, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


async def ask(*steps: Step, **options: Any) -> list[ModelEvent]:
    async with talking(*steps, **options) as (model, _):
        return await events(model, asking())


async def done(*steps: Step, **options: Any) -> ModelDone:
    last = (await ask(*steps, **options))[-1]
    assert isinstance(last, ModelDone)
    return last


async def failure(*steps: Step, **options: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(*steps, **options)
    assert KEY not in str(caught.value)
    return caught.value


def joined(shown: list[ModelEvent], kind: type[ModelText] | type[ModelThinking]) -> str:
    return "".join(event.text for event in shown if isinstance(event, kind))
