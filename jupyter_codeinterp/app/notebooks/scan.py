"""Lists the files under a folder, to find those that a turn creates. Opens no file."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
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


async def look_around(
    contents: Any, notebook: str, is_open: Callable[[str], bool]
) -> FolderScan | None:
    """The files under a notebook's folder, listed in a thread. Without open notebooks: windows save
    those. None if the files are not on this machine's disk, or too many."""
    root = root_of(contents)
    if root is None:
        return None
    seen = await asyncio.to_thread(look, root, notebook.rpartition("/")[0])
    if seen is None:
        return None
    files = {path: file for path, file in seen.files.items() if not is_open(path)}
    return FolderScan(seen.root, files)


def look(root: Path, folder: str) -> FolderScan | None:
    """List files without hidden files and links. None if there are too many, or if it takes too
    long. An unreadable folder is empty."""
    start = f"{folder}/" if folder else ""
    files: dict[str, tuple[int, int]] = {}
    waiting, left, deadline = [start], MAX_ENTRIES, time.monotonic() + TIMEOUT
    while waiting:
        path = waiting.pop()
        below = waiting if path.count("/", len(start)) < MAX_DEPTH else []
        with suppress(OSError, ValueError), trees.listed(root, path.rstrip("/")) as entries:
            for entry in entries:
                left -= 1
                if left < 0 or time.monotonic() > deadline:
                    return None
                _note(entry, path, files, below)
    return FolderScan(start, files)


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
