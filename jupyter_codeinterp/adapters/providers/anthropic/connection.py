"""One client of the SDK, for one set of credentials.

Importing this module imports the SDK (1.2 s), and making a Connection reads certificates
and files (60 ms): both belong in a worker thread.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import quote

import anthropic
import httpx2
import msgspec

from ....core.ports import ModelInfo, ModelRequest
from ....core.providers import origin
from ...model_http.bounded import bound
from ...model_http.connection import CONNECT_TIMEOUT, Event, HttpConnection, SdkErrors
from ...model_http.faults import Fault, Refusal, Server, no_key, status_of
from ...model_http.listing import Entry, entry
from .credentials import Credentials
from .profile import Profile, known_info
from .wire import request_body


class Connection(HttpConnection):
    """``max_tokens``, ``effort`` and ``stall`` as of AnthropicModel.

    Raises Fault ``no_key`` where a key is needed and there is none.
    """

    errors = SdkErrors(
        anthropic.APIStatusError,
        anthropic.APITimeoutError,
        anthropic.APIConnectionError,
        anthropic.AnthropicError,
    )
    models_path = "/v1/models"
    answers_path = "/v1/messages"

    def __init__(
        self,
        credentials: Server,
        http: httpx2.AsyncClient,
        profile: Profile,
        max_tokens: int,
        effort: str | None,
        stall: float | None,
    ) -> None:
        self.profile = profile
        self._max_tokens = max_tokens
        self._effort = effort
        silence = profile.stall if stall is None else stall
        self.server = credentials
        with self.faults(""):
            client = self._client_with(
                http_client=http,
                max_retries=0,
                open_telemetry=False,
                timeout=httpx2.Timeout(silence, connect=CONNECT_TIMEOUT),
            )
        super().__init__(credentials, client)
        self.list_path = self._place(profile.list_url) or self.models_path
        self.key_path = self._place(profile.key_url)

    def _client_with(self, **options: Any) -> Any:
        """The SDK's client. Raises Fault ``no_key``."""
        assert isinstance(self.server, Credentials)
        client = anthropic.AsyncAnthropic(
            **_authentication(self.server, self.profile), base_url=self.server.base_url, **options
        )
        if self.profile.needs_key and not self.server.secret and client.credentials is None:
            raise no_key(self.server)
        return client

    def _place(self, path: str) -> str:
        """Of the address's own origin, whatever path the address has; "" for none."""
        return f"{origin(self.server.base_url)}{path}" if path else ""

    async def answer(
        self, request: ModelRequest, without: frozenset[str]
    ) -> AsyncGenerator[Event, None]:
        """The events of a streamed answer as they were on the wire. Closing this iterator
        closes the HTTP stream at once."""
        body = request_body(request, self.profile, self._max_tokens, self._effort)
        with self.faults(request.model):
            async with (
                await self.sent(lambda: self._post(body)) as stream,
                aclosing(self.read(stream, AsItIs(), self._max_tokens)) as events,
            ):
                async for event in events:
                    yield event

    async def _post(self, body: dict[str, Any]) -> anthropic.AsyncStream[object]:
        """``messages.create``, but for the copy and the encoding of the body, which of a
        conversation of 400 messages would take a quarter of the server's share of a step, and
        for the models of the events, which are wanted as they came."""
        client: anthropic.AsyncAnthropic = self._client
        return await client.post(
            self.answers_path,
            content=msgspec.json.encode({**body, "stream": True}),
            options={"headers": {"Content-Type": "application/json"}},
            cast_to=object,
            stream=True,
            stream_cls=anthropic.AsyncStream[object],
        )

    async def info(self, model: str) -> ModelInfo:
        path = f"{self.models_path}/{quote(model, safe='')}"
        with self.faults(model):
            return self.info_of(entry((await self.get(path)).content))

    def info_of(self, listed: Entry) -> ModelInfo:
        known = known_info(listed.id)
        return ModelInfo(
            listed.id,
            listed.name or known.name,
            listed.context_window or known.context_window,
            listed.prices,
            images=listed.images,
            tools=listed.tools,
        )

    def page_query(self, after: str) -> Mapping[str, object]:
        return {"limit": 100, **({"after_id": after} if after else {})}

    def refusal(self, error: Exception) -> Refusal:
        assert isinstance(error, anthropic.APIStatusError)
        found = (str(each) for each in (error.type, error.error_code) if each)
        kinds = frozenset(found)
        status = status_of(kinds) if error.status_code == 200 else error.status_code
        return Refusal(status, error.api_message, kinds, headers=error.response.headers)

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, anthropic.CredentialsError):  # of the profile on disk
            return no_key(self.server)
        return super().other_fault(error, model)


class AsItIs:
    """The events of the Messages API."""

    said_all = False

    def feed(self, event: Event) -> Iterable[Event]:
        return (event,)

    def end(self) -> Iterable[Event]:
        return ()


def http_client() -> httpx2.AsyncClient:
    """Redirects are not followed: X-Api-Key would go along to another origin."""
    return anthropic.DefaultAsyncHttpxClient(
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [bound]},
    )


def _authentication(credentials: Credentials, profile: Profile) -> dict[str, Any]:
    """The client's arguments. With none at all the SDK looks for credentials on disk and in the
    environment, which are Anthropic's; so for other servers and other providers the absence of
    a key is said explicitly."""
    headers: dict[str, str | anthropic.Omit] = {}
    if not credentials.custom_headers:
        headers |= {name: anthropic.Omit() for name in custom_header_names()}
    if credentials.api_key and profile.x_api_key:
        headers["X-Api-Key"] = credentials.api_key
    if credentials.secret or (credentials.is_anthropic and profile.needs_key):
        return {
            "api_key": credentials.api_key,
            "auth_token": credentials.auth_token,
            "default_headers": headers,
        }
    return {"api_key": "", "default_headers": headers | {"Authorization": anthropic.Omit()}}


def custom_header_names() -> list[str]:
    """Of ANTHROPIC_CUSTOM_HEADERS, which every client of the SDK sends unless told not to."""
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return [name.strip() for name, colon, _ in (line.partition(":") for line in lines) if colon]
