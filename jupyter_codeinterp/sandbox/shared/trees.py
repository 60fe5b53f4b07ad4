"""Opens files below a folder step by step, without following links.

A kernel may write in the folder while we read it, and put a link, a pipe or a device anywhere. The
server reads files beside notebooks only through ``below`` and ``listed``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

BY_FOLDER = os.open in os.supports_dir_fd
"""Whether files can be opened relative to a folder. Not on Windows, where no sandbox runs."""
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _SAFE
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _SAFE
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE
DEPTH = 60
"""Maximum depth of folders."""
_PART = 1024 * 1024
_OPAQUE = "user.overlay.opaque"
TEMPORARY = ".codeinterp-"
"""Prefix of our unfinished files."""


class TooMany(Exception):
    """A tree has more entries than were allowed."""


class Changed(OSError):
    """A file is not regular, was replaced, or changes while it is read."""


Identity = tuple[int, int, int, int]
"""Inode, size, and the times of the last change of content and of attributes (ns)."""


def identity(of: os.stat_result) -> Identity:
    return of.st_ino, of.st_size, of.st_mtime_ns, of.st_ctime_ns


@contextmanager
def opened(path: str, folder: int | None = None) -> Iterator[int]:
    """Open a folder. ``folder``: the open folder that holds ``path``. Raises OSError."""
    number = os.open(path, FOLDER, dir_fd=folder)
    try:
        yield number
    finally:
        os.close(number)


def parts(path: str) -> list[str]:
    """The names in a path. Raises ValueError if it could lead out of the folder."""
    found = path.split("/")
    if any(one in ("", ".", "..") or "\0" in one for one in found):
        raise ValueError(f"not a path below a folder: {path!r}")
    return found


@contextmanager
def parent(root: int, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The open folder that holds ``path``, and the name in it. ``make``: make missing folders.
    Raises OSError, also where a part is a link, and ValueError."""
    *above, name = parts(path)
    number = os.dup(root)
    try:
        for one in above:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(one, 0o777, dir_fd=number)
            below = os.open(one, FOLDER, dir_fd=number)
            os.close(number)
            number = below
        yield number, name
    finally:
        os.close(number)


@contextmanager
def inner(root: int, path: str) -> Iterator[int]:
    """Open a folder below the open one; "" yields that one. Raises OSError and ValueError."""
    if not path:
        yield root
        return
    with parent(root, path) as (above, name), opened(name, above) as number:
        yield number


def status(root: int, path: str) -> os.stat_result | None:
    """The status; None if the path does not exist or is behind a link. Raises other OSErrors."""
    try:
        with parent(root, path) as (folder, name):
            return status_in(folder, name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == 40:  # ELOOP: a link
            return None
        raise


def status_in(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def is_opaque(folder: int, path: str = "") -> bool:
    """Whether a layer's folder, or ``path`` in it, hides the whole folder below it."""
    try:
        if path:
            with inner(folder, path) as number:
                return is_opaque(number)
        return os.getxattr(f"/proc/self/fd/{folder}", _OPAQUE) == b"y"
    except OSError:
        return False


def names(folder: int, most: int | None = None) -> list[str]:
    """Sorted names in an open folder. Raises OSError, and TooMany above ``most``."""
    if most is None:
        return sorted(os.listdir(folder))
    with os.scandir(folder) as entries:
        found = [entry.name for entry in islice(entries, most + 1)]
    if len(found) > most:
        raise TooMany
    return sorted(found)


def walk(root: int, most: int) -> dict[str, os.stat_result]:
    """The status of everything below, by path, folders before their files. Skips unreadable folders
    and those below ``DEPTH``. Raises TooMany."""
    found: dict[str, os.stat_result] = {}

    def visit(folder: int, above: str, depth: int) -> None:
        for name in names(folder, most - len(found)):
            one = status_in(folder, name)
            if one is None:
                continue
            if len(found) >= most:
                raise TooMany
            path = f"{above}{name}"
            found[path] = one
            if stat.S_ISDIR(one.st_mode) and depth < DEPTH:
                with suppress(OSError):
                    below = os.open(name, FOLDER, dir_fd=folder)
                    try:
                        visit(below, f"{path}/", depth + 1)
                    finally:
                        os.close(below)

    visit(root, "", 0)
    return found


@contextmanager
def file(root: int, path: str) -> Iterator[tuple[int, os.stat_result]]:
    """Open a regular file to read. Raises OSError (Changed for other kinds) and ValueError."""
    with parent(root, path) as (folder, name):
        number = os.open(name, _FILE, dir_fd=folder)
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise Changed
        yield number, found
    finally:
        os.close(number)


@contextmanager
def below(root: Path, path: str) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file below a root to read. Raises OSError and ValueError."""
    if BY_FOLDER:
        with (
            opened(os.path.realpath(root)) as folder,
            file(folder, path) as (number, found),
            open(number, "rb", closefd=False) as stream,
        ):
            yield stream, found
        return
    with _place(root, path).open("rb") as stream:
        yield stream, os.fstat(stream.fileno())


@contextmanager
def listed(root: Path, path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """List a folder below a root, unsorted; "" for the root. Raises OSError and ValueError."""
    if BY_FOLDER:
        with (
            opened(os.path.realpath(root)) as folder,
            inner(folder, path) as number,
            os.scandir(number) as found,
        ):
            yield found
        return
    with os.scandir(_place(root, path)) as found:
        yield found


def has_link(root: Path, path: str) -> bool:
    """Whether a step from the root to this path is a link."""
    here = os.path.normcase(Path(os.path.realpath(root), path))
    return here != os.path.normcase(os.path.realpath(here))


def _place(root: Path, path: str) -> Path:
    base = Path(os.path.realpath(root))
    there = Path(os.path.realpath(base.joinpath(*parts(path) if path else ())))
    if not there.is_relative_to(base):
        raise Changed
    return there


@contextmanager
def new_file(folder: int, mode: int) -> Iterator[tuple[int, str]]:
    """Make an empty file with a temporary name, and remove it at the end if it still has that
    name. Raises OSError."""
    name = f"{TEMPORARY}{os.urandom(8).hex()}"
    number = os.open(name, _NEW, mode, dir_fd=folder)
    try:
        yield number, name
    finally:
        os.close(number)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def head(source: int, most: int) -> bytes:
    """At most the first ``most`` bytes of a file. Raises OSError."""
    found = b""
    while len(found) < most and (read := os.read(source, most - len(found))):
        found += read
    return found


def copy(source: int, target: int, size: int) -> None:
    """Copy exactly ``size`` bytes. Raises Changed if the source has more or fewer, and OSError."""
    left = size
    while left and (read := os.read(source, min(_PART, left))):
        left -= len(read)
        view = memoryview(read)
        while view:
            view = view[os.write(target, view) :]
    if left or os.read(source, 1):
        raise Changed


def same(one: int, other: int) -> bool:
    """Whether the rest of both files is equal."""
    while first := head(one, _PART):
        if first != head(other, _PART):
            return False
    return not head(other, 1)
