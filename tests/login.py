"""Logs in as a browser does: with the cookies of a session instead of the server's token."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect

REQUEST_TIME = 60.0
"""Seconds that a request may take on a machine that has other things to do."""


class Pass(NamedTuple):
    ticket: str
    secret: str


class Login(NamedTuple):
    """``url`` ends without a slash; ``cookies`` by name."""

    url: str
    cookies: dict[str, str]

    @property
    def headers(self) -> dict[str, str]:
        """Of a request from a page. A socket needs the cookies alone."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": cookie, "X-XSRFToken": self.cookies["_xsrf"]}

    async def ask(self, secret: str = "") -> Pass:
        """For a window; with its secret, where it has had a socket before."""
        route = f"{self.url}/codeinterp/api/tickets"
        body = json.dumps({"secret": secret})
        answer = await _fetch(HTTPRequest(route, "POST", self.headers, body))
        assert answer.code == 200, answer.body
        return Pass(**json.loads(answer.body))

    async def connect(self, ticket: str) -> WebSocketClientConnection:
        url = f"{self.url}/codeinterp/api/channel?ticket={ticket}".replace("http", "ws", 1)
        socket = await websocket_connect(HTTPRequest(url, headers=self.headers))
        # As browsers have it.
        assert socket.protocol is not None
        socket.protocol.set_nodelay(True)
        return socket


async def log_in(url: str, token: str) -> Login:
    """By the form of the login page, where the token counts as a password."""
    page = await _fetch(HTTPRequest(f"{url}/login"))
    cookies = _cookies(page.headers.get_list("Set-Cookie"))
    form = {"password": token, "_xsrf": cookies["_xsrf"]}
    headers = {"Cookie": f"_xsrf={cookies['_xsrf']}"}
    answer = await _fetch(HTTPRequest(f"{url}/login", "POST", headers, urlencode(form)))
    assert answer.code == 302, answer.code
    return Login(url, {**cookies, **_cookies(answer.headers.get_list("Set-Cookie"))})


def _cookies(lines: Iterable[str]) -> dict[str, str]:
    pairs = (line.split(";")[0].partition("=") for line in lines)
    return {name: value for name, _, value in pairs}


async def _fetch(request: Any) -> HTTPResponse:
    request.follow_redirects = False
    request.request_timeout = REQUEST_TIME
    return await AsyncHTTPClient().fetch(request, raise_error=False)
