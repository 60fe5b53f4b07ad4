"""One client of the SDK, for one set of credentials. Its errors leave here as Faults.

Importing this module imports the SDK (1.2 s), and making a Connection reads certificates
and files (60 ms): both belong in a worker thread.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anthropic
import httpx2
import msgspec

from ...core.ports import ModelInfo
from .credentials import Credentials
from .faults import Fault, connection_fault, no_key, status_fault
from .profile import ANTHROPIC, OTHER, Profile, known_info

CONNECT_TIMEOUT = 10.0
"""Seconds until an address that does not answer counts as unreachable."""
DRAIN_TIMEOUT = 0.2
"""Seconds; the end is usually in the same packet as the last event."""


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
                async for event in stream:
                    if not isinstance(event, dict):
                        raise self._no_answer()
                    if event.get("type") == "message_stop":
                        await _drain(stream)
                    yield event

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
        with self._faults(model):
            return self._info(await self._client.models.retrieve(model))

    async def models(self) -> tuple[ModelInfo, ...]:
        with self._faults(""):
            return tuple([self._info(entry) async for entry in self._client.models.list(limit=100)])

    def _info(self, entry: object) -> ModelInfo:
        """Other servers leave fields out, or answer something else, whatever the SDK's types
        say."""
        if not isinstance(entry, anthropic.types.ModelInfo) or not entry.id:
            raise self._no_answer()
        known = known_info(entry.id, self.profile)
        window = entry.max_input_tokens or known.context_window
        return ModelInfo(entry.id, entry.display_name or known.name, window, known.prices)

    @contextmanager
    def _faults(self, model: str) -> Iterator[None]:
        # `from None`: the SDK's errors carry the request, and with it the key.
        try:
            yield
        except anthropic.APIStatusError as error:
            raise status_fault(error, self.credentials, model) from None
        except (anthropic.APITimeoutError, httpx2.TimeoutException):
            raise self._unreachable("it did not answer in time") from None
        except anthropic.APIConnectionError as error:
            raise self._unreachable(str(error.__cause__ or error)) from None
        except httpx2.HTTPError as error:
            raise self._unreachable(str(error) or type(error).__name__) from None
        except anthropic.CredentialsError:  # of the profile on disk
            raise no_key(self.credentials) from None
        except (anthropic.AnthropicError, json.JSONDecodeError, UnicodeDecodeError):
            raise self._no_answer() from None

    def _unreachable(self, reason: str) -> Fault:
        words = re.sub(r"^\[Errno -?\d+\] ", "", reason).rstrip(".")
        return connection_fault(words[:1].lower() + words[1:], self.credentials)

    def _no_answer(self) -> Fault:
        message = f"{self.credentials.place} sent what is no answer of the Messages API."
        return Fault("server_error", message, again=True)


async def _drain(stream: anthropic.AsyncStream[Any]) -> None:
    """Read the end of a stream that has said all: a connection is kept for the next request
    only if its answer was read to the end. A server that does not end it is not waited for."""
    with suppress(asyncio.TimeoutError, anthropic.AnthropicError, httpx2.HTTPError):
        await asyncio.wait_for(anext(stream, None), DRAIN_TIMEOUT)


def http_client() -> httpx2.AsyncClient:
    """Redirects are not followed: X-Api-Key would go along to another origin."""
    return anthropic.DefaultAsyncHttpxClient(follow_redirects=False)


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
