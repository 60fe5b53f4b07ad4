"""The running Jupyter server of ``--server``, used over REST."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2
import msgspec

from ..base.errors import CommandError
from ..base.sentences import in_english
from ..base.visible import visible_line
from ..run.approval.decisions import Alone
from ..wire import events as e
from ..wire.commands import Retry, SendMessage, SessionCommand
from .local.problems import FAILED, USAGE, Problem

# -------------------------------------------------------------------------------------------------
# Logs in to a Jupyter server as a browser does, and makes requests of its REST interface.
#
# The server's token alone allows no decisions, because code in a kernel can read it. So we send the
# token or password to the login page and get a session's cookies. A hub has no such page: we send
# its token with each request, which works if an admin allows it.

REQUEST_TIME = 60.0
SILENCE = 45.0
"""Seconds without a line after which the connection counts as cut: the server sends one at least
every 15."""
RECONNECT = 300.0
"""Seconds of attempts to reconnect."""
AGAIN = 1.0
"""Seconds between two attempts."""
HUB_HEADER = "X-JupyterHub-Version"
"""A header in each answer of a hub's servers."""
VARIABLE = "JUPYTER_TOKEN"
"""The environment variable with the server's token or password."""
NOT_HERE = ("sandbox", "existing", "output", "max_steps", "timeout", "continued")
"""Options that apply only to work in this process."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def address(given: str) -> str:
    """The server's address without a slash at its end. Raises Problem."""
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Problem("--server needs the address of a server, as in http://localhost:8888", USAGE)
    if parts.username or parts.query or parts.fragment:
        words = "Leave the token and all after the path out of --server: others can read it there."
        raise Problem(words, USAGE)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


def is_open(url: str) -> bool:
    """Whether the connection is unencrypted, so that others can read it."""
    parts = urlsplit(url)
    return parts.scheme == "http" and parts.hostname not in LOOPBACK


@asynccontextmanager
async def logged_in(options: argparse.Namespace) -> AsyncIterator[RemoteServer]:
    """The server of ``--server``. Raises Problem."""
    if wrong := next((name for name in NOT_HERE if getattr(options, name, None)), ""):
        wrong = wrong.replace("_", "-").replace("continued", "continue")
        raise Problem(f"--{wrong} does not go with --server.", USAGE)
    url = address(options.server)
    async with RemoteServer(url, options.kernel or "") as server:
        await server.log_in(_password(url))
        yield server


def _password(url: str) -> str:
    """The password or token: from the environment, else typed without an echo. Raises Problem."""
    if is_open(url):
        words = f"The connection to {url} is not encrypted: others on the way can read it."
        print(visible_line(words), file=sys.stderr, flush=True)
    if given := os.environ.get(VARIABLE, ""):
        return given
    if not sys.stdin.isatty():
        raise Problem(f"Set {VARIABLE} to the token or password of {url}.", USAGE)
    try:
        return getpass.getpass(f"Token or password of {url} (not shown): ").strip()
    except EOFError:
        raise Problem("No password was given.", USAGE) from None


class RemoteServer:
    """``url`` as from ``address``; ``kernel``: the kernelspec for a notebook without a kernel."""

    def __init__(self, url: str, kernel: str = "") -> None:
        self.url = url
        self._kernel = kernel
        self._http = httpx2.AsyncClient(timeout=REQUEST_TIME)
        self._headers: dict[str, str] = {}
        self._last_line_at = 0.0
        """When the stream of events last had a line, with or without an event."""

    async def __aenter__(self) -> RemoteServer:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._http.aclose()

    async def log_in(self, password: str) -> None:
        """``password``: of the login page, or the server's token. Raises Problem."""
        try:
            page = await self._http.get(f"{self.url}/login")
            if HUB_HEADER in page.headers:
                self._headers["Authorization"] = f"token {password}"
            else:
                await self._by_form(page, password)
            answer = await self.post("clients", {})
        except httpx2.HTTPError as error:
            raise Problem(f"{self.url} does not answer: {error}.") from None
        except CommandError as error:
            raise Problem(error.message) from None
        self._headers["X-Codeinterp-Window"] = str(answer["secret"])

    async def _by_form(self, page: httpx2.Response, password: str) -> None:
        xsrf = self._http.cookies.get("_xsrf") or ""
        form = {"password": password, "_xsrf": xsrf}
        response = await self._http.post(f"{self.url}/login", data=form)
        if response.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise Problem(f"{self.url} does not accept this password or token.", USAGE)
        if not (page.is_success or page.is_redirect) or not response.is_redirect:
            words = f"{self.url}/login answers with {response.status_code}. Is it a Jupyter server?"
            raise Problem(words, FAILED)
        self._headers["X-XSRFToken"] = self._http.cookies.get("_xsrf") or xsrf

    async def carry_out(
        self, command: SessionCommand, *, alone: Alone = "", nobody: bool = False
    ) -> str:
        begins = isinstance(command, (SendMessage, Retry))
        extras = {"kernel": self._kernel, "alone": alone, "nobody": nobody}
        body = {**msgspec.to_builtins(command, enc_hook=in_english), **extras}
        try:
            answer = await self.post("command", body, again=not begins)
        except httpx2.HTTPError as error:
            if not begins:
                return command.session_id  # ``events`` reports a lost connection.
            raise Problem(f"{self.url} does not answer: {error}.") from None
        return str(answer["session_id"])

    async def post(self, path: str, body: Mapping[str, Any], *, again: bool = False) -> Any:
        """The answer's JSON. ``again``: the request may arrive twice, so retry until it arrives.

        Raises CommandError with the server's code and words, and httpx2.HTTPError.
        """
        until = time.monotonic() + (RECONNECT if again else 0.0)
        while True:
            try:
                response = await self._http.post(
                    f"{self.url}/codeinterp/api/{path}", content=json.dumps(body),
                    headers=self._headers,
                )  # fmt: skip
                return _answer(response, response.content)
            except httpx2.TransportError:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(AGAIN)

    def watch(self, following: object) -> None:
        """Do nothing: the server has the limits and the outputs."""

    async def unfinished(self, ended: e.TurnEnded) -> None:
        """Do nothing: the page shows it."""

    def leave(self) -> None:
        """Do nothing: the kernel belongs to the server."""

    async def events(self, session_id: str, last: int = 0) -> AsyncIterator[tuple[int, bytes]]:
        """The numbered events of a conversation after ``last``, without an end. Reconnects after a
        cut. Raises Problem, also after ``RECONNECT`` seconds without a connection."""
        self._last_line_at = time.monotonic()
        while True:
            try:
                async for number, event in self._stream(session_id, last):
                    last = number
                    yield number, event
            except httpx2.TransportError:
                pass
            except CommandError as error:
                raise Problem(error.message) from None
            if time.monotonic() >= self._last_line_at + RECONNECT:
                words = "The connection was lost. The turn continues on the server."
                raise Problem(f"{words} To see it, open the notebook there.")
            await asyncio.sleep(AGAIN)

    async def _stream(self, session_id: str, after: int) -> AsyncIterator[tuple[int, bytes]]:
        given = {**self._headers, "Accept": "text/event-stream", "Last-Event-ID": str(after)}
        route = f"{self.url}/codeinterp/api/sessions/{session_id}/events"
        limit = httpx2.Timeout(REQUEST_TIME, read=SILENCE)
        async with self._http.stream("GET", route, headers=given, timeout=limit) as response:
            if not response.is_success:
                _answer(response, await response.aread())
            number = after
            async for line in response.aiter_lines():
                self._last_line_at = time.monotonic()
                name, _, value = line.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "data":
                    yield number, value.encode()


def _answer(response: httpx2.Response, content: bytes) -> Any:
    try:
        answer = json.loads(content or b"{}")
    except ValueError:
        answer = {}
    if response.is_success:
        return answer
    error = answer if isinstance(answer, dict) else {}
    words = str(error.get("message") or f"The server answers with {response.status_code}.")
    raise CommandError(str(error.get("code") or "refused"), "{words}", words=words)
