"""The files that a turn made or changed, by comparing the notebook's folder before and after.

A file has changed if its size or modification time differs. Changes by the person or another
program during the turn count as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

import msgspec

from ...wire.events import MadeFile

MOST = 50
"""Files that a turn's end names."""
LONGEST_PATH = 400
"""Characters of a path."""
_UNSHOWN = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
"""Unicode categories that can make a name look like another one or like several lines."""


class FolderScan(msgspec.Struct, frozen=True):
    """``files``: size (bytes) and modification time (ns), by path from the server's root. ``root``:
    the notebook's folder, from the server's root, "" or with a slash at its end."""

    root: str
    files: Mapping[str, tuple[int, int]]


class OverlayFiles(msgspec.Struct, frozen=True):
    """The fields ``waiting_files``, ``waiting`` and ``overlay`` of ``TurnEnded``."""

    count: int = 0
    named: tuple[str, ...] = ()
    overlay: bool = False


def made(
    before: FolderScan | None, after: FolderScan | None, scrub: Callable[[str], str]
) -> tuple[tuple[MadeFile, ...], int]:
    """The files sorted by path, and how many are left out: beyond ``MOST``, or with a name that
    cannot be shown or contains a key (``scrub``). Empty if a scan is missing or the folder
    differs."""
    if before is None or after is None or before.root != after.root:
        return (), 0
    old, new = before.files, after.files
    other = sorted(path for path, file in new.items() if old.get(path) != file)
    shown = [path for path in other if is_plain(path) and scrub(path) == path][:MOST]
    found = (MadeFile(path, new[path][0], path not in old) for path in shown)
    return tuple(found), len(other) - len(shown)


def is_plain(path: str) -> bool:
    """Whether a path can be shown as it is: in one line, without invisible characters."""
    return len(path) <= LONGEST_PATH and not any(
        unicodedata.category(character) in _UNSHOWN for character in path
    )
