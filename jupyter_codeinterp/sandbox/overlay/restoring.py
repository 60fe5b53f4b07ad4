"""Brings single paths of a running kernel's overlay to an earlier or later state."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from . import trees
from .layer import Layer, LayerError
from .states import Saved, States

MEANWHILE = "It has changed meanwhile."
OTHER = "It was not a file."
FULL = "The folder still holds other files."


class Trees(NamedTuple):
    """Open folders: as the sandbox has it, the layer, and the notebook's folder below."""

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
    """First what goes, the deepest first; then what comes, folders before what they hold."""

    def order(path: str) -> tuple[bool, int, str]:
        goes = _kind(wanted.get(path), lower, path) == "gone"
        return not goes, -path.count("/") if goes else path.count("/"), path

    return sorted(paths, key=order)


def restore(states: States, at: Trees, path: str, wanted: Saved | None) -> str:
    """Why it stays as it is; "" if it was read back as wanted. ``wanted`` None: as in the folder
    below."""
    kind = _kind(wanted, at.lower, path)
    try:
        with trees.parent(at.merged, path) as (folder, name):
            if kind == "gone":
                _remove(folder, name)
                return MEANWHILE if trees.status_in(folder, name) is not None else ""
            if kind == "folder":
                return _folder(wanted, at.lower, path, folder, name)
            if kind == "link":
                return _link(states, at, path, wanted, folder, name)
            if kind == "file":
                return _file(states, at, path, wanted, folder, name)
            return OTHER
    except (trees.Changed, FileNotFoundError, NotADirectoryError, FileExistsError):
        return MEANWHILE
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return FULL
        if error.errno == errno.ELOOP:
            return MEANWHILE
        return f"It could not be written: {error.strerror}."


def _folder(wanted: Saved | None, lower: int, path: str, folder: int, name: str) -> str:
    found = trees.status_in(folder, name)
    if found is not None and not stat.S_ISDIR(found.st_mode):
        _remove(folder, name)
        found = None
    if found is None:
        os.mkdir(name, 0o700, dir_fd=folder)
    below = trees.status(lower, path) if wanted is None else None
    mode = wanted.mode if wanted is not None else stat.S_IMODE(below.st_mode) if below else 0o755
    with trees.opened(name, folder) as number:
        os.fchmod(number, mode & 0o777)
    return ""


def _link(
    states: States, at: Trees, path: str, wanted: Saved | None, folder: int, name: str
) -> str:
    if wanted is not None:
        target = wanted.target
    else:
        with trees.parent(at.lower, path) as (below, inner):
            target = os.readlink(inner, dir_fd=below)
    _remove(folder, name)
    os.symlink(target, name, dir_fd=folder)
    found = trees.status(at.upper, path)
    if found is None or os.readlink(name, dir_fd=folder) != target:
        return MEANWHILE
    states.counts_as(path, trees.identity(found), wanted)
    return ""


def _file(
    states: States, at: Trees, path: str, wanted: Saved | None, folder: int, name: str
) -> str:
    with ExitStack() as stack:
        if wanted is not None:
            place, copied = states.copy_of(wanted)
            copies = stack.enter_context(trees.opened(place))
            source, found = stack.enter_context(trees.file(copies, copied))
            mode = wanted.mode
        else:
            source, found = stack.enter_context(trees.file(at.lower, path))
            mode = stat.S_IMODE(found.st_mode) & 0o777
        target, temporary = stack.enter_context(trees.new_file(folder, mode))
        trees.copy(source, target, found.st_size)
        there = trees.status_in(folder, name)
        if there is not None and stat.S_ISDIR(there.st_mode):
            _remove(folder, name)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.lseek(source, 0, os.SEEK_SET)
        with trees.file(at.upper, path) as (back, status):
            equal = trees.same(source, back) and stat.S_IMODE(status.st_mode) == mode
            # The kernel may have written it at the same time.
            if not equal or trees.identity(os.fstat(back)) != trees.identity(status):
                return MEANWHILE
        states.counts_as(path, trees.identity(status), wanted)
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


def _remove(folder: int, name: str) -> None:
    found = trees.status_in(folder, name)
    if found is None:
        return
    if stat.S_ISDIR(found.st_mode):
        os.rmdir(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
