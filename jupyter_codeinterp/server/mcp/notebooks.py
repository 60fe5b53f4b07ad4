"""The notebooks of a folder, as a client lists them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado import web

from ...core.errors import CommandError
from ...sandbox.shared import trees
from ..files.on_disk import root_of
from ..files.paths import normalize

MOST = 200
"""Entries of a list."""


async def listed(contents: Any, folder: str, is_open: Callable[[str], bool]) -> str:
    """Notebooks and folders as JSON. Raises CommandError ``unknown_path``."""
    folder = normalize(folder)
    await _need_no_link(contents, folder)
    try:
        model = await ensure_async(contents.get(folder, content=True, type="directory"))
    except web.HTTPError as error:
        words = f"Cannot list the folder {folder!r}: {error.log_message or error.reason}"
        raise CommandError("unknown_path", words) from None
    entries = sorted(model["content"], key=lambda entry: str(entry["name"]))
    books = [one["path"] for one in entries if one["type"] == "notebook"]
    folders = [one["path"] for one in entries if one["type"] == "directory"]
    shown: dict[str, Any] = {
        "notebooks": [{"path": path, "open": is_open(path)} for path in books[:MOST]],
        "folders": folders[:MOST],
    }
    left = max(len(books) - MOST, 0) + max(len(folders) - MOST, 0)
    if left:
        shown["left_out"] = left
    return json.dumps(shown, ensure_ascii=False)


async def need(contents: Any, notebook: str) -> str:
    """The path of an existing notebook. Raises CommandError ``unknown_notebook``."""
    path = normalize(notebook)
    await _need_no_link(contents, path)
    try:
        model = await ensure_async(contents.get(path, content=False))
    except web.HTTPError as error:
        words = f"No notebook {path!r}: {error.log_message or error.reason}"
        raise CommandError("unknown_notebook", words) from None
    if model["type"] != "notebook":
        raise CommandError("unknown_notebook", f"{path!r} is no notebook.")
    return path


async def _need_no_link(contents: Any, path: str) -> None:
    root = root_of(contents)
    if root is not None and await asyncio.to_thread(trees.has_link, root, path):
        raise CommandError("unknown_path", f"{path!r} is a link, or behind one.")
