"""One SDK client for one set of credentials.

Importing this module imports the SDK (0.5 s), and making a Connection reads certificates and
files: both belong in a worker thread.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import openai

from ....core.ports import ModelInfo, ModelRequest
from ...model_http.connection import (
    CLIENT_OPTIONS,
    CONNECT_TIMEOUT,
    Event,
    HttpConnection,
    SdkErrors,
    Wire,
)
from ...model_http.faults import Fault, Refusal, no_key, status_fault
from ...model_http.keys import custom_headers
from ...model_http.listing import Entry, shown_name
from . import chat, responses
from .refusals import refusal_of
from .services import Credentials


class Connection(HttpConnection):
    """``max_tokens`` and ``stall`` as of OpenAIModel.

    Raises Fault ``no_key`` if a required key is missing.
    """

    errors = SdkErrors(
        openai.APIStatusError,
        openai.APITimeoutError,
        openai.APIConnectionError,
        openai.OpenAIError,
    )
    stream_class = openai.AsyncStream[object]
    models_path = "/models"

    def __init__(
        self, credentials: Credentials, http: httpx2.AsyncClient, max_tokens: int, stall: float
    ) -> None:
        self.server = credentials
        self._service = credentials.service
        self._max_tokens = max_tokens
        if (credentials.is_public or self._service.resources) and not credentials.secret:
            raise no_key(credentials)
        wire = responses if self._service.wire == "responses" else chat
        self.answers_path = wire.PATH
        self.optional = wire.OPTIONAL
        with self.faults(""):
            client = openai.AsyncOpenAI(
                api_key=credentials.secret or "none",  # the placeholder is never sent
                base_url=credentials.base_url,
                http_client=http,
                max_retries=0,
                timeout=httpx2.Timeout(stall, connect=CONNECT_TIMEOUT),
            )
        super().__init__(credentials, client)
        self.headers = _headers(credentials)

    def answer(self, request: ModelRequest, without: frozenset[str]) -> AsyncGenerator[Event, None]:
        def refused(refusal: Refusal) -> Fault:
            return status_fault(refusal, self.server, request.model, self.optional)

        wire: Wire
        if self._service.wire == "responses":
            wire = responses.ResponsesWire(refused)
            body = responses.body(request, self._max_tokens, without)
        else:
            wire = chat.ChatWire(refused)
            body = chat.body(request, self._service, self._max_tokens, without)
        return self.stream(body, wire, request.model, self._max_tokens)

    async def info(self, model: str) -> ModelInfo:
        """Look the model up in the list: few servers have an address per model, and OpenAI's
        answers no more."""
        for info in await self.models():
            if info.id == model:
                return info
        raise Fault("unknown_model", f"{self.server.place} does not list “{model}”.")

    async def models(self) -> tuple[ModelInfo, ...]:
        """Models that may hold a conversation."""
        infos = await super().models()
        hides = self._service.hides
        return tuple(info for info in infos if not any(part in info.id for part in hides))

    def info_of(self, listed: Entry) -> ModelInfo:
        name = listed.id.removeprefix("models/")  # Gemini's list; requests take either
        return ModelInfo(
            name,
            listed.name or shown_name(name),
            listed.context_window,
            listed.prices,
            images=listed.images,
            tools=listed.tools,
        )

    def refusal(self, error: Exception) -> Refusal:
        """Handles an answer with an error status, or an error in mid-stream."""
        body = getattr(error, "body", None)
        if isinstance(body, list) and body:  # Gemini's are in a list
            body = body[0]
        response = getattr(error, "response", None)
        headers = {} if response is None else response.headers
        return refusal_of(body, getattr(error, "status_code", None), headers)

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, openai.APIError) and error.body is not None:
            return self.status_fault(error, model)
        return super().other_fault(error, model)


def http_client() -> httpx2.AsyncClient:
    return openai.DefaultAsyncHttpxClient(**CLIENT_OPTIONS)


def _headers(credentials: Credentials) -> dict[str, Any]:
    """Headers of each request. The SDK takes missing ones from the environment, where they
    belong to OpenAI or OPENAI_BASE_URL. So for other servers they are omitted explicitly."""
    headers: dict[str, Any] = {}
    if credentials.service.name != "openai" or not credentials.of_environment:
        custom = [name for name, _ in custom_headers("OPENAI_CUSTOM_HEADERS")]
        names = ["OpenAI-Organization", "OpenAI-Project", *custom]
        headers = {name: openai.Omit() for name in names if name.lower() != "authorization"}
    key = credentials.secret
    return {**headers, "Authorization": f"Bearer {key}" if key else openai.Omit()}
