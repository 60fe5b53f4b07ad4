"""The doors, on loopback only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from tests.fake_anthropic import FakeAnthropic, HttpError, Script, Step
from tests.fake_anthropic.frames import Event, Stream
from tests.fake_anthropic.turns import Cut, unknown_model
from tests.fake_anthropic.wire import Exchange, Wire

from . import event_stream, signatures
from .google import TOKEN

ACCESS_KEY = "AKIAFAKE0123456789AB"
SECRET_KEY = "fake/secret+key/of/aws/0123456789abcdefg"
REGION = "eu-west-1"
PROJECT = "my-project"
CLAUDE = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")


class _Door(FakeAnthropic):
    """A request comes to where the cloud has it, and is one to ``/v1/messages`` behind that."""

    prefix = ""
    automatic_caching = False
    version_in_header = False
    answers = re.compile("")

    def __init__(self, script: Script | Iterable[Step] = (), **options: Any) -> None:
        names = {f"{self.prefix}{name}": name for name in CLAUDE}
        super().__init__(script, models=options.pop("models", names), **options)

    def _arrived_as(self, exchange: Exchange, target: str, data: bytes) -> Exchange:
        exchange.refused = self.refused(exchange, target, data)
        found = self.answers.fullmatch(target)
        body = exchange.body
        if found is None or exchange.method != "POST":
            exchange.path = f"/elsewhere{exchange.path}"
            return exchange
        if not isinstance(body.pop("anthropic_version", None), str):
            self.violations.append("anthropic_version: Field required")
        if "model" in body:
            self.violations.append("model: Extra inputs are not permitted")
        if not self.automatic_caching and "cache_control" in body:
            self.violations.append("cache_control: Extra inputs are not permitted")
        body["model"] = unquote(found["model"])
        exchange.path = "/v1/messages"
        return exchange

    def refused(self, exchange: Exchange, target: str, data: bytes) -> HttpError | None:
        """Who is not let in."""
        raise NotImplementedError

    async def _handle(self, exchange: Exchange, wire: Wire) -> None:
        if exchange.path != "/v1/messages":
            await self._said(HttpError(404, "not_found_error", "Not found"), wire)
        elif exchange.refused is not None:
            await self._said(exchange.refused, wire)
        elif not exchange.body.get("messages"):
            error = HttpError(400, "invalid_request_error", "messages: at least one is required")
            await self._said(error, wire)
        else:
            await self._answer(exchange, wire)


class FakeBedrock(_Door):
    """Bedrock's runtime. It knows the key pair of this module, and any API key that is not
    "wrong". ``expired``: the credentials have expired."""

    prefix = "global.anthropic."
    answers = re.compile(r"/model/(?P<model>[^/]+)/invoke-with-response-stream")
    expired = False

    def refused(self, exchange: Exchange, target: str, data: bytes) -> HttpError | None:
        if self.expired:
            words = "The security token included in the request is expired"
            return HttpError(403, "ExpiredTokenException", words)
        key = exchange.headers.get("authorization", "")
        if key.startswith("Bearer "):
            if "wrong" in key:
                words = "Authentication failed: Please make sure your API Key is valid."
                return HttpError(403, "UnrecognizedClientException", words)
            return None
        known = {ACCESS_KEY: SECRET_KEY}
        place = (REGION, "bedrock")
        found = signatures.problem(exchange.method, target, exchange.headers, data, known, place)
        if not found:
            return None
        return HttpError(403, found, "The security token included in the request is invalid.")

    def _arrived_as(self, exchange: Exchange, target: str, data: bytes) -> Exchange:
        if "stream" in exchange.body:
            self.violations.append("stream: Extra inputs are not permitted")
        exchange.body["stream"] = True  # the path says it
        return super()._arrived_as(exchange, target, data)

    async def _said(self, error: HttpError, wire: Wire) -> None:
        kind = _AWS.get(error.type, error.type)
        message = error.message
        if error.type == "not_found_error" and error.status == 404 and "model:" in message:
            kind, message = "ValidationException", "The provided model identifier is invalid."
        status = _STATUS.get(kind, error.status)
        headers = {**error.headers, "x-amzn-ErrorType": f"{kind}:http://internal/"}
        await wire.json(status, {"message": message}, headers)

    def _stream_of(self, *args: Any, **options: Any) -> Stream:
        return _EventStream(*args, **options)


_AWS = {
    "invalid_request_error": "ValidationException",
    "permission_error": "AccessDeniedException",
    "rate_limit_error": "ThrottlingException",
    "overloaded_error": "ServiceUnavailableException",
    "api_error": "InternalServerException",
}
_STATUS = {
    "ValidationException": 400,
    "ThrottlingException": 429,
    "ServiceUnavailableException": 503,
    "InternalServerException": 500,
    "AccessDeniedException": 403,
}


class _EventStream(Stream):
    content_type = "application/vnd.amazon.eventstream"

    def frame(self, event: Event) -> bytes:
        if event["type"] == "exception":
            return event_stream.exception(event["kind"], event["message"])
        return event_stream.chunk(event)

    def fault(self, cut: Cut) -> Event:
        words = "The service is unavailable."
        return {"type": "exception", "kind": "serviceUnavailableException", "message": words}


class FakeVertex(_Door):
    """Vertex AI, for one project in one region, and the tokens that ``google`` gives, or any that
    is not "wrong"."""

    answers = re.compile(
        rf"/v1/projects/{PROJECT}/locations/{REGION}/publishers/anthropic/models/"
        r"(?P<model>[^/]+):streamRawPredict"
    )
    expired = False

    @property
    def place(self) -> str:
        return f"{self.url}/v1"

    def refused(self, exchange: Exchange, target: str, data: bytes) -> HttpError | None:
        key = exchange.headers.get("authorization", "")
        if self.expired or not key.startswith("Bearer ") or "wrong" in key:
            words = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            return HttpError(401, "UNAUTHENTICATED", words)
        return None

    async def _said(self, error: HttpError, wire: Wire) -> None:
        """The cloud's own errors in Google's shape, the model's in Anthropic's."""
        if error.status not in (401, 403, 404, 429):
            await wire.error(error)
            return
        kinds = {403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
        status = kinds.get(error.status, error.type)
        inner = {"code": error.status, "message": error.message, "status": status}
        await wire.json(error.status, [{"error": inner}], error.headers)


class FakeFoundry(_Door):
    """A resource of Foundry, whose key is any that is not "wrong"."""

    automatic_caching = True
    version_in_header = True
    answers = re.compile(r"/anthropic/v1/messages(?P<model>)")

    def _arrived_as(self, exchange: Exchange, target: str, data: bytes) -> Exchange:
        exchange.refused = self.refused(exchange, target, data)
        if self.answers.fullmatch(target) and exchange.method == "POST":
            exchange.path = "/v1/messages"
        return exchange

    @property
    def place(self) -> str:
        return f"{self.url}/anthropic"

    def refused(self, exchange: Exchange, target: str, data: bytes) -> HttpError | None:
        key = exchange.headers.get("x-api-key", "")
        if not key or "wrong" in key or "authorization" in exchange.headers:
            words = "Access denied due to invalid subscription key or wrong API endpoint."
            return HttpError(401, "401", words)
        return None

    async def _said(self, error: HttpError, wire: Wire) -> None:
        if error.type == "401":
            inner = {"code": "401", "message": error.message}
            await wire.json(401, {"error": inner}, error.headers)
        elif error.status == 404:
            words = f"The API deployment for this resource does not exist. ({error.message})"
            await wire.json(404, {"error": {"code": "DeploymentNotFound", "message": words}})
        else:
            await wire.error(error)


__all__ = ["TOKEN", "FakeBedrock", "FakeFoundry", "FakeVertex", "unknown_model"]
