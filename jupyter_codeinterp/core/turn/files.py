"""The files that a turn has made or changed: what lay under the notebook's folder before it,
compared with what lies there after it.

That a file is another is seen by its size and the time of its last change. Who changed it is
not: what the person, or another program, saves meanwhile counts as well.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

import msgspec

from ..wire.events import MadeFile

MOST = 50
"""Files that a turn's end names."""
LONGEST_PATH = 400
"""Characters of one."""
_UNSHOWN = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
"""Kinds of characters by which a name could look like another, or like several lines."""


class Seen(msgspec.Struct, frozen=True):
    """``files``: size (bytes) and time of the last change (ns) by the path from the server's
    root. Down to ``depth`` folders below the notebook's all were seen; -1: not even its own.
    ``root``: the notebook's folder, from the server's root, "" or with a slash at its end."""

    root: str
    files: Mapping[str, tuple[int, int]]
    depth: int

    def within(self, depth: int) -> dict[str, tuple[int, int]]:
        start = len(self.root)
        return {p: f for p, f in self.files.items() if p.count("/", start) <= depth}


class OverlayFiles(msgspec.Struct, frozen=True):
    """As ``waiting_files``, ``waiting`` and ``overlay`` in ``TurnEnded``."""

    count: int = 0
    named: tuple[str, ...] = ()
    overlay: bool = False


NOTHING_WAITS = OverlayFiles()


def made(
    before: Seen | None, after: Seen | None, scrub: Callable[[str], str]
) -> tuple[tuple[MadeFile, ...], int]:
    """In order of their paths, and how many are left out: there are more than ``MOST``, or
    their names cannot be shown as they are (``scrub`` takes keys out). Nothing where one of
    the two is not known, or is of another folder."""
    if before is None or after is None or before.root != after.root:
        return (), 0
    depth = min(before.depth, after.depth)
    old, new = before.within(depth), after.within(depth)
    other = sorted(path for path, file in new.items() if old.get(path) != file)
    shown = [path for path in other if is_plain(path) and scrub(path) == path][:MOST]
    found = (MadeFile(path, new[path][0], path not in old) for path in shown)
    return tuple(found), len(other) - len(shown)


def is_plain(path: str) -> bool:
    """Whether a path can be shown as it is: in one line, without invisible characters."""
    return len(path) <= LONGEST_PATH and not any(
        unicodedata.category(character) in _UNSHOWN for character in path
    )
