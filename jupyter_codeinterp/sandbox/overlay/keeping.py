"""Copies files that a person keeps from a layer into the notebook's folder.

The layer is hostile: its kernel may still run and change a file during the copy. Only regular files
and folders are copied. A file that changed in the folder meanwhile stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from ...base.sentences import Sentence
from ..shared import trees
from .changes import CONFLICT, Entry, refusal, written
from .layer import Layer

ANOTHER = Sentence("The kernel has changed it since you saw the list. Look at it again.")
FULL = Sentence("The folder still holds other files.")


class KeptFiles(NamedTuple):
    """``done``: copied or discarded paths. ``left``: the others, each with the reason."""

    done: tuple[str, ...]
    left: tuple[tuple[str, Sentence], ...]


def keep(layer: Layer, stamps: Mapping[str, str]) -> KeptFiles:
    """Copy these paths if they still have the states of their stamps. Raises TooMany, and OSError
    if the folder is gone."""
    done: list[str] = []
    left: list[tuple[str, Sentence]] = []
    with trees.opened(str(layer.upper)) as upper, trees.opened(str(layer.folder)) as lower:
        found = written(upper, lower)
        for path in _in_order(stamps, found):
            entry = found.get(path)
            if entry is None or entry.stamp != stamps[path]:
                left.append((path, ANOTHER))
                continue
            why = refusal(path, entry) or _keep(layer, upper, lower, path, entry)
            if why:
                left.append((path, why))
            else:
                done.append(path)
        layer.settled({path: trees.status(lower, path) for path in done})
    return KeptFiles(tuple(done), tuple(left))


def _in_order(paths: Mapping[str, str], found: Mapping[str, Entry]) -> list[str]:
    """Sort deletions last, and there a folder's files before the folder."""

    def order(path: str) -> tuple[bool, int, str]:
        gone = path in found and found[path].kind == "gone"
        return gone, -path.count("/") if gone else 0, path

    return sorted(paths, key=order)


def _keep(layer: Layer, upper: int, lower: int, path: str, entry: Entry) -> Sentence:
    """Copy one path. Returns why not; "" if copied."""
    if not layer.was(path, trees.status(lower, path)):
        return CONFLICT
    try:
        with trees.parent(lower, path, make=entry.kind != "gone") as (folder, name):
            if entry.kind == "folder":
                with suppress(FileExistsError):
                    os.mkdir(name, 0o777, dir_fd=folder)
            elif entry.kind == "gone" and entry.below == "folder":
                os.rmdir(name, dir_fd=folder)
            elif entry.kind == "gone":
                os.unlink(name, dir_fd=folder)
            else:
                return _copy(layer, upper, path, entry, folder, name)
    except trees.Changed:
        return ANOTHER
    except FileExistsError:
        return CONFLICT
    except (OSError, ValueError) as error:
        if getattr(error, "errno", None) == 39:  # ENOTEMPTY
            return FULL
        return not_written(error)
    return Sentence()


def not_written(error: OSError | ValueError) -> Sentence:
    why = getattr(error, "strerror", None) or error
    return Sentence("It could not be written: {why}.", why=why)


def _copy(layer: Layer, upper: int, path: str, entry: Entry, folder: int, name: str) -> Sentence:
    before = trees.status_in(folder, name)
    mode = 0o777 if entry.mode & stat.S_IXUSR else 0o666
    with trees.file(upper, path) as (source, found):
        if trees.identity(found) != entry.identity:
            raise trees.Changed
        # Linux takes the person's umask from the mode of a new file.
        with trees.new_file(folder, mode if before is None else 0o600) as (target, temporary):
            if before is not None:
                os.fchmod(target, before.st_mode & 0o777)
            trees.copy(source, target, entry.size)
            if trees.identity(os.fstat(source)) != entry.identity:
                raise trees.Changed
            os.fsync(target)
            now = trees.status_in(folder, name)
            if not layer.was(path, now):
                return CONFLICT
            both = {"src_dir_fd": folder, "dst_dir_fd": folder}
            if now is None:
                # Fails if a file has just appeared there.
                os.link(temporary, name, **both, follow_symlinks=False)
            else:
                os.replace(temporary, name, **both)  # noqa: PTH105 - in an open folder
    return Sentence()
