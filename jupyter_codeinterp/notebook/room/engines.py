"""Finds the package for collaboration that a server has installed and enabled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .rooms import Rooms
from .server_documents import found_documents
from .server_ydoc import found_ydoc


def found(extensions: Mapping[str, Any], contents: Any) -> Rooms | None:
    """The server's rooms; None without a known package. ``extensions``: the server's, by
    name."""
    return found_ydoc(extensions, contents) or found_documents(extensions, contents)
