"""States of a layer's files, and copies of them.

A restored file is a different file for Linux. Here it counts as the file that it was copied from,
so that earlier and later turns still know it.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..shared import trees
from .changes import MOST, Kind, is_whiteout, kind_of, written
from .layer import Layer

FOREVER = float("inf")


class Late(Exception):
    """Looking at the files took too long."""


class Saved(NamedTuple):
    """The state of a path in a layer. ``target``: of a link."""

    kind: Kind
    size: int
    bits: int
    identity: trees.Identity
    target: str = ""


State = dict[str, Saved]
"""States by path, of paths that the layer changes."""


class States:
    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._copies = layer.copies
        self._restored: dict[tuple[str, trees.Identity], Saved | None] = {}
        """The state that a restored file or link counts as; None: as in the folder below."""

    def now(self, until: float = FOREVER) -> State:
        """The current state. ``until``: a time of ``time.monotonic``. Raises TooMany, Late and
        OSError."""
        with (
            trees.opened(str(self._layer.upper)) as upper,
            trees.opened(str(self._layer.folder)) as lower,
        ):
            found = self.of(upper, lower)
        if time.monotonic() > until:
            raise Late
        return found

    def of(self, upper: int, lower: int) -> State:
        """The state of the open layer and folder. Raises TooMany and OSError."""
        state: State = {}
        known: dict[tuple[str, trees.Identity], Saved | None] = {}
        for path, entry in written(upper, lower, MOST, replaced=True).items():
            key = (path, entry.identity)
            if key in self._restored:
                one = known[key] = self._restored[key]
            else:
                target = _target(upper, path) if entry.kind == "link" else ""
                one = Saved(entry.kind, entry.size, entry.mode, entry.identity, target)
            if one is not None:
                state[path] = one
        self._restored = known
        return state

    def counts_as(self, path: str, identity: trees.Identity, one: Saved | None) -> None:
        """Note that a file or link was restored, and counts as ``one``."""
        self._restored[(path, identity)] = one

    def is_as_in_the_folder(self, path: str, identity: trees.Identity) -> bool:
        """Whether a restore gave this file or link the state that it has in the folder."""
        return (path, identity) in self._restored and self._restored[(path, identity)] is None

    def is_still(self, upper: int, merged: int, lower: int, path: str, one: Saved | None) -> bool:
        """Whether a path is in the state ``one``. Raises OSError."""
        found, below = trees.status(upper, path), trees.status(lower, path)
        if found is None or is_whiteout(found):
            is_gone = below is not None and trees.status(merged, path) is None
            return (one is not None and one.kind == "gone") if is_gone else one is None
        identity = trees.identity(found)
        if (path, identity) in self._restored:
            return same(self._restored[(path, identity)], one)
        if one is None:
            # A folder on both sides is no change.
            return below is not None and kind_of(found) == kind_of(below) == "folder"
        if kind_of(found) != one.kind or stat.S_IMODE(found.st_mode) & 0o777 != one.bits:
            return False
        # Without the time of attributes: it changes when another hard link is removed.
        return one.kind == "folder" or identity[:3] == one.identity[:3]

    def copy(self, state: State, until: float = FOREVER) -> None:
        """Copy files that are still in this state. Raises Changed, Late and OSError."""
        with self.copying() as copy:
            for path, one in state.items():
                if time.monotonic() > until:
                    raise Late
                copy(path, one)

    @contextmanager
    def copying(self) -> Iterator[Callable[[str, Saved], None]]:
        """Yield a function that copies a path if it is a file. The function raises Changed if the
        path is in another state, and OSError. Raises OSError."""
        self._copies.mkdir(mode=0o700, exist_ok=True)
        with (
            trees.opened(str(self._layer.upper)) as upper,
            trees.opened(str(self._copies)) as copies,
        ):
            there = set(trees.names(copies))

            def copy(path: str, one: Saved) -> None:
                if one.kind == "file" and _name(one) not in there:
                    self._copy(upper, copies, path, one)
                    there.add(_name(one))

            yield copy

    def _copy(self, upper: int, copies: int, path: str, one: Saved) -> None:
        with (
            trees.file(upper, path) as (source, _),
            trees.new_file(copies, 0o600) as (target, temporary),
        ):
            trees.copy(source, target, one.size)
            if self._origin(path, trees.identity(os.fstat(source))) != one.identity:
                raise trees.Changed
            both = {"src_dir_fd": copies, "dst_dir_fd": copies}
            os.replace(temporary, _name(one), **both)  # noqa: PTH105

    def copy_of(self, one: Saved) -> tuple[str, str]:
        """Folder and name of a file's copy."""
        return str(self._copies), _name(one)

    def forget_but(self, states: Iterable[State]) -> None:
        """Remove the copies that none of these states needs. Raises OSError."""
        needed = {_name(one) for each in states for one in each.values() if one.kind == "file"}
        for path in self._copies.iterdir() if self._copies.is_dir() else ():
            if path.name not in needed:
                path.unlink()

    def _origin(self, path: str, identity: trees.Identity) -> trees.Identity | None:
        one = self._restored.get((path, identity))
        return one.identity if one is not None else identity


def same(one: Saved | None, other: Saved | None) -> bool:
    if one is None or other is None:
        return one is other
    if one.kind == other.kind == "folder":
        return one.bits == other.bits
    return (one.kind, one.identity, one.bits) == (other.kind, other.identity, other.bits)


def size(states: Iterable[State]) -> int:
    """Bytes of the states' files, each counted once."""
    files = {one.identity: one.size for each in states for one in each.values()}
    return sum(files.values())


def forget(layer: Layer) -> None:
    """Remove all copies. Only their running kernel could restore them."""
    shutil.rmtree(layer.copies, ignore_errors=True)


def _target(root: int, path: str) -> str:
    with trees.parent(root, path) as (folder, name):
        return os.readlink(name, dir_fd=folder)


def _name(one: Saved) -> str:
    """The name of its copy."""
    return "-".join(map(str, one.identity))
