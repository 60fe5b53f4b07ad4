"""Lists a kernel's changes: compares its layer with the folder below.

Linux keeps new and changed files in the layer. A character device 0/0 there hides the path below,
and a folder marked as opaque hides the whole folder below.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Literal, NamedTuple

from ..shared import trees
from ..shared.folders import is_protected
from .layer import Layer

Kind = Literal["file", "link", "folder", "other", "gone"]
MOST = 20_000
"""Files of a layer that are compared."""

LINK = "It is a link. Links are not copied."
OTHER = "It is not a file. Only files and folders are copied."
NAMED = "Other programs take instructions from it, so it is not copied."
REPLACES = "A folder and a file replace each other. That is not copied."
CONFLICT = "It has changed in the folder since the kernel started. Your version stays."


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
    why: str
    stamp: str


def changes(
    layer: Layer, is_none: Callable[[str, trees.Identity], bool] = lambda path, identity: False
) -> list[FileChange]:
    """All changes, by path. ``is_none``: whether a file does not count as a change. Raises TooMany,
    and OSError if the folder is gone."""
    found = []
    with trees.opened(str(layer.upper)) as upper, trees.opened(str(layer.folder)) as lower:
        for path, entry in written(upper, lower).items():
            if is_none(path, entry.identity):
                continue
            if entry.kind == entry.below == "file" and _equal(upper, lower, path, entry):
                continue
            why = refusal(path, entry)
            if not why and not layer.was(path, trees.status(lower, path)):
                why = CONFLICT
            is_folder = "folder" in (entry.kind, entry.below)
            found.append(FileChange(path, _kind(entry), entry.size, is_folder, why, entry.stamp))
    return found


def written(
    upper: int, lower: int, most: int = MOST, *, replaced: bool = False
) -> dict[str, Entry]:
    """Every path at which the open layer may differ from the open folder. ``replaced``: include the
    content of folders that files replaced. Raises TooMany."""
    found: dict[str, Entry] = {}

    def add(path: str, entry: Entry) -> None:
        if len(found) >= most:
            raise trees.TooMany
        found[path] = entry

    def gone(folder: int, name: str, path: str) -> None:
        below = trees.status_in(folder, name)
        if below is None:
            return
        add(path, Entry("gone", kind_of(below), 0, 0, (0, 0, 0, 0)))
        if stat.S_ISDIR(below.st_mode):
            content_gone(folder, name, path)

    def content_gone(folder: int, name: str, path: str) -> None:
        if path.count("/") < trees.DEPTH:
            with suppress(OSError), trees.opened(name, folder) as number:
                for inner in trees.names(number):
                    gone(number, inner, f"{path}/{inner}")

    def visit(folder: int, over: int | None, above: str, depth: int) -> None:
        names = trees.names(folder, most)
        if over is not None and trees.is_opaque(folder):
            for name in sorted(set(trees.names(over)).difference(names)):
                gone(over, name, f"{above}{name}")
        for name in names:
            one = trees.status_in(folder, name)
            if one is None:
                continue
            path = f"{above}{name}"
            below = trees.status_in(over, name) if over is not None else None
            if is_whiteout(one):
                if over is not None:
                    gone(over, name, path)
                continue
            kind = kind_of(one)
            if kind != "folder" or below is None or not stat.S_ISDIR(below.st_mode):
                size = one.st_size if kind == "file" else 0
                mode = stat.S_IMODE(one.st_mode) & 0o777
                lower_kind = kind_of(below) if below is not None else ""
                add(path, Entry(kind, lower_kind, size, mode, trees.identity(one)))
                if replaced and over is not None and lower_kind == "folder":
                    content_gone(over, name, path)
            if kind == "folder" and depth < trees.DEPTH:
                with ExitStack() as stack:
                    try:
                        number = stack.enter_context(trees.opened(name, folder))
                    except OSError:
                        continue  # Code may take its own right to read it, or put a link there.
                    inner = None
                    if below is not None and stat.S_ISDIR(below.st_mode):
                        with suppress(OSError):
                            inner = stack.enter_context(trees.opened(name, over))
                    visit(number, inner, f"{path}/", depth + 1)

    visit(upper, lower, "", 0)
    return found


def refusal(path: str, entry: Entry) -> str:
    """The reason that this can never be kept; "" if it can."""
    if any(is_protected(part) for part in path.split("/")):
        return NAMED
    if entry.kind == "link":
        return LINK
    if entry.kind == "other" or (entry.kind == "gone" and entry.below == "other"):
        return OTHER
    if entry.kind != "gone" and entry.below not in ("", entry.kind):
        return REPLACES
    return ""


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
