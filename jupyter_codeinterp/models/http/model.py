"""The Model: requests, retries before the first event, and information about models.

A worker thread imports the SDK on first use (1.2 s and 66 MB for Anthropic's, 0.5 s for
OpenAI's).
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from math import ceil, inf
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from ...base.errors import ModelError
from ...base.sentences import Sentence, together
from ...wire.ports import ModelEvent, ModelInfo, ModelRead, ModelRequest, ModelRetry, Prices
from . import files
from .facts import completed, known_info
from .faults import IMAGES, Fault
from .service import ConnectionOptions, ModelServer, Service, resolve

if TYPE_CHECKING:
    import httpx2

    from .connection import HttpConnection

ATTEMPTS = 6
LONGEST_WAIT = 60.0
"""Most seconds of a server's ``retry-after`` that a call waits. A longer one ends it with an error
that names the time."""
INFO_TIMEOUT = 1.0
"""Most seconds that a turn waits for the server's information about its model."""
LIST_TIMEOUT = 10.0
ASK_AGAIN_AFTER = 300.0
"""Seconds before asking again a server that had no information about a model."""
CLOUD_ENDINGS = ("-cloud", ":cloud")
"""Name endings of models that Ollama runs in its cloud (docs.ollama.com/cloud)."""


def backoff(attempt: int) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, 1 to 30. Jitter keeps
    many clients from returning at once."""
    longest = min(30.0, 2.0**attempt)
    return random.uniform(longest / 2, longest)


class HttpModel:
    """Implements ``Model``, and ``Connection`` of wire/providers.py, for one service.

    endpoint        returns (API key, address), each None for the environment's or the service's.
                    Called before each request, so a key may change at any time. Its key belongs
                    to its address.
    prices          US dollars per million tokens by model id, over the built-in ones
    wait, attempts  seconds after a failed attempt, if the server names none; most attempts
    options         as in ``ConnectionOptions``

    Cancelling a stream that waits for the server closes the connection at once. A consumer that
    stops in between closes it with ``aclose`` (``contextlib.aclosing``).
    """

    always_ask = False

    def __init__(
        self,
        service: Service,
        endpoint: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        *,
        prices: Mapping[str, Prices] | None = None,
        wait: Callable[[int], float] = backoff,
        attempts: int = ATTEMPTS,
        **options: Any,
    ) -> None:
        self._service = service
        self._endpoint = endpoint
        self._options = ConnectionOptions(**options)
        self._prices = dict(prices or {})
        self._wait = wait
        self._attempts = attempts
        self._connecting = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._connection: HttpConnection | None = None
        self._infos: dict[tuple[ModelServer, str], tuple[ModelInfo, float]] = {}
        self._without: dict[tuple[ModelServer, str], frozenset[str]] = {}
        """What each model refused: ``images``, ``documents``, a parameter."""

    # --- the Model -----------------------------------------------------------------------

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The events of one answer.

        A model may end its turn without a word: the message's ``content`` is then (). A later
        request has "(nothing said)", because the API refuses an empty message. Tool call ids are
        unique in the conversation: a repeated one gets a suffix. Images or parameters that a
        model refused are not sent to it again.
        """
        attempt = 1
        while True:
            begun = False
            try:
                async with aclosing(self._answer(request)) as events:
                    async for event in events:
                        begun = begun or not isinstance(event, ModelRead)
                        yield event
                return
            except Fault as fault:
                if begun:
                    message = Sentence("The answer was cut off. {message}", message=fault.message)
                    raise ModelError("broken_stream", message) from None
                if self._record_refusal(fault.without, request):
                    continue
                delay = fault.retry_after
                if delay is None:
                    delay = self._wait(attempt)
                if not fault.again or attempt >= self._attempts or delay > LONGEST_WAIT:
                    raise _failed(fault, attempt) from None
                retry = ModelRetry(fault.code, fault.message, delay, attempt)
            attempt += 1
            yield retry
            await asyncio.sleep(delay)

    async def info(self, model: str) -> ModelInfo:
        """The server's information about the model, else the built-in one. Takes at most a
        second and never raises."""
        try:
            connection = await self._connect()
            server = connection.server
            model = server.own_name(model)
        except (Fault, ModelError):
            # Without a server, only an admin's prices are known.
            return completed(known_info(model), "", self._prices.get(model), local=False)
        key = (server, model)
        info, until = self._infos.get(key, (None, 0.0))
        if info is None or monotonic() > until:
            try:
                info = await asyncio.wait_for(connection.info(model), INFO_TIMEOUT)
                until = inf
            except (Fault, asyncio.TimeoutError):
                info = known_info(model)
                until = monotonic() + ASK_AGAIN_AFTER
            self._infos[key] = (info, until)
        info = self._completed(info, server)
        if IMAGES in self._without.get(key, ()):
            return msgspec.structs.replace(info, images=False)
        return info

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The server's models; the built-in ones if it has no list. Raises ModelError."""
        try:
            connection = await self._connect()
            infos = await asyncio.wait_for(connection.models(), LIST_TIMEOUT)
        except asyncio.TimeoutError:
            raise ModelError("offline", "Loading the list of models took too long.") from None
        except Fault as fault:
            if fault.code != "unknown_model":  # 404: there is no such list
                raise _failed(fault, 1) from None
            infos = tuple(known_info(model) for model in self._service.models)
        return tuple(self._completed(info, connection.server) for info in infos)

    async def prepare(self) -> None:
        """Import heavy modules, without network access. Raises ModelError."""
        try:
            await self._connect()
        except Fault as fault:
            raise _failed(fault, 1) from None

    async def aclose(self) -> None:
        """Close all connections. The model can be used again afterwards."""
        http, self._http, self._connection = self._http, None, None
        if http is not None:
            await http.aclose()

    # --- internals --------------------------------------------------------------------------

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        connection = await self._connect()
        server = connection.server
        request = msgspec.structs.replace(request, model=server.own_name(request.model))
        without = self._without.get((server, request.model), frozenset())
        request = files.fitted(request, server.takes, without)
        async with aclosing(connection.answer(request, without)) as events:
            async for event in events:
                yield event

    async def _connect(self) -> HttpConnection:
        """The one connection, replaced when the credentials change."""
        server = resolve(self._service, *self._endpoint(), self._options.environment)
        async with self._connecting:
            if self._connection is None or self._connection.server != server:
                self._connection = await asyncio.to_thread(self._open, server)
                self._http = self._connection.http
            return self._connection

    def _open(self, server: ModelServer) -> HttpConnection:
        service = self._service
        try:
            kind = service.connection()
            http = self._http or kind.make_http_client(**kind.http_options)
            made: HttpConnection = kind(server, http, self._options)
        except ImportError:
            if not service.extra:
                raise
            words = Sentence(
                "{label} needs more packages. Install them and restart:", label=service.label
            )
            install = f'pip install "jupyter_codeinterp[{service.extra}]"'
            raise ModelError(
                "not_installed", "{words} {install}", words=words, install=install
            ) from None
        return made

    def _record_refusal(self, what: str, request: ModelRequest) -> bool:
        """Record what the model refused, if the request had it; return whether it did."""
        if not what or self._connection is None:
            return False
        server = self._connection.server
        key = (server, server.own_name(request.model))
        known = self._without.get(key, frozenset())
        given_up = files.given_up(what, request)
        if not given_up - known:
            return False
        self._without[key] = known | given_up
        return True

    def _completed(self, info: ModelInfo, server: ModelServer) -> ModelInfo:
        here = self._service.runs_here and is_loopback(server.base_url)
        local = here and not info.id.endswith(CLOUD_ENDINGS)
        info = msgspec.structs.replace(info, takes=server.takes)
        return completed(info, server.vendor, self._prices.get(info.id), local=local)


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own, which no other machine reaches."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _failed(fault: Fault, attempts: int) -> ModelError:
    wait = fault.retry_after or 0
    later = Sentence("Try again in {count} minutes.", count=ceil(wait / 60))
    when = later if wait > LONGEST_WAIT else Sentence("Try again later.")
    gave_up = attempts > 1
    words = together(
        fault.message,
        Sentence("Gave up after {attempts} attempts.", attempts=attempts) if gave_up else "",
        when if gave_up or wait > LONGEST_WAIT else "",
    )
    return ModelError(fault.code, words, fault.retry_after)
