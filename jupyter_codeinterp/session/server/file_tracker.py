"""Tracks renames, moves and deletions of the notebooks' files.

A window that has the notebook open decides where it is. Otherwise the events of the server's
contents manager count:

| the server …                  | no window has it open           | a window has it open       |
| ----------------------------- | ------------------------------- | -------------------------- |
| renamed or moved it           | conversations and work follow   | deferred                   |
| deleted it                    | the turn ends, conversations    | deferred                   |
|                               | stay                            |                            |
| deleted it after a copy that  | the turn ends, conversations    | deferred                   |
| nobody saved since            | go to the copy                  |                            |
| replaced it by another        | the turn ends, conversations    | the window's copy wins     |
|                               | stay                            |                            |
| saved it                      |                                 | forget deferred changes    |

A deferred change takes effect when the last window left without reporting a new path. An event
for a folder applies to everything in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from ...base.paths import moved, normalize, within
from ...base.sentences import Sentence

MAX_COPIES = 100
"""Remembered copies of files."""
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


class PathChange(NamedTuple):
    to: str
    """The conversations' new path; "" if they stay."""
    deleted: bool = False


class FileTracker:
    """Takes events in order. Paths are the server's, without leading or trailing slash."""

    def __init__(self, notebooks: Notebooks) -> None:
        self._notebooks = notebooks
        self._deferred: dict[str, PathChange] = {}
        """Changes of files that a window has open."""
        self._copies: dict[str, str] = {}

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
        elif action == "copy":
            self._copied(source, path)
        else:
            self._written(path)

    def found(self, old: str, new: str) -> None:
        """Handle a move outside the contents manager (see ``FileIds``)."""
        self._renamed(old, new)

    def _renamed(self, old: str, new: str) -> None:
        notebooks = self._notebooks
        known = list(notebooks.paths())
        for path in known:
            if within(path, new) and not (within(path, old) or notebooks.has_window(path)):
                notebooks.file_gone(path, Sentence(REPLACED, path=path))
        self._copies = {
            source: moved(copy, old, new) if within(copy, old) else copy
            for source, copy in self._copies.items()
            if not within(source, old)
        }
        for path, change in list(self._deferred.items()):
            if change.to and within(change.to, old):
                self._record(path, PathChange(moved(change.to, old, new), change.deleted))
        for path in known:
            if within(path, old):
                self._record(path, PathChange(moved(path, old, new)))

    def _deleted(self, path: str) -> None:
        for known, change in list(self._deferred.items()):
            if change.to and within(change.to, path):
                self._record(known, PathChange("", deleted=True))
        for known in list(self._notebooks.paths()):
            if within(known, path):
                self._record(known, PathChange(self._copy_of(known), deleted=True))
        self._copies = {
            source: copy
            for source, copy in self._copies.items()
            if not (within(source, path) or within(copy, path))
        }

    def _copied(self, source: str, path: str) -> None:
        self._written(path)
        self._copies.pop(source, None)
        self._copies[source] = path
        if len(self._copies) > MAX_COPIES:
            del self._copies[next(iter(self._copies))]

    def _copy_of(self, path: str) -> str:
        copies = (moved(path, s, copy) for s, copy in self._copies.items() if within(path, s))
        return next(copies, "")

    def _written(self, path: str) -> None:
        """Handle a written file: it exists, and is no longer just a copy."""
        self._deferred.pop(path, None)
        self._copies = {s: copy for s, copy in self._copies.items() if not within(path, copy)}

    def _record(self, path: str, change: PathChange) -> None:
        if not self._notebooks.has_window(path):
            self._apply(path, change)
        elif change.to != path:
            self._deferred[path] = change
        else:
            del self._deferred[path]  # It is back at its old path.

    def _apply(self, path: str, change: PathChange) -> None:
        if change.deleted:
            self._notebooks.file_gone(path, Sentence(DELETED, path=path))
        if change.to:
            self._notebooks.move(path, change.to)
