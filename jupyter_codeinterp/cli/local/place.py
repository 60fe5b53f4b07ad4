"""Where a notebook is: the folder that stands for a server's root, and its path in there."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .problems import USAGE, Problem


@dataclass(frozen=True)
class Place:
    """``path`` is the notebook's, as a server with this ``root`` calls it."""

    root: Path
    path: str

    @property
    def file(self) -> Path:
        return self.root / self.path


def place_of(notebook: str) -> Place:
    """The root is the current folder if the notebook lies in it: a server that is started
    there has the same conversations. Else it is the notebook's own folder."""
    root = Path.cwd()
    file = Path(os.path.normpath(root / notebook))
    if not file.is_relative_to(root):
        root = file.parent
    return Place(root, file.relative_to(root).as_posix())


def check(file: Path, *, written: bool) -> None:
    """Whether it is a notebook, one that may be ``written``. Raises Problem."""
    if not file.is_file():
        what = "is no file" if file.exists() else "does not exist"
        raise Problem(f"{file} {what}.", USAGE)
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise Problem(f"{file} cannot be read: {error.strerror}.", USAGE) from None
    except (ValueError, RecursionError):
        raise Problem(f"{file} is not a notebook: it is not JSON.", USAGE) from None
    parts = content if isinstance(content, dict) else {}
    if not isinstance(parts.get("cells", parts.get("worksheets")), list):
        raise Problem(f"{file} is not a notebook: it has no cells.", USAGE)
    if written:
        _check_writable(file)


def _check_writable(file: Path) -> None:
    # An administrator may write everything; a file that nobody may write is meant to stay.
    if not os.access(file, os.W_OK) or not file.stat().st_mode & 0o222:
        words = f"{file} may not be written. --output works on a copy."
        raise Problem(words, USAGE)
    if not os.access(file.resolve().parent, os.W_OK):
        words = f"Nothing may be written in {file.resolve().parent}. --output works on a copy."
        raise Problem(words, USAGE)


def copy(source: Path, target: Path) -> None:
    """All of it in one step, and over no file that is there. Raises Problem."""
    taken = Problem(f"{target} exists already. Name another file, or remove it.", USAGE)
    if os.path.lexists(target):
        raise taken
    try:
        handle, name = tempfile.mkstemp(prefix=".~", suffix=target.suffix, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(source.read_bytes())
            # As other new files, and not for its owner alone as temporary ones.
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
        raise Problem(f"{target} cannot be written: {error.strerror}.", USAGE) from None


def _put(fresh: Path, target: Path) -> None:
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError from None
        fresh.rename(target)
