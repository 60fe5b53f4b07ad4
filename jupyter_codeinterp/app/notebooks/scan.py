"""Lists the files under a folder, to find those that a turn creates. Opens no file."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...base.paths import root_of
from ...base.visible import is_text
from ...run.turn.files import FolderScan
from ...sandbox.shared import trees

MAX_DEPTH = 3
"""Folders below the notebook's."""
MAX_ENTRIES = 20_000
TIMEOUT = 0.5
"""Seconds."""
IGNORED = frozenset({"__pycache__", "node_modules"})


async def look_around(contents: Any, notebook: str) -> FolderScan | None:
    """The files under a notebook's folder, without the notebook, listed in a thread. None if they
    are not on this machine's disk."""
    root = root_of(contents)
    if root is None:
        return None
    seen = await asyncio.to_thread(look, root, notebook.rpartition("/")[0])
    files = {path: file for path, file in seen.files.items() if path != notebook}
    return FolderScan(seen.root, files, seen.depth)


def look(root: Path, folder: str) -> FolderScan:
    """List files level by level. Omits levels with too many entries or that take too long, hidden
    files, and links."""
    start = f"{folder}/" if folder else ""
    files: dict[str, tuple[int, int]] = {}
    level, left, deadline = [start], MAX_ENTRIES, time.monotonic() + TIMEOUT
    for depth in range(MAX_DEPTH + 1):
        found: dict[str, tuple[int, int]] = {}
        below: list[str] = []
        for path in level:
            left -= _look_at(root, path, found, below, left)
            if left <= 0 or time.monotonic() > deadline:
                return FolderScan(start, files, depth - 1)
        files.update(found)
        level = below
    return FolderScan(start, files, MAX_DEPTH)


def _look_at(
    root: Path, path: str, files: dict[str, tuple[int, int]], folders: list[str], most: int
) -> int:
    """List one folder, and return the number of entries. An unreadable folder is empty."""
    count = 0
    with suppress(OSError, ValueError), trees.listed(root, path.rstrip("/")) as entries:
        for entry in entries:
            count += 1
            if count > most:
                break
            _note(entry, path, files, folders)
    return count


def _note(
    entry: os.DirEntry[str], path: str, files: dict[str, tuple[int, int]], folders: list[str]
) -> None:
    name = entry.name
    if name.startswith(".") or name in IGNORED or not is_text(name):
        return
    try:
        if entry.is_dir(follow_symlinks=False):
            folders.append(f"{path}{name}/")
        elif entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            files[f"{path}{name}"] = (found.st_size, found.st_mtime_ns)
    except OSError:
        pass  # It was just deleted.
