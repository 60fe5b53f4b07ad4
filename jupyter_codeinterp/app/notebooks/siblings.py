"""Lists and reads the files beside a notebook, through the contents manager."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.paths import root_of
from ...base.visible import is_text
from ...notebook.table_heads import heads
from ...run.turn.limits import MAX_FILES
from ...sandbox.shared import open_folders, trees

LISTING_TIMEOUT = 1.0
"""Seconds. Folders with tens of thousands of files take longer."""
READING_TIMEOUT = 10.0
"""Seconds for a file that a message references."""

log = logging.getLogger(__name__)


async def sibling_files(
    contents: Any, notebook: str, most: int = MAX_FILES
) -> list[tuple[str, int]]:
    """Names and sizes of at most ``most`` files beside the notebook. A folder's name ends with a
    slash. Empty if the folder cannot be listed in time."""
    folder, _, own = notebook.rpartition("/")
    root = root_of(contents)
    why = "" if root is None else await asyncio.to_thread(open_folders.refusal, root, notebook)
    if why:
        return []
    try:
        listing = ensure_async(contents.get(folder, content=True, type="directory"))
        model = await asyncio.wait_for(listing, LISTING_TIMEOUT)
    except (web.HTTPError, asyncio.TimeoutError) as error:
        log.info("Could not list the folder of %s: %r", notebook, error)
        return []
    entries: list[dict[str, Any]] = [
        entry for entry in model["content"] if entry["name"] != own and is_text(entry["name"])
    ]
    entries.sort(key=lambda entry: str(entry["name"]))
    return [
        (f"{entry['name']}/", 0)
        if entry["type"] == "directory"
        else (str(entry["name"]), entry.get("size") or 0)
        for entry in entries[:most]
    ]


async def sibling_heads(contents: Any, notebook: str, names: Sequence[str]) -> dict[str, str]:
    """Descriptions of tables and folders by name; empty if they are not on this machine's disk."""
    root = root_of(contents)
    if root is None:
        return {}
    return await asyncio.to_thread(heads, root, notebook.rpartition("/")[0], names)


async def read_sibling(contents: Any, notebook: str, name: str, most: int) -> bytes | None:
    """A file beside the notebook. None if it is missing, behind a link, larger than ``most``
    bytes, or cannot be read in time."""
    if "/" in name or "\\" in name or name.startswith("."):
        return None
    folder = notebook.rpartition("/")[0]
    path = f"{folder}/{name}" if folder else name
    try:
        return await asyncio.wait_for(read_file(contents, path, most), READING_TIMEOUT)
    except (web.HTTPError, OSError, asyncio.TimeoutError) as error:
        log.info("Could not read %s: %r", path, error)
        return None


async def read_file(contents: Any, path: str, most: int) -> bytes | None:
    """None if the file is behind a link, larger than ``most`` bytes or not on this machine's disk.
    Raises HTTPError or OSError."""
    about = await ensure_async(contents.get(path, content=False, type="file"))
    if (about.get("size") or 0) > most:
        return None
    root = root_of(contents)
    return None if root is None else await asyncio.to_thread(_read, root, path, most)


def _read(root: Path, path: str, most: int) -> bytes | None:
    try:
        with trees.below(root, path) as (file, _):
            data = file.read(most + 1)
    except ValueError:
        return None
    return data if len(data) <= most else None
