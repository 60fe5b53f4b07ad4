"""What a person can do at their own server besides turns: sockets, words in a terminal."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from .visitor import Visitor

PATIENCE = 90.0
"""Seconds that a command has."""
NOTEBOOKS = "notebooks"
"""The server's root in the person's home."""


async def socket(
    person: Visitor, path: str, headers: dict[str, str] | None = None
) -> WebSocketClientConnection:
    """A WebSocket with the person's cookies. Raises HTTPClientError if it is refused."""
    url = f"{person.http.base_url}".rstrip("/").replace("http", "ws", 1) + path
    given = {"Cookie": person.cookies(path), **(headers or {})}
    return await websocket_connect(HTTPRequest(url, headers=given, request_timeout=PATIENCE))


async def refusal(person: Visitor, path: str, headers: dict[str, str] | None = None) -> int:
    """The status with which a WebSocket is refused; 101 if it opens."""
    try:
        opened = await socket(person, path, headers)
    except HTTPClientError as error:
        return error.code
    opened.close()
    return 101


async def command(person: Visitor, line: str) -> str:
    """Run a line in the person's terminal; its output, errors included."""
    name = (await person.fetch("POST", "api/terminals", {}))["name"]
    file = f"out-{secrets.token_hex(4)}.txt"
    channel = await socket(person, f"{person.base}/terminals/websocket/{name}")
    try:
        coded = base64.b64encode(line.encode()).decode()
        target = f"~/{NOTEBOOKS}/{file}"
        whole = f"cd ~/{NOTEBOOKS}; echo {coded} | base64 -d | sh > {target}.part 2>&1"
        whole += f"; mv {target}.part {target}\r"
        await channel.write_message(json.dumps(["stdin", whole]))
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            read = await person.send("GET", f"{person.base}/api/contents/{file}?format=text")
            if read.status_code == 200:
                return str(read.json()["content"])
            await asyncio.sleep(0.5)
    finally:
        channel.close()
        await person.fetch("DELETE", f"api/terminals/{name}")
    raise RuntimeError(f"no end of: {line}")
