"""Where the notebooks' files are: who is believed when one is renamed, moved or deleted.

A window that has the notebook open speaks for it; else the server does, whose contents manager
says what it has done to files:

| the server has …              | no window has it open           | a window has it open       |
| ----------------------------- | ------------------------------- | -------------------------- |
| renamed or moved it           | conversations and work follow   | remembered                 |
| deleted it                    | the turn ends, conversations    | remembered                 |
|                               | stay                            |                            |
| deleted it, after a copy that | the turn ends, conversations    | remembered                 |
| nobody has saved since        | go to the copy                  |                            |
| put another in its place      | the turn ends, conversations    | the window's copy holds    |
|                               | stay                            |                            |
| saved it                      |                                 | nothing is remembered more |

What is remembered comes about when the last window has gone without a word: the page was
closed, or another one than the window's own has renamed the file. A folder stands for all
that is in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

COPIES = 100
"""Of so many files it is known that they were copied last."""
DELETED = "The notebook {path} was deleted: the work in it was stopped."
REPLACED = "Another notebook has taken the place of {path}: the work in it was stopped."


class Notebooks(Protocol):
    """What is done to notebooks, by their paths."""

    def paths(self) -> Iterable[str]:
        """Those that have conversations, or are worked in."""

    def in_a_window(self, path: str) -> bool: ...

    def move(self, old: str, new: str) -> None: ...

    def file_gone(self, path: str, words: str) -> None:
        """The file is no more: nothing is written to it, and nothing to another in its
        place."""


class Fate(NamedTuple):
    to: str
    """Where the conversations go; "" if they stay."""
    deleted: bool = False


class Whereabouts:
    """Told in the order in which things happen. Paths are the server's, without slashes
    before and behind."""

    def __init__(self, notebooks: Notebooks) -> None:
        self._notebooks = notebooks
        self._fates: dict[str, Fate] = {}
        """Of files that were renamed or deleted while a window had them open."""
        self._copies: dict[str, str] = {}

    # --- windows ---------------------------------------------------------------------

    def settled(self, path: str) -> None:
        """A window has said where it is."""
        self._fates.pop(path, None)

    def left(self, path: str) -> None:
        """A window has gone. What none has said is so if it was the last."""
        if path in self._fates and not self._notebooks.in_a_window(path):
            self._suffer(path, self._fates.pop(path))

    # --- the server ------------------------------------------------------------------

    def happened(self, data: dict[str, Any]) -> None:
        """An event of the contents manager (schema ``contents_service/v1``)."""
        action = data["action"]
        if action == "get":
            return
        path, source = clean(data["path"]), clean(data.get("source_path") or "")
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
        """It has been moved where the contents manager did not see it (see ``FileIds``)."""
        self._renamed(old, new)

    def _renamed(self, old: str, new: str) -> None:
        notebooks = self._notebooks
        known = list(notebooks.paths())
        for path in known:
            if within(path, new) and not (within(path, old) or notebooks.in_a_window(path)):
                notebooks.file_gone(path, REPLACED.format(path=path))
        self._copies = {
            source: moved(copy, old, new) if within(copy, old) else copy
            for source, copy in self._copies.items()
            if not within(source, old)
        }
        for path, fate in list(self._fates.items()):
            if fate.to and within(fate.to, old):
                self._befall(path, Fate(moved(fate.to, old, new), fate.deleted))
        for path in known:
            if within(path, old):
                self._befall(path, Fate(moved(path, old, new)))

    def _deleted(self, path: str) -> None:
        for known, fate in list(self._fates.items()):
            if fate.to and within(fate.to, path):
                self._befall(known, Fate("", deleted=True))
        for known in list(self._notebooks.paths()):
            if within(known, path):
                self._befall(known, Fate(self._copy_of(known), deleted=True))
        self._copies = {
            source: copy
            for source, copy in self._copies.items()
            if not (within(source, path) or within(copy, path))
        }

    def _copied(self, source: str, path: str) -> None:
        self._written(path)
        self._copies.pop(source, None)
        self._copies[source] = path
        if len(self._copies) > COPIES:
            del self._copies[next(iter(self._copies))]

    def _copy_of(self, path: str) -> str:
        copies = (moved(path, s, copy) for s, copy in self._copies.items() if within(path, s))
        return next(copies, "")

    def _written(self, path: str) -> None:
        """There is such a file, as somebody has just written it."""
        self._fates.pop(path, None)
        self._copies = {s: copy for s, copy in self._copies.items() if not within(path, copy)}

    def _befall(self, path: str, fate: Fate) -> None:
        if not self._notebooks.in_a_window(path):
            self._suffer(path, fate)
        elif fate.to != path:
            self._fates[path] = fate
        else:
            del self._fates[path]  # It is back.

    def _suffer(self, path: str, fate: Fate) -> None:
        if fate.deleted:
            self._notebooks.file_gone(path, DELETED.format(path=path))
        if fate.to:
            self._notebooks.move(path, fate.to)


def clean(path: str) -> str:
    """As notebooks are named; contents managers take other slashes as well."""
    return "/".join(part for part in path.split("/") if part)


def within(path: str, place: str) -> bool:
    """Whether the place, a file or a folder, is the path's or above it."""
    return path == place or path.startswith(f"{place}/")


def moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :]
