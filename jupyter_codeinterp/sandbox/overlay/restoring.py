"""Brings single paths of a running kernel's overlay to an earlier or later state."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from ..shared import trees
from .layer import Layer, LayerError
from .states import Saved, States

MEANWHILE = "It has changed meanwhile."
OTHER = "It was not a file."
FULL = "The folder still holds other files."


class Trees(NamedTuple):
    """Open folders: the overlay in the sandbox, the layer, and the notebook's folder below."""

    merged: int
    upper: int
    lower: int


@contextmanager
def open_trees(layer: Layer, root: int) -> Iterator[Trees]:
    """``root``: the sandbox's open root folder. Raises LayerError and OSError."""
    with ExitStack() as stack:
        upper = stack.enter_context(trees.opened(str(layer.upper)))
        lower = stack.enter_context(trees.opened(str(layer.folder)))
        inside = "/".join(layer.folder.parts[1:])
        folder, name = stack.enter_context(trees.parent(root, inside))
        merged = stack.enter_context(trees.opened(name, folder))
        if os.fstat(merged).st_dev == os.fstat(lower).st_dev:
            raise LayerError("The kernel's sandbox has no overlay.")
        yield Trees(merged, upper, lower)


def in_order(paths: list[str], wanted: Mapping[str, Saved], lower: int) -> list[str]:
    """Sort removals first, deepest first; then the rest, folders before their files."""

    def order(path: str) -> tuple[bool, int, str]:
        goes = _kind(wanted.get(path), lower, path) == "gone"
        return not goes, -path.count("/") if goes else path.count("/"), path

    return sorted(paths, key=order)


def restore(states: States, at: Trees, path: str, now: Saved | None, wanted: Saved | None) -> str:
    """Bring a path from the state ``now`` to ``wanted`` (None: as in the folder below). Returns why
    it stays as it is; "" if it was read back as wanted."""
    kind = _kind(wanted, at.lower, path)
    try:
        with trees.parent(at.merged, path) as (folder, name):
            place = _Place(states, at, path, now, folder, name)
            if kind == "gone":
                place.remove()
                return MEANWHILE if place.status() is not None else ""
            if kind == "folder":
                return _folder(place, wanted)
            if kind == "link":
                return _link(place, wanted)
            if kind == "file":
                return _file(place, wanted)
            return OTHER
    except (trees.Changed, FileNotFoundError, NotADirectoryError, FileExistsError):
        return MEANWHILE
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return FULL
        if error.errno == errno.ELOOP:
            return MEANWHILE
        return f"It could not be written: {error.strerror}."


class _Place(NamedTuple):
    """A path in its state ``now``. ``name`` is in the open ``folder`` of the sandbox."""

    states: States
    at: Trees
    path: str
    now: Saved | None
    folder: int
    name: str

    def status(self) -> os.stat_result | None:
        return trees.status_in(self.folder, self.name)

    def check(self) -> None:
        """Raises Changed if the path is no longer in the state ``now``, and OSError."""
        upper, merged, lower = self.at.upper, self.at.merged, self.at.lower
        if not self.states.is_still(upper, merged, lower, self.path, self.now):
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


def _folder(place: _Place, wanted: Saved | None) -> str:
    found = place.status()
    if found is None:
        place.check()
    elif not stat.S_ISDIR(found.st_mode):
        place.remove()
        found = None
    if found is None:
        os.mkdir(place.name, 0o700, dir_fd=place.folder)
    below = trees.status(place.at.lower, place.path) if wanted is None else None
    mode = wanted.bits if wanted is not None else stat.S_IMODE(below.st_mode) if below else 0o755
    with trees.opened(place.name, place.folder) as number:
        os.fchmod(number, mode & 0o777)
    return ""


def _link(place: _Place, wanted: Saved | None) -> str:
    path, folder, name = place.path, place.folder, place.name
    if wanted is not None:
        target = wanted.target
    else:
        with trees.parent(place.at.lower, path) as (below, inner):
            target = os.readlink(inner, dir_fd=below)
    place.remove()
    os.symlink(target, name, dir_fd=folder)
    found = trees.status(place.at.upper, path)
    if found is None or os.readlink(name, dir_fd=folder) != target:
        return MEANWHILE
    place.states.counts_as(path, trees.identity(found), wanted)
    return ""


def _file(place: _Place, wanted: Saved | None) -> str:
    path, folder, name = place.path, place.folder, place.name
    with ExitStack() as stack:
        if wanted is not None:
            folder_of_copies, copied = place.states.copy_of(wanted)
            copies = stack.enter_context(trees.opened(folder_of_copies))
            source, found = stack.enter_context(trees.file(copies, copied))
            bits = wanted.bits
        else:
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
        place.states.counts_as(path, trees.identity(status), wanted)
    return ""


def _kind(wanted: Saved | None, lower: int, path: str) -> str:
    if wanted is not None:
        return wanted.kind
    found = trees.status(lower, path)
    if found is None:
        return "gone"
    if stat.S_ISREG(found.st_mode):
        return "file"
    if stat.S_ISLNK(found.st_mode):
        return "link"
    return "folder" if stat.S_ISDIR(found.st_mode) else "other"
