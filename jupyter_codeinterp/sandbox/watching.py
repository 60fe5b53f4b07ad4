"""Sees which files below a folder are opened or changed, by inotify of Linux."""

from __future__ import annotations

import ctypes
import os
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .folders import PROTECTED

ENTRIES = 20_000
"""Files and folders below the folder, at most."""
SECONDS = 0.2
"""For listing them."""
NAMES = 50
"""Files that are told by name, of each kind."""
_OPEN, _MODIFY, _ATTRIB = 0x20, 0x2, 0x4
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_CHANGES = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_ONLYDIR, _IS_FOLDER, _OVERFLOW = 0x0100_0000, 0x4000_0000, 0x4000
_HEAD = struct.Struct("iIII")
_PIECE = 65_536
_libc = ctypes.CDLL(None, use_errno=True)


class Touched(NamedTuple):
    """Paths from the folder. ``lost``: more happened than Linux, or a name here, keeps."""

    opened: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    lost: bool = False


class FolderWatch:
    """From now until ``end``. What is read-only in a sandbox (``PROTECTED``) is left out.

    A change counts whoever makes it: Linux does not say which program it was. Raises OSError, also
    for a folder with too many entries.
    """

    def __init__(self, folder: Path) -> None:
        self._folders: dict[int, str] = {}
        self._number = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        try:
            for path, name in _folders(folder):
                mask = _OPEN | _CHANGES | _ONLYDIR
                number = _libc.inotify_add_watch(self._number, os.fsencode(path), mask)
                self._folders[_checked(number)] = name
        except BaseException:
            self.close()
            raise

    def end(self) -> Touched:
        opened: dict[str, None] = {}
        changed: dict[str, None] = {}
        lost = False
        for number, mask, name in self._events():
            path = f"{self._folders.get(number, '')}{name}"
            if mask & _OVERFLOW:
                lost = True
            elif mask & _CHANGES and name:
                changed[path] = None
            elif mask & _OPEN and name and not mask & _IS_FOLDER:
                opened[path] = None
        self.close()
        lost = lost or max(len(opened), len(changed)) > NAMES
        return Touched(tuple(opened)[:NAMES], tuple(changed)[:NAMES], lost)

    def close(self) -> None:
        """May be called again."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

    def _events(self) -> Iterator[tuple[int, int, str]]:
        while self._number >= 0:
            try:
                data = os.read(self._number, _PIECE)
            except BlockingIOError:
                return
            place = 0
            while place < len(data):
                number, mask, _, length = _HEAD.unpack_from(data, place)
                place += _HEAD.size + length
                name = data[place - length : place].rstrip(b"\0")
                yield number, mask, name.decode("utf-8", "replace")


def _folders(folder: Path) -> Iterator[tuple[str, str]]:
    """Each folder, and its path from the first one with a slash at its end; that one is "". Follows
    no link."""
    waiting, seen, deadline = [(str(folder), "")], 0, time.monotonic() + SECONDS
    while waiting:
        path, name = waiting.pop()
        yield path, name
        with suppress(PermissionError), os.scandir(path) as entries:
            for entry in entries:
                seen += 1
                if entry.name not in PROTECTED and entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{name}{entry.name}/"))
        if seen > ENTRIES or time.monotonic() > deadline:
            raise OSError("the folder has too many files")


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number
