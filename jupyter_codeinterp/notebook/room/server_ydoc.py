"""The rooms of ``jupyter_server_ydoc``, which jupyter-collaboration brings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from jupyter_core.utils import ensure_async
from pycrdt import Decoder, Encoder
from tornado import web

from ...base.errors import DocumentError

# -------------------------------------------------------------------------------------------------
# Completes the history that ``jupyter_server_ydoc`` stores of a room.
#
# Its store follows a room from the moment that the room is ready, so it lacks what the room
# itself wrote before (its file's path). The next room then has a history with a hole. The server
# reads such a history to its end, but pages leave out all that depends on the missing part, even
# people's text (https://github.com/y-crdt/y-crdt/issues/632).


async def store_beginning(room: Any) -> None:
    """Wait until the store follows the room, and store what the room has written by then."""
    await room.ydoc_observed.wait()
    if room.ystore is not None:
        await room.ystore.write(own_changes(room.ydoc))


def own_changes(ydoc: Any) -> bytes:
    """What only this server has written in the document, as an update."""
    state = Decoder(ydoc.get_state())
    known = [(state.read_var_uint(), state.read_var_uint()) for _ in range(state.read_var_uint())]
    others = [one for one in known if one[0] != ydoc.client_id]
    encoder = Encoder()
    encoder.write_var_uint(len(others))
    for client_id, clock in others:
        encoder.write_var_uint(client_id)
        encoder.write_var_uint(clock)
    return bytes(ydoc.get_update(encoder.to_bytes()))


YDOC = "jupyter_server_ydoc"
LOADING = 10.0
"""Seconds that a room has to read its file."""
NO_FILE = "{path} no longer exists."
NOT_OPENED = "The shared notebook {path} cannot be opened: {words}"
NOT_LOADED = "it does not load"
READ_ONLY = "The notebook is read-only. What is done in it would not be saved."
EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"

log = logging.getLogger(__name__)


class RoomClosed(DocumentError):
    """The server has closed the room."""

    def __init__(self) -> None:
        super().__init__("unreadable", "The room of the shared notebook was closed.")


def found(extensions: Mapping[str, Any], contents: Any) -> ServerYDoc | None:
    """The rooms; None without the extension, or if collaboration is off."""
    app = getattr(extensions.get(YDOC), "app", None)
    if app is None or getattr(app, "disable_rtc", False) or not hasattr(app, "get_document"):
        return None
    return ServerYDoc(app, contents)


class ServerYDoc:
    def __init__(self, extension: Any, contents: Any) -> None:
        self._extension = extension
        self._contents = contents
        self._beginnings: WeakKeyDictionary[Any, asyncio.Task[None]] = WeakKeyDictionary()
        """Tasks that store the beginning of each room's history."""

    async def open(self, path: str) -> YDocRoom:
        """The room of the notebook, loaded or loading. Raises DocumentError ``no_file`` or
        ``unreadable``.

        Blocks for a look into the database of file ids: call it once for a room.
        """
        # Not a copy: nobody sees what is written into one.
        opening = self._extension.get_document(
            path=path, content_type="notebook", file_format="json", copy=False, create=True
        )
        document = await self._document(path, opening)
        server = self._extension.ywebsocket_server
        of_document = (
            one for one in server.rooms.values() if getattr(one, "_document", None) is document
        )
        if (room := next(of_document, None)) is None:
            raise await self._why_not(path, "no room")
        if room not in self._beginnings:
            self._beginnings[room] = asyncio.ensure_future(_store_beginning(room))
        return YDocRoom(room, server, self._extension.serverapp.event_logger)

    async def check(self, path: str) -> None:
        """Raises DocumentError ``not_written`` if the room cannot save its file, ``no_file``, or
        ``unreadable``."""
        try:
            model = await ensure_async(self._contents.get(path, content=False))
        except Exception as error:  # a remote manager has errors of its own
            raise await self._why_not(path, _words(error)) from error
        if not model["writable"]:
            raise DocumentError("not_written", READ_ONLY)

    async def _document(self, path: str, opening: Awaitable[Any]) -> Any:
        """What ``opening`` returns. After ``LOADING`` seconds it goes on in the background:
        cancelled, it would leave a room that never loads. Raises DocumentError."""
        task = asyncio.ensure_future(opening)
        try:
            document = await asyncio.wait_for(asyncio.shield(task), LOADING)
        except asyncio.TimeoutError as error:
            task.add_done_callback(_look_at_error)
            raise await self._why_not(path, NOT_LOADED) from error
        except Exception as error:
            raise await self._why_not(path, _words(error)) from error
        if document is None:
            raise await self._why_not(path, "no room")
        return document

    async def _why_not(self, path: str, words: str) -> DocumentError:
        try:
            exists = await ensure_async(self._contents.file_exists(path))
        except Exception as error:
            exists, words = True, _words(error)
        if not exists:
            return DocumentError("no_file", NO_FILE, path=path)
        return DocumentError("unreadable", NOT_OPENED, path=path, words=words)


def _words(error: Exception) -> str:
    return str(error.log_message if isinstance(error, web.HTTPError) else error)


def _look_at_error(task: asyncio.Future[Any]) -> None:
    """asyncio logs errors that nobody retrieves; the extension has logged this one."""
    if not task.cancelled():
        task.exception()


class YDocRoom:
    """A notebook that people share, until the server closes it."""

    def __init__(self, room: Any, server: Any, events: Any) -> None:
        """``server`` keeps the open rooms by id."""
        self.document = room._document
        self._room = room
        self._server = server
        self._events = events

    @property
    def is_open(self) -> bool:
        """Whether people who open the notebook get this document."""
        return self._server.rooms.get(self._room.room_id) is self._room

    @property
    def is_loaded(self) -> bool:
        """A room that loads in parts is ready before it has all of them. It holds its lock until
        then, and while it reads a changed file."""
        room = self._room
        in_parts = room._document_progressively_loaded
        failed = in_parts.done() and in_parts.exception() is not None
        # Before the room observes its document, it neither sends nor stores changes.
        observed = room.ready and room.ydoc_observed.is_set()
        return bool(observed) and not room._update_lock.locked() and not failed

    @property
    def awareness(self) -> Any:
        """The people in the room: a pycrdt ``Awareness``."""
        return self._room.awareness

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        """Call ``saved`` with "" after each save, or with the reason if the room could not read
        or write its file. Call ``closed`` when the room closes, saved or not. Return a function
        that stops the calls."""

        async def listen(logger: Any, schema_id: str, data: Mapping[str, Any]) -> None:
            if data.get("room") != self._room.room_id:
                return
            if data.get("level") == "ERROR":
                saved(str(data.get("msg") or "unknown error"))
            elif data.get("action") == "save":
                saved("")
            elif data.get("action") == "clean":
                closed()

        self._events.add_listener(schema_id=EVENTS, listener=listen)
        return lambda: self._events.remove_listener(schema_id=EVENTS, listener=listen)


async def _store_beginning(room: Any) -> None:
    try:
        await asyncio.wait_for(store_beginning(room), LOADING)
    except asyncio.TimeoutError:
        log.info("A room's history is stored without its beginning: the room does not load.")
    except Exception:
        log.exception("Cannot store the beginning of a room's history")
