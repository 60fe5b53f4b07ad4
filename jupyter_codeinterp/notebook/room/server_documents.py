"""The rooms of ``jupyter_server_documents``, which replaces jupyter-collaboration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .rooms import LOBBY, RoomFiles

DOCUMENTS = "jupyter_server_documents"


def found_documents(extensions: Mapping[str, Any], contents: Any) -> ServerDocuments | None:
    """The rooms; None without the extension, or if its outputs service keeps outputs in separate
    files, which ops cannot change."""
    app = getattr(extensions.get(DOCUMENTS), "app", None)
    manager = getattr(app, "yroom_manager", None)
    if app is None or not hasattr(manager, "get_room") or app.outputs_manager is not None:
        return None
    return ServerDocuments(manager, contents)


class ServerDocuments:
    def __init__(self, manager: Any, contents: Any) -> None:
        self._manager = manager
        self._files = RoomFiles(contents)

    async def open(self, path: str) -> DocumentsRoom:
        """Blocks for a look into the database of file ids: call it once for a room."""
        file_id = self._manager.fileid_manager.index(path)
        room = self._manager.get_room(f"json:notebook:{file_id}") if file_id else None
        if room is None:
            raise await self._files.why_not(path, "no room")
        return DocumentsRoom(room, await self._files.document(path, room.get_jupyter_ydoc()))

    async def check(self, path: str) -> None:
        await self._files.check(path)


class DocumentsRoom:
    def __init__(self, room: Any, document: Any) -> None:
        self.document = document
        self._room = room

    @property
    def is_open(self) -> bool:
        return not self._room.stopped

    @property
    def is_loaded(self) -> bool:
        return self._room.file_api.content_loaded and not self._room.file_api.reloading_content

    @property
    def awareness(self) -> Any:
        return self._room.get_awareness()

    @property
    def lobby(self) -> Any:
        manager = self._room.parent
        return manager.get_room(LOBBY).get_awareness() if manager.has_room(LOBBY) else None

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        """This package only logs a save that fails, and tries again. It saves before it closes
        a room."""

        def changed(event: Any) -> None:
            if (event.keys.get("dirty") or {}).get("newValue") is False:
                saved("")

        state = self.document.ystate
        watch = state.observe(changed)
        return lambda: state.unobserve(watch)
