"""The first visible token of each wire, beyond the SDK's own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from jupyter_codeinterp.adapters.model_http.model import HttpModel
from jupyter_codeinterp.adapters.providers.anthropic.model import AnthropicModel
from jupyter_codeinterp.adapters.providers.openai.model import OpenAIModel
from jupyter_codeinterp.adapters.providers.openai.services import SERVICES
from jupyter_codeinterp.core.messages import Text, user
from jupyter_codeinterp.core.ports import ModelRequest, ModelText
from tests.fake_anthropic import FakeAnthropic, Speed, answer, text
from tests.fake_openai import LOCAL, RESPONSES, FakeOpenAI

from .figures import Bound, Figure

TIMES = 40
KEY = "sk-a-key"
ANSWER = answer(text("One word after the other, and so on. " * 8))
MOST = (Bound(50, "median"),)
OPENAI, COMPATIBLE = SERVICES[0], SERVICES[-1]


def measure() -> list[Figure]:
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    figures: list[Figure] = []
    options: dict[str, Any] = {"speed": Speed(delay=0.005), "check": False}
    async with FakeAnthropic(lambda _: ANSWER, **options) as api:
        model: HttpModel[Any] = AnthropicModel(lambda: (KEY, api.url))
        figures.append(await _wire("Messages", model, "claude-sonnet-5-5", _messages(api.url)))
    async with FakeOpenAI(RESPONSES, lambda _: ANSWER, **options) as api:
        model = OpenAIModel(OPENAI, lambda: (KEY, api.url))
        figures.append(await _wire("Responses", model, "gpt-6-sol", _responses(api.url)))
    async with FakeOpenAI(LOCAL, lambda _: ANSWER, **options) as api:
        model = OpenAIModel(COMPATIBLE, lambda: (KEY, api.url))
        figures.append(await _wire("Chat Completions", model, "gpt-6-sol", _chat(api.url)))
    return figures


async def _wire(
    name: str, model: HttpModel[Any], model_id: str, alone: Callable[[], AsyncIterator[None]]
) -> Figure:
    """In pairs, so that both see the same machine. The first pair imports and connects."""
    request = ModelRequest(model_id, "Be brief.", (), (user(Text("hello")),))
    sdk, beyond = [], []
    for _ in range(TIMES + 1):
        began = time.perf_counter()
        async for _first in alone():
            sdk.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                # What was read comes before, and nobody sees it.
                if isinstance(event, ModelText):
                    beyond.append((time.perf_counter() - began) * 1000 - sdk[-1])
                    break
    await model.aclose()
    return Figure(f"first token by {name}, beyond the SDK's", beyond[1:], "ms", MOST)


def _messages(url: str) -> Callable[[], AsyncIterator[None]]:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key=KEY, base_url=url, max_retries=0)

    async def first() -> AsyncIterator[None]:
        said: Any = [{"role": "user", "content": "hello"}]
        async with await client.messages.create(
            model="claude-sonnet-5-5", max_tokens=100, messages=said, stream=True
        ) as stream:
            async for event in stream:
                if event.type == "content_block_delta":
                    yield
                    return

    return first


def _responses(url: str) -> Callable[[], AsyncIterator[None]]:
    import openai

    client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)

    async def first() -> AsyncIterator[None]:
        async with await client.responses.create(
            model="gpt-6-sol", input="hello", stream=True
        ) as stream:
            async for event in stream:
                if event.type == "response.output_text.delta":
                    yield
                    return

    return first


def _chat(url: str) -> Callable[[], AsyncIterator[None]]:
    import openai

    client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=0)

    async def first() -> AsyncIterator[None]:
        said: Any = [{"role": "user", "content": "hello"}]
        async with await client.chat.completions.create(
            model="gpt-6-sol", messages=said, stream=True
        ) as stream:
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    yield
                    return

    return first
