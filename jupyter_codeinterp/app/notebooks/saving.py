"""The pre-save hook of Jupyter's contents manager."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

from tornado import web

from ...base.paths import root_of
from ...sandbox.shared import open_folders


def before_save(*, model: dict[str, Any], path: str, contents_manager: Any, **_: Any) -> None:
    """Refuse a save that a sandboxed kernel could redirect. Instructions saved through the server
    are the person's, because such a kernel cannot reach the server. Raises HTTPError."""
    root = root_of(contents_manager)
    if root is None:
        return
    path = path.strip("/")
    if why := open_folders.refusal(root, path):
        raise web.HTTPError(409, f"{path} was not saved: {why}")
    text, there = model.get("content"), Path(os.path.realpath(contents_manager._get_os_path(path)))
    if open_folders.takes_instructions(there) and isinstance(text, str) and "chunk" not in model:
        as_text = model.get("format") == "text"
        open_folders.confirm(there, text.encode() if as_text else base64.b64decode(text))
