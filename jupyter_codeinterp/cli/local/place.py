"""A notebook's location: a root folder, as a server's, and a path in it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from .problems import USAGE, Problem


@dataclass(frozen=True)
class NotebookPath:
    """``path`` is relative to ``root``, as on a server."""

    root: Path
    path: str

    @property
    def file(self) -> Path:
        return self.root / self.path


def place_of(notebook: str) -> NotebookPath:
    """Use the current folder as root if it contains the notebook, so that a server started there
    has the same conversations. Otherwise use the notebook's folder."""
    root = Path.cwd()
    file = Path(os.path.normpath(root / notebook))
    if not file.is_relative_to(root):
        root = file.parent
    return NotebookPath(root, file.relative_to(root).as_posix())


def make(file: Path) -> bool:
    """Make an empty notebook if the file is missing and its folder exists. Return whether it did.
    Raises Problem."""
    if os.path.lexists(file) or file.suffix != ".ipynb" or not file.parent.is_dir():
        return False
    empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    try:
        with file.open("x", encoding="utf-8") as made:
            json.dump(empty, made)
    except OSError as error:
        raise Problem(f"Cannot write {file}: {error.strerror}.", USAGE) from None
    return True


def check(file: Path, *, written: bool) -> None:
    """Raises Problem if the file is no notebook, or not writable although ``written``."""
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise Problem(
            f"{file} {what}. NOTEBOOK must be an .ipynb file in an existing folder.", USAGE
        )
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise Problem(f"Cannot read {file}: {error.strerror}.", USAGE) from None
    except (ValueError, RecursionError):
        raise Problem(f"{file} is not a notebook: it is not JSON.", USAGE) from None
    parts = content if isinstance(content, dict) else {}
    if not isinstance(parts.get("cells", parts.get("worksheets")), list):
        raise Problem(f"{file} is not a notebook: it has no cells.", USAGE)
    if written:
        _check_writable(file)


def _check_writable(file: Path) -> None:
    # Root may write everything, but a file that nobody may write should stay unchanged.
    if not os.access(file, os.W_OK) or not file.stat().st_mode & 0o222:
        words = f"{file} is not writable. Copy it, and work on the copy."
        raise Problem(words, USAGE)
    if not os.access(file.resolve().parent, os.W_OK):
        words = f"{file.resolve().parent} is not writable. Copy the notebook elsewhere."
        raise Problem(words, USAGE)
