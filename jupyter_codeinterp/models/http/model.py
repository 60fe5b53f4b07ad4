"""The models of one server, with one set of credentials, over an SDK's client.

The SDKs of Anthropic and OpenAI share a generator and an HTTP client. So the guarantees for both
are here: bodies have bounds, no redirect is followed, no error contains a key, and closing an
answer closes its stream.
"""

from __future__ import annotations

import asyncio
import ipaddress
import random
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing, contextmanager, suppress
from math import ceil, inf
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from ...base.errors import ModelError
from ...base.sentences import Sentence, in_english, together
from ...wire.messages import tool_uses
from ...wire.ports import ModelDone, ModelEvent, ModelInfo, ModelRead, ModelRequest, ModelRetry
from ...wire.providers import Settings, origin
from . import files
from .answer import AnswerBuilder, Unbounded
from .bounded import BoundedBody, bound
from .facts import completed, known_info
from .faults import IMAGES, ApiRefusal, Fault, connection_fault, no_model_server, status_fault
from .listing import ListedModel, models_in
from .service import ModelServer

ATTEMPTS = 6
LONGEST_WAIT = 60.0
"""Most seconds of a server's ``retry-after`` that a call waits. A longer one ends it with an error
that names the time."""
INFO_TIMEOUT = 1.0
"""Most seconds that a turn waits for the server's information about its model."""
LIST_TIMEOUT = 10.0
ASK_AGAIN_AFTER = 300.0
"""Seconds before asking again a server that had no information about a model."""
CONNECT_TIMEOUT = 10.0
"""Seconds until a silent address counts as unreachable."""
DRAIN_TIMEOUT = 0.2
"""Seconds; the end is usually in the same packet as the last event."""
YIELD_AFTER = 0.005
"""Seconds after which a fast stream yields to the event loop."""
LONGEST_REASON = 200
"""Characters; some reasons quote what the server has sent."""
CLOUD_ENDINGS = ("-cloud", ":cloud")
"""Name endings of models that Ollama runs in its cloud (docs.ollama.com/cloud)."""
_MISSING = (404, 405, 501)
"""Statuses of a web server for a missing path or method."""

# A redirect would take the secrets in headers along to another origin.
CLIENT_OPTIONS: dict[str, Any] = {
    "follow_redirects": False,
    "headers": {"Accept-Encoding": "identity"},
    "event_hooks": {"response": [bound]},
}

Event = dict[str, Any]


def backoff(attempt: int) -> float:
    """Seconds to wait after failed attempt 1, 2, …: doubled each time, 1 to 30. Jitter keeps
    many clients from returning at once."""
    longest = min(30.0, 2.0**attempt)
    return random.uniform(longest / 2, longest)


class Reader:
    """Builds one answer from an API's events. May raise Fault."""

    def feed(self, event: Event) -> Iterable[ModelEvent]:
        raise NotImplementedError

    def end(self) -> Iterable[ModelEvent]:
        """The final events when the stream ends, if the API needs that to end an answer."""
        return ()


class HttpModel:
    """Implements ``Connection`` of wire/providers.py; a subclass for each API.

    Making one imports the SDK (Anthropic's: 1.2 s and 66 MB, OpenAI's: 0.5 s) and reads
    certificates and files, so it belongs in a worker thread.

    Cancelling a stream that waits for the server closes the connection at once. A consumer that
    stops in between closes it with ``aclose`` (``contextlib.aclosing``).
    """

    always_ask = False
    sdk: Any
    """The SDK's module."""
    sdk_error: type[Exception]
    """The base class of its errors."""
    library_errors: tuple[type[Exception], ...] = ()
    """Errors of libraries that the SDK lets through; ``other_fault`` explains them."""
    models_path: str
    answers_path: str
    optional: tuple[str, ...] = ()
    """Parameters that a request can go without."""

    def __init__(self, server: ModelServer, settings: Settings) -> None:
        """Raises ModelError ``no_key``."""
        self.server = server
        self.settings = settings
        self.attempts = ATTEMPTS
        self.wait = backoff
        """Seconds after a failed attempt, if the server names none."""
        self.headers: dict[str, Any] = {}
        """Headers of each request, in addition to the client's."""
        self._infos: dict[str, tuple[ModelInfo, float]] = {}
        self._without: dict[str, frozenset[str]] = {}
        """What each model refused: ``images``, ``documents``, a parameter."""
        self.http: httpx2.AsyncClient = self.sdk.DefaultAsyncHttpxClient(**CLIENT_OPTIONS)
        try:
            with self.faults(""):
                self._client = self.make_client()
        except Fault as fault:
            raise _failed(fault, 1) from None

    # --- for each API to override ----------------------------------------------------

    def make_client(self) -> Any:
        """The SDK's client. Raises Fault ``no_key``, or ``library_errors``."""
        raise NotImplementedError

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, Reader]:
        """The body of a request, and what reads the answer to it."""
        raise NotImplementedError

    async def look_up(self, model: str) -> ModelInfo:
        """The server's own information. Raises Fault ``unknown_model``."""
        raise NotImplementedError

    def refusal(self, error: Exception) -> ApiRefusal:
        """The refusal in an SDK error, from a status or in mid-stream."""
        raise NotImplementedError

    def other_fault(self, error: Exception, model: str) -> Fault:
        """A Fault for any other error of the SDK or of ``library_errors``."""
        return self._no_answer()

    # --- an answer -------------------------------------------------------------------

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """The events of one answer.

        A model may end its turn without a word: the message's ``content`` is then (). A later
        request has "(nothing said)", because the API refuses an empty message. Tool call ids are
        unique in the conversation: a repeated one gets a suffix. Images or parameters that a
        model refused are not sent to it again. No request follows a change of the credentials.
        """
        request = msgspec.structs.replace(request, model=self.server.own_name(request.model))
        attempt = 1
        while True:
            if not self.settings.is_current():
                label = self.server.service.label
                words = Sentence("The connection of {label} was changed meanwhile.", label=label)
                raise ModelError("server_error", words)
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
                    delay = self.wait(attempt)
                if not fault.again or attempt >= self.attempts or delay > LONGEST_WAIT:
                    raise _failed(fault, attempt) from None
                retry = ModelRetry(fault.code, fault.message, delay, attempt)
            attempt += 1
            yield retry
            await asyncio.sleep(delay)

    async def _answer(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One attempt. Closing this iterator closes the HTTP stream at once."""
        without = self._without.get(request.model, frozenset())
        request = files.fitted(request, self.server.takes, without)
        taken = (call.id for message in request.messages for call in tool_uses(message))
        answer = AnswerBuilder(self.settings.max_tokens, taken)
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
        silence = 60.0 if self.server.is_claude else 300.0  # seconds until a stream is dead
        timeout = httpx2.Timeout(silence, connect=CONNECT_TIMEOUT)
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
            stream_cls=self.sdk.AsyncStream[object],
        )

    async def _read(
        self, stream: Any, reader: Reader, answer: AnswerBuilder
    ) -> AsyncGenerator[ModelEvent, None]:
        bounded = stream.response.stream
        if not isinstance(bounded, BoundedBody):
            raise RuntimeError("this client does not bound its answers")
        bounded.expect_stream(self.settings.max_tokens)
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

    async def _drain(self, stream: Any) -> None:
        """Read the rest of a complete stream. The HTTP client reuses a connection only after the
        whole answer was read. Does not wait for a server that never ends it."""
        with suppress(StopAsyncIteration, asyncio.TimeoutError, self.sdk_error, httpx2.HTTPError):
            await asyncio.wait_for(stream.__anext__(), DRAIN_TIMEOUT)

    def _record_refusal(self, what: str, request: ModelRequest) -> bool:
        """Record what the model refused, if the request had it; return whether it did."""
        known = self._without.get(request.model, frozenset())
        given_up = files.given_up(what, request) if what else frozenset()
        if not given_up - known:
            return False
        self._without[request.model] = known | given_up
        return True

    # --- models ----------------------------------------------------------------------

    async def info(self, model: str) -> ModelInfo:
        """The server's information about the model, else the built-in one. Takes at most a
        second and never raises."""
        model = self.server.own_name(model)
        info, until = self._infos.get(model, (None, 0.0))
        if info is None or monotonic() > until:
            try:
                info, until = await asyncio.wait_for(self.look_up(model), INFO_TIMEOUT), inf
            except (Fault, asyncio.TimeoutError):
                info, until = known_info(model), monotonic() + ASK_AGAIN_AFTER
            self._infos[model] = (info, until)
        info = self._completed(info)
        if IMAGES in self._without.get(model, ()):
            return msgspec.structs.replace(info, images=False)
        return info

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The server's models; the built-in ones if it has no list. Raises ModelError."""
        try:
            infos = await asyncio.wait_for(self.listed(), LIST_TIMEOUT)
        except asyncio.TimeoutError:
            raise ModelError("offline", "Loading the list of models took too long.") from None
        except Fault as fault:
            if fault.code != "unknown_model":  # 404: there is no such list
                raise _failed(fault, 1) from None
            infos = tuple(map(known_info, self.server.service.models))
        return tuple(map(self._completed, infos))

    async def aclose(self) -> None:
        await self.http.aclose()

    async def listed(self) -> tuple[ModelInfo, ...]:
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
        except self.sdk.APIStatusError as error:
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
        except self.sdk.APIStatusError as error:
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

    def _completed(self, info: ModelInfo) -> ModelInfo:
        server = self.server
        here = server.service.runs_here and is_loopback(server.base_url)
        local = here and not info.id.endswith(CLOUD_ENDINGS)
        info = msgspec.structs.replace(info, takes=server.takes)
        return completed(info, server.vendor, self.settings.prices.get(info.id), local=local)

    # --- faults ----------------------------------------------------------------------

    @contextmanager
    def faults(self, model: str) -> Iterator[None]:
        # `from None`: the SDK's errors carry the request, and with it the key.
        try:
            yield
        except self.sdk.APIStatusError as error:
            raise self.status_fault(error, model) from None
        except (self.sdk.APITimeoutError, httpx2.TimeoutException):
            raise self._unreachable("it did not respond in time") from None
        except Unbounded as error:
            raise self._unbounded_fault(error) from None
        except self.sdk.APIConnectionError as error:
            if isinstance(error.__cause__, Unbounded):
                raise self._unbounded_fault(error.__cause__) from None
            raise self._unreachable(str(error.__cause__ or error)) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except (self.sdk_error, *self.library_errors) as error:
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
    return ModelError(fault.code, words)
