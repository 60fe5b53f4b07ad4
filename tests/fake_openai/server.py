"""The server, on loopback only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Any

from tests.fake_anthropic import FakeAnthropic, Request, Script, Step
from tests.fake_anthropic.turns import Answer, HttpError, Turn
from tests.fake_anthropic.wire import Exchange, Wire

from . import chat, responses
from .errors import bad_request, unknown_model
from .manners import AZURE, Manner

MODELS = {"gpt-6-sol": "", "gpt-6-luna": "", "gpt-6.1-terra": "", "text-embedding-3-small": ""}


class FakeOpenAI(FakeAnthropic):
    """``async with FakeOpenAI(RESPONSES, script) as api: … api.url …``; the rest as of
    FakeAnthropic. ``api.url`` has no ``/v1``, which people leave out, too."""

    def __init__(
        self,
        manner: Manner,
        script: Script | Iterable[Step] = (),
        *,
        models: Mapping[str, str] = MODELS,
        **options: Any,
    ) -> None:
        prefix = "/openai" if manner is AZURE else ""
        super().__init__(script, models=models, prefix=prefix, **options)
        self.manner = manner
        self._outputs: list[list[dict[str, Any]]] = []
        self._messages: list[dict[str, Any]] = []

    def _arrived_as(self, exchange: Exchange, target: str, data: bytes) -> Exchange:
        if self.manner is AZURE and not target.startswith("/openai/v1/"):
            exchange.path = f"/elsewhere{exchange.path}"
        return exchange

    @property
    def path(self) -> str:
        return "/v1/responses" if self.manner.reasoning == "item" else "/v1/chat/completions"

    @property
    def requests(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.path == self.path]

    async def _handle(self, exchange: Exchange, wire: Wire) -> None:
        route = f"{exchange.method} {exchange.path}"
        key = exchange.headers.get("authorization", "").removeprefix("Bearer ")
        if route in self._routes:
            await wire.json(200, self._routes[route](exchange))
        elif not key or "wrong" in key:
            await self._error(self.manner.wrong_key, wire)
        elif route == f"POST {self.path}":
            await self._answer(exchange, wire)
        elif route == "GET /v1/models":
            await self._list("", wire)
        else:
            await self._error(HttpError(404, "invalid_request_error", "Invalid URL"), wire)
        exchange.finished = monotonic()

    async def _error(self, error: HttpError, wire: Wire) -> None:
        details = error.details or {"code": None, "param": None}
        inner = {"message": error.message, "type": error.type, **details}
        body: Any = {"error": inner}
        if self.manner.name == "gemini":  # its errors come in a list
            body = [{"error": {"code": error.status, "message": error.message, **inner}}]
        await wire.json(error.status, body, error.headers)

    async def _list(self, model: str, wire: Wire) -> None:
        await asyncio.sleep(self._models_delay)
        if not self._models_api:
            await self._error(HttpError(404, "invalid_request_error", "Not found"), wire)
            return
        prefix = "models/" if self.manner.name == "gemini" else ""
        data = [self._entry(f"{prefix}{name}") for name in self._models]
        await wire.json(200, {"object": "list", "data": data})

    def _entry(self, model: str) -> dict[str, Any]:
        entry: dict[str, Any] = {"id": model, "object": "model", "created": 1, "owned_by": "us"}
        if self.manner.name == "mistral":
            entry["max_context_length"] = self._context_window
        return entry

    async def _answer(self, exchange: Exchange, wire: Wire) -> None:
        turn = self._refused(exchange) or self._scripted(exchange)
        if isinstance(turn, HttpError):
            await self._error(turn, wire)
            return
        name = f"{self._run}{len(self._outputs) + len(self._messages)}"
        speed = turn.speed or self.speed
        if self.manner.reasoning == "item":
            usage = {"input_tokens": exchange.size // 4, "input_tokens_details": self._cached()}
            stream = responses.ResponsesStream(turn, exchange.body, name=name, usage=usage)
            self._outputs.append(stream.output)
            await wire.stream(turn, stream, speed)
        else:
            prompt = {"prompt_tokens": exchange.size // 4, "prompt_tokens_details": self._cached()}
            chunks = chat.ChatStream(turn, exchange.body, self.manner, name=name, usage=prompt)
            if await wire.stream(turn, chunks, speed):
                self._messages.append(chunks.message)

    def _cached(self) -> dict[str, int]:
        return {"cached_tokens": 20 if len(self.requests) > 1 else 0}

    def _scripted(self, exchange: Exchange) -> Answer:
        try:
            # Scripts that count answers or read results know the Messages API's requests only.
            return self._script(Request(exchange.body, exchange.attempt))
        except Exception as error:
            self.violations.append(f"the script failed: {error!r}")
            return bad_request(repr(error))

    def _refused(self, exchange: Exchange) -> HttpError | None:
        body = exchange.body
        found: list[str] = []
        if self._check:
            try:
                if self.manner.reasoning == "item":
                    found = responses.problems(body, self._outputs)
                else:
                    found = chat.problems(body, self.manner, self._messages)
            except (LookupError, TypeError, AttributeError, ValueError) as error:
                found = [f"malformed request: {error!r}: {json.dumps(body)[:300]}"]
        self.violations += found
        if found:
            return bad_request(found[0])
        if body["model"] in self._models:
            return None
        if self.manner is AZURE:
            words = "The API deployment for this resource does not exist."
            return HttpError(404, "", words, details={"code": "DeploymentNotFound", "param": None})
        return unknown_model(body["model"])


__all__ = ["FakeOpenAI", "Turn"]
