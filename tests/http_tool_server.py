"""An MCP server over HTTP of the tests' own, of the version with sessions: it can forget them, as
after a restart, and speaks as servers of different packages do.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from tornado import httpserver, netutil, web

SESSION = "Mcp-Session-Id"
PLAIN = {"type": "object", "properties": {"text": {"type": "string"}}}


class HttpToolServer:
    """``status`` and ``lost``: the answer to an unknown session, and its body."""

    def __init__(self) -> None:
        self.status = HTTPStatus.NOT_FOUND
        self.lost = ""
        self.sessions: set[str] = set()
        self.begun = 0
        self.calls = 0
        self.headers: list[dict[str, str]] = []
        [socket] = netutil.bind_sockets(0, "127.0.0.1")
        self.port: int = socket.getsockname()[1]
        self._server = httpserver.HTTPServer(web.Application([("/mcp", _Handler, {"of": self})]))
        self._server.add_socket(socket)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def restart(self) -> None:
        self.sessions.clear()

    def stop(self) -> None:
        self._server.stop()

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        method, params = message["method"], message.get("params") or {}
        if method == "initialize":
            about = {"name": "test", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        if method == "tools/list":
            return {"tools": [{"name": "echo", "description": "Says it.", "inputSchema": PLAIN}]}
        if method == "tools/call":
            self.calls += 1
            text = str(params.get("arguments", {}).get("text"))
            return {
                "content": [{"type": "text", "text": text}] * (200_000 if text == "many" else 1)
            }
        return {}


class _Handler(web.RequestHandler):
    def initialize(self, of: HttpToolServer) -> None:
        self.of = of

    def post(self) -> None:
        message = json.loads(self.request.body)
        self.of.headers.append(dict(self.request.headers.get_all()))
        known = self.request.headers.get(SESSION, "")
        if message["method"] == "initialize":
            self.of.begun += 1
            known = f"session-{self.of.begun}"
            self.of.sessions.add(known)
            self.set_header(SESSION, known)
        elif message["method"] == "server/discover":
            self.reply(message, error={"code": -32601, "message": "No such method"})
            return
        elif known not in self.of.sessions:
            self.set_status(self.of.status)
            self.set_header("Content-Type", "application/json")
            self.finish(self.of.lost)
            return
        if "id" not in message:
            self.set_status(HTTPStatus.ACCEPTED)
            return
        self.reply(message, result=self.of.answer(message))

    def reply(self, message: dict[str, Any], **given: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **given}))

    def get(self) -> None:
        self.set_status(HTTPStatus.METHOD_NOT_ALLOWED)

    def delete(self) -> None:
        self.of.sessions.discard(self.request.headers.get(SESSION, ""))
