"""The wires that models are spoken to by, each with its fake, for one contract that all keep."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.clouds import BEDROCK, FOUNDRY, VERTEX
from jupyter_codeinterp.models.http.model import HttpModel
from jupyter_codeinterp.models.http.service import Service
from jupyter_codeinterp.models.openai.services import SERVICES
from jupyter_codeinterp.wire.messages import (
    Document,
    Image,
    ImageSource,
    Message,
    PdfSource,
    Text,
    user,
)
from jupyter_codeinterp.wire.ports import ModelDone, ModelEvent, ModelRequest
from tests import fake_anthropic
from tests.anthropic_talk import CLAUDE, PNG, TOOLS, connected
from tests.fake_anthropic import FakeAnthropic, HttpError, Step
from tests.fake_clouds import FakeBedrock, FakeFoundry, FakeVertex
from tests.fake_clouds.server import PROJECT, REGION
from tests.fake_openai import (
    AZURE,
    GEMINI,
    LOCAL,
    MISTRAL,
    RESPONSES,
    XAI,
    FakeOpenAI,
    Manner,
    errors,
)

KEY = "sk-test-key-0123456789"
PLOT = Image(ImageSource("image/png", PNG))
PAPER = Document(
    PdfSource(base64.b64encode(b"%PDF-1.4\n1 0 obj<<>>endobj\n%%EOF\n").decode()), "a paper.pdf"
)
OF = {service.name: service for service in SERVICES}
VARIABLES = {name for one in SERVICES for name in (*one.key_variables, one.url_variable) if name}

Pair = tuple[HttpModel, FakeAnthropic]


@dataclass(frozen=True)
class Wire:
    """``model``: one that the fake has. ``faults``: in the words of the wire's service."""

    name: str
    model: str
    fake: Callable[..., FakeAnthropic]
    service: Service
    faults: dict[str, HttpError]
    manner: Manner | None = None

    def connect(self, key: str | None, url: str, **options: Any) -> HttpModel:
        return connected(self.service, key, url, **options)

    @asynccontextmanager
    async def talking(
        self,
        *steps: Step,
        key: str | None = KEY,
        fake: dict[str, Any] | None = None,
        **options: Any,
    ) -> AsyncIterator[Pair]:
        """A model and the fake that it talks to; nothing that it sends may be wrong."""
        async with self.fake(steps) as api:
            options = {"wait": lambda attempt: 0.0, **options}
            model = self.connect(key, api.place, **options)
            try:
                yield model, api
            finally:
                await model.aclose()
            assert api.violations == []

    def asking(self, *messages: Message, model: str = "") -> ModelRequest:
        said = messages or (user(Text("Add."), Text("Now.")),)
        return ModelRequest(model or self.model, "Be brief.", TOOLS, said)

    async def ask(self, *steps: Step, **options: Any) -> list[ModelEvent]:
        async with self.talking(*steps, **options) as (model, _):
            return [event async for event in model.stream(self.asking())]

    async def done(self, *steps: Step, **options: Any) -> ModelDone:
        return last(await self.ask(*steps, **options))

    async def failure(self, *steps: Step, **options: Any) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await self.ask(*steps, **options)
        assert KEY not in str(caught.value)
        assert caught.value.__cause__ is None and KEY not in repr(caught.value.__context__)
        return caught.value


def last(shown: list[ModelEvent]) -> ModelDone:
    assert isinstance(shown[-1], ModelDone)
    return shown[-1]


MESSAGES = Wire(
    "messages",
    "claude-sonnet-5-5",
    FakeAnthropic,
    CLAUDE,
    {
        "rate limit": fake_anthropic.rate_limited("0.01"),
        "overloaded": fake_anthropic.overloaded(),
        "server error": fake_anthropic.server_error(),
        "spend limit": fake_anthropic.spend_limited(),
        "forbidden": fake_anthropic.forbidden(),
        "too long": fake_anthropic.prompt_too_long(2, 1),
        "bad request": fake_anthropic.bad_request("messages: wrong"),
    },
)


def _of(manner: Manner) -> Wire:
    service = OF[manner.service]
    return Wire(
        manner.name,
        "gpt-6-sol",
        lambda steps=(), **options: FakeOpenAI(manner, steps, **options),
        service,
        {
            "rate limit": errors.rate_limited("0.01"),
            "overloaded": errors.overloaded(),
            "server error": errors.server_error(),
            "spend limit": errors.out_of_quota(),
            "forbidden": errors.forbidden(),
            "too long": errors.too_long(),
            "bad request": errors.bad_request("messages: wrong"),
        },
        manner,
    )


PLACES = {
    "AWS_REGION": "eu-west-1",
    "ANTHROPIC_VERTEX_PROJECT_ID": PROJECT,
    "CLOUD_ML_REGION": REGION,
}


def _behind(cloud: Service, fake: Callable[..., FakeAnthropic]) -> Wire:
    faults = {**MESSAGES.faults}
    if cloud is BEDROCK:
        del faults["spend limit"]  # it has a bill, and no limit
        faults["rate limit"] = HttpError(
            429, "ThrottlingException", "Too many requests.", headers={"retry-after": "0.01"}
        )
        faults["too long"] = HttpError(
            400, "ValidationException", "Input is too long for requested model."
        )
    return Wire(
        cloud.name,
        cloud.models[0],
        fake,
        cloud,
        faults,
    )


WIRES = {
    wire.name: wire
    for wire in (
        MESSAGES,
        *map(_of, (RESPONSES, AZURE, LOCAL, GEMINI, MISTRAL, XAI)),
        _behind(BEDROCK, FakeBedrock),
        _behind(VERTEX, FakeVertex),
        _behind(FOUNDRY, FakeFoundry),
    )
}


SHAPES = ("messages", "responses", "chat", "bedrock")
"""One service of each wire, for what does not depend on the service."""


def every(names: Iterable[str] = SHAPES) -> pytest.MarkDecorator:
    """Of the test's argument ``wire``."""
    return pytest.mark.parametrize("wire", [WIRES[name] for name in names], ids=list(names))


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No credentials of the person who runs the tests."""
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
    for name in (*VARIABLES, "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the clouds are."""
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)
