"""One SDK client for one set of credentials. Turns the SDK's errors into Faults.

The SDKs of Anthropic and OpenAI share a generator and an HTTP client. So the guarantees for both
are here: bodies have bounds, no redirect is followed, no error contains a key, and closing an
answer closes its stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager, suppress
from time import monotonic
from typing import Any, NamedTuple, Protocol

import httpx2
import msgspec

from ...base.sentences import Sentence, in_english
from ...wire.messages import tool_uses
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest
from ...wire.providers import origin
from .answer import AnswerBuilder, Unbounded
from .bounded import BoundedBody, bound
from .facts import known_info
from .faults import ApiRefusal, Fault, connection_fault, no_model_server, status_fault
from .listing import ListedModel, models_in
from .service import ConnectionOptions, ModelServer

CONNECT_TIMEOUT = 10.0
"""Seconds until a silent address counts as unreachable."""
DRAIN_TIMEOUT = 0.2
"""Seconds; the end is usually in the same packet as the last event."""
YIELD_AFTER = 0.005
"""Seconds after which a fast stream yields to the event loop."""
LONGEST_REASON = 200
"""Characters; some reasons quote what the server has sent."""
_MISSING = (404, 405, 501)
"""Statuses of a web server for a missing path or method."""

# A redirect would take the secrets in headers along to another origin.
CLIENT_OPTIONS: dict[str, Any] = {
    "follow_redirects": False,
    "headers": {"Accept-Encoding": "identity"},
    "event_hooks": {"response": [bound]},
}

Event = dict[str, Any]


class SdkErrors(NamedTuple):
    """The classes of an SDK's errors, from the narrowest to the widest."""

    status: type[Exception]
    timeout: type[Exception]
    connection: type[Exception]
    any: type[Exception]


class Reader:
    """Builds one answer from an API's events. May raise Fault."""

    def feed(self, event: Event) -> Iterable[ModelEvent]:
        raise NotImplementedError

    def end(self) -> Iterable[ModelEvent]:
        """The final events when the stream ends, if the API needs that to end an answer."""
        return ()


class EventStream(Protocol):
    """An SDK's stream of raw events."""

    response: httpx2.Response

    async def __anext__(self) -> object: ...


class HttpConnection:
    """Sends requests through an SDK's client. ``headers`` go with each request, in addition to the
    client's."""

    errors: SdkErrors
    stream_class: type
    library_errors: tuple[type[Exception], ...] = ()
    """Errors of libraries that the SDK lets through; ``other_fault`` explains them."""
    make_http_client: Callable[..., httpx2.AsyncClient]
    """The SDK's own, which has its limits and timeouts."""
    http_options = CLIENT_OPTIONS
    models_path: str
    answers_path: str
    optional: tuple[str, ...] = ()
    """Parameters that a request can go without."""

    def __init__(
        self, server: ModelServer, http: httpx2.AsyncClient, options: ConnectionOptions
    ) -> None:
        self.server = server
        self.http = http
        self.options = options
        self.headers: dict[str, Any] = {}
        with self.faults(""):
            self._client = self.make_client()

    # --- for each API to override ----------------------------------------------------

    def make_client(self) -> Any:
        """The SDK's client. Raises Fault ``no_key``, or ``library_errors``."""
        raise NotImplementedError

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, Reader]:
        """The body of a request, and what reads the answer to it."""
        raise NotImplementedError

    async def info(self, model: str) -> ModelInfo:
        """Raises Fault ``unknown_model``."""
        raise NotImplementedError

    def refusal(self, error: Exception) -> ApiRefusal:
        """The refusal in an SDK error, from a status or in mid-stream."""
        raise NotImplementedError

    def other_fault(self, error: Exception, model: str) -> Fault:
        """A Fault for any other error of the SDK or of ``library_errors``."""
        return self._no_answer()

    # --- an answer -------------------------------------------------------------------

    async def answer(
        self, request: ModelRequest, without: frozenset[str]
    ) -> AsyncGenerator[ModelEvent, None]:
        """The events of an answer. ``without``: what the model does not accept. Closing this
        iterator closes the HTTP stream at once."""
        taken = (call.id for message in request.messages for call in tool_uses(message))
        answer = AnswerBuilder(self.options.max_tokens, taken)
        with self.faults(request.model):
            body, reader = self.talk(request, without, answer)
            async with (
                await self._post(body) as stream,
                aclosing(self._read(stream, reader, answer)) as events,
            ):
                async for event in events:
                    yield event

    @property
    def client_options(self) -> dict[str, Any]:
        """The SDK's own retries are off: a person sees and can stop ours."""
        stall = self.options.stall or (60.0 if self.server.is_claude else 300.0)
        timeout = httpx2.Timeout(stall, connect=CONNECT_TIMEOUT)
        return {"http_client": self.http, "max_retries": 0, "timeout": timeout}

    async def _post(self, body: dict[str, Any]) -> Any:
        """Send the body without the SDK's own method, which would copy and encode it. For a
        conversation of 400 messages that would take a quarter of the server's time in a step.
        It would also check events against types without other servers' additions (reasoning)."""
        return await self._client.post(
            self.answers_path,
            content=msgspec.json.encode({**body, "stream": True}, enc_hook=in_english),
            options={"headers": {**self.headers, "Content-Type": "application/json"}},
            cast_to=object,
            stream=True,
            stream_cls=self.stream_class,
        )

    async def _read(
        self, stream: EventStream, reader: Reader, answer: AnswerBuilder
    ) -> AsyncGenerator[ModelEvent, None]:
        bounded = stream.response.stream
        if not isinstance(bounded, BoundedBody):
            raise RuntimeError("this client does not bound its answers")
        bounded.expect_stream(self.options.max_tokens)
        began = monotonic()
        while (event := await anext(stream, None)) is not None:
            if not isinstance(event, dict):
                raise self._no_answer()
            new = list(reader.feed(event))
            if answer.progressed():
                bounded.note_progress()
            for shown in new:
                if isinstance(shown, ModelDone):
                    await self._drain(stream)
                yield shown
            if monotonic() - began > YIELD_AFTER:
                await asyncio.sleep(0)
                began = monotonic()
        for shown in reader.end():
            yield shown
        if not answer.done:
            message = Sentence("{place} ended it before it was complete.", place=self.server.place)
            raise Fault("server_error", message, again=True)

    async def _drain(self, stream: EventStream) -> None:
        """Read the rest of a complete stream. The HTTP client reuses a connection only after the
        whole answer was read. Does not wait for a server that never ends it."""
        with suppress(StopAsyncIteration, asyncio.TimeoutError, self.errors.any, httpx2.HTTPError):
            await asyncio.wait_for(stream.__anext__(), DRAIN_TIMEOUT)

    # --- models ----------------------------------------------------------------------

    async def models(self) -> tuple[ModelInfo, ...]:
        """The first MOST_MODELS. Raises Fault ``unknown_model`` if a model server has no list,
        ``offline`` if this is no model server."""
        with self.faults(""):
            if key_url := self.server.service.key_url:
                await self.get(self._at_origin(key_url))
            response = await self._list()
        try:
            return tuple(map(self.info_of, models_in(response.content)))
        except (ValueError, RecursionError):
            raise no_model_server(self.server) from None

    def _at_origin(self, path: str) -> str:
        """``path`` without the address's own path."""
        return f"{origin(self.server.base_url)}{path}"

    async def _list(self) -> Any:
        try:
            listed = self.server.service.list_url
            path = self._at_origin(listed) if listed else self.models_path
            return await self.get(path)
        except self.errors.status as error:
            status = self.refusal(error).status
            if status < 400 or (status in _MISSING and not await self._takes_messages()):
                raise no_model_server(self.server) from None
            raise

    async def _takes_messages(self) -> bool:
        """Whether this is a model server without a list: it answers an empty request with a JSON
        error. Raises the SDK's error if that is about the key."""
        try:
            options = {"headers": self.headers}
            path = self.answers_path
            await self._client.post(path, body={}, options=options, cast_to=httpx2.Response)
        except self.errors.status as error:
            status = self.refusal(error).status
            if status == 401:
                raise
            return status not in _MISSING and isinstance(getattr(error, "body", None), dict)
        return False

    async def get(self, path: str) -> Any:
        """The raw response: the SDK would accept any body as the expected type."""
        options = {"headers": self.headers}
        return await self._client.get(path, options=options, cast_to=httpx2.Response)

    def info_of(self, listed: ListedModel) -> ModelInfo:
        known = known_info(listed.id)
        return ModelInfo(
            listed.id,
            listed.name or known.name,
            listed.context_window or known.context_window,
            listed.prices,
        )

    # --- faults ----------------------------------------------------------------------

    @contextmanager
    def faults(self, model: str) -> Iterator[None]:
        # `from None`: the SDK's errors carry the request, and with it the key.
        try:
            yield
        except self.errors.status as error:
            raise self.status_fault(error, model) from None
        except (self.errors.timeout, httpx2.TimeoutException):
            raise self._unreachable("it did not respond in time") from None
        except Unbounded as error:
            raise self._unbounded_fault(error) from None
        except self.errors.connection as error:
            if isinstance(error.__cause__, Unbounded):
                raise self._unbounded_fault(error.__cause__) from None
            raise self._unreachable(str(error.__cause__ or error)) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except (self.errors.any, *self.library_errors) as error:
            raise self.other_fault(error, model) from None
        except (ValueError, RecursionError):
            raise self._no_answer() from None

    def status_fault(self, error: Exception, model: str) -> Fault:
        return status_fault(self.refusal(error), self.server, model, self.optional)

    def _unbounded_fault(self, error: Unbounded) -> Fault:
        message = Sentence(
            "{place}: {error}. The rest was not read.", place=self.server.place, error=error
        )
        return Fault("server_error", message)

    def _unreachable(self, reason: str) -> Fault:
        return connection_fault(reason[:LONGEST_REASON].rstrip("."), self.server)

    def _no_answer(self) -> Fault:
        message = Sentence(
            "{place} sent a response that is not a model's answer.", place=self.server.place
        )
        return Fault("server_error", message, again=True)
