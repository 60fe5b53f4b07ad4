"""Discards changes in a running kernel's overlay: a path becomes as it is in the folder below.

It writes through the overlay, as the kernel does: Linux forbids changing the layer of a mounted
overlay.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from ...base.sentences import Sentence
from ..shared import trees
from .changes import Entry, is_whiteout, kind_of, written
from .keeping import ANOTHER, FULL, not_written
from .layer import Layer, LayerError

MEANWHILE = Sentence("It has changed meanwhile.")
OTHER = Sentence("It was not a file.")


class DiscardedFiles(NamedTuple):
    """``done``: discarded paths. ``left``: the others, each with the reason. ``stamps``: the new
    states of discarded paths that the layer still has, as Linux keeps a copy there."""

    done: tuple[str, ...]
    left: tuple[tuple[str, Sentence], ...]
    stamps: Mapping[str, str]


class _Trees(NamedTuple):
    """Open folders: the overlay in the sandbox, the layer, and the notebook's folder below."""

    merged: int
    upper: int
    lower: int


def discard(layer: Layer, stamps: Mapping[str, str], root: int) -> DiscardedFiles:
    """Discard the changes of these paths if they still have the states of their stamps. ``root``:
    the sandbox's open root folder. Raises TooMany, LayerError and OSError."""
    with _opened(layer, root) as at:
        found = written(at.upper, at.lower)
        able = [path for path, one in found.items() if stamps.get(path) == one.stamp]
        done: list[str] = []
        left = [(path, ANOTHER) for path in stamps if path not in able]
        for path in _in_order(able, at.lower):
            why = _discard(at, path, found[path])
            if why:
                left.append((path, why))
            else:
                done.append(path)
        now = written(at.upper, at.lower)
        new = {path: now[path].stamp for path in done if path in now}
    return DiscardedFiles(tuple(done), tuple(left), new)


@contextmanager
def _opened(layer: Layer, root: int) -> Iterator[_Trees]:
    with ExitStack() as stack:
        upper = stack.enter_context(trees.opened(str(layer.upper)))
        lower = stack.enter_context(trees.opened(str(layer.folder)))
        inside = "/".join(layer.folder.parts[1:])
        folder, name = stack.enter_context(trees.parent(root, inside))
        merged = stack.enter_context(trees.opened(name, folder))
        if os.fstat(merged).st_dev == os.fstat(lower).st_dev:
            raise LayerError(Sentence("The kernel's sandbox has no overlay."))
        yield _Trees(merged, upper, lower)


def _in_order(paths: Iterable[str], lower: int) -> list[str]:
    """Sort removals first, deepest first; then the rest, folders before their files."""

    def order(path: str) -> tuple[bool, int, str]:
        goes = trees.status(lower, path) is None
        return not goes, -path.count("/") if goes else path.count("/"), path

    return sorted(paths, key=order)


def _discard(at: _Trees, path: str, entry: Entry) -> Sentence:
    """Returns why the path stays as it is; "" if it was read back as in the folder below."""
    try:
        below = trees.status(at.lower, path)
        with trees.parent(at.merged, path) as (folder, name):
            place = _Place(at, path, entry, folder, name)
            if below is None:
                place.remove()
                return MEANWHILE if place.status() is not None else Sentence()
            kind = kind_of(below)
            if kind == "folder":
                return _folder(place, stat.S_IMODE(below.st_mode))
            if kind == "link":
                return _link(place)
            return _file(place) if kind == "file" else OTHER
    except (trees.Changed, FileNotFoundError, NotADirectoryError, FileExistsError):
        return MEANWHILE
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return FULL
        if error.errno == errno.ELOOP:
            return MEANWHILE
        return not_written(error)


class _Place(NamedTuple):
    """A path in the state ``entry``. ``name`` is in the open ``folder`` of the sandbox."""

    at: _Trees
    path: str
    entry: Entry
    folder: int
    name: str

    def status(self) -> os.stat_result | None:
        return trees.status_in(self.folder, self.name)

    def check(self) -> None:
        """Raises Changed if the path is in another state, and OSError."""
        found = trees.status(self.at.upper, self.path)
        if found is None or is_whiteout(found):
            equal = self.entry.kind == "gone" and trees.status(self.at.merged, self.path) is None
        else:
            # Without the time of attributes: it changes when another hard link is removed.
            known = self.entry.identity[:3]
            equal = kind_of(found) == self.entry.kind and (
                self.entry.kind == "folder" or trees.identity(found)[:3] == known
            )
        if not equal:
            raise trees.Changed

    def remove(self) -> None:
        """Raises as ``check``."""
        self.check()
        found = self.status()
        if found is None:
            return
        if stat.S_ISDIR(found.st_mode):
            os.rmdir(self.name, dir_fd=self.folder)
        else:
            os.unlink(self.name, dir_fd=self.folder)


def _folder(place: _Place, mode: int) -> Sentence:
    found = place.status()
    if found is None:
        place.check()
    elif not stat.S_ISDIR(found.st_mode):
        place.remove()
        found = None
    if found is None:
        os.mkdir(place.name, 0o700, dir_fd=place.folder)
    with trees.opened(place.name, place.folder) as number:
        os.fchmod(number, mode & 0o777)
    return Sentence()


def _link(place: _Place) -> Sentence:
    target = trees.target(place.at.lower, place.path)
    place.remove()
    os.symlink(target, place.name, dir_fd=place.folder)
    return Sentence() if trees.target(place.at.upper, place.path) == target else MEANWHILE


def _file(place: _Place) -> Sentence:
    path, folder, name = place.path, place.folder, place.name
    with ExitStack() as stack:
        source, found = stack.enter_context(trees.file(place.at.lower, path))
        bits = stat.S_IMODE(found.st_mode) & 0o777
        target, temporary = stack.enter_context(trees.new_file(folder, bits))
        trees.copy(source, target, found.st_size)
        place.check()
        there = place.status()
        if there is not None and stat.S_ISDIR(there.st_mode):
            place.remove()
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.lseek(source, 0, os.SEEK_SET)
        with trees.file(place.at.upper, path) as (back, status):
            equal = trees.same(source, back) and stat.S_IMODE(status.st_mode) == bits
            # The kernel may have written it at the same time.
            if not equal or trees.identity(os.fstat(back)) != trees.identity(status):
                return MEANWHILE
    return Sentence()
