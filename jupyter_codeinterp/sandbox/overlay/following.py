"""Follows the notebook's folder below a layer, so that a turn looks only at changed files.

Linux reports changes by inotify, except those from other machines and through mapped memory. Then
the layer knows an older state, and keeps the person's version.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ..shared.folders import PROTECTED
from .layer import Layer

# -------------------------------------------------------------------------------------------------
# Watches the files below a folder, by Linux's inotify.

ENTRIES = 20_000
"""Maximum number of files and folders below the folder."""
SECONDS_TO_LIST = 0.2
"""Time limit for listing them."""
NAMES = 50
"""Maximum number of file names in a report."""
_MODIFY, _ATTRIB = 0x2, 0x4
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_CHANGES = _MODIFY | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_ONLYDIR, _IS_FOLDER, _OVERFLOW = 0x0100_0000, 0x4000_0000, 0x4000
_HEAD = struct.Struct("iIII")
_PIECE = 65_536
_libc = ctypes.CDLL(None, use_errno=True)


class Touched(NamedTuple):
    """``changed``: paths from the folder. ``lost``: there were more changes than Linux or this
    object keeps."""

    changed: tuple[str, ...] = ()
    lost: bool = False


class FolderWatch:
    """Watches one folder, from each ``begin`` to ``touched``.

    It ignores files and folders with a name in ``left_out``, and does not know which program made
    a change. It watches no folder with more than ``entries``, or that takes longer than ``seconds``
    to list. For threads.
    """

    def __init__(
        self,
        folder: Path,
        left_out: Collection[str] = (),
        *,
        entries: int = ENTRIES,
        seconds: float = SECONDS_TO_LIST,
    ) -> None:
        self._folder = folder
        self._left_out = left_out
        self._mask = _CHANGES | _ONLYDIR
        self._entries, self._seconds = entries, seconds
        self._lock = threading.Lock()
        self._number = -1
        self._folders: dict[int, str] = {}
        self._stale = True
        """Whether some folders may be new or renamed."""
        self._closed = False

    def begin(self) -> bool:
        """Forget earlier changes. False if the folder cannot be watched: it has too many files, or
        Linux lets this user watch no more folders. Takes longer the first time and after new
        folders."""
        with self._lock:
            for _ in self._events():
                pass
            if self._stale and not self._closed:
                self._watch()
            return self._number >= 0

    def touched(self) -> Touched:
        """The changes since ``begin``."""
        changed: dict[str, None] = {}
        lost = False
        with self._lock:
            for number, mask, name in self._events():
                path = f"{self._folders.get(number, '')}{name}"
                if mask & _OVERFLOW:
                    lost = True
                elif mask & _CHANGES and name:
                    changed[path] = None
        return Touched(tuple(changed)[:NAMES], lost or len(changed) > NAMES)

    @property
    def is_stale(self) -> bool:
        """Whether a folder is new or moved: ``touched`` does not report its files."""
        return self._stale

    def close(self) -> None:
        """May be called again."""
        with self._lock:
            self._closed = True
            self._drop()

    def _watch(self) -> None:
        self._drop()
        self._stale = False
        try:
            self._number = _checked(_libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
            bounds = (self._entries, self._seconds)
            for path, name in _folders(self._folder, self._left_out, *bounds):
                number = _libc.inotify_add_watch(self._number, os.fsencode(path), self._mask)
                self._folders[_checked(number)] = name
        except OSError:
            self._drop()

    def _drop(self) -> None:
        if self._number >= 0:
            # Linux takes some milliseconds to close it.
            threading.Thread(target=os.close, args=(self._number,), daemon=True).start()
        self._number, self._folders = -1, {}

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
                self._stale = self._stale or _may_move_folders(mask)
                yield number, mask, os.fsdecode(name)


def _folders(
    folder: Path, left_out: Collection[str], entries: int, seconds: float
) -> Iterator[tuple[str, str]]:
    """Each folder's path, and its path from ``folder``, "" or with a slash at its end. Follows no
    link."""
    waiting, seen, deadline = [(str(folder), "")], 0, time.monotonic() + seconds
    while waiting:
        path, name = waiting.pop()
        yield path, name
        with suppress(PermissionError), os.scandir(path) as found:
            for entry in found:
                seen += 1
                if entry.name not in left_out and entry.is_dir(follow_symlinks=False):
                    waiting.append((entry.path, f"{name}{entry.name}/"))
        if seen > entries or time.monotonic() > deadline:
            raise OSError("the folder has too many files")


def _may_move_folders(mask: int) -> bool:
    moves = _CREATE | _MOVED_FROM | _MOVED_TO
    return bool(mask & _OVERFLOW or (mask & _IS_FOLDER and mask & moves))


def _checked(number: int) -> int:
    if number < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return number


SECONDS = 1.0
"""Time limit for listing the folder. A look at the whole folder takes about four times as long, so
a shorter limit would save little."""


class Follower:
    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._watch: FolderWatch | None = None
        self._follows = False
        """Whether the watch knows all changes since the last look."""
        self._covered: set[str] = set()
        """Paths that changed while the layer covered them."""

    def look(self, refresh: Callable[[], None]) -> None:
        """As ``Layer.begin``. Raises LayerError, OSError, and errors of ``refresh``."""
        changed = self._changed()
        watches, self._follows = self._follows, False
        if changed is None:
            self._covered = self._layer.begin(refresh)
        else:
            self._covered = self._layer.go_on(changed, refresh)
        # After an error, the next look is at the whole folder.
        self._follows = watches

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _changed(self) -> set[str] | None:
        """Changed paths since the last look; None if the whole folder must be looked at."""
        if self._watch is None:
            self._watch = FolderWatch(
                self._layer.folder,
                PROTECTED,
                entries=self._layer.entries,
                seconds=SECONDS,
            )
        touched = self._watch.touched()
        if self._follows and not touched.lost and not self._watch.is_stale:
            return {*touched.changed, *self._covered}
        self._follows = self._watch.begin()
        return None
