"""The rooms of ``jupyter_server_ydoc``, which jupyter-collaboration brings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pycrdt import Decoder, Encoder

from . import rooms
from .rooms import LOBBY, RoomFiles

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
EVENTS = "https://schema.jupyter.org/jupyter_collaboration/session/v1"

log = logging.getLogger(__name__)


def found_ydoc(extensions: Mapping[str, Any], contents: Any) -> ServerYDoc | None:
    """The rooms; None without the extension, or if collaboration is off."""
    app = getattr(extensions.get(YDOC), "app", None)
    if app is None or getattr(app, "disable_rtc", False) or not hasattr(app, "get_document"):
        return None
    return ServerYDoc(app, contents)


class ServerYDoc:
    def __init__(self, extension: Any, contents: Any) -> None:
        self._extension = extension
        self._files = RoomFiles(contents)
        self._beginnings: WeakKeyDictionary[Any, asyncio.Task[None]] = WeakKeyDictionary()
        """Tasks that store the beginning of each room's history."""

    async def open(self, path: str) -> YDocRoom:
        """Blocks for a look into the database of file ids: call it once for a room."""
        # Not a copy: nobody sees what is written into one.
        opening = self._extension.get_document(
            path=path, content_type="notebook", file_format="json", copy=False, create=True
        )
        document = await self._files.document(path, opening)
        server = self._extension.ywebsocket_server
        of_document = (
            one for one in server.rooms.values() if getattr(one, "_document", None) is document
        )
        if (room := next(of_document, None)) is None:
            raise await self._files.why_not(path, "no room")
        if room not in self._beginnings:
            self._beginnings[room] = asyncio.ensure_future(_store_beginning(room))
        return YDocRoom(room, server, self._extension.serverapp.event_logger)

    async def check(self, path: str) -> None:
        await self._files.check(path)


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
        return self._room.awareness

    @property
    def lobby(self) -> Any:
        return getattr(self._server.rooms.get(LOBBY), "awareness", None)

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
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
        await asyncio.wait_for(store_beginning(room), rooms.LOADING)
    except asyncio.TimeoutError:
        log.info("A room's history is stored without its beginning: the room does not load.")
    except Exception:
        log.exception("Cannot store the beginning of a room's history")
