"""A notebook's location: a root folder, as a server's, and a path in it."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
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
        words = f"{file} is not writable. --output works on a copy."
        raise Problem(words, USAGE)
    if not os.access(file.resolve().parent, os.W_OK):
        words = f"{file.resolve().parent} is not writable. --output works on a copy."
        raise Problem(words, USAGE)


def copy(source: Path, target: Path) -> None:
    """Copy atomically, without overwriting a file. Raises Problem."""
    taken = Problem(f"{target} already exists. Choose another file, or remove it.", USAGE)
    if os.path.lexists(target):
        raise taken
    try:
        handle, name = tempfile.mkstemp(prefix=".~", suffix=target.suffix, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(source.read_bytes())
            # Give it a new file's permissions instead of a temporary file's (owner only).
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
            _put(Path(name), target)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()
    except FileExistsError:
        raise taken from None
    except OSError as error:
        raise Problem(f"Cannot write {target}: {error.strerror}.", USAGE) from None


def _put(fresh: Path, target: Path) -> None:
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError from None
        fresh.rename(target)
