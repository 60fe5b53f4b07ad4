"""Searches the person's messages and the model's answers for a word.

It reads all events without an index: 100,000 of them take 0.1 s, in a thread on its own
connection.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from ....core.errors import StoreError
from .file import in_words

_MARKS = re.compile(r"([^\w\s]{32,})")
_LOCK_WAIT = 0.5
"""Seconds."""
_TEXTS = (
    "SELECT session_id, kind, data FROM events"
    " WHERE kind IN ('turn_started', 'messages_heard', 'text_done', 'text_delta')"
    " ORDER BY session_id, seq"
)


class _Text(msgspec.Struct, frozen=True):
    """The searched fields of these events."""

    text: str = ""


def fold(text: str) -> str:
    """Equal for texts that differ in case, or in how an accent is written."""
    if not text.isascii():
        # Normalizing a long row of combining marks takes too long, and nobody searches for one.
        parts = _MARKS.split(text)
        parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
        text = "".join(parts)
    return text.casefold()


def sessions_with(path: Path, word: str) -> set[str]:
    """Ids of the sessions in the journal ``path`` that contain ``word``. Raises StoreError."""
    with in_words(), closing(sqlite3.connect(path, timeout=_LOCK_WAIT)) as db:
        sessions = groupby(db.execute(_TEXTS), key=itemgetter(0))
        return {session_id for session_id, events in sessions if _says(events, word)}


def _says(events: Iterable[tuple[str, str, str]], word: str) -> bool:
    word = fold(word)
    # Decode only the few entries that contain the word: it may be in a key instead of a text.
    written = msgspec.json.encode(word).decode()[1:-1]
    streamed: list[str] = []
    for _, kind, data in events:
        if kind == "text_delta":
            streamed.append(_text(data))
            continue
        if streamed and word in fold("".join(streamed)):
            return True
        if written in fold(data) and word in fold(_text(data)):
            return True
        streamed = []
    return word in fold("".join(streamed))


def _text(data: str) -> str:
    try:
        return msgspec.json.decode(data, type=_Text).text
    except msgspec.MsgspecError as error:
        words = f"Cannot read an entry of the journal: {error}."
        raise StoreError("damaged", words) from error
