"""The server's paths of notebooks, without leading or trailing slash."""

from __future__ import annotations

import posixpath


def normalize(path: str) -> str:
    """The canonical form of a path. Nothing leads above the root."""
    return posixpath.normpath(f"/{path}").strip("/")


def within(path: str, place: str) -> bool:
    """Whether ``path`` is the file or folder ``place``, or in it."""
    return path == place or path.startswith(f"{place}/")


def moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :]
