"""The fake's server, on loopback only: what each request is answered with."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from .checks import LARGEST_REQUEST, images, problems
from .frames import Stream
from .history import History
from .request import Request
from .scripts import Script, in_order
from .turns import (
    Answer,
    HttpError,
    Speed,
    Step,
    bad_request,
    prompt_too_long,
    unknown_model,
    wrong_key,
)
from .wire import Exchange, Wire

MODELS = {
    "claude-sonnet-5-5": "Claude Sonnet 5.5",
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-haiku-5-5": "Claude Haiku 5.5",
}
FULL_SPEED = Speed()

Route = Callable[[Exchange], Mapping[str, Any]]


class FakeAnthropic:
    """``async with FakeAnthropic(script) as api: … api.url …``

    script          a Script, or an iterable of steps that are played in order
    speed           of answers that have none of their own
    models          id -> name; others are unknown
    models_api      False: no ``/v1/models``, as on some other servers
    models_delay    seconds until ``/v1/models`` answers
    context_window  tokens that a prompt may have; a token is four bytes here
    routes          further ``"METHOD /path"`` -> function of the exchange giving JSON
    keyless         True: no key is asked for, as on most local servers
    prefix          what stands before ``/v1`` here
    check           False: requests are not checked (for measurements)

    ``requests`` are those to ``/v1/messages``, ``violations`` what was wrong with them;
    a request with a violation is answered with status 400.
    """

    version_in_header = True

    def __init__(
        self,
        script: Script | Iterable[Step] = (),
        *,
        speed: Speed = FULL_SPEED,
        models: Mapping[str, str] = MODELS,
        models_api: bool = True,
        models_delay: float = 0.0,
        context_window: int = 1_000_000,
        routes: Mapping[str, Route] | None = None,
        keyless: bool = False,
        prefix: str = "",
        check: bool = True,
        port: int = 0,
    ) -> None:
        self.speed = speed
        self.exchanges: list[Exchange] = []
        self.violations: list[str] = []
        self.connections = 0
        self._models = dict(models)
        self._models_api = models_api
        self._models_delay = models_delay
        self._context_window = context_window
        self._routes = dict(routes or {})
        self._keyless = keyless
        self._prefix = prefix
        self._check = check
        self._port = port
        self._history = History()
        self._bodies: Counter[int] = Counter()
        self._run = secrets.token_hex(3)
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self.play(script)

    def play(self, script: Script | Iterable[Step]) -> None:
        """Answer by this script from now on."""
        self._script = script if callable(script) else in_order(script)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def place(self) -> str:
        """The address that a connection has."""
        return self.url

    @property
    def requests(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.path == "/v1/messages"]

    async def seen(self, count: int) -> list[Exchange]:
        """Wait until so many requests to ``/v1/messages`` have come."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests

    def forget(self) -> None:
        """Drop what was recorded, and how often a body came. Conversations stay known."""
        self.exchanges.clear()
        self.violations.clear()
        self._bodies.clear()

    async def __aenter__(self) -> FakeAnthropic:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    # --- HTTP ------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                early = b""
                while exchange := await self._receive(reader, early):
                    wire = Wire(reader, writer, exchange)
                    await self._handle(exchange, wire)
                    early = wire.early
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _receive(self, reader: asyncio.StreamReader, early: bytes) -> Exchange | None:
        """``early``: what of the request has been read before."""
        head = early + await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").strip().split("\r\n")
        method, target, _ = first.split(" ")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.lower(): value.strip() for name, value in pairs}
        data = await reader.readexactly(int(headers.get("content-length", 0)))
        self._bodies[hash(data)] += 1
        body = json.loads(data) if data else {}
        path = target.split("?")[0].removeprefix(self._prefix)
        attempt = self._bodies[hash(data)]
        exchange = Exchange(method, path, headers, body, len(data), attempt, monotonic())
        exchange = self._arrived_as(exchange, target, data)
        if not path.startswith("/control/"):
            self.exchanges.append(exchange)
            async with self._arrived:
                self._arrived.notify_all()
        return exchange

    def _arrived_as(self, exchange: Exchange, target: str, data: bytes) -> Exchange:
        """What a request is that came to this address, in these bytes."""
        return exchange

    async def _said(self, error: HttpError, wire: Wire) -> None:
        await wire.error(error)

    def _stream_of(self, *args: Any, **options: Any) -> Stream:
        return Stream(*args, **options)

    async def _handle(self, exchange: Exchange, wire: Wire) -> None:
        route = f"{exchange.method} {exchange.path}"
        if route in self._routes:
            try:
                await wire.json(200, self._routes[route](exchange))
            except (LookupError, TypeError) as error:
                await wire.json(400, {"error": repr(error)})
        elif not (_key(exchange) or self._keyless) or "wrong" in _key(exchange):
            await wire.error(wrong_key())
        elif route == "POST /v1/messages":
            await self._answer(exchange, wire)
        elif route == "POST /v1/messages/count_tokens":
            await wire.json(200, {"input_tokens": _tokens(exchange)})
        elif exchange.method == "GET" and exchange.path.startswith("/v1/models"):
            await self._list(exchange.path.removeprefix("/v1/models").strip("/"), wire)
        else:
            await wire.error(HttpError(404, "not_found_error", "Not found"))
        exchange.finished = monotonic()

    async def _list(self, model: str, wire: Wire) -> None:
        await asyncio.sleep(self._models_delay)
        if not self._models_api or (model and model not in self._models):
            await wire.error(HttpError(404, "not_found_error", f"model: {model}"))
        elif model:
            await wire.json(200, self._entry(model))
        else:
            entries = [self._entry(name) for name in self._models]
            await wire.json(200, {"data": entries, "has_more": False, "last_id": model})

    def _entry(self, model: str) -> dict[str, Any]:
        return {
            "type": "model",
            "id": model,
            "display_name": self._models[model],
            "max_input_tokens": self._context_window,
            "max_tokens": 128_000,
            "lifecycle": "active",
            "created_at": "2026-10-01T00:00:00Z",
        }

    # --- messages --------------------------------------------------------------------

    async def _answer(self, exchange: Exchange, wire: Wire) -> None:
        turn = self._refusal(exchange) or self._scripted(exchange)
        if isinstance(turn, HttpError):
            await self._said(turn, wire)
            return
        given = self._history.begin(exchange.body)
        message_id = f"msg_{self._run}{len(self._history.given):05d}"
        usage = self._usage(exchange)
        stream = self._stream_of(turn, exchange.body, message_id=message_id, usage=usage)
        if await wire.stream(turn, stream, turn.speed or self.speed):
            given.content = stream.content
            given.paused = turn.stop_reason == "pause_turn"

    def _scripted(self, exchange: Exchange) -> Answer:
        try:
            return self._script(Request(exchange.body, exchange.attempt))
        except Exception as error:
            # Such as a result that has no cell_id. The test must see it, not the client.
            self.violations.append(f"the script failed: {error!r}")
            return bad_request(repr(error))

    def _refusal(self, exchange: Exchange) -> HttpError | None:
        body = exchange.body
        found: list[str] = []
        if self._check:
            try:
                found = problems(body)
            except (LookupError, TypeError, AttributeError) as error:
                found = [f"malformed request: {error!r}"]
            if self.version_in_header and "anthropic-version" not in exchange.headers:
                found.append("anthropic-version: header is required")
            if not found:
                found += self._history.problems(body)
        self.violations += found
        if exchange.size > LARGEST_REQUEST:
            return HttpError(413, "request_too_large", "Request exceeds the maximum size")
        if found:
            return bad_request(found[0])
        if body["model"] not in self._models:
            return unknown_model(body["model"])
        if (tokens := _tokens(exchange)) > self._context_window:
            return prompt_too_long(tokens, self._context_window)
        return None

    def _usage(self, exchange: Exchange) -> dict[str, int]:
        """What an earlier request had too is read from the cache, if the client asked for
        one."""
        total = _tokens(exchange)
        last = exchange.body["messages"][-1]["content"][-1]
        if "cache_control" not in exchange.body and "cache_control" not in last:
            return {"input_tokens": total}
        earlier = [e for e in self.requests if e is not exchange and _first(e) == _first(exchange)]
        cached = min(_tokens(earlier[-1]), total) if earlier else 0
        return {
            "input_tokens": 0,
            "cache_creation_input_tokens": total - cached,
            "cache_read_input_tokens": cached,
        }


def _key(exchange: Exchange) -> str:
    bearer = exchange.headers.get("authorization", "").removeprefix("Bearer")
    return (bearer or exchange.headers.get("x-api-key", "")).strip()


def _first(exchange: Exchange) -> Any:
    """The first message: that by which requests of one conversation are known."""
    return exchange.body.get("messages", [None])[0]


def _tokens(exchange: Exchange) -> int:
    """As good as any guess: four bytes a token, 1,600 tokens an image (the API's most)."""
    pictures = images(exchange.body["messages"])
    data = sum(len(picture["source"]["data"]) for picture in pictures)
    return (exchange.size - data) // 4 + 1_600 * len(pictures)
