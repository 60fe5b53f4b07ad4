"""``AGENTS.md`` and ``.codeinterp/rules.md`` beside a notebook and above it: the person's wishes.

Through the contents manager, within its root. It refuses hidden files unless an admin allows
them; on a disk the second name is read without it, as nobody else would put a file there. No
link leads out of the root.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...adapters.rule_file import HIDDEN, LARGEST, OPEN, TOO_LARGE, read_file, within
from ...core.model_view.rule_files import RuleFile
from .on_disk import root_of

MOST_FOLDERS = 10
"""The notebook's and those above it: the nearest."""
TIMEOUT = 1.0
"""Seconds for all of them. Nobody waits longer for a drive that is slow."""

log = logging.getLogger(__name__)


async def rule_files(contents: Any, notebook: str) -> list[RuleFile]:
    """From the root down to the notebook. What cannot be read, or not in time, is left out."""
    found: list[RuleFile] = []

    async def look() -> None:
        for folder in _folders(notebook):
            for name in (HIDDEN, OPEN):  # nearest first: the last one counts most
                path = f"{folder}/{name}" if folder else name
                text = await _read(contents, path, hidden=name == HIDDEN)
                if text is not None:
                    found.append((path, text))

    try:
        await asyncio.wait_for(look(), TIMEOUT)
    except asyncio.TimeoutError:
        log.warning("Files with wishes for %s were not read in time", notebook)
    return found[::-1]


def _folders(notebook: str) -> Iterator[str]:
    """The nearest first."""
    parts = notebook.strip("/").split("/")[:-1]
    for count in range(len(parts), max(-1, len(parts) - MOST_FOLDERS), -1):
        yield "/".join(parts[:count])


async def _read(contents: Any, path: str, *, hidden: bool) -> str | None:
    root = root_of(contents)
    if root is not None:
        there = await asyncio.to_thread(within, root, path)
        if there is None:
            return None
        if hidden:
            return await asyncio.to_thread(read_file, there)
    try:
        about = await ensure_async(contents.get(path, content=False, type="file"))
        if (about.get("size") or 0) > LARGEST:
            return TOO_LARGE
        model = await ensure_async(contents.get(path, content=True, type="file", format="text"))
    except (web.HTTPError, OSError):
        return None
    text = model.get("content")
    return text if isinstance(text, str) and len(text) <= LARGEST else None
