"""One client of the SDK, for one set of credentials. Its errors leave here as Faults.

Importing this module imports the SDK (1.2 s), and making a Connection reads certificates
and files (60 ms): both belong in a worker thread.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any
from urllib.parse import quote

import anthropic
import httpx2
import msgspec

from ....core.ports import ModelInfo
from ....core.providers import origin
from .bounded import BoundedBody, Said, Unbounded, bound
from .credentials import Credentials
from .faults import Fault, connection_fault, no_key, no_model_server, status_fault
from .listing import MOST_MODELS, Entry, entry, page
from .profile import ANTHROPIC, OTHER, Profile, known_info

CONNECT_TIMEOUT = 10.0
"""Seconds until an address that does not answer counts as unreachable."""
DRAIN_TIMEOUT = 0.2
"""Seconds; the end is usually in the same packet as the last event."""
TURN = 0.005
"""Seconds after which a stream that comes faster than it is read lets the server go on."""
LONGEST_REASON = 200
"""Characters; some reasons quote what the server has sent."""


class Connection:
    """``profile`` None: the one that suits the address. ``stall`` None: the profile's.

    Raises Fault ``no_key`` where a key is needed and there is none.
    """

    def __init__(
        self,
        credentials: Credentials,
        http: httpx2.AsyncClient,
        profile: Profile | None = None,
        stall: float | None = None,
    ) -> None:
        self.credentials = credentials
        self.profile = profile or (ANTHROPIC if credentials.is_anthropic else OTHER)
        silence = self.profile.stall if stall is None else stall
        with self._faults(""):
            self._client = anthropic.AsyncAnthropic(
                **_authentication(credentials, self.profile),
                base_url=credentials.base_url,
                http_client=http,
                max_retries=0,
                open_telemetry=False,
                timeout=httpx2.Timeout(silence, connect=CONNECT_TIMEOUT),
            )
        keyless = not credentials.secret and self._client.credentials is None
        if self.profile.needs_key and keyless:
            raise no_key(credentials)

    async def events(self, body: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a streamed answer as they were on the wire. Closing this iterator
        closes the HTTP stream at once."""
        with self._faults(body["model"]):
            async with await self._post(body) as stream:
                bounded, said = stream.response.stream, Said(body["max_tokens"])
                if not isinstance(bounded, BoundedBody):
                    raise RuntimeError("this client's answers are not bounded")
                bounded.is_answer(body["max_tokens"])
                began = monotonic()
                async for event in stream:
                    if not isinstance(event, dict):
                        raise self._no_answer()
                    bounded.goes_on()
                    said.add(event)
                    if event.get("type") == "message_stop":
                        await _drain(stream)
                    yield event
                    if monotonic() - began > TURN:
                        await asyncio.sleep(0)
                        began = monotonic()

    async def _post(self, body: dict[str, Any]) -> anthropic.AsyncStream[object]:
        """``messages.create``, but for the copy and the encoding of the body, which of a
        conversation of 400 messages would take a quarter of the server's share of a step, and
        for the models of the events, which are wanted as they came."""
        return await self._client.post(
            "/v1/messages",
            content=msgspec.json.encode({**body, "stream": True}),
            options={"headers": {"Content-Type": "application/json"}},
            cast_to=object,
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )

    async def info(self, model: str) -> ModelInfo:
        path = f"/v1/models/{quote(model, safe='')}"
        with self._faults(model):
            return self._info(entry((await self._get(path)).content))

    async def models(self) -> tuple[ModelInfo, ...]:
        """The first MOST_MODELS. Raises Fault ``unknown_model`` from a model server that has
        no such list, ``offline`` from what is no model server."""
        found: list[Entry] = []
        after: str | None = ""
        with self._faults(""):
            if self.profile.key_url:
                await self._get(self._place(self.profile.key_url))
            while after is not None and len(found) < MOST_MODELS:
                entries, after = await self._page(after)
                found += entries
        return tuple(self._info(each) for each in found[:MOST_MODELS])

    async def _page(self, after: str) -> tuple[list[Entry], str | None]:
        """Some models, and where the next page begins, if there is one."""
        response = await self._list(after)
        try:
            return page(response.content)
        except (ValueError, RecursionError):
            raise no_model_server(self.credentials) from None

    async def _list(self, after: str) -> httpx2.Response:
        query = {"limit": 100, **({"after_id": after} if after else {})}
        try:
            return await self._get(self._place(self.profile.list_url) or "/v1/models", query)
        except anthropic.APIStatusError as error:
            status = error.status_code
            if status < 400 or (status in _NOT_THERE and not await self._takes_messages()):
                raise no_model_server(self.credentials) from None
            raise

    def _place(self, path: str) -> str:
        """Of the address's own origin, whatever path the address has; "" for none."""
        return f"{origin(self.credentials.base_url)}{path}" if path else ""

    async def _takes_messages(self) -> bool:
        """Whether this is a model server all the same: an empty request is answered in JSON,
        with what is wrong with it. Raises the SDK's error if that is the key."""
        try:
            await self._client.post("/v1/messages", body={}, cast_to=httpx2.Response)
        except anthropic.APIStatusError as error:
            if error.status_code == 401:
                raise
            return error.status_code not in _NOT_THERE and isinstance(error.body, dict)
        return False

    async def _get(self, path: str, query: dict[str, object] | None = None) -> httpx2.Response:
        """The body as it is: the SDK would take any for what it expects."""
        return await self._client.get(
            path, options={"params": query or {}}, cast_to=httpx2.Response
        )

    def _info(self, listed: Entry) -> ModelInfo:
        known = known_info(listed.id, self.profile)
        window = listed.context_window or known.context_window
        return ModelInfo(listed.id, listed.name or known.name, window, known.prices)

    @contextmanager
    def _faults(self, model: str) -> Iterator[None]:
        # `from None`: the SDK's errors carry the request, and with it the key.
        try:
            yield
        except anthropic.APIStatusError as error:
            raise status_fault(error, self.credentials, model) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise self._unreachable("it did not answer in time") from None
        except Unbounded as error:
            raise self._without_end(error) from None
        except anthropic.APIConnectionError as error:
            if isinstance(error.__cause__, Unbounded):
                raise self._without_end(error.__cause__) from None
            raise self._unreachable(str(error.__cause__ or error)) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except anthropic.CredentialsError:  # of the profile on disk
            raise no_key(self.credentials) from None
        except (anthropic.AnthropicError, ValueError, RecursionError):
            raise self._no_answer() from None

    def _without_end(self, error: Unbounded) -> Fault:
        message = f"{self.credentials.place} sent {error}. The rest was not read."
        return Fault("server_error", message)

    def _unreachable(self, reason: str) -> Fault:
        words = re.sub(r"^\[Errno -?\d+\] ", "", reason[:LONGEST_REASON]).rstrip(".")
        return connection_fault(words[:1].lower() + words[1:], self.credentials)

    def _no_answer(self) -> Fault:
        message = f"{self.credentials.place} sent what is no answer of the Messages API."
        return Fault("server_error", message, again=True)


_NOT_THERE = (404, 405, 501)
"""What a web server says of a path or a method that it does not have."""


async def _drain(stream: anthropic.AsyncStream[Any]) -> None:
    """Read the end of a stream that has said all: a connection is kept for the next request
    only if its answer was read to the end. A server that does not end it is not waited for."""
    with suppress(asyncio.TimeoutError, anthropic.AnthropicError, httpx2.HTTPError):
        await asyncio.wait_for(anext(stream, None), DRAIN_TIMEOUT)


def http_client() -> httpx2.AsyncClient:
    """Redirects are not followed: X-Api-Key would go along to another origin."""
    return anthropic.DefaultAsyncHttpxClient(
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


def _authentication(credentials: Credentials, profile: Profile) -> dict[str, Any]:
    """The client's arguments. With none at all the SDK looks for credentials on disk, which
    are Anthropic's; so for other servers the absence of a key is said explicitly."""
    headers: dict[str, str | anthropic.Omit] = {}
    if not credentials.custom_headers:
        headers |= {name: anthropic.Omit() for name in _custom_header_names()}
    if credentials.api_key and profile.x_api_key:
        headers["X-Api-Key"] = credentials.api_key
    if credentials.secret or credentials.is_anthropic:
        return {
            "api_key": credentials.api_key,
            "auth_token": credentials.auth_token,
            "default_headers": headers,
        }
    return {"api_key": "", "default_headers": headers | {"Authorization": anthropic.Omit()}}


def _custom_header_names() -> list[str]:
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]
