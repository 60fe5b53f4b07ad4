"""What a person can do at their own server besides turns: code in a kernel, words in a terminal."""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
import time
import uuid
from typing import Any

from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from .visitor import Visitor

PATIENCE = 90.0
"""Seconds that code or a command has."""
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


async def run(person: Visitor, kernel_id: str, *cells: str) -> str:
    """Run code as the person does in a notebook; what it prints, errors included."""
    path = f"{person.base}/api/kernels/{kernel_id}/channels"
    channel = await socket(person, path)
    said: list[str] = []
    try:
        for code in cells:
            message_id = uuid.uuid4().hex
            await channel.write_message(json.dumps(_request(message_id, code)))
            await asyncio.wait_for(_listen(channel, message_id, said), PATIENCE)
    finally:
        channel.close()
    return "".join(said)


def _request(message_id: str, code: str) -> dict[str, Any]:
    header = {"msg_id": message_id, "username": "", "session": message_id, "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
    return {
        "header": {**header, "msg_type": "execute_request", "date": ""},
        "parent_header": {},
        "metadata": {},
        "content": content,
        "buffers": [],
        "channel": "shell",
    }


async def _listen(channel: WebSocketClientConnection, message_id: str, said: list[str]) -> None:
    while True:
        frame = await channel.read_message()
        if frame is None:
            raise RuntimeError("the kernel's socket is closed")
        message = json.loads(frame)
        if message["parent_header"].get("msg_id") != message_id:
            continue
        content = message["content"]
        said.append(content.get("text", ""))
        said.append("\n".join(content.get("traceback", [])))
        said.append(str(content.get("data", {}).get("text/plain", "")))
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return


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
