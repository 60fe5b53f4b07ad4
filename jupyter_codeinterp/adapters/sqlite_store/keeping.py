"""How much the journal keeps and for how long; what is over is deleted, bit by bit.

In a thread, over a connection of its own, and in transactions of some milliseconds: the
event loop writes to the same file meanwhile, and would wait for a longer one.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from ...core.document import Output
from ...core.ports import LEASE_TIME
from . import mark
from .file import LOCK_WAIT, in_words

DAY = 86_400.0
CUT = 20_000_000
"""Bytes of the outputs of one cell at most; what is over is cut."""
_BATCH = 500
"""Rows that are deleted at once."""
_PAGES = 250
"""Free pages (4 kB each) that are given back at once."""
_OF_A_SESSION = ("events", "messages", "requests", "prompts", "ops", "outputs")


class Keeping(msgspec.Struct, frozen=True):
    """Days since the last change, None for ever; and bytes of all outputs together."""

    outputs_days: float | None = None
    conversations_days: float | None = None
    outputs_size: int | None = 1_000_000_000


def cut(outputs: tuple[Output, ...], most: int = CUT) -> tuple[Output, ...]:
    """The first outputs, as many as fit into ``most`` bytes, and a note for the others."""
    kept: list[Output] = []
    size = left_out = 0
    for output in outputs:
        bytes_here = len(msgspec.json.encode(output))
        if left_out or size + bytes_here > most:
            left_out += bytes_here
        else:
            size += bytes_here
            kept.append(output)
    if left_out:
        words = f"[{left_out / 1e6:,.1f} MB more were too large to be kept.]\n"
        kept.append({"output_type": "stream", "name": "stderr", "text": words})
    return tuple(kept)


def keep(path: Path, keeping: Keeping) -> None:
    """Delete what is over. A session that a server works on is left alone. StoreError."""
    with in_words(), closing(sqlite3.connect(path, timeout=LOCK_WAIT, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        db.execute("PRAGMA wal_autocheckpoint=0")
        now = time.time()
        if keeping.conversations_days is not None:
            _drop_sessions(db, path, now - keeping.conversations_days * DAY)
        if keeping.outputs_days is not None:
            _drop_outputs(db, now - keeping.outputs_days * DAY)
        if keeping.outputs_size is not None:
            _drop_outputs_over(db, keeping.outputs_size)
        _give_back(db)


_AT_REST = "session_id NOT IN (SELECT session_id FROM leases WHERE beat > ?)"


def _drop_sessions(db: sqlite3.Connection, path: Path, before: float) -> None:
    old = f"SELECT session_id FROM sessions WHERE changed < ? AND {_AT_REST}"
    for (session_id,) in db.execute(old, (before, _alive())).fetchall():
        for table in _OF_A_SESSION:
            if not _drop_rows(db, table, session_id, before):
                break
        else:
            mark.forget(path, session_id)
            gone = f"DELETE FROM sessions WHERE session_id = ? AND changed < ? AND {_AT_REST}"
            db.execute(gone, (session_id, before, _alive()))


def _drop_rows(db: sqlite3.Connection, table: str, session_id: str, before: float) -> bool:
    """All of a session's rows in a table; False if somebody has begun to work on it."""
    key = {"messages": "id", "prompts": "digest", "requests": "step", "outputs": "cell_id"}
    column = key.get(table, "seq")
    still = f"SELECT 1 FROM sessions WHERE session_id = ? AND changed < ? AND {_AT_REST}"
    batch = (
        f"DELETE FROM {table} WHERE session_id = ?1 AND {column} IN"
        f" (SELECT {column} FROM {table} WHERE session_id = ?1 LIMIT ?2)"
    )
    # One output may be as large as a thousand events.
    rows = 1 if table == "outputs" else _BATCH

    def work() -> bool | None:
        if db.execute(still, (session_id, before, _alive())).fetchone() is None:
            return None
        return db.execute(batch, (session_id, rows)).rowcount > 0

    more: bool | None = True
    while more:
        more = _at_once(db, work)
    return more is not None


def _drop_outputs(db: sqlite3.Connection, before: float) -> None:
    one = (
        "DELETE FROM outputs WHERE rowid = (SELECT rowid FROM outputs"
        f" WHERE changed < ? AND {_AT_REST} ORDER BY changed LIMIT 1)"
    )
    while db.execute(one, (before, _alive())).rowcount > 0:
        pass


def _drop_outputs_over(db: sqlite3.Connection, most: int) -> None:
    """The oldest, until the others fit."""
    size: int = db.execute("SELECT ifnull(sum(size), 0) FROM outputs").fetchone()[0]
    oldest = f"SELECT rowid, size FROM outputs WHERE {_AT_REST} ORDER BY changed LIMIT 1"
    while size > most:
        row = db.execute(oldest, (_alive(),)).fetchone()
        if row is None:
            return
        db.execute("DELETE FROM outputs WHERE rowid = ?", (row[0],))
        size -= row[1]


def _give_back(db: sqlite3.Connection) -> None:
    """Free pages at the end of the file, to the file system."""
    if db.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
        return
    free: int = db.execute("PRAGMA freelist_count").fetchone()[0]
    while free > 0:
        db.execute(f"PRAGMA incremental_vacuum({_PAGES})").fetchall()
        left: int = db.execute("PRAGMA freelist_count").fetchone()[0]
        if left >= free:
            return
        free = left


def _alive() -> float:
    """Leases that were renewed since are good."""
    return time.time() - LEASE_TIME


def _at_once(db: sqlite3.Connection, work: Callable[[], bool | None]) -> bool | None:
    db.execute("BEGIN IMMEDIATE")
    try:
        return work()
    finally:
        db.execute("COMMIT")
