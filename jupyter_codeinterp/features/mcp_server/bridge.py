"""Passes MCP messages between standard input and output and a running server.

The package ``mcp`` has both transports. We connect them, and add the headers that HTTP needs, such
as the protocol's version.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import PROTOCOL_VERSION_META_KEY

TIMEOUT = httpx2.Timeout(10.0, read=None)
"""Seconds to connect. A call may wait for a person without a limit."""


async def bridge(url: str, token: str) -> None:
    """Pass messages on in both directions until standard input ends."""
    async with _server(url, token) as server, stdio_server() as (from_client, to_client):
        from_server, to_server = server
        versions = _Versions()

        async def back() -> None:
            async for message in from_server:
                if isinstance(message, SessionMessage):
                    versions.agreed(message)
                    await to_client.send(message)

        # Both transports end with their streams.
        async with from_client, to_client, to_server, anyio.create_task_group() as tasks:
            tasks.start_soon(back)
            async for message in from_client:
                if isinstance(message, SessionMessage):
                    await to_server.send(versions.stamped(message))
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _server(url: str, token: str) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams[:2]


class _Versions:
    """Adds to each message the headers with its protocol version: its own, or the handshake's."""

    def __init__(self) -> None:
        self._agreed = ""

    def agreed(self, answer: SessionMessage) -> None:
        result = getattr(answer.message, "result", None)
        if isinstance(result, dict) and isinstance(result.get("protocolVersion"), str):
            self._agreed = result["protocolVersion"]

    def stamped(self, message: SessionMessage) -> SessionMessage:
        sent: Any = message.message
        params = getattr(sent, "params", None) or {}
        meta = params.get("_meta") or {}
        headers = {}
        version = meta.get(PROTOCOL_VERSION_META_KEY) or self._agreed
        if version:
            headers[MCP_PROTOCOL_VERSION_HEADER] = str(version)
        if PROTOCOL_VERSION_META_KEY in meta:
            headers["mcp-method"] = str(getattr(sent, "method", ""))
            name = params.get("name", params.get("uri"))
            if isinstance(name, str):
                headers["mcp-name"] = name
        return SessionMessage(sent, ClientMessageMetadata(headers=headers or None))
