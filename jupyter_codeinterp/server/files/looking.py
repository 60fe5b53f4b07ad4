"""What lies under a folder, for the files that a turn makes. Nothing is opened or read."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

from ...core.turn.files import Seen
from .on_disk import root_of

DEEPEST = 3
"""Folders below the notebook's."""
MOST = 20_000
"""Entries that are looked at."""
LONGEST = 0.5
"""Seconds that looking may take."""
NOT_THE_PERSONS = frozenset({"__pycache__", "node_modules"})


async def look_around(contents: Any, notebook: str) -> Seen | None:
    """Beside the event loop; all but the notebook itself. None where the files are not in a
    folder of this machine."""
    root = root_of(contents)
    if root is None:
        return None
    seen = await asyncio.to_thread(look, root, notebook.rpartition("/")[0])
    files = {path: file for path, file in seen.files.items() if path != notebook}
    return Seen(seen.root, files, seen.depth)


def look(root: Path, folder: str) -> Seen:
    """One level of folders after the other: of a level that has too many entries, or takes too
    long, nothing is told. Links are not followed, and what is hidden is left out."""
    start = f"{folder}/" if folder else ""
    files: dict[str, tuple[int, int]] = {}
    level, left, deadline = [start], MOST, time.monotonic() + LONGEST
    for depth in range(DEEPEST + 1):
        found: dict[str, tuple[int, int]] = {}
        below: list[str] = []
        for path in level:
            left -= _look_at(root, path, found, below, left)
            if left <= 0 or time.monotonic() > deadline:
                return Seen(start, files, depth - 1)
        files.update(found)
        level = below
    return Seen(start, files, DEEPEST)


def _look_at(
    root: Path, path: str, files: dict[str, tuple[int, int]], folders: list[str], most: int
) -> int:
    """How many entries were looked at. A folder that cannot be read is an empty one."""
    count = 0
    try:
        with os.scandir(root / path) as entries:
            for entry in entries:
                count += 1
                if count > most:
                    break
                _note(entry, path, files, folders)
    except OSError:
        pass
    return count


def _note(
    entry: os.DirEntry[str], path: str, files: dict[str, tuple[int, int]], folders: list[str]
) -> None:
    name = entry.name
    if name.startswith(".") or name in NOT_THE_PERSONS:
        return
    try:
        name.encode()
        if entry.is_dir(follow_symlinks=False):
            folders.append(f"{path}{name}/")
        elif entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            files[f"{path}{name}"] = (found.st_size, found.st_mtime_ns)
    except (OSError, UnicodeEncodeError):
        pass  # It went while we looked, or its name is no text.
