"""``mcp-approved.json``: the MCP servers that a person has approved, by the digest of the entry.

The command line and several servers change the file; each reads it again when it has changed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Literal, Union

import msgspec

from ...core.errors import CommandError

MOST = 500
"""Entries; the oldest go first."""


class Word(msgspec.Struct, frozen=True):
    """A person's word on an entry. ``picked``: the tools that conversations get; None for as many
    as fit. ``when``: seconds since 1970."""

    approved: bool
    off: bool = False
    picked: Union[tuple[str, ...], None] = None
    when: float = 0.0


NONE = Word(approved=False)


class _Content(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    words: dict[str, Word] = {}


class Approvals:
    def __init__(self, folder: Path) -> None:
        self._file = folder / "mcp-approved.json"
        self._read_at: Union[tuple[int, int], None] = None
        self._content = _Content()

    def of(self, digest: str) -> Word:
        """Raises CommandError ``not_kept``."""
        return self._now().words.get(digest, NONE)

    def set(self, digest: str, word: Word) -> None:
        """Raises CommandError ``not_kept``."""
        word = msgspec.structs.replace(word, when=time.time())
        words = {**self._now().words, digest: word}
        kept = sorted(words, key=lambda one: words[one].when)[-MOST:]
        self._write(_Content(words={one: words[one] for one in kept}))

    def _now(self) -> _Content:
        try:
            stat = self._file.stat()
            seen = (stat.st_mtime_ns, stat.st_ino)
            if seen != self._read_at:
                self._content = msgspec.json.decode(self._file.read_bytes(), type=_Content)
                self._read_at = seen
        except FileNotFoundError:
            self._content, self._read_at = _Content(), None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            words = f"Cannot read {self._file.name}, the list of approved servers: {error}"
            raise CommandError("not_kept", words) from None
        return self._content

    def _write(self, content: _Content) -> None:
        """Replace the file atomically. Only its owner can read file and folder."""
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.unlink(missing_ok=True)
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(content))
            new.replace(self._file)
        except OSError as error:
            new.unlink(missing_ok=True)
            words = f"Nothing saved: cannot write {self._file} ({error.strerror})."
            raise CommandError("not_kept", words) from None
