"""Lists a kernel's changes: compares its layer with the folder below.

Linux keeps new and changed files in the layer. A character device 0/0 there hides the path below,
and a folder marked as opaque hides the whole folder below.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import ExitStack, suppress
from typing import Literal, NamedTuple

from ...base.sentences import Sentence
from ..shared import trees
from ..shared.folders import is_protected
from .layer import Layer

Kind = Literal["file", "link", "folder", "other", "gone"]
MOST = 20_000
"""Files of a layer that are compared."""

LINK = Sentence("It is a link. Links are not copied.")
OTHER = Sentence("It is not a file. Only files and folders are copied.")
NAMED = Sentence("Other programs take instructions from it, so it is not copied.")
REPLACES = Sentence("A folder and a file replace each other. That is not copied.")
CONFLICT = Sentence("It has changed in the folder since the kernel started. Your version stays.")


class Entry(NamedTuple):
    """A path in the layer. ``below``: its kind in the folder, "" for nothing."""

    kind: Kind
    below: Kind | Literal[""]
    size: int
    mode: int
    identity: trees.Identity

    @property
    def stamp(self) -> str:
        """A digest of the file's state."""
        text = repr((self.kind, self.identity, self.mode))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class FileChange(NamedTuple):
    """``why``: the reason it cannot be kept; "" if it can. ``stamp``: the state in the list."""

    path: str
    kind: Literal["added", "changed", "deleted"]
    size: int
    folder: bool
    why: Sentence
    stamp: str


def changes(layer: Layer) -> list[FileChange]:
    """All changes, by path. Raises TooMany, and OSError if the folder is gone."""
    found = []
    with trees.opened(str(layer.upper)) as upper, trees.opened(str(layer.folder)) as lower:
        for path, entry in written(upper, lower).items():
            if entry.kind == entry.below == "file" and _equal(upper, lower, path, entry):
                continue
            why = refusal(path, entry)
            if not why and not layer.was(path, trees.status(lower, path)):
                why = CONFLICT
            is_folder = "folder" in (entry.kind, entry.below)
            found.append(FileChange(path, _kind(entry), entry.size, is_folder, why, entry.stamp))
    return found


def written(upper: int, lower: int) -> dict[str, Entry]:
    """Every path at which the open layer may differ from the open folder. Raises TooMany."""
    walk = _Walk()
    walk.visit(upper, lower, "", 0)
    return walk.found


class _Walk:
    """Goes through an open layer and the folder below it, side by side."""

    def __init__(self) -> None:
        self.found: dict[str, Entry] = {}

    def visit(self, folder: int, over: int | None, above: str, depth: int) -> None:
        """``over``: the folder below ``folder``; None if there is none."""
        names = trees.names(folder, MOST)
        if over is not None and trees.is_opaque(folder):
            for name in sorted(set(trees.names(over)).difference(names)):
                self._gone(over, name, f"{above}{name}")
        for name in names:
            one = trees.status_in(folder, name)
            if one is None:
                continue
            path = f"{above}{name}"
            if is_whiteout(one):
                if over is not None:
                    self._gone(over, name, path)
                continue
            below = trees.status_in(over, name) if over is not None else None
            both = stat.S_ISDIR(one.st_mode) and below is not None and stat.S_ISDIR(below.st_mode)
            if not both:
                self._add(path, _entry(one, below))
            if stat.S_ISDIR(one.st_mode) and depth < trees.DEPTH:
                self._descend(folder, over if both else None, name, path, depth)

    def _descend(self, folder: int, over: int | None, name: str, path: str, depth: int) -> None:
        with ExitStack() as stack:
            try:
                number = stack.enter_context(trees.opened(name, folder))
            except OSError:
                return  # Code may make it unreadable, or put a link there.
            inner = None
            if over is not None:
                with suppress(OSError):
                    inner = stack.enter_context(trees.opened(name, over))
            self.visit(number, inner, f"{path}/", depth + 1)

    def _add(self, path: str, entry: Entry) -> None:
        if len(self.found) >= MOST:
            raise trees.TooMany
        self.found[path] = entry

    def _gone(self, folder: int, name: str, path: str) -> None:
        below = trees.status_in(folder, name)
        if below is not None:
            self._add(path, Entry("gone", kind_of(below), 0, 0, (0, 0, 0, 0)))
            self._content_gone(folder, name, below, path)

    def _content_gone(self, folder: int, name: str, one: os.stat_result, path: str) -> None:
        if stat.S_ISDIR(one.st_mode) and path.count("/") < trees.DEPTH:
            with suppress(OSError), trees.opened(name, folder) as number:
                for inner in trees.names(number):
                    self._gone(number, inner, f"{path}/{inner}")


def _entry(one: os.stat_result, below: os.stat_result | None) -> Entry:
    kind = kind_of(one)
    size = one.st_size if kind == "file" else 0
    mode = stat.S_IMODE(one.st_mode) & 0o777
    return Entry(kind, kind_of(below) if below is not None else "", size, mode, trees.identity(one))


def refusal(path: str, entry: Entry) -> Sentence:
    """The reason that this can never be kept; "" if it can."""
    if any(is_protected(part) for part in path.split("/")):
        return NAMED
    if entry.kind == "link":
        return LINK
    if entry.kind == "other" or (entry.kind == "gone" and entry.below == "other"):
        return OTHER
    if entry.kind != "gone" and entry.below not in ("", entry.kind):
        return REPLACES
    return Sentence()


def _kind(entry: Entry) -> Literal["added", "changed", "deleted"]:
    if entry.kind == "gone":
        return "deleted"
    return "changed" if entry.below else "added"


def is_whiteout(one: os.stat_result) -> bool:
    """Whether it hides the path below."""
    return stat.S_ISCHR(one.st_mode) and one.st_rdev == 0


def kind_of(one: os.stat_result) -> Kind:
    if stat.S_ISREG(one.st_mode):
        return "file"
    if stat.S_ISLNK(one.st_mode):
        return "link"
    return "folder" if stat.S_ISDIR(one.st_mode) else "other"


def _equal(upper: int, lower: int, path: str, entry: Entry) -> bool:
    try:
        with trees.file(upper, path) as (one, _), trees.file(lower, path) as (other, found):
            return found.st_size == entry.size and trees.same(one, other)
    except OSError:
        return False
