"""One client of an SDK, for one set of credentials. Its errors leave here as Faults.

The SDKs of Anthropic and of OpenAI share a generator and an HTTP client, so what they promise is
kept once, here: bodies have bounds, no redirect is followed, no error carries a key away, and
closing an answer closes its stream.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, NamedTuple, Protocol, TypeVar

import httpx2

from ...core.ports import ModelInfo
from .bounded import BoundedBody, Said, Unbounded
from .faults import Fault, Refusal, Server, connection_fault, no_model_server, status_fault
from .listing import MOST_MODELS, Entry, page

CONNECT_TIMEOUT = 10.0
"""Seconds until an address that does not answer counts as unreachable."""
DRAIN_TIMEOUT = 0.2
"""Seconds; the end is usually in the same packet as the last event."""
LAST_WORDS = 2.0
"""Seconds that are waited for what comes after an answer that is whole: its usage."""
TURN = 0.005
"""Seconds after which a stream that comes faster than it is read lets the server go on."""
LONGEST_REASON = 200
"""Characters; some reasons quote what the server has sent."""
_NOT_THERE = (404, 405, 501)
"""What a web server says of a path or a method that it does not have."""

_CLOSED = "disconnected without sending a response"
"""How the HTTP client says that nothing at all came back."""

Event = dict[str, Any]
T = TypeVar("T")


class SdkErrors(NamedTuple):
    """The classes of an SDK's errors, from the narrowest to the widest."""

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]
    any: type[Exception]


class Wire(Protocol):
    """Makes events of the Messages API of what comes in one answer. May raise Fault."""

    said_all: bool
    """The answer is whole; what may come yet is not needed."""

    def feed(self, event: Event) -> Iterable[Event]: ...

    def end(self) -> Iterable[Event]:
        """What there is to say when nothing more comes."""


class EventStream(Protocol):
    """An SDK's stream of raw events."""

    response: httpx2.Response

    async def __anext__(self) -> object: ...


class HttpConnection:
    """``client`` is the SDK's."""

    errors: SdkErrors
    foreign: tuple[type[Exception], ...] = ()
    """What else the SDK lets through, of the libraries that it uses; ``other_fault`` has words."""
    models_path: str
    answers_path: str
    list_path = ""
    """Where models are listed, if not at ``models_path``."""
    key_path = ""
    """What is asked for first, where the list is no test of a key."""

    def __init__(self, server: Server, client: Any) -> None:
        self.server = server
        self.headers: dict[str, Any] = {}
        """Of each request, beside the client's."""
        self._client = client

    # --- an answer -------------------------------------------------------------------

    async def read(
        self, stream: EventStream, wire: Wire, max_tokens: int
    ) -> AsyncGenerator[Event, None]:
        """What a streamed answer says. Closing this iterator does not close the stream: whoever
        has opened it does."""
        bounded, said = stream.response.stream, Said(max_tokens)
        if not isinstance(bounded, BoundedBody):
            raise RuntimeError("this client's answers are not bounded")
        bounded.is_answer(max_tokens)
        began = monotonic()
        async for event in self._events(stream, wire):
            if not isinstance(event, dict):
                raise self._no_answer()
            for made in wire.feed(event):
                bounded.goes_on()
                said.add(made)
                if made.get("type") == "message_stop":
                    await self._drain(stream)
                yield made
            if monotonic() - began > TURN:
                await asyncio.sleep(0)
                began = monotonic()
        for made in wire.end():
            yield made

    async def _events(self, stream: EventStream, wire: Wire) -> AsyncGenerator[object, None]:
        while True:
            next_one = stream.__anext__()
            try:
                if wire.said_all:
                    event = await asyncio.wait_for(next_one, LAST_WORDS)
                else:
                    event = await next_one
            except StopAsyncIteration:
                return
            except (asyncio.TimeoutError, self.errors.any, httpx2.HTTPError):
                if not wire.said_all:
                    raise
                return
            yield event

    async def _drain(self, stream: EventStream) -> None:
        """Read the end of a stream that has said all: a connection is kept for the next request
        only if its answer was read to the end. A server that does not end it is not waited
        for."""
        with suppress(StopAsyncIteration, asyncio.TimeoutError, self.errors.any, httpx2.HTTPError):
            await asyncio.wait_for(stream.__anext__(), DRAIN_TIMEOUT)

    # --- models ----------------------------------------------------------------------

    async def models(self) -> tuple[ModelInfo, ...]:
        """The first MOST_MODELS. Raises Fault ``unknown_model`` from a model server that has
        no such list, ``offline`` from what is no model server."""
        found: list[Entry] = []
        after: str | None = ""
        with self.faults(""):
            if self.key_path:
                await self.get(self.key_path)
            while after is not None and len(found) < MOST_MODELS:
                entries, after = await self._page(after)
                found += entries
        return tuple(self.info_of(each) for each in found[:MOST_MODELS])

    async def _page(self, after: str) -> tuple[list[Entry], str | None]:
        """Some models, and where the next page begins, if there is one."""
        response = await self._list(after)
        try:
            return page(response.content)
        except (ValueError, RecursionError):
            raise no_model_server(self.server) from None

    async def _list(self, after: str) -> httpx2.Response:
        try:
            return await self.get(self.list_path or self.models_path, self.page_query(after))
        except self.errors.status as error:
            status = self.refusal(error).status
            if status < 400 or (status in _NOT_THERE and not await self._takes_messages()):
                raise no_model_server(self.server) from None
            raise

    async def _takes_messages(self) -> bool:
        """Whether this is a model server all the same: an empty request is answered in JSON,
        with what is wrong with it. Raises the SDK's error if that is the key."""
        try:
            options = {"headers": self.headers}
            path = self.answers_path
            await self._client.post(path, body={}, options=options, cast_to=httpx2.Response)
        except self.errors.status as error:
            status = self.refusal(error).status
            if status == 401:
                raise
            return status not in _NOT_THERE and isinstance(getattr(error, "body", None), dict)
        return False

    async def get(self, path: str, query: Mapping[str, object] | None = None) -> httpx2.Response:
        """The body as it is: the SDK would take any for what it expects."""
        options = {"params": dict(query or {}), "headers": self.headers}
        return await self.sent(
            lambda: self._client.get(path, options=options, cast_to=httpx2.Response)
        )

    async def sent(self, send: Callable[[], Awaitable[T]]) -> T:
        """A request, and the same once more where the server had closed the kept connection
        that it went by: some close one after each stream, and do not say so."""
        try:
            return await send()
        except self.errors.connection as error:
            cause = error.__cause__
            if not isinstance(cause, httpx2.RemoteProtocolError) or _CLOSED not in str(cause):
                raise
        return await send()

    def page_query(self, after: str) -> Mapping[str, object]:
        """For the page of models after the one that is named; "" for the first."""
        return {}

    def info_of(self, listed: Entry) -> ModelInfo:
        raise NotImplementedError

    # --- faults ----------------------------------------------------------------------

    optional: tuple[str, ...] = ()
    """Parameters that a request can go without."""

    def refusal(self, error: Exception) -> Refusal:
        """What one of the SDK's errors says: a status, or in the middle of a stream."""
        raise NotImplementedError

    def other_fault(self, error: Exception, model: str) -> Fault:
        """Of any other error of the SDK's, and of ``foreign``."""
        return self._no_answer()

    @contextmanager
    def faults(self, model: str) -> Iterator[None]:
        # `from None`: the SDK's errors carry the request, and with it the key.
        try:
            yield
        except self.errors.status as error:
            raise self.status_fault(error, model) from None
        except (self.errors.timeout, httpx2.TimeoutException):
            raise self._unreachable("it did not answer in time") from None
        except Unbounded as error:
            raise self._without_end(error) from None
        except self.errors.connection as error:
            if isinstance(error.__cause__, Unbounded):
                raise self._without_end(error.__cause__) from None
            raise self._unreachable(str(error.__cause__ or error)) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except (self.errors.any, *self.foreign) as error:
            raise self.other_fault(error, model) from None
        except (ValueError, RecursionError):
            raise self._no_answer() from None

    def status_fault(self, error: Exception, model: str) -> Fault:
        return status_fault(self.refusal(error), self.server, model, self.optional)

    def _without_end(self, error: Unbounded) -> Fault:
        message = f"{self.server.place} sent {error}. The rest was not read."
        return Fault("server_error", message)

    def _unreachable(self, reason: str) -> Fault:
        words = re.sub(r"^\[Errno -?\d+\] ", "", reason[:LONGEST_REASON]).rstrip(".")
        return connection_fault(words[:1].lower() + words[1:], self.server)

    def _no_answer(self) -> Fault:
        message = f"{self.server.place} sent what is no answer of a model."
        return Fault("server_error", message, again=True)
