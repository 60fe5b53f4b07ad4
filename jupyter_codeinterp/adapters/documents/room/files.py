"""What the rooms of each package need: the notebook's file, and a bound on waiting for a room."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ....core.errors import DocumentError
from . import rooms
from .rooms import NO_FILE, NOT_LOADED, NOT_OPENED, READ_ONLY


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
        """What ``opening`` returns. A cancelled one would leave a room behind that is never
        loaded, so one that takes too long goes on. Raises DocumentError."""
        task = asyncio.ensure_future(opening)
        try:
            document = await asyncio.wait_for(asyncio.shield(task), rooms.LOADING)
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
            return DocumentError("no_file", NO_FILE.format(path=path))
        return DocumentError("unreadable", NOT_OPENED.format(path=path, words=words))


def _words(error: Exception) -> str:
    return str(error.log_message if isinstance(error, web.HTTPError) else error)


def _look_at_error(task: asyncio.Future[Any]) -> None:
    """asyncio complains of errors that nobody looks at; the extension has logged this one."""
    if not task.cancelled():
        task.exception()
