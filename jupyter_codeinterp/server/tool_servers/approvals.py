"""``mcp-approved.json``: the MCP servers that a person has approved, by the digest of the entry.

The command line and several servers change the file; each reads it again when it has changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Union

import msgspec

from ..private_file import PrivateFile

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
        path = folder / "mcp-approved.json"
        self._file = PrivateFile(path, _Content(), "the list of approved servers")

    def of(self, digest: str) -> Word:
        """Raises CommandError ``not_kept``."""
        return self._file.content.words.get(digest, NONE)

    def set(self, digest: str, change: Callable[[Word], Word]) -> None:
        """Raises CommandError ``not_kept``."""

        def changed(content: _Content) -> _Content:
            word = change(content.words.get(digest, NONE))
            word = msgspec.structs.replace(word, when=time.time())
            words = {**content.words, digest: word}
            kept = sorted(words, key=lambda one: words[one].when)[-MOST:]
            return _Content(words={one: words[one] for one in kept})

        self._file.change(changed)
