"""A file replaced in one step: who reads it sees the old one or the new one, whole."""

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
from typing import cast

BY_FOLDER = os.open in os.supports_dir_fd and os.unlink in os.supports_dir_fd
"""Whether a file can be named by the folder that it is in, whatever that is called by now."""


def replace_text(path: str, text: str) -> None:
    """Mode and, where that is allowed, owner stay; a link stays one, and what it leads to is
    replaced. It is on the disk when this returns. Raises OSError; the file is then as it was,
    and FileNotFoundError if there is none: nothing is written anew, and where two files can
    change places (see ``_exchange``) not even if it is renamed in this very moment."""
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
            exchanged = _exchange(fresh, target)
            if not exchanged:
                fresh.replace(target)
        except BaseException:
            _remove(fresh, folder)
            raise
        if exchanged:
            _remove(fresh, folder)
    finally:
        if folder is not None:
            os.close(folder)


def _remove(file: Path, folder: int | None) -> None:
    with suppress(FileNotFoundError):
        # The folder may have been renamed meanwhile.
        os.unlink(file if folder is None else file.name, dir_fd=folder)


def _exchange(fresh: Path, target: Path) -> bool:
    """Let the two change places in one step, which needs both to be there: a plain rename
    would make the target anew. False where the system or the file system cannot; OSError as
    of any rename. (Linux since 3.15, on most of its own file systems; not on NFS.)"""
    if _RENAMEAT2 is None:
        return False
    if _RENAMEAT2(_AT_FDCWD, bytes(fresh), _AT_FDCWD, bytes(target), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(target))


def _renameat2() -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):  # a C library without it
        return None
    function.argtypes = (*(ctypes.c_int, ctypes.c_char_p) * 2, ctypes.c_uint)
    return cast("Callable[..., int]", function)


_RENAMEAT2 = _renameat2()
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def _keep_owner(target: Path, fresh: Path) -> None:
    before = target.stat()
    if hasattr(os, "chown") and (before.st_uid, before.st_gid) != (os.getuid(), os.getgid()):
        with suppress(PermissionError):
            os.chown(fresh, before.st_uid, before.st_gid)
