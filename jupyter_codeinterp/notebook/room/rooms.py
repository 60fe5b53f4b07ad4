"""Shared notebooks of a server, as each known package for collaboration provides them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.errors import DocumentError

LOADING = 10.0
"""Seconds that a room has to read its file."""
LOBBY = "JupyterLab:globalAwareness"
"""The id, in both packages, of the room that everybody in JupyterLab enters."""
NO_FILE = "{path} no longer exists."
NOT_OPENED = "The shared notebook {path} cannot be opened: {words}"
NOT_LOADED = "it does not load"
READ_ONLY = "The notebook is read-only. What is done in it would not be saved."


class RoomClosed(DocumentError):
    """The server has closed the room."""

    def __init__(self) -> None:
        super().__init__("unreadable", "The room of the shared notebook was closed.")


class Room(Protocol):
    """A notebook that people share, until the server closes it."""

    @property
    def document(self) -> Any:
        """Its ``YNotebook``."""

    @property
    def is_open(self) -> bool:
        """Whether people who open the notebook get this document."""

    @property
    def is_loaded(self) -> bool:
        """Whether it has read its file to the end."""

    @property
    def awareness(self) -> Any:
        """The people in the room: a pycrdt ``Awareness``."""

    @property
    def lobby(self) -> Any:
        """The same for all of JupyterLab; None if nobody has come yet."""

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        """Call ``saved`` with "" after each save, or with the reason if the room could not read
        or write its file. Call ``closed`` when the room closes, saved or not. Return a function
        that stops the calls."""


class Rooms(Protocol):
    async def open(self, path: str) -> Room:
        """The room of the notebook, loaded or loading. Raises DocumentError ``no_file`` or
        ``unreadable``."""

    async def check(self, path: str) -> None:
        """Raises DocumentError ``not_written`` if the room cannot save its file, ``no_file``, or
        ``unreadable``."""


# -------------------------------------------------------------------------------------------------
# What the rooms of each package need: the notebook's file, and a bound on waiting for a room.


class RoomFiles:
    def __init__(self, contents: Any) -> None:
        self._contents = contents

    async def check(self, path: str) -> None:
        try:
            model = await ensure_async(self._contents.get(path, content=False))
        except Exception as error:  # a remote manager has errors of its own
            raise await self.why_not(path, _words(error)) from error
        if not model["writable"]:
            raise DocumentError("not_written", READ_ONLY)

    async def document(self, path: str, opening: Awaitable[Any]) -> Any:
        """What ``opening`` returns. After ``LOADING`` seconds it goes on in the background:
        cancelled, it would leave a room that never loads. Raises DocumentError."""
        task = asyncio.ensure_future(opening)
        try:
            document = await asyncio.wait_for(asyncio.shield(task), LOADING)
        except asyncio.TimeoutError as error:
            task.add_done_callback(_look_at_error)
            raise await self.why_not(path, NOT_LOADED) from error
        except Exception as error:
            raise await self.why_not(path, _words(error)) from error
        if document is None:
            raise await self.why_not(path, "no room")
        return document

    async def why_not(self, path: str, words: str) -> DocumentError:
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
