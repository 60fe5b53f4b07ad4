"""Streamable HTTP by the package ``mcp``, with limits on what a server may send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

TIMEOUT = httpx2.Timeout(10.0, read=None)
"""Seconds. The call has a limit of its own."""
SESSION = "mcp-session-id"


class _Counted(httpx2.AsyncByteStream):
    """A body that passes on each part."""

    def __init__(self, stream: httpx2.AsyncByteStream, received: Callable[[bytes], None]) -> None:
        self._stream = stream
        self._received = received

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            self._received(part)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


@asynccontextmanager
async def http(
    url: str,
    headers: Mapping[str, str],
    received: Callable[[bytes], None],
    lost: Callable[[], None],
) -> AsyncIterator[Any]:
    """Read and write streams for a session of the package. ``received`` gets each
    part of an answer, and may raise ValueError to end it. Calls ``lost`` when the server no longer
    knows the session, as after its restart. Redirects are not followed: headers belong to this
    address."""

    async def bound(response: httpx2.Response) -> None:
        if response.status_code == HTTPStatus.NOT_FOUND and SESSION in response.request.headers:
            lost()
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ValueError("It sent a compressed answer, which no one asked for.")
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Counted(response.stream, received)

    async with (
        httpx2.AsyncClient(
            headers={"Accept-Encoding": "identity", **headers},
            timeout=TIMEOUT,
            event_hooks={"response": [bound]},
        ) as client,
        streamable_http_client(url, http_client=client) as streams,
    ):
        yield streams[:2]
