"""Tracks renames, moves and deletions of the notebooks' files.

A window that has the notebook open decides where it is. Otherwise the events of the server's
contents manager count:

| the server …                  | no window has it open           | a window has it open       |
| ----------------------------- | ------------------------------- | -------------------------- |
| renamed or moved it           | conversations and work follow   | deferred                   |
| deleted it                    | the turn ends, conversations    | deferred                   |
|                               | stay                            |                            |
| replaced it by another        | the turn ends, conversations    | the window's copy wins     |
|                               | stay                            |                            |
| saved it                      |                                 | forget deferred changes    |

A deferred change takes effect when the last window left without reporting a new path. An event
for a folder applies to everything in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from ...base.paths import moved, normalize, within
from ...base.sentences import Sentence

DELETED = Sentence("The notebook {path} was deleted. The work in it was stopped.")
REPLACED = Sentence("Another notebook replaced {path}. The work in it was stopped.")


class Notebooks(Protocol):
    """The tracked notebooks, by path."""

    def paths(self) -> Iterable[str]:
        """Notebooks that are live or have conversations."""

    def has_window(self, path: str) -> bool: ...

    def move(self, old: str, new: str) -> None: ...

    def file_gone(self, path: str, words: str) -> None:
        """Stop work in a deleted file. Write nothing to it, or to a later file at its path."""


class FileTracker:
    """Takes events in order. Paths are the server's, without leading or trailing slash."""

    def __init__(self, notebooks: Notebooks) -> None:
        self._notebooks = notebooks
        self._deferred: dict[str, str] = {}
        """New paths of files that a window has open; "" for deleted ones."""

    # --- windows ---------------------------------------------------------------------

    def settled(self, path: str) -> None:
        """Forget the deferred change of a notebook whose window reported its path."""
        self._deferred.pop(path, None)

    def left(self, path: str) -> None:
        """Apply a deferred change when the last window left."""
        if path in self._deferred and not self._notebooks.has_window(path):
            self._apply(path, self._deferred.pop(path))

    # --- the server ------------------------------------------------------------------

    def happened(self, data: dict[str, Any]) -> None:
        """An event of the contents manager (schema ``contents_service/v1``)."""
        action = data["action"]
        if action == "get":
            return
        path, source = normalize(data["path"]), normalize(data.get("source_path") or "")
        if action == "rename":
            if path != source:
                self._renamed(source, path)
        elif action == "delete":
            self._deleted(path)
        else:
            self._deferred.pop(path, None)  # It exists.

    def _renamed(self, old: str, new: str) -> None:
        notebooks = self._notebooks
        known = list(notebooks.paths())
        for path in known:
            if within(path, new) and not (within(path, old) or notebooks.has_window(path)):
                notebooks.file_gone(path, Sentence(REPLACED, path=path))
        for path, to in list(self._deferred.items()):
            if to and within(to, old):
                self._record(path, moved(to, old, new))
        for path in known:
            if within(path, old):
                self._record(path, moved(path, old, new))

    def _deleted(self, path: str) -> None:
        for known, to in list(self._deferred.items()):
            if to and within(to, path):
                self._record(known, "")
        for known in list(self._notebooks.paths()):
            if within(known, path):
                self._record(known, "")

    def _record(self, path: str, to: str) -> None:
        if not self._notebooks.has_window(path):
            self._apply(path, to)
        elif to != path:
            self._deferred[path] = to
        else:
            del self._deferred[path]  # It is back at its old path.

    def _apply(self, path: str, to: str) -> None:
        if to:
            self._notebooks.move(path, to)
        else:
            self._notebooks.file_gone(path, Sentence(DELETED, path=path))
