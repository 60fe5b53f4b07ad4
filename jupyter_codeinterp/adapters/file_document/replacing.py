"""A file replaced in one step: who reads it sees the old one or the new one, whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

BY_FOLDER = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd
"""Whether a file can be named by the folder that it is in, whatever that is called by now."""


def replace_text(path: str, text: str) -> None:
    """Mode and, where that is allowed, owner stay; a link stays one, and what it leads to is
    replaced. It is on the disk when this returns. Raises OSError; the file is then as it was,
    and FileNotFoundError if there is none: nothing is written anew."""
    target = Path(path).resolve()
    folder = os.open(target.parent, os.O_RDONLY) if BY_FOLDER else None
    try:
        handle, name = tempfile.mkstemp(prefix=".~", suffix=target.suffix, dir=target.parent)
        fresh = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(target, fresh)
            _keep_owner(target, fresh)
            fresh.replace(target)
        except BaseException:
            with suppress(FileNotFoundError):
                # The folder may have been renamed meanwhile.
                os.unlink(name if folder is None else fresh.name, dir_fd=folder)
            raise
    finally:
        if folder is not None:
            os.close(folder)


def _keep_owner(target: Path, fresh: Path) -> None:
    before = target.stat()
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):
            os.chown(fresh, before.st_uid, before.st_gid)
