"""A conversation's events: as a list, or as an endless stream of server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from ...core.errors import CommandError
from .base import Handler

EVENT_STREAM = "text/event-stream"
NUMBER = r"([0-9]{1,15})"
KEEP_ALIVE = 15.0
"""Seconds of silence after which a stream sends a comment, so that proxies keep it open."""


class EventsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        """``Last-Event-ID``, which a reconnecting client sends, overrides ``after``."""
        after = self.request.headers.get("Last-Event-ID") or self.get_query_argument("after", "0")
        if not re.fullmatch(NUMBER, after):
            raise CommandError("malformed", "“after” must be a number.")
        if EVENT_STREAM in self.request.headers.get("Accept", ""):
            await self._stream(self.manager.service.follow(session_id, int(after)))
            return
        events = self.manager.session(session_id).event_log.journaled(int(after))
        self.answer({"events": [{"seq": seq, "event": msgspec.Raw(e)} for seq, e in events]})

    async def _stream(self, events: AsyncIterator[tuple[int, bytes]]) -> None:
        """Stream until the client disconnects or the server stops."""
        self.set_header("Content-Type", EVENT_STREAM)
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Accel-Buffering", "no")  # nginx would delay events otherwise
        self._gone = asyncio.Event()
        with self.manager.at_close(self._gone.set), contextlib.suppress(StreamClosedError):
            await self.flush()
            async for text in _until(self._gone, events):
                self.write(text)
                await self.flush()
        with contextlib.suppress(StreamClosedError):
            await self.finish()

    def on_connection_close(self) -> None:
        super().on_connection_close()
        if hasattr(self, "_gone"):
            self._gone.set()


async def _until(
    gone: asyncio.Event, events: AsyncIterator[tuple[int, bytes]]
) -> AsyncIterator[bytes]:
    """Yield events in the stream's format, and a comment after each silence."""
    over = asyncio.ensure_future(gone.wait())
    coming: asyncio.Future[tuple[int, bytes]] = asyncio.ensure_future(anext(events))
    try:
        while not over.done():
            both: list[asyncio.Future[Any]] = [over, coming]
            await asyncio.wait(both, timeout=KEEP_ALIVE, return_when="FIRST_COMPLETED")
            if coming.done():
                seq, event = coming.result()
                yield b"id: %d\ndata: %s\n\n" % (seq, event)
                coming = asyncio.ensure_future(anext(events))
            elif not over.done():
                yield b": nothing happened\n\n"
    finally:
        for task in (over, coming):
            task.cancel()
        await asyncio.gather(over, coming, return_exceptions=True)
