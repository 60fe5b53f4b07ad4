"""Remembers the folders where sandboxed kernels could write, and the person's instruction files
there.

The list outlives the server. Each line is a folder, or the digest of a file that existed before the
first such kernel or that the person confirmed.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir

from . import trees

NAME = "codeinterp-sandboxed-folders.jsonl"
OPEN, HIDDEN = "AGENTS.md", ".codeinterp"
MOST = 10_000
"""Files in a folder of instructions."""
LARGEST = 64_000
"""Bytes; larger files are not read as instructions."""
LARGEST_NOTEBOOK = 512 * 1024 * 1024
"""Bytes. Jupyter's pages cannot save more (``max_body_size``). Code makes a larger file in no time,
and whoever reads it whole runs out of memory."""

_read: tuple[tuple[int, int], frozenset[str], dict[str, str]] | None = None


def add(folder: Path, instructions: Iterable[Path]) -> None:
    """Add a folder before a kernel starts that may write there. ``instructions``: instruction files
    there, and folders of them. Raises OSError."""
    if _is_open(folder):
        return
    lines = [["file", str(one), _digest(data)] for one, data in _files(instructions)]
    _append([*lines, ["folder", str(folder)]])


def confirm(path: Path, data: bytes) -> None:
    """Record the file with this content as the person's. Raises OSError."""
    if _is_open(path.parent) and takes_instructions(path):
        _append([["file", str(path), _digest(data)]])


def is_persons(path: Path, data: bytes) -> bool:
    """Whether no sandboxed kernel can have written this file, a real path, with this content."""
    return not _is_open(path.parent) or _known()[1].get(str(path)) == _digest(data)


def takes_instructions(path: Path) -> bool:
    return path.name == OPEN or HIDDEN in path.parts


def refusal(root: Path, path: str) -> str:
    """Why the server must not use this path below a root; "" if it may. A sandboxed kernel could
    redirect the path, or has made the notebook too large to read."""
    here = Path(os.path.realpath(root))
    *above, name = path.split("/")
    for part in above:
        if _is_open(here) and (here / part).is_symlink():
            return _words(part)
        here = Path(os.path.realpath(here / part))
    if _is_open(here):
        # Jupyter copies a file to `.~…` at each save, and to a checkpoint.
        checkpoint = f".ipynb_checkpoints/{Path(name).stem}-checkpoint{Path(name).suffix}"
        may_be_folders = (name, ".ipynb_checkpoints")
        for one in (*may_be_folders, f".~{name}", checkpoint):
            try:
                found = (here / one).lstat()
            except OSError:
                continue
            regular = stat.S_ISREG(found.st_mode)
            if not (regular or (stat.S_ISDIR(found.st_mode) and one in may_be_folders)):
                return _words(one)
            if regular and one.endswith(".ipynb") and found.st_size > LARGEST_NOTEBOOK:
                size = LARGEST_NOTEBOOK // (1024 * 1024)
                return f"{one} is larger than {size} MB. Remove it."
    return ""


def _words(name: str) -> str:
    return f"{name} is a link or no file, and a sandboxed kernel can write here. Remove {name}."


def _is_open(folder: Path) -> bool:
    folders = _known()[0]
    return any(str(one) in folders for one in (folder, *folder.parents))


def _files(instructions: Iterable[Path]) -> Iterable[tuple[Path, bytes]]:
    for path in instructions:
        names = [""]
        if path.name == HIDDEN:
            names = []
            with suppress(OSError, trees.TooMany), trees.opened(str(path)) as folder:
                names = [f"/{name}" for name in trees.walk(folder, MOST)]
        for name in names:
            try:
                with trees.below(path.parent, f"{path.name}{name}") as (file, _):
                    data = file.read(LARGEST + 1)
            except OSError:
                continue  # a folder, for example
            if not _is_open(path.parent):
                yield Path(f"{path}{name}"), data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _append(lines: Iterable[list[str]]) -> None:
    path = Path(jupyter_data_dir(), NAME)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(number, "wb") as file:
        file.write("".join(f"\n{json.dumps(line)}" for line in lines).encode())


def _known() -> tuple[frozenset[str], dict[str, str]]:
    """The folders, and digests of files by path."""
    global _read
    path = Path(jupyter_data_dir(), NAME)
    try:
        found = path.stat()
    except FileNotFoundError:
        return frozenset(), {}
    state = (found.st_ino, found.st_size)
    if _read is None or _read[0] != state:
        folders, files = set(), {}
        for line in path.read_text("utf-8").splitlines():
            with suppress(ValueError):  # an empty line, or what a crash cut off
                kind, name, *digest = json.loads(line)
                if kind == "folder":
                    folders.add(name)
                else:
                    files[name] = digest[0]
        _read = state, frozenset(folders), files
    return _read[1], _read[2]
