"""JSON files that only their owner can read, and that several programs change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Generic, TypeVar, Union

import msgspec

from ..core.errors import CommandError

T = TypeVar("T", bound=msgspec.Struct)


class PrivateFile(Generic[T]):
    """Reads the file again when another program has changed it. ``empty`` is what a file that is
    not there holds; ``what`` it is, for people."""

    def __init__(self, path: Path, empty: T, what: str) -> None:
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
            words = f"Cannot read {self._path.name}, {self._what}: {error}"
            raise CommandError("not_kept", words) from None
        return self._content

    def write(self, content: T) -> None:
        """Raises CommandError ``not_kept``."""
        try:
            replace(self._path, msgspec.json.encode(content))
        except OSError as error:
            words = f"Nothing saved: cannot write {self._path} ({error.strerror})."
            raise CommandError("not_kept", words) from None


def replace(path: Path, data: bytes) -> None:
    """Write a file again, whole or not at all. Only its owner can read it, and its folder."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
