"""Files of custom instructions on a disk: within a root, wherever links lead."""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path

OPEN = "AGENTS.md"
HIDDEN = ".codeinterp/rules.md"
LARGEST = 64_000
"""Bytes; a larger file is not read, and a message replaces it."""
MOST_ENTRIES = 500
"""Entries of a folder that are looked at."""
TOO_LARGE = "[This file was not read: it is larger than 64 kB.]"


def within(root: Path, path: str) -> Path | None:
    """The plain file behind all links, if it is within the root."""
    try:
        base = root.resolve(strict=True)
        there = base.joinpath(*path.split("/")).resolve(strict=True)
        is_plain = stat.S_ISREG(there.stat().st_mode)
    except (OSError, RuntimeError, ValueError):
        return None
    return there if is_plain and there.is_relative_to(base) else None


def read_file(path: Path) -> str | None:
    """None if the file is missing or no text."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            data = file.read(LARGEST + 1)
        return TOO_LARGE if len(data) > LARGEST else data.decode("utf-8")
    except (OSError, ValueError):
        return None


def entries(root: Path, folder: str) -> list[str]:
    """Names in a folder within the root, sorted; none if it is missing or a link leads out."""
    return sorted(entry.name for entry in entries_within(root, folder, MOST_ENTRIES))


def entries_within(root: Path, folder: str, most: int) -> list[os.DirEntry[str]]:
    """The first entries of such a folder, in no order."""
    try:
        base = root.resolve(strict=True)
        there = base.joinpath(*folder.split("/")).resolve(strict=True)
        if not there.is_relative_to(base):
            return []
        with os.scandir(there) as found:
            return list(islice(found, most))
    except (OSError, RuntimeError, ValueError):
        return []
