"""The root folder of a contents manager's files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def root_of(contents: Any) -> Path | None:
    """The root folder; None if the files are not on this machine's disk."""
    # Imported late, for the server's start. The mixin is what reads below `root_dir`.
    from jupyter_server.services.contents.fileio import FileManagerMixin

    on_disk = isinstance(contents, FileManagerMixin)
    return Path(contents.root_dir) if on_disk else None


def folder_of(contents: Any, notebook: str) -> str:
    """The whole path, with slashes, of a notebook's folder as kernels begin in it; "" if the
    files are not on this machine's disk."""
    root = root_of(contents)
    folder = notebook.rpartition("/")[0]
    return "" if root is None else (Path(os.path.abspath(root)) / folder).as_posix()  # noqa: PTH100


def root_name(contents: Any) -> str | None:
    """The root folder's whole path with slashes, without links: the same for every server that
    has it. None if the files are not on this machine's disk."""
    root = root_of(contents)
    return None if root is None else Path(os.path.realpath(root)).as_posix()
