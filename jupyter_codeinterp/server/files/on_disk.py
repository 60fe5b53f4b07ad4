"""Where the files of a contents manager lie, if that is a folder of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def root_of(contents: Any) -> Path | None:
    """The folder above all files; None where they are not on a disk here."""
    # Not at the start of the server. The mixin, not a manager: it is what reads below `root_dir`.
    from jupyter_server.services.contents.fileio import FileManagerMixin

    on_disk = isinstance(contents, FileManagerMixin)
    return Path(contents.root_dir) if on_disk else None
