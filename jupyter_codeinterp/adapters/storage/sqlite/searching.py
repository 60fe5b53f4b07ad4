"""A word in what was said: the person's messages, and the model's answers.

Read from the events as they are, without an index: 100,000 of them take 0.1 s, in a thread
and over a connection of its own.
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
_SAID = (
    "SELECT session_id, kind, data FROM events"
    " WHERE kind IN ('turn_started', 'messages_heard', 'text_done', 'text_delta')"
    " ORDER BY session_id, seq"
)


class _Said(msgspec.Struct, frozen=True):
    """What these events have in common; the rest of them is not searched."""

    text: str = ""


def fold(text: str) -> str:
    """Equal for texts that differ in case, or in how an accent is written."""
    if not text.isascii():
        # Marks in a long row are put in order one by one: that is nothing anybody searches.
        parts = _MARKS.split(text)
        parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
        text = "".join(parts)
    return text.casefold()


def saying(path: Path, word: str) -> set[str]:
    """Ids of the sessions in the journal ``path`` in which ``word`` was said. Raises
    StoreError."""
    with in_words(), closing(sqlite3.connect(path, timeout=_LOCK_WAIT)) as db:
        sessions = groupby(db.execute(_SAID), key=itemgetter(0))
        return {session_id for session_id, events in sessions if _says(events, word)}


def _says(events: Iterable[tuple[str, str, str]], word: str) -> bool:
    word = fold(word)
    # Few entries hold the word, and only those are decoded: for a key, say, is no text.
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
        return msgspec.json.decode(data, type=_Said).text
    except msgspec.MsgspecError as error:
        words = f"An entry of the journal cannot be read: {error}."
        raise StoreError("damaged", words) from error
