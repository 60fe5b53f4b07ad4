"""One SDK client for one set of credentials.

Importing this module imports the SDK (1.2 s), and making a Connection reads certificates and
files (60 ms): both belong in a worker thread.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any
from urllib.parse import quote

import anthropic
import httpx2

from ....core.ports import ModelInfo, ModelRequest
from ....core.providers import origin
from ...model_http.connection import (
    CLIENT_OPTIONS,
    CONNECT_TIMEOUT,
    Event,
    HttpConnection,
    SdkErrors,
)
from ...model_http.faults import Fault, Refusal, Server, no_key, status_of
from ...model_http.keys import custom_headers
from ...model_http.listing import Entry, entry
from .wire import Credentials, Profile, known_info, request_body


class Connection(HttpConnection):
    """``max_tokens``, ``effort`` and ``stall`` as of AnthropicModel.

    Raises Fault ``no_key`` if a required key is missing.
    """

    errors = SdkErrors(
        anthropic.APIStatusError,
        anthropic.APITimeoutError,
        anthropic.APIConnectionError,
        anthropic.AnthropicError,
    )
    stream_class = anthropic.AsyncStream[object]
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
        """``path`` at the address's origin, without the address's own path; "" for none."""
        return f"{origin(self.server.base_url)}{path}" if path else ""

    def answer(self, request: ModelRequest, without: frozenset[str]) -> AsyncGenerator[Event, None]:
        body = request_body(request, self.profile, self._max_tokens, self._effort)
        return self.stream(body, RawEvents(), request.model, self._max_tokens)

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


class RawEvents:
    """Passes events of the Messages API through."""

    complete = False

    def feed(self, event: Event) -> Iterable[Event]:
        return (event,)

    def end(self, done: bool) -> Iterable[Event]:
        return ()


def http_client() -> httpx2.AsyncClient:
    return anthropic.DefaultAsyncHttpxClient(**CLIENT_OPTIONS)


def _authentication(credentials: Credentials, profile: Profile) -> dict[str, Any]:
    """The client's arguments. Without any, the SDK takes Anthropic's credentials from disk and
    environment; so other servers and providers get an explicit absence of a key."""
    headers: dict[str, str | anthropic.Omit] = {}
    if not credentials.custom_headers:
        headers |= omitted_headers()
    if credentials.api_key and profile.x_api_key:
        headers["X-Api-Key"] = credentials.api_key
    if credentials.secret or (credentials.is_anthropic and profile.needs_key):
        return {
            "api_key": credentials.api_key,
            "auth_token": credentials.auth_token,
            "default_headers": headers,
        }
    return {"api_key": "", "default_headers": headers | {"Authorization": anthropic.Omit()}}


def omitted_headers() -> dict[str, str | anthropic.Omit]:
    """Keeps out the environment's headers, which every SDK client sends unless overridden."""
    return {name: anthropic.Omit() for name, _ in custom_headers("ANTHROPIC_CUSTOM_HEADERS")}
