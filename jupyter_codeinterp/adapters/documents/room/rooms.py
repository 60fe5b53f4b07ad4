"""Where a server keeps its shared notebooks, found out from what is installed and enabled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from jupyter_core.utils import ensure_async
from tornado import web

from ....core.errors import DocumentError

LOADING = 10.0
"""Seconds that a room has to read its file."""
NO_FILE = "{path} no longer exists."
NOT_OPENED = "The shared notebook {path} cannot be opened: {words}"
READ_ONLY = "The notebook is read-only. What is done in it would not be saved."


class Rooms(Protocol):
    async def open(self, path: str) -> Any:
        """The notebook that all people there share, loaded or about to be: a ``YNotebook``.
        Raises DocumentError ``no_file`` or ``unreadable``."""

    async def check(self, path: str) -> None:
        """Raises DocumentError ``not_written`` if the room cannot save its file."""


class ServerYDoc:
    """The rooms of ``jupyter_server_ydoc``, which jupyter-collaboration brings."""

    def __init__(self, extension: Any, contents: Any) -> None:
        self._extension = extension
        self._contents = contents

    async def open(self, path: str) -> Any:
        # Its copies are forks: nobody sees what is written there.
        try:
            document = await self._extension.get_document(
                path=path, content_type="notebook", file_format="json", copy=False, create=True
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise await self._why_not(path, error) from error
        if document is None:
            raise await self._why_not(path, None)
        return document

    async def check(self, path: str) -> None:
        try:
            model = await ensure_async(self._contents.get(path, content=False))
        except web.HTTPError as error:
            raise await self._why_not(path, error) from error
        if not model["writable"]:
            raise DocumentError("not_written", READ_ONLY)

    async def _why_not(self, path: str, error: Exception | None) -> DocumentError:
        if not await ensure_async(self._contents.file_exists(path)):
            return DocumentError("no_file", NO_FILE.format(path=path))
        words = error.log_message if isinstance(error, web.HTTPError) else str(error or "no room")
        return DocumentError("unreadable", NOT_OPENED.format(path=path, words=words))


YDOC = "jupyter_server_ydoc"


def found(extensions: Mapping[str, Any], contents: Any) -> Rooms | None:
    """The server's rooms; None if it has none that are known here. ``extensions`` are its
    extensions by name."""
    point = extensions.get(YDOC)
    app = getattr(point, "app", None)
    if app is None or getattr(app, "disable_rtc", False) or not hasattr(app, "get_document"):
        return None
    return ServerYDoc(app, contents)
