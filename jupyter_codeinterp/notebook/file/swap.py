"""Replaces a file in one step, if it has not changed since it was read.

Linux and macOS can exchange two files: we compare the displaced file afterwards. If another
program has written it meanwhile, it goes back. Elsewhere we compare just before replacing; a
write in between (less than a millisecond) is lost.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

BY_FOLDER = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd
"""Whether we can name a file relative to its open folder, even if the folder is renamed."""

TRIES = 10
"""Tries to put back a displaced file that another program keeps writing."""


class FileChangedError(Exception):
    """The file is not the one that was read."""


def swap_text(path: str, text: bytes, is_as_read: Callable[[bytes], bool]) -> None:
    """Replace the file's text. Mode and, where allowed, owner stay. A link stays, and its target
    is replaced. The text is on the disk when this returns.

    Raises FileChangedError if the current file is not ``is_as_read``, or OSError; both leave the
    file unchanged. Raises FileNotFoundError if it is missing: no file is created. Where files
    can be exchanged, that holds even for a rename at this very moment.
    """
    target = Path(path).resolve()
    folder = os.open(target.parent, os.O_RDONLY) if BY_FOLDER else None
    try:
        handle, name = tempfile.mkstemp(prefix=".~", suffix=target.suffix, dir=target.parent)
        fresh = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            shutil.copymode(target, fresh)
            _keep_owner(target, fresh)
            if not _exchange(fresh, target):
                if not is_as_read(target.read_bytes()):
                    raise FileChangedError
                fresh.replace(target)
            elif not is_as_read(fresh.read_bytes()):
                _put_back(fresh, target, text)
                raise FileChangedError
        finally:
            _remove(fresh, folder)
    finally:
        if folder is not None:
            os.close(folder)


def _put_back(displaced: Path, target: Path, placed: bytes) -> None:
    """Give the target its displaced content back. A write over ``placed`` meanwhile is newer
    still, and goes back in its turn."""
    content = displaced.read_bytes()
    try:
        for _ in range(TRIES):
            _exchange(displaced, target)
            found = displaced.read_bytes()
            if found == placed:
                return
            placed, content = content, found
    except OSError:
        pass  # For example the target was renamed between the two steps. Both versions stay.
    displaced.replace(target)


def _remove(file: Path, folder: int | None) -> None:
    with suppress(FileNotFoundError):
        # The folder may have been renamed meanwhile.
        os.unlink(file if folder is None else file.name, dir_fd=folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two files in one step. Both must exist: a plain rename would create the target.
    False where the system or file system cannot; OSError as of any rename. (Linux since 3.15, on
    most of its own file systems; not on NFS.)"""
    if _SWAP is None:
        return False
    if _SWAP(bytes(one), bytes(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(other))


def _swapper() -> Callable[[bytes, bytes], int] | None:
    """None if the C library has no such function."""
    path, flags = ctypes.c_char_p, ctypes.c_uint
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "linux":
            rename = library.renameat2
            rename.argtypes = (ctypes.c_int, path, ctypes.c_int, path, flags)
            here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
            return lambda one, other: rename(here, one, here, other, exchange)
        if sys.platform == "darwin":
            renamex = library.renamex_np
            renamex.argtypes = (path, path, flags)
            return lambda one, other: renamex(one, other, 2)  # RENAME_SWAP
    except (OSError, AttributeError, TypeError):
        pass
    return None


_SWAP = _swapper()


def _keep_owner(target: Path, fresh: Path) -> None:
    before = target.stat()
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):
            os.chown(fresh, before.st_uid, before.st_gid)
