"""Reads custom instructions: ``AGENTS.md`` and ``.codeinterp/rules.md`` of a notebook's folder and
the folders above it, within the root.

The contents manager refuses hidden files by default and follows links, so files on a disk are read
directly.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...base.paths import root_of
from ...notebook.rule_file import HIDDEN, LARGEST, OPEN, read_file
from ...view.rule_files import TOO_LARGE, RuleFile

MAX_FOLDERS = 10
"""The notebook's folder and the nearest above it."""
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""

log = logging.getLogger(__name__)


async def rule_files(contents: Any, notebook: str) -> list[RuleFile]:
    """The instruction files from the root down. Skips files that cannot be read in time."""
    found: list[RuleFile] = []

    async def look() -> None:
        for folder in folders_of(notebook):
            for name in (HIDDEN, OPEN):  # reversed below: the nearest file wins
                path = f"{folder}/{name}" if folder else name
                text = await read_instructions(contents, path)
                if text is not None:
                    found.append((path, text))

    try:
        await asyncio.wait_for(look(), TIMEOUT)
    except asyncio.TimeoutError:
        log.warning("Reading the instruction files for %s took too long", notebook)
    return found[::-1]


def folders_of(notebook: str) -> Iterator[str]:
    """The notebook's folder and those above it, nearest first."""
    parts = notebook.strip("/").split("/")[:-1]
    for count in range(len(parts), max(-1, len(parts) - MAX_FOLDERS), -1):
        yield "/".join(parts[:count])


async def read_instructions(contents: Any, path: str) -> str | None:
    """The file's text; ``TOO_LARGE`` or ``NOT_CONFIRMED``; None if it is missing, no text, or
    behind a link."""
    root = root_of(contents)
    if root is not None:
        return await asyncio.to_thread(read_file, root, path)
    try:
        about = await ensure_async(contents.get(path, content=False, type="file"))
        if (about.get("size") or 0) > LARGEST:
            return TOO_LARGE
        model = await ensure_async(contents.get(path, content=True, type="file", format="text"))
    except (web.HTTPError, OSError):
        return None
    text = model.get("content")
    return text if isinstance(text, str) and len(text) <= LARGEST else None
