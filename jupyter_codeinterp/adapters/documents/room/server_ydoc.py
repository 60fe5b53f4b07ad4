"""The rooms of ``jupyter_server_ydoc``, which jupyter-collaboration brings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ....core.errors import DocumentError
from . import rooms
from .rooms import NO_FILE, NOT_LOADED, NOT_OPENED, READ_ONLY

YDOC = "jupyter_server_ydoc"
EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"


def found_ydoc(extensions: Mapping[str, Any], contents: Any) -> ServerYDoc | None:
    """The rooms, if the extension is there and collaboration is on."""
    app = getattr(extensions.get(YDOC), "app", None)
    if app is None or getattr(app, "disable_rtc", False) or not hasattr(app, "get_document"):
        return None
    return ServerYDoc(app, contents)


class ServerYDoc:
    def __init__(self, extension: Any, contents: Any) -> None:
        self._extension = extension
        self._contents = contents

    async def open(self, path: str) -> YDocRoom:
        """Blocks for a look into the database of file ids: call it once for a room."""
        # Its copies are forks: nobody sees what is written there. A cancelled call would leave a
        # room behind that is never loaded.
        opening = asyncio.ensure_future(
            self._extension.get_document(
                path=path, content_type="notebook", file_format="json", copy=False, create=True
            )
        )
        try:
            document = await asyncio.wait_for(asyncio.shield(opening), rooms.LOADING)
        except asyncio.CancelledError:
            raise
        except asyncio.TimeoutError as error:
            opening.add_done_callback(_look_at_error)
            raise await self._why_not(path, NOT_LOADED) from error
        except Exception as error:
            raise await self._why_not(path, _words(error)) from error
        server = self._extension.ywebsocket_server
        of_document = (one for one in server.rooms.values() if _document_of(one) is document)
        room = next(of_document, None)
        if document is None or room is None:
            raise await self._why_not(path, "no room")
        return YDocRoom(room, server, self._extension.serverapp.event_logger)

    async def check(self, path: str) -> None:
        try:
            model = await ensure_async(self._contents.get(path, content=False))
        except web.HTTPError as error:
            raise await self._why_not(path, _words(error)) from error
        if not model["writable"]:
            raise DocumentError("not_written", READ_ONLY)

    async def _why_not(self, path: str, words: str) -> DocumentError:
        if not await ensure_async(self._contents.file_exists(path)):
            return DocumentError("no_file", NO_FILE.format(path=path))
        return DocumentError("unreadable", NOT_OPENED.format(path=path, words=words))


class YDocRoom:
    def __init__(self, room: Any, server: Any, events: Any) -> None:
        """``server`` keeps the open rooms by id."""
        self.document = room._document
        self._room = room
        self._server = server
        self._events = events

    @property
    def is_open(self) -> bool:
        return self._server.rooms.get(self._room.room_id) is self._room

    @property
    def is_loaded(self) -> bool:
        if not self._room.ready:
            return False
        in_parts = self._room._document_progressively_loaded
        ended = in_parts.done() and in_parts.exception() is None
        return ended or not self._room._document_load_progressively

    def follow_saves(self, saved: Callable[[str], None]) -> Callable[[], None]:
        async def listen(logger: Any, schema_id: str, data: Mapping[str, Any]) -> None:
            if data.get("room") != self._room.room_id:
                return
            if data.get("level") == "ERROR":
                saved(str(data.get("msg") or "unknown error"))
            elif data.get("action") in ("save", "clean"):
                saved("")

        self._events.add_listener(schema_id=EVENTS, listener=listen)
        return lambda: self._events.remove_listener(schema_id=EVENTS, listener=listen)


def _document_of(room: Any) -> Any:
    return getattr(room, "_document", None)


def _words(error: Exception) -> str:
    return str(error.log_message if isinstance(error, web.HTTPError) else error)


def _look_at_error(task: asyncio.Future[Any]) -> None:
    """asyncio complains of errors that nobody looks at; the extension has logged this one."""
    if not task.cancelled():
        task.exception()
