"""Where a notebook is that was moved where Jupyter does not see it, as in a shell.

``jupyter_server_fileid`` can tell, where it is installed (its ``LocalFileIdManager`` knows files
by their inodes). Without it nothing is followed; nothing here needs it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Optional, Protocol

from .whereabouts import clean

log = logging.getLogger(__name__)

MAX_KNOWN = 1000
"""Notebooks whose ids are remembered."""


class Manager(Protocol):
    """What is used of its manager, the server's setting ``file_id_manager``. Paths are the
    contents manager's. Ids and paths that it does not know are None."""

    def index(self, path: str) -> Optional[str]:
        """The file's id; it gets one if need be."""

    def get_id(self, path: str) -> Optional[str]: ...

    def get_path(self, id: str) -> Optional[str]: ...


class FileIds:
    def __init__(
        self, manager: Callable[[], Manager | None], found: Callable[[str, str], None]
    ) -> None:
        """``manager`` gives it if there is one; ``found`` is told where a notebook was and
        where it is."""
        self._manager = manager
        self._found = found
        self._known: dict[str, str] = {}
        """Ids by path, the latest last."""

    def seen(self, path: str) -> None:
        """Somebody looks at this notebook. It may be one that was known elsewhere."""
        manager = self._manager()
        if manager is None:
            return
        try:
            file_id = manager.get_id(path)
            for old, known in list(self._known.items()):
                # A second name for the same file is no move.
                if known == file_id and old != path and manager.get_id(old) != known:
                    self._move(old, path)
            self._know(manager, path)
        except Exception:
            log.exception("Whether %s was moved is not known", path)

    def written(self, path: str) -> None:
        """A file that was replaced has another id."""
        manager = self._manager()
        if manager is not None and path in self._known:
            try:
                self._know(manager, path)
            except Exception:
                log.exception("The id of %s is not known", path)

    def look_for(self, path: str) -> None:
        """There is no such file, where there was one."""
        manager = self._manager()
        if manager is None or path not in self._known:
            return
        try:
            now = clean(manager.get_path(self._known[path]) or "")
        except Exception:
            log.exception("Where %s is now is not known", path)
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
    """Nothing is done in what was thrown away, or is a notebook no more."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    return path.endswith(".ipynb") and not hidden
