"""JSON files that only their owner can read, and that several programs change."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Generic, TypeVar, Union

import msgspec

from .errors import CommandError
from .sentences import Sentence

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T", bound=msgspec.Struct)
WAIT = 0.1
"""Seconds to wait while another program changes the file. A change takes milliseconds, and the wait
blocks kernels, windows and models."""
LOCKED = "another program is changing it; try again"


class PrivateFile(Generic[T]):
    """Reads the file again when another program has changed it.

    ``empty``: the content of a missing file. ``what``: the file's purpose, for error messages."""

    def __init__(self, path: Path, empty: T, what: Sentence) -> None:
        self._path = path
        self._empty = empty
        self._what = what
        self._read_at: Union[tuple[int, int], None] = None
        self._content = empty

    @property
    def content(self) -> T:
        """Raises CommandError ``not_kept``."""
        try:
            stat = self._path.stat()
            seen = (stat.st_mtime_ns, stat.st_ino)
            if seen != self._read_at:
                kind = type(self._empty)
                self._content = msgspec.json.decode(self._path.read_bytes(), type=kind)
                self._read_at = seen
        except FileNotFoundError:
            self._content, self._read_at = self._empty, None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            words = "Cannot read {name}, {what}: {why}"
            name = self._path.name
            raise CommandError("not_kept", words, name=name, what=self._what, why=error) from None
        return self._content

    def change(self, changed: Callable[[T], T]) -> None:
        """Write ``changed(content)``. If that raises CommandError, nothing changes. Raises
        CommandError ``not_kept``."""
        try:
            with locked(self._path):
                replace(self._path, msgspec.json.encode(changed(self.content)))
        except OSError as error:
            words = "Nothing saved: cannot write {path} ({why})."
            raise CommandError("not_kept", words, path=self._path, why=error.strerror) from None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other programs from changing the file meanwhile. Without effect on Windows, and where
    the file system has no locks. Raises OSError; BlockingIOError after ``WAIT``."""
    make_private_folder(path.parent)
    lock = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(lock)
        yield
    finally:
        os.close(lock)


def _lock(lock: int) -> None:
    if fcntl is None:
        return
    until = time.monotonic() + WAIT
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > until:
                raise BlockingIOError(error.errno, LOCKED) from None
            time.sleep(0.01)
        except OSError:
            return


def make_private_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)


def replace(path: Path, data: bytes) -> None:
    """Replace a file as a whole. Only its owner can read the file and its folder."""
    make_private_folder(path.parent)
    number, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
