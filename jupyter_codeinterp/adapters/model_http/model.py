"""The Model: asks, tries again while nothing has come, and knows what models there are.

The SDK is imported in a worker thread on first use (1.2 s and 66 MB for Anthropic's, 0.5 s for
OpenAI's).
"""

from __future__ import annotations

import asyncio
import difflib
import ipaddress
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

import msgspec

from ...core.errors import ModelError
from ...core.messages import Message, ToolUse
from ...core.ports import (
    TAKEN,
    ModelEvent,
    ModelInfo,
    ModelRead,
    ModelRequest,
    ModelRetry,
    Prices,
)
from . import files
from .accumulator import Accumulator, Event
from .facts import completed
from .faults import Fault

if TYPE_CHECKING:
    import httpx2

ATTEMPTS = 6
LONGEST_WAIT = 60.0
"""Seconds that a server's ``retry-after`` is honoured for at most."""
INFO_TIMEOUT = 1.0
"""Seconds that a turn waits at most for what a server knows of its model."""
LIST_TIMEOUT = 10.0
ASK_AGAIN_AFTER = 300.0
"""Seconds until a server that could not say is asked again for a model's information."""
NEAREST_TIMEOUT = 5.0
"""Seconds that names near that of an unknown model are looked for."""
MOST_NAMES = 500
"""Of a list that are compared with a name."""
SetPrices = Mapping[str, Prices]


def backoff(attempt: int) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, 1 to 30, with jitter
    so that many clients do not come back at once."""
    longest = min(30.0, 2.0**attempt)
    return random.uniform(longest / 2, longest)


class Server(Protocol):
    """Where requests go, and with what. Two that are equal can use one connection."""

    @property
    def place(self) -> str: ...

    def own_name(self, model: str) -> str:
        """What the server calls the model. Raises ModelError ``unknown_model``."""

    def __hash__(self) -> int: ...


class Connection(Protocol):
    """To one server. Raises Fault."""

    def answer(self, request: ModelRequest, without: frozenset[str]) -> AsyncGenerator[Event, None]:
        """The events of an answer, as those of the Messages API. ``without``: what the model
        is known not to take. Closing this iterator closes the HTTP stream at once."""

    async def info(self, model: str) -> ModelInfo: ...

    async def models(self) -> Sequence[ModelInfo]: ...


S = TypeVar("S", bound=Server)


class HttpModel(Generic[S]):
    """Fulfils ``Model``, and ``Connection`` of core/providers.py.

    prices          US dollars a million tokens by model id, over the built-in ones
    wait, attempts  seconds after a failed attempt, where the server names none; how many

    A stream that is cancelled while it waits for the server closes the connection at once.
    A consumer that stops in between closes it with ``aclose`` (``contextlib.aclosing``).
    """

    always_ask = False

    def __init__(
        self, prices: SetPrices | None, wait: Callable[[int], float], attempts: int
    ) -> None:
        self._prices = dict(prices or {})
        self._wait = wait
        self._attempts = attempts
        self._connecting = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None
        self._connection: tuple[S, Connection] | None = None
        self._infos: dict[tuple[S, str], tuple[ModelInfo, float]] = {}
        self._without: dict[tuple[S, str], frozenset[str]] = {}
        """What each model was found not to take: ``images``, a parameter, the digest of a file."""

    # --- to be said by each wire -------------------------------------------------------

    def _server(self) -> S:
        """Where requests go now. Raises ModelError."""
        raise NotImplementedError

    def _open(self, server: S) -> tuple[httpx2.AsyncClient, Connection]:
        """In a worker thread. ``self._http`` is to be used if it is there."""
        raise NotImplementedError

    def _known(self, model: str, server: S | None) -> ModelInfo:
        """What is built in."""
        raise NotImplementedError

    def _known_models(self, server: S) -> Sequence[ModelInfo]:
        """Where a server has no list."""
        return ()

    def _vendor(self, server: S | None) -> str:
        """The provider whose own API this is; "" for none of those in ``facts.json``. None: there
        is no key, say."""
        return ""

    def _takes(self, server: S) -> Sequence[str]:
        """Media types of the files that the wire carries."""
        return TAKEN

    def _is_local(self, server: S, model: str) -> bool:
        """Whether the model runs on this machine."""
        return False

    # --- the Model -----------------------------------------------------------------------

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The events of one answer. A message without content is possible (a model may end
        its turn without a word): its ``content`` is then (), and when it is sent back, it
        says "(nothing said)", for the API refuses an empty one.

        Tool call ids are unique in the conversation: a repeated one gets a suffix. What a model
        is found not to take, images or a parameter, it is not sent again.
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
                    message = f"The answer broke off in the middle. {fault.message}"
                    raise ModelError("broken_stream", message) from None
                if self._can_do_without(fault.without, request):
                    continue
                if not fault.again or attempt == self._attempts:
                    raise await self._failed_for(request.model, fault, attempt) from None
                retry = self._retry(fault, attempt)
            attempt += 1
            yield retry
            await asyncio.sleep(retry.delay)

    async def info(self, model: str) -> ModelInfo:
        """What the server knows of the model, else what is built in. At most a second, and
        never an error."""
        try:
            server, connection = await self._connect()
            model = server.own_name(model)
        except (Fault, ModelError):
            return self._completed(self._known(model, None), None)
        key = (server, model)
        info, until = self._infos.get(key, (None, 0.0))
        if info is None or monotonic() > until:
            try:
                info = await asyncio.wait_for(connection.info(model), INFO_TIMEOUT)
                until = inf
            except (Fault, asyncio.TimeoutError):
                info = self._known(model, server)
                until = monotonic() + ASK_AGAIN_AFTER
            self._infos[key] = (info, until)
        info = self._completed(info, server)
        if "images" in self._without.get(key, ()):
            return msgspec.structs.replace(info, images=False)
        return info

    async def list_models(self, *, fallback: bool = True) -> tuple[ModelInfo, ...]:
        """The server's models; those built in if it has no such list, unless ``fallback`` is
        off (to find out whether a model server is there at all). Raises ModelError."""
        try:
            server, connection = await self._connect()
            infos = await asyncio.wait_for(connection.models(), LIST_TIMEOUT)
        except asyncio.TimeoutError:
            raise ModelError("offline", "The list of models did not come in time.") from None
        except Fault as fault:
            if fault.code != "unknown_model" or not fallback:  # 404: there is no such list
                raise _failed(fault, 1) from None
            infos = self._known_models(server)
        return tuple(self._completed(info, server) for info in infos)

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

    # --- inside --------------------------------------------------------------------------

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        server, connection = await self._connect()
        request = msgspec.structs.replace(request, model=server.own_name(request.model))
        without = self._without.get((server, request.model), frozenset())
        request = files.fitted(request, self._takes(server), without)
        accumulator = Accumulator(taken=call_ids(request.messages))
        async with aclosing(connection.answer(request, without)) as events:
            async for event in events:
                for shown in accumulator.feed(event):
                    yield shown
        if not accumulator.done:
            message = f"{server.place} ended it before it was complete."
            raise Fault("server_error", message, again=True)

    async def _connect(self) -> tuple[S, Connection]:
        """The connection for the credentials as they are now; one is kept."""
        server = self._server()
        async with self._connecting:
            if self._connection is None or self._connection[0] != server:
                self._http, connection = await asyncio.to_thread(self._open, server)
                self._connection = (server, connection)
            return self._connection

    def _can_do_without(self, what: str, request: ModelRequest) -> bool:
        """Notes what a request was refused for, if it had that."""
        if not what or self._connection is None:
            return False
        server = self._connection[0]
        key = (server, server.own_name(request.model))
        known = self._without.get(key, frozenset())
        given_up = files.given_up(what, request)
        if not given_up - known:
            return False
        self._without[key] = known | given_up
        return True

    async def _failed_for(self, model: str, fault: Fault, attempts: int) -> ModelError:
        """With the names that are near an unknown one."""
        error = _failed(fault, attempts)
        if fault.code != "unknown_model":
            return error
        try:
            listed = await asyncio.wait_for(self.list_models(fallback=False), NEAREST_TIMEOUT)
        except (ModelError, asyncio.TimeoutError):
            return error
        names = [info.id for info in listed[:MOST_NAMES]]
        near = await asyncio.to_thread(difflib.get_close_matches, model[:200], names, 3, 0.5)
        if not near:
            return error
        said = " or ".join(f"“{name}”" for name in near)
        return ModelError(error.code, f"{error.message} Near it are {said}.")

    def _retry(self, fault: Fault, attempt: int) -> ModelRetry:
        named = fault.retry_after
        delay = self._wait(attempt) if named is None else min(named, LONGEST_WAIT)
        return ModelRetry(fault.code, fault.message, delay, attempt)

    def _completed(self, info: ModelInfo, server: S | None) -> ModelInfo:
        local = server is not None and self._is_local(server, info.id)
        if server is not None:
            info = msgspec.structs.replace(info, takes=tuple(self._takes(server)))
        return completed(info, self._vendor(server), self._prices.get(info.id), local=local)


def is_loopback(url: str) -> bool:
    """Whether the address is one of this machine's own, that no other machine reaches."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def call_ids(messages: tuple[Message, ...]) -> set[str]:
    """The ids of all tool calls of a conversation."""
    return {
        block.id for message in messages for block in message.content if isinstance(block, ToolUse)
    }


def _failed(fault: Fault, attempts: int) -> ModelError:
    tried = f" Tried {attempts} times; try again later." if attempts > 1 else ""
    return ModelError(fault.code, fault.message + tried, fault.retry_after)
