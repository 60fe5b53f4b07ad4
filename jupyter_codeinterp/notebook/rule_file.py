"""Files of custom instructions on a disk: regular files below a root, reached without a link."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from ..sandbox.shared import open_folders, trees
from ..view.rule_files import NOT_CONFIRMED, TOO_LARGE

OPEN = open_folders.OPEN
HIDDEN = ".codeinterp/rules.md"
LARGEST = 64_000
"""Bytes. A message replaces the text of a larger file."""
MOST_ENTRIES = 500
"""Entries of a folder that are looked at."""


def read_file(root: Path, path: str) -> str | None:
    """The file's text, or why it was not read. None if it is missing, no text, or behind a link."""
    try:
        with trees.below(root, path) as (file, _):
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            return TOO_LARGE
        text = data.decode("utf-8")
        real = Path(os.path.realpath(root), path)
        return text if open_folders.is_persons(real, data) else NOT_CONFIRMED
    except (OSError, ValueError):
        return None


def entries(root: Path, folder: str) -> list[str]:
    """Names in a folder below the root, sorted; none if it is missing or behind a link."""
    try:
        with trees.listed(root, folder) as found:
            return sorted(entry.name for entry in islice(found, MOST_ENTRIES))
    except (OSError, ValueError):
        return []
