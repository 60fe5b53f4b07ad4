"""Where the files of a contents manager lie, if that is a folder of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def root_of(contents: Any) -> Path | None:
    """The folder above all files; None where they are not on a disk here."""
    # Not at the start of the server, which may have another one.
    from jupyter_server.services.contents.filemanager import FileContentsManager

    return Path(contents.root_dir) if isinstance(contents, FileContentsManager) else None
