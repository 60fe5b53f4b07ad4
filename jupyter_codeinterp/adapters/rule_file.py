"""One file of the person's wishes on a disk: within a root, whatever links lead where."""

from __future__ import annotations

import os
import stat
from pathlib import Path

OPEN = "AGENTS.md"
HIDDEN = ".codeinterp/rules.md"
LARGEST = 64_000
"""Bytes; a larger file is not read, and that is said in its place."""
TOO_LARGE = "[This file is larger than 64 kB: it was not read.]"


def within(root: Path, path: str) -> Path | None:
    """The plain file that this is, wherever links lead, if that is within the root."""
    try:
        base = root.resolve(strict=True)
        there = base.joinpath(*path.split("/")).resolve(strict=True)
        is_plain = stat.S_ISREG(there.stat().st_mode)
    except (OSError, RuntimeError, ValueError):
        return None
    return there if is_plain and there.is_relative_to(base) else None


def read_file(path: Path) -> str | None:
    """None if it is not there, or no text."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            data = file.read(LARGEST + 1)
        return TOO_LARGE if len(data) > LARGEST else data.decode("utf-8")
    except (OSError, ValueError):
        return None
