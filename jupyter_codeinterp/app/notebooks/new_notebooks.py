"""Makes notebooks beside others, and begins conversations there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.errors import CommandError
from ...session.server.manager import SessionManager
from .notebook_kernels import NotebookKernels

log = logging.getLogger(__name__)


class NotebookMaker:
    def __init__(self, contents: Any, kernels: NotebookKernels) -> None:
        """``contents`` is jupyter_server's contents manager."""
        self._contents = contents
        self.kernels = kernels
        self._making = asyncio.Lock()
        """Two conversations must not find the same name free."""

    async def free_name(self, beside: str, name: str) -> str:
        """A name that no file beside the notebook has. Raises CommandError ``not_made``."""
        folder = beside.rpartition("/")[0]
        try:
            return str(
                await ensure_async(self._contents.increment_filename(name, folder, insert="-"))
            )
        except (web.HTTPError, OSError) as error:
            raise _not_made(name, error) from None

    async def make(self, beside: str, name: str) -> str:
        """Make an empty notebook with the kernelspec of the one at ``beside``. Returns its path.
        Never replaces a file. Raises CommandError ``name_taken`` or ``not_made``."""
        folder = beside.rpartition("/")[0]
        path = f"{folder}/{name}" if folder else name
        try:
            metadata = await self.kernels.metadata(beside)
            content = {"cells": [], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
            model = {"type": "notebook", "format": "json", "content": content}
            async with self._making:
                if await ensure_async(self._contents.exists(path)):
                    raise CommandError("name_taken", "{name} exists already.", name=name)
                await ensure_async(self._contents.new(model, path))
        except CommandError as error:
            if error.code == "name_taken":
                raise
            raise _not_made(name, error) from None
        except Exception as error:
            # Contents managers of other packages, and their hooks, may raise anything.
            log.warning("Could not make the notebook %s", path, exc_info=True)
            raise _not_made(name, error) from None
        return path


class NotebooksBeside:
    """Implements the core's ``NewNotebooks`` for the conversation ``session_id``."""

    def __init__(
        self,
        maker: NotebookMaker,
        manager: SessionManager,
        session_id: str,
        path: Callable[[], str],
    ) -> None:
        """``path`` returns the current path of the conversation's notebook."""
        self._maker = maker
        self._manager = manager
        self._session_id = session_id
        self._path = path

    async def free_name(self, name: str) -> str:
        return await self._maker.free_name(self._path(), name)

    async def go_on(self, name: str, task: str, by: int) -> tuple[str, str]:
        path = await self._maker.make(self._path(), name)
        # A window that opens the notebook takes this kernel.
        await self._maker.kernels.ready(path)
        manager = self._manager
        notebook = manager.notebooks.at(path)
        if manager.broadcaster.has(by):
            notebook.hand_over.expect_window()
        else:
            notebook.hand_over.expect_no_window()
        from ...session.service import go_on  # see ``preload``

        session = await go_on(manager, self._session_id, path, task, by)
        return path, session.info.session_id


def _not_made(name: str, error: Exception) -> CommandError:
    words = str(error)
    if isinstance(error, web.HTTPError):
        words = str(error.log_message or error.reason or error)
    elif isinstance(error, OSError):
        words = f"{error.strerror}."
    return CommandError("not_made", "Could not make {name}: {why}", name=name, why=words)
