"""What happened in a conversation: as a list, or as server-sent events that go on for ever."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from ...core.errors import CommandError
from .base import Handler

EVENT_STREAM = "text/event-stream"
NUMBER = r"([0-9]{1,15})"
KEEP_ALIVE = 15.0
"""Seconds after which a stream says that it is there; what stands between a client and this
server may close one that says nothing."""


class EventsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        """``Last-Event-ID``, which a client sends that has lost its stream, counts before
        ``after``."""
        after = self.request.headers.get("Last-Event-ID") or self.get_query_argument("after", "0")
        if not re.fullmatch(NUMBER, after):
            raise CommandError("malformed", "“after” must be a number.")
        if EVENT_STREAM in self.request.headers.get("Accept", ""):
            await self._stream(self.manager.service.follow(session_id, int(after)))
            return
        self.manager.session(session_id)
        events = self.manager.store.events(session_id, int(after))
        self.answer({"events": [{"seq": seq, "event": event} for seq, event in events]})

    async def _stream(self, events: AsyncIterator[tuple[int, bytes]]) -> None:
        """Until the client is gone, or the server stops."""
        self.set_header("Content-Type", EVENT_STREAM)
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Accel-Buffering", "no")  # Of nginx, which would keep it back.
        self._gone = asyncio.Event()
        with self.manager.at_close(self._gone.set), contextlib.suppress(StreamClosedError):
            await self.flush()
            async for text in _until(self._gone, events):
                self.write(text)
                await self.flush()
        await self.finish()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if hasattr(self, "_gone"):
            self._gone.set()


async def _until(
    gone: asyncio.Event, events: AsyncIterator[tuple[int, bytes]]
) -> AsyncIterator[bytes]:
    """The events as a stream has them, and a comment wherever nothing happens for long."""
    over = asyncio.ensure_future(gone.wait())
    coming: asyncio.Future[tuple[int, bytes]] = asyncio.ensure_future(_next(events))
    try:
        while not over.done():
            both: list[asyncio.Future[Any]] = [over, coming]
            await asyncio.wait(both, timeout=KEEP_ALIVE, return_when="FIRST_COMPLETED")
            if coming.done():
                seq, event = coming.result()
                yield b"id: %d\ndata: %s\n\n" % (seq, event)
                coming = asyncio.ensure_future(_next(events))
            elif not over.done():
                yield b": nothing happened\n\n"
    finally:
        for task in (over, coming):
            task.cancel()
        await asyncio.gather(over, coming, return_exceptions=True)


async def _next(events: AsyncIterator[tuple[int, bytes]]) -> tuple[int, bytes]:
    return await events.__anext__()
