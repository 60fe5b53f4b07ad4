"""A temporary copy of a notebook's folder, if it is small."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from ...base.errors import CommandError
from ...base.sentences import Sentence
from ...sandbox.shared import trees

MOST_FILES = 500
MOST_BYTES = 100_000_000
_LEFT_OUT = frozenset((".git", ".ipynb_checkpoints", "__pycache__", ".mypy_cache", ".ruff_cache"))
PREFIX = "codeinterp-verify-"


def copy_of(folder: Path) -> Path | None:
    """A copy in a temporary folder of its own. None if the folder is too large, has anything but
    files and folders (such as links). Blocks; raises OSError."""
    files = _files(folder)
    if files is None:
        return None
    above = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    copy = above / (folder.name or "folder")
    try:
        copy.mkdir()
        for file in files:
            _copy(folder, file, copy / file)
    except OSError:
        remove(copy)
        raise
    return copy


async def copied(folder: Path) -> Path:
    """A temporary copy of the folder. Cancelling leaves no copy. Raises CommandError
    ``in_folder``."""
    copying = asyncio.ensure_future(asyncio.to_thread(copy_of, folder))
    try:
        copy = await asyncio.shield(copying)
    except asyncio.CancelledError:
        # Cancelling the task does not stop the thread.
        await asyncio.shield(_without_copy(copying))
        raise
    except OSError as error:
        words = "The notebook's folder could not be copied: {why}."
        why = error.strerror or Sentence("a file changed")
        raise CommandError("in_folder", words, why=why) from None
    if copy is None:
        words = "The notebook's folder has more than {files} files or {size} MB, or links."
        size = MOST_BYTES // 1_000_000
        raise CommandError("in_folder", words, files=MOST_FILES, size=size)
    return copy


async def _without_copy(copying: asyncio.Future[Path | None]) -> None:
    """Wait for the end of the copying, and remove the copy."""
    await asyncio.wait({copying})
    if copying.exception() is None and (copy := copying.result()) is not None:
        await asyncio.to_thread(remove, copy)


def remove(copy: Path) -> None:
    """Remove a copy. Blocks; skips files that the system does not let go."""
    shutil.rmtree(copy.parent, ignore_errors=True)


def _copy(folder: Path, path: str, target: Path) -> None:
    """Copy a file with its times and permissions. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with trees.below(folder, path) as (source, found), target.open("xb") as made:
        left = found.st_size
        while left and (data := source.read(min(left, 1 << 20))):
            made.write(data)
            left -= len(data)
    target.chmod(found.st_mode & 0o777)
    os.utime(target, ns=(found.st_atime_ns, found.st_mtime_ns))


def _files(folder: Path) -> list[str] | None:
    """The paths of all files to copy, within the bounds."""
    found: list[str] = []
    size, folders, waiting = 0, 0, [""]
    while waiting:
        above, folders = waiting.pop(), folders + 1
        with trees.listed(folder, above.rstrip("/")) as entries:
            for entry in entries:
                if entry.name in _LEFT_OUT:
                    continue
                path = f"{above}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")
                    continue
                if not entry.is_file(follow_symlinks=False):
                    return None  # For example, a link.
                found.append(path)
                size += entry.stat(follow_symlinks=False).st_size
                if len(found) + len(waiting) > MOST_FILES or size > MOST_BYTES:
                    return None
        if len(waiting) + folders > MOST_FILES:
            return None
    return found
