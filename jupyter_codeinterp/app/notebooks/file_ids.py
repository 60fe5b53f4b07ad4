"""Finds notebooks that were moved outside Jupyter, for example in a shell.

This needs ``jupyter_server_fileid``, whose ``LocalFileIdManager`` identifies files by inode.
Without it, such moves go unnoticed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Optional, Protocol

from ...base.paths import normalize

log = logging.getLogger(__name__)

MAX_KNOWN = 1000
"""Notebooks whose ids are remembered."""


class Manager(Protocol):
    """The used part of the server's setting ``file_id_manager``. Paths are the contents
    manager's; unknown ids and paths are None."""

    def index(self, path: str) -> Optional[str]:
        """The file's id, created if needed."""

    def get_id(self, path: str) -> Optional[str]: ...

    def get_path(self, id: str) -> Optional[str]: ...


class FileIds:
    def __init__(
        self, manager: Callable[[], Manager | None], found: Callable[[str, str], None]
    ) -> None:
        """``manager`` returns the file id manager or None. ``found`` gets the old and the new
        path of a moved notebook."""
        self._manager = manager
        self._found = found
        self._known: dict[str, str] = {}
        """Ids by path, newest last."""

    def seen(self, path: str) -> None:
        """Check whether an opened notebook moved here from another path."""
        manager = self._manager()
        if manager is None:
            return
        try:
            file_id = manager.get_id(path)
            for old, known in list(self._known.items()):
                # A hard link is not a move.
                if known == file_id and old != path and manager.get_id(old) != known:
                    self._move(old, path)
            self._know(manager, path)
        except Exception:
            log.exception("Could not find out whether %s was moved", path)

    def written(self, path: str) -> None:
        """Update the id of a written file: a replaced one has a new id."""
        manager = self._manager()
        if manager is not None and path in self._known:
            try:
                self._know(manager, path)
            except Exception:
                log.exception("Could not get the file id of %s", path)

    def look_for(self, path: str) -> None:
        """Look for the new path of a missing file."""
        manager = self._manager()
        if manager is None or path not in self._known:
            return
        try:
            now = normalize(manager.get_path(self._known[path]) or "")
        except Exception:
            log.exception("Could not find out the path of %s", path)
            return
        if now != path and _is_notebook(now):
            self._move(path, now)

    def _know(self, manager: Manager, path: str) -> None:
        self._known.pop(path, None)
        file_id = manager.index(path)
        if file_id is not None:
            self._known[path] = file_id
        while len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]

    def _move(self, old: str, new: str) -> None:
        self._known[new] = self._known.pop(old)
        self._found(old, new)


def _is_notebook(path: str) -> bool:
    """Whether the path is a notebook. Excludes hidden folders, such as the trash."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    return path.endswith(".ipynb") and not hidden
