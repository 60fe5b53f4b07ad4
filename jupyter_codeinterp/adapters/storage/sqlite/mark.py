"""How far the journal was known to be on the disk, in a small file beside it.

For SQLite, a write-ahead log that lost its end is valid: it silently holds less. The mark
reveals that. It is written after the log is on the disk, so it never claims too much.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

import msgspec

MISSING = (
    "The end of the journal is missing. The last messages of a conversation are lost; saved "
    "notebooks are not affected."
)
LOST = "The journal of earlier conversations is gone. Another program emptied or deleted it."


class Mark(msgspec.Struct, frozen=True):
    """The last event: the log is in order, so all before it were there, too."""

    session_id: str
    seq: int


def of(path: Path) -> Path:
    return path.with_name(f"{path.name}-mark")


def write(path: Path, last: Mark) -> None:
    file = of(path)
    file.touch(mode=0o600)
    file.write_bytes(msgspec.json.encode(last))


def forget(path: Path, session_id: str) -> None:
    """Record a deletion on purpose."""
    last = _read(path)
    if last is not None and last.session_id == session_id:
        of(path).unlink(missing_ok=True)


def missing(path: Path, db: sqlite3.Connection) -> str:
    """A message for the person, once, if the journal holds less than it did."""
    last = _read(path)
    if last is None:
        return ""
    found = db.execute(
        "SELECT ifnull(max(seq), 0) FROM events WHERE session_id = ?", (last.session_id,)
    ).fetchone()[0]
    if found >= last.seq:
        return ""
    of(path).unlink(missing_ok=True)
    return MISSING if db.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() else LOST


def _read(path: Path) -> Mark | None:
    """None if there is none, or its writing was cut off."""
    with suppress(FileNotFoundError, msgspec.MsgspecError):
        return msgspec.json.decode(of(path).read_bytes(), type=Mark)
    return None
