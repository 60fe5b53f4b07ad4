"""The Model: asks, tries again while nothing has come, and knows what models there are.

The SDK is imported in a worker thread on first use (1.2 s, 66 MB).
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

import msgspec

from ....core.errors import ModelError
from ....core.ports import ModelEvent, ModelInfo, ModelRequest, ModelRetry
from .accumulator import Accumulator
from .credentials import Credentials, resolve
from .faults import Fault
from .profile import ANTHROPIC, KNOWN, Prices, Profile, known_info
from .wire import call_ids, request_body

if TYPE_CHECKING:
    import httpx2

    from .connection import Connection

ATTEMPTS = 6
LONGEST_WAIT = 60.0
"""Seconds that a server's ``retry-after`` is honoured for at most."""
INFO_TIMEOUT = 1.0
"""Seconds that a turn waits at most for what a server knows of its model."""
LIST_TIMEOUT = 10.0
ASK_AGAIN_AFTER = 300.0
"""Seconds until a server that could not say is asked again for a model's information."""


def backoff(attempt: int) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, 1 to 30, with jitter
    so that many clients do not come back at once."""
    longest = min(30.0, 2.0**attempt)
    return random.uniform(longest / 2, longest)


class AnthropicModel:
    """Fulfils ``Model`` over the Messages API.

    endpoint      gives (API key, base URL without /v1), each None for the environment's
                  (ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, Anthropic
                  itself). Asked before each call, so a key may change at any time. A key
                  that it gives belongs to the address that it gives.
    max_tokens    most tokens of one answer, thinking included; 16,000 are some 1,500 lines
                  of code. An answer cut there ends with stop_reason ``max_tokens``.
    effort        low, medium, high, xhigh, max; None for the model's default
    profile       what the endpoint is asked for; None: by its host
    known         models that there are where a server does not list its own
    environment   where Anthropic's own variables are looked for; another provider's key and
                  address have nothing to do with them
    prices        US dollars a million tokens by model id, over the built-in ones
    stall         seconds without a byte until a stream is dead; None: the profile's
    wait, attempts  seconds after a failed attempt, where the server names none; how many

    A stream that is cancelled while it waits for the server closes the connection at once.
    A consumer that stops in between closes it with ``aclose`` (``contextlib.aclosing``).
    """

    always_ask = False

    def __init__(
        self,
        endpoint: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        *,
        max_tokens: int = 16_000,
        effort: str | None = None,
        profile: Profile | None = None,
        known: Sequence[str] = tuple(KNOWN),
        environment: Mapping[str, str] = os.environ,
        prices: Mapping[str, Prices] | None = None,
        stall: float | None = None,
        wait: Callable[[int], float] = backoff,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._endpoint = endpoint
        self._max_tokens = max_tokens
        self._effort = effort
        self._profile = profile
        self._known = tuple(known)
        self._environment = environment
        self._prices = dict(prices or {})
        self._stall = stall
        self._wait = wait
        self._attempts = attempts
        self._connecting = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._connection: Connection | None = None
        self._infos: dict[tuple[Credentials, str], tuple[ModelInfo, float]] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The events of one answer. A message without content is possible (a model may end
        its turn without a word): its ``content`` is then (), and when it is sent back, it
        says "(nothing said)", for the API refuses an empty one.

        Tool call ids are unique in the conversation: a repeated one gets a suffix.
        """
        for attempt in range(1, self._attempts + 1):
            begun = False
            try:
                async with aclosing(self._answer(request)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except Fault as fault:
                if begun:
                    message = f"The answer broke off in the middle. {fault.message}"
                    raise ModelError("broken_stream", message) from None
                if not fault.again or attempt == self._attempts:
                    raise _failed(fault, attempt) from None
                retry = self._retry(fault, attempt)
            yield retry
            await asyncio.sleep(retry.delay)

    async def info(self, model: str) -> ModelInfo:
        """What the server knows of the model, else what is built in. At most a second, and
        never an error."""
        try:
            connection = await self._connect()
            model = connection.credentials.own_name(model)
        except (Fault, ModelError):
            return self._priced(known_info(model, self._profile or ANTHROPIC))
        key = (connection.credentials, model)
        info, until = self._infos.get(key, (None, 0.0))
        if info is None or monotonic() > until:
            try:
                info = await asyncio.wait_for(connection.info(model), INFO_TIMEOUT)
                until = inf
            except (Fault, asyncio.TimeoutError):
                info = known_info(model, connection.profile)
                until = monotonic() + ASK_AGAIN_AFTER
            self._infos[key] = (info, until)
        return self._priced(info)

    async def list_models(self, *, fallback: bool = True) -> tuple[ModelInfo, ...]:
        """The server's models; those built in if it has no such list, unless ``fallback`` is
        off (to find out whether a model server is there at all). Raises ModelError."""
        try:
            connection = await self._connect()
            infos = await asyncio.wait_for(connection.models(), LIST_TIMEOUT)
        except asyncio.TimeoutError:
            raise ModelError("offline", "The list of models did not come in time.") from None
        except Fault as fault:
            if fault.code != "unknown_model" or not fallback:  # 404: there is no such list
                raise _failed(fault, 1) from None
            infos = tuple(known_info(model, connection.profile) for model in self._known)
        return tuple(self._priced(info) for info in infos)

    async def prepare(self) -> None:
        """Import what is heavy, and reach for nothing. Raises ModelError."""
        try:
            await self._connect()
        except Fault as fault:
            raise _failed(fault, 1) from None

    async def aclose(self) -> None:
        """Close all connections. The model can be used again afterwards."""
        http, self._http, self._connection = self._http, None, None
        if http is not None:
            await http.aclose()

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        connection = await self._connect()
        name = connection.credentials.own_name(request.model)
        request = msgspec.structs.replace(request, model=name)
        body = request_body(request, connection.profile, self._max_tokens, self._effort)
        accumulator = Accumulator(taken=call_ids(request.messages))
        async with aclosing(connection.events(body)) as events:
            async for event in events:
                for shown in accumulator.feed(event):
                    yield shown
        if not accumulator.done:
            place = connection.credentials.place
            raise Fault("server_error", f"{place} ended it before it was complete.", again=True)

    async def _connect(self) -> Connection:
        """The connection for the credentials as they are now; one is kept."""
        credentials = resolve(*self._endpoint(), self._environment)
        async with self._connecting:
            if self._connection is None or self._connection.credentials != credentials:
                self._connection = await asyncio.to_thread(self._open, credentials)
            return self._connection

    def _open(self, credentials: Credentials) -> Connection:
        from .connection import Connection, http_client  # the SDK: heavy, in this thread only

        self._http = self._http or http_client()
        return Connection(credentials, self._http, self._profile, self._stall)

    def _retry(self, fault: Fault, attempt: int) -> ModelRetry:
        named = fault.retry_after
        delay = self._wait(attempt) if named is None else min(named, LONGEST_WAIT)
        return ModelRetry(fault.code, fault.message, delay, attempt)

    def _priced(self, info: ModelInfo) -> ModelInfo:
        prices = self._prices.get(info.id, info.prices)
        return ModelInfo(info.id, info.name, info.context_window, prices)


def _failed(fault: Fault, attempts: int) -> ModelError:
    tried = f" Tried {attempts} times; try again later." if attempts > 1 else ""
    return ModelError(fault.code, fault.message + tried, fault.retry_after)
