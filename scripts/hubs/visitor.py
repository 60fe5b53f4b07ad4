"""A person in a browser, without the browser: cookies, redirects, the XSRF word of each path."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

import httpx

START = 120.0
"""Seconds that a person's server has to start."""
TURN = 120.0
"""Seconds that a turn may take."""


class Visitor:
    """``async with Visitor(url, "alice", password) as alice: await alice.enter()``"""

    def __init__(self, hub_url: str, name: str, password: str) -> None:
        self.name = name
        self._password = password
        self.base = f"/user/{name}"
        self.http = httpx.AsyncClient(base_url=hub_url, follow_redirects=True, timeout=START)
        self.client_secret = ""

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.http.aclose()

    async def log_in(self) -> None:
        await self.http.get("/hub/login")
        form = {"username": self.name, "password": self._password, "_xsrf": self.word("/hub/")}
        answer = await self.http.post(
            "/hub/login?next=%2Fhub%2Fhome", data=form, follow_redirects=False
        )
        if answer.status_code != 302:
            raise RuntimeError(f"{self.name} cannot log in: {answer.status_code}")

    async def enter(self) -> None:
        """Log in, and wait until the person's server runs and knows the browser."""
        await self.log_in()
        await self.http.get("/hub/spawn", follow_redirects=False)
        deadline = time.monotonic() + START
        while (await self.http.get(f"{self.base}/api")).status_code != 200:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}'s server does not start")
            await asyncio.sleep(0.5)
        page = await self.http.get(f"{self.base}/lab", headers={"Sec-Fetch-Mode": "navigate"})
        if page.status_code != 200 or not page.url.path.startswith(f"{self.base}/lab"):
            raise RuntimeError(f"{self.name} gets {page.status_code} of {page.url}")

    def word(self, path: str) -> str:
        """The XSRF cookie of a path."""
        words = [
            cookie.value
            for cookie in self.http.cookies.jar
            if cookie.name == "_xsrf" and cookie.path == path
        ]
        return words[-1] or "" if words else ""

    def cookies(self, path: str) -> str:
        """The header that the browser sends to a path."""
        sent = (c for c in self.http.cookies.jar if path.startswith(c.path))
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in sent)

    # --- the server ------------------------------------------------------------------

    async def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """Whatever the answer is. ``path`` is that of any person's server."""
        given = {"X-XSRFToken": self.word(f"{self.base}/"), **(headers or {})}
        content = None if body is None else json.dumps(body)
        return await self.http.request(
            method, path, content=content, headers=given, follow_redirects=False
        )

    async def fetch(self, method: str, route: str, body: Any = None) -> Any:
        """The answer of the person's own server, which must be good."""
        headers = {"X-Codeinterp-Window": self.client_secret}
        answer = await self.send(method, f"{self.base}/{route}", body, headers)
        if answer.status_code >= 300:
            raise RuntimeError(f"{method} {route}: {answer.status_code} {answer.text[:300]}")
        return answer.json() if answer.content else None

    async def api(self, method: str, route: str, body: Any = None) -> Any:
        """The answer of the extension, which must be good."""
        await self._admitted()
        return await self.fetch(method, f"codeinterp/api/{route}", body)

    async def try_api(self, method: str, route: str, body: Any = None) -> httpx.Response:
        """Whatever the extension answers."""
        await self._admitted()
        headers = {"X-Codeinterp-Window": self.client_secret}
        return await self.send(method, f"{self.base}/codeinterp/api/{route}", body, headers)

    async def _admitted(self) -> None:
        if not self.client_secret:
            given = await self.send("POST", f"{self.base}/codeinterp/api/clients", {})
            if given.status_code != 200:
                raise RuntimeError(f"no client: {given.status_code} {given.text[:300]}")
            self.client_secret = given.json()["secret"]

    # --- turns -------------------------------------------------------------------------

    async def notebook(self, path: str, kernel: str) -> str:
        """A new conversation on a new notebook; its id."""
        spec = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
        content = {"cells": [], "metadata": spec, "nbformat": 4, "nbformat_minor": 5}
        model = {"type": "notebook", "format": "json", "content": content}
        await self.fetch("PUT", f"api/contents/{path}", model)
        return str((await self.api("POST", "sessions", {"notebook": path}))["session_id"])

    @asynccontextmanager
    async def follow(self, session_id: str) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """All events of a conversation, from the first; they never end."""
        url = f"{self.base}/codeinterp/api/sessions/{session_id}/events"
        headers = {"Accept": "text/event-stream", "X-XSRFToken": self.word(f"{self.base}/")}
        timeout = httpx.Timeout(TURN)
        async with self.http.stream("GET", url, headers=headers, timeout=timeout) as stream:
            if stream.status_code != 200:
                raise RuntimeError(f"no events: {stream.status_code}")
            lines = stream.aiter_lines()
            yield (json.loads(line[6:]) async for line in lines if line.startswith("data: "))

    async def turn(self, session_id: str, text: str) -> None:
        """The first turn, in Auto mode, with leave for what asks all the same."""
        route = f"sessions/{session_id}"
        await self.api("POST", f"{route}/messages", {"text": text, "mode": "auto"})
        async with self.follow(session_id) as events:
            async for event in events:
                if event["type"] == "draft_waiting":
                    await self._allow(route, event["draft"])
                elif event["type"] == "turn_ended":
                    if event["stop_reason"] != "end_turn":
                        raise RuntimeError(f"{self.name}'s turn: {event}")
                    break

    async def _allow(self, route: str, draft: dict[str, Any]) -> None:
        decision = {name: draft[name] for name in ("draft_id", "nonce", "source")}
        answer = await self.try_api("POST", f"{route}/decisions", {**decision, "action": "run"})
        if answer.status_code not in (200, 204, 409):  # 409: a draft of an earlier turn.
            raise RuntimeError(f"not decided: {answer.status_code} {answer.text[:300]}")
