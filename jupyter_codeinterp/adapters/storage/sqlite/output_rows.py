"""Rows of outputs: each stored once, in parts, under its digest."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ....core.document.ops import Output

PART = 500_000
"""Bytes written in one transaction: some 4 ms."""


class Written(NamedTuple):
    """Encoded outputs, without the text of any secret: JSON in pieces."""

    digest: str
    size: int
    pieces: tuple[bytes, ...]


def written(outputs: tuple[Output, ...], scrub: Callable[[str], str]) -> Written:
    """Encode one output at a time: a thread must let others run in between."""
    digest, size = hashlib.sha256(), 0
    pieces: list[bytes] = []
    for index, output in enumerate(outputs):
        start = b"," if index else b"["
        end = b"]" if index == len(outputs) - 1 else b""
        pieces.append(start + scrub(msgspec.json.encode(output).decode()).encode() + end)
    pieces = pieces or [b"[]"]
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return Written(digest.hexdigest(), size, tuple(pieces))


def parts(new: Written) -> Iterator[tuple[int, bytes]]:
    """The part for each transaction, and its offset."""
    place = 0
    for piece in new.pieces:
        for start in range(0, len(piece), PART):
            yield place + start, piece[start : start + PART]
        place += len(piece)


def begin(db: sqlite3.Connection, session_id: str, new: Written, now: float) -> bool:
    """Record that a session has these outputs; return whether they still need writing. Needs an
    open transaction."""
    db.execute(
        "INSERT INTO outputs VALUES (?, ?, ?, 0) ON CONFLICT (digest)"
        " DO UPDATE SET changed = excluded.changed",
        (new.digest, now, new.size),
    )
    db.execute("INSERT OR IGNORE INTO output_uses VALUES (?, ?)", (new.digest, session_id))
    row = db.execute("SELECT whole FROM outputs WHERE digest = ?", (new.digest,)).fetchone()
    return not row[0]


def add_part(db: sqlite3.Connection, digest: str, start: int, part: bytes) -> None:
    db.execute("INSERT OR IGNORE INTO output_parts VALUES (?, ?, ?)", (digest, start, part))


def end(db: sqlite3.Connection, digest: str) -> None:
    db.execute("UPDATE outputs SET whole = 1 WHERE digest = ?", (digest,))


def put(db: sqlite3.Connection, session_id: str, new: Written, now: float) -> None:
    """Write all parts. Needs an open transaction."""
    if begin(db, session_id, new, now):
        for start, part in parts(new):
            add_part(db, new.digest, start, part)
        end(db, new.digest)
