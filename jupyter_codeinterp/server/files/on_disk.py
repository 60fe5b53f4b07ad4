"""The root folder of a contents manager's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def root_of(contents: Any) -> Path | None:
    """The root folder; None if the files are not on this machine's disk."""
    # Imported late, for the server's start. The mixin is what reads below `root_dir`.
    from jupyter_server.services.contents.fileio import FileManagerMixin

    on_disk = isinstance(contents, FileManagerMixin)
    return Path(contents.root_dir) if on_disk else None
