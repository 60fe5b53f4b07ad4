"""The server's paths of notebooks, without leading or trailing slash."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import Any

# -------------------------------------------------------------------------------------------------
# The root folder of a contents manager's files.


def root_of(contents: Any) -> Path | None:
    """The root folder; None if the files are not on this machine's disk."""
    # Imported late, for the server's start. Managers with this mixin read below `root_dir`.
    from jupyter_server.services.contents.fileio import FileManagerMixin

    on_disk = isinstance(contents, FileManagerMixin)
    return Path(contents.root_dir) if on_disk else None


def root_name(contents: Any) -> str | None:
    """The root folder's absolute path with slashes and without links, equal on every server. None
    if the files are not on this machine's disk."""
    root = root_of(contents)
    return None if root is None else Path(os.path.realpath(root)).as_posix()


def normalize(path: str) -> str:
    """The canonical form of a path, which never leads above the root."""
    return posixpath.normpath(f"/{path}").strip("/")


def within(path: str, place: str) -> bool:
    """Whether ``path`` is the file or folder ``place``, or in it."""
    return path == place or path.startswith(f"{place}/")


def moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :]
