"""A client that is no browser: REST alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.reference_window import DEADLINE, body
from tests.site import Site


def of_command(kind: str, session_id: str, **given: Any) -> dict[str, Any]:
    """The body of a command to a conversation."""
    return {"type": kind, "session_id": session_id, "notebook": "", **given}


class RestClient:
    def __init__(self, site: Site, headers: dict[str, str]) -> None:
        self._site = site
        self._headers = headers

    async def send(self, method: str, *path: str, **given: Any) -> tuple[int, Any]:
        """Status and body."""
        sent = None if method in ("GET", "DELETE") else json.dumps(given)
        response = await self._site.request(method, *path, body=sent, headers=dict(self._headers))
        return response.code, body(response) if response.body else None

    async def post(self, *path: str, **given: Any) -> Any:
        """The body of an answer that must be good."""
        code, answer = await self.send("POST", *path, **given)
        assert code < 300, answer
        return answer

    @asynccontextmanager
    async def raw(self, method: str, *path: str, **given: Any) -> AsyncIterator[None]:
        """A request that is hung up on at the block's end, whether or not it was answered."""
        url, sent = urlsplit(self._site.url), json.dumps(given).encode()
        target = "/".join([f"{url.path}/codeinterp/api", *path])
        given_headers = {**self._headers, "Content-Length": str(len(sent))}
        lines = [f"{method} {target} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in given_headers.items()]
        _, writer = await asyncio.open_connection(url.hostname, url.port)
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + sent)
            yield
        finally:
            writer.close()

    def conversation(self, notebook: str, model: str = "") -> str:
        """The id of a new conversation, which nobody has said anything in."""
        manager = self._site.extension.manager
        return manager.new_session(notebook, "review", model).info.session_id

    async def events(self, session_id: str, after: int) -> list[dict[str, Any]]:
        path, params = ("sessions", session_id, "events"), {"after": str(after)}
        response = await self._site.request(
            "GET", *path, params=params, headers=dict(self._headers)
        )
        assert response.code == 200, response.body
        events: list[dict[str, Any]] = body(response)["events"]
        return events

    async def decide(self, session_id: str, draft: dict[str, Any], **others: Any) -> Any:
        word = {name: draft[name] for name in ("draft_id", "nonce", "source")}
        return await self.command("decide", session_id, **word, action="run", **others)

    async def command(self, kind: str, session_id: str, **given: Any) -> Any:
        """The answer to a command, which must be good."""
        return await self.post("command", **of_command(kind, session_id, **given))

    async def try_command(self, kind: str, session_id: str, **given: Any) -> tuple[int, Any]:
        """Status and body of the answer to a command."""
        return await self.send("POST", "command", **of_command(kind, session_id, **given))

    @asynccontextmanager
    async def follow(self, session_id: str, after: int = 0) -> AsyncIterator[Followed]:
        followed = Followed(self, session_id, after)
        reading = asyncio.ensure_future(followed.read())
        try:
            yield followed
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


class Followed:
    """A conversation's events, asked for again and again."""

    def __init__(self, client: RestClient, session_id: str, after: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.last = after
        self._client = client
        self._session_id = session_id
        self._more = asyncio.Event()

    async def read(self) -> None:
        while True:
            for numbered in await self._client.events(self._session_id, self.last):
                self.last = numbered["seq"]
                self.events.append(numbered["event"])
            self._more.set()
            await asyncio.sleep(0.05)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    async def event(self, kind: str, number: int = 1) -> dict[str, Any]:
        """The ``number``-th of a kind, waited for."""

        async def wait() -> None:
            while len(self.of(kind)) < number:
                self._more.clear()
                await self._more.wait()

        try:
            await asyncio.wait_for(wait(), DEADLINE)
        except asyncio.TimeoutError:
            raise AssertionError(f"No {kind}: {self.events[-5:]}") from None
        return self.of(kind)[number - 1]


async def rest_client(site: Site) -> RestClient:
    """One that has logged in, and has been admitted."""
    login = await site.login()
    headers = {**login.headers, "Authorization": "none", "Host": login.url.split("/")[2]}
    admitted = await RestClient(site, headers).post("clients")
    return RestClient(site, {**headers, "X-Codeinterp-Window": admitted["secret"]})
