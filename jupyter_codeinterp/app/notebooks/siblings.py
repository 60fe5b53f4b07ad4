"""Lists and reads the files beside a notebook, through the contents manager."""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.paths import root_of
from ...base.visible import is_text
from ...notebook.table_heads import heads
from ...run.turn.limits import MAX_FILES
from ...sandbox.shared import open_folders, trees
from ...view.notebook_prompt import MOST_COUNTED, MOST_FILES

LISTING_TIMEOUT = 1.0
"""Seconds. Folders with tens of thousands of files take longer."""
READING_TIMEOUT = 10.0
"""Seconds for a file that a message references."""

log = logging.getLogger(__name__)


async def sibling_files(
    contents: Any, notebook: str, most: int = MAX_FILES
) -> list[tuple[str, int]]:
    """Names and sizes of at most ``most`` files beside the notebook. A folder's name ends with a
    slash, and its size is its number of files. Empty if the folder cannot be listed in time."""
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
    named = [(str(e["name"]), e["type"] == "directory", e.get("size") or 0) for e in entries[:most]]
    folders = [name for name, is_folder, _ in named if is_folder][:MOST_FILES]
    counts: dict[str, int] = {}
    if root is not None and folders:
        counts = await asyncio.to_thread(_counted, root, folder, folders)
    return [(f"{n}/", counts.get(n, 0)) if is_folder else (n, s) for n, is_folder, s in named]


def _counted(root: Path, folder: str, names: list[str]) -> dict[str, int]:
    """The number of visible files in each folder that can be listed in time."""
    until = time.monotonic() + LISTING_TIMEOUT / 2
    counts: dict[str, int] = {}
    for name in names:
        if time.monotonic() > until:
            break
        path = f"{folder}/{name}" if folder else name
        with suppress(OSError, ValueError), trees.listed(root, path) as found:
            first = islice(found, MOST_COUNTED)
            counts[name] = sum(entry.is_file(follow_symlinks=False) for entry in first)
    return counts


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
    """None if the file is behind a link or larger than ``most`` bytes. Raises HTTPError or
    OSError."""
    about = await ensure_async(contents.get(path, content=False, type="file"))
    if (about.get("size") or 0) > most:
        return None
    root = root_of(contents)
    if root is not None:
        return await asyncio.to_thread(_read, root, path, most)
    model = await ensure_async(contents.get(path, content=True, type="file", format="base64"))
    content = model.get("content")
    if not isinstance(content, str) or len(content) > most * 3 // 2:
        return None
    data = await asyncio.to_thread(_decoded, content)
    return data if data is not None and len(data) <= most else None


def _read(root: Path, path: str, most: int) -> bytes | None:
    try:
        with trees.below(root, path) as (file, _):
            data = file.read(most + 1)
    except ValueError:
        return None
    return data if len(data) <= most else None


def _decoded(content: str) -> bytes | None:
    """Decode base64, with or without line breaks."""
    try:
        return base64.b64decode("".join(content.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
