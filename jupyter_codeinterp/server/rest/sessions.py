"""Lists, creates, renames, deletes and exports conversations."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from ...core.errors import CommandError
from ...core.wire.commands import UndoTurn
from ...core.wire.events import Mode
from ..files.paths import normalize
from ..socket.connection import NOT_ALLOWED, needs_of
from .base import Handler

MAX_QUERY = 200
"""Characters of a search."""
MAX_NAME = 60
"""Characters of an exported file's name, without suffix."""


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``notebook`` is a path on the server. ``kernel``: the kernelspec to start if the notebook
    has no kernel; "": the notebook's own."""

    notebook: str
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""


class SessionsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        notebook = normalize(self.get_query_argument("notebook", "")) or None
        word = self.get_query_argument("q", "")
        if len(word) > MAX_QUERY:
            raise CommandError("malformed", f"“q” has at most {MAX_QUERY} characters.")
        found = await self.manager.search(word, notebook) if word else self.manager.list(notebook)
        self.answer({"sessions": found})

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self) -> None:
        """Create a conversation, and start the notebook's kernel if needed."""
        given = self.given(NewSession)
        notebook = normalize(given.notebook)
        await self.kernels.ready(notebook, given.kernel)
        session = self.manager.service.create(notebook, given.mode, given.model)
        self.set_status(HTTPStatus.CREATED)
        self.answer(session.info)


class SessionHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def patch(self, session_id: str) -> None:
        title = self.text(self.body(), "title")
        self.manager.service.rename(session_id, title, self.by)
        self.answer(self.manager.session(session_id).info)

    @web.authenticated
    @authorized("write")
    async def delete(self, session_id: str) -> None:
        await self.manager.service.delete(session_id, self.by)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()


class ExportHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        # Not at the server's start.
        from ...core.history.exports import markdown, pictures

        session = self.manager.session(session_id)
        events = [event for _, event in self.manager.store.events(session_id)]
        info, scrub = session.info, self.manager.rules.scrub
        drawn = await pictures(self.manager.store, session_id)
        text = await asyncio.to_thread(lambda: scrub(markdown(info, events, drawn)))
        self.set_attachment_header(f"{_file_name(info.title)}.md")
        self.finish(text, set_content_type="text/markdown; charset=utf-8")


def _file_name(title: str) -> str:
    """The title's letters and digits, in any language: a valid file name on every system."""
    words = "-".join(re.findall(r"\w+", title))[:MAX_NAME].strip("-")
    return words or "conversation"


class ChangesHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str, turn: str) -> None:
        """Answer with the changes, and what of the kernel this person could undo with them."""
        service, number = self.manager.service, int(turn)
        for need in needs_of(UndoTurn(session_id, number, files=True)):
            if not await self.may(*need):
                found = service.review(session_id, number)
                self.answer(msgspec.structs.replace(found, refused=NOT_ALLOWED[need]))
                return
        self.answer(await service.undo_offer(session_id, number))


class SentHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str, step: str) -> None:
        self.manager.session(session_id)
        request = self.manager.store.request(session_id, int(step))
        if request is None:
            raise CommandError("unknown_step", "This step does not exist.")
        self.answer(request)


# -------------------------------------------------------------------------------------------------
# A conversation's events: as a list, or as an endless stream of server-sent events.

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
