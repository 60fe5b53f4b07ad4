"""How much the journal keeps and for how long; what is over is deleted, bit by bit.

In a thread, over a connection of its own, and in transactions of some milliseconds: the
event loop writes to the same file meanwhile, and would wait for a longer one.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from ....core.document.ops import Output
from ....core.stores import LEASE_TIME
from . import mark
from .file import LOCK_WAIT, in_words

DAY = 86_400.0
CUT = 20_000_000
"""Bytes of the outputs of one cell at most; what is over is cut."""
_PAUSE = 0.005
"""Seconds between two steps, for others to write."""
_PAGES = 250
"""Free pages (4 kB each) that are given back at once."""
_OF_A_SESSION = (
    ("events", "seq", 500),
    ("messages", "id", 20),
    ("requests", "step", 100),
    ("prompts", "digest", 100),
    ("ops", "seq", 20),
    ("outputs", "cell_id", 1),
)
"""Tables with a key in a session, and how many rows are deleted at once: some are large."""


class Retention(msgspec.Struct, frozen=True):
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


def keep(path: Path, retention: Retention, writing: threading.Lock) -> None:
    """Delete what is over. A session that a server works on is left alone.

    ``writing`` is held by whoever writes in this process, so that the event loop waits for
    one step at most. Raises StoreError.
    """
    with in_words(), closing(sqlite3.connect(path, timeout=LOCK_WAIT, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        db.execute("PRAGMA wal_autocheckpoint=0")
        now = time.time()
        work = _Retainer(db, writing)
        if retention.conversations_days is not None:
            for session_id in work.drop_sessions(now - retention.conversations_days * DAY):
                mark.forget(path, session_id)  # Its absence is no loss.
        if retention.outputs_days is not None:
            work.drop_outputs(now - retention.outputs_days * DAY)
        if retention.outputs_size is not None:
            work.drop_outputs_over(retention.outputs_size)
        work.give_back()


class _Retainer:
    def __init__(self, db: sqlite3.Connection, writing: threading.Lock) -> None:
        self._db = db
        self._writing = writing

    def drop_sessions(self, before: float) -> list[str]:
        """Those that were not changed since, and are gone."""
        old = f"SELECT session_id FROM sessions WHERE changed < ? AND {_AT_REST}"
        found = self._db.execute(old, (before, _alive())).fetchall()
        return [session_id for (session_id,) in found if self._drop_session(session_id, before)]

    def _drop_session(self, session_id: str, before: float) -> bool:
        """False if somebody has begun to work on it."""
        same = f"session_id = ? AND changed < ? AND {_AT_REST}"

        def drop(statement: str, values: tuple[object, ...]) -> int:
            """Rows that are gone; -1 if the session is not to go any more."""
            still = self._db.execute(
                f"SELECT 1 FROM sessions WHERE {same}", (session_id, before, _alive())
            ).fetchone()
            return -1 if still is None else self._rows(statement, values)

        for table, column, rows in _OF_A_SESSION:
            batch = (
                f"DELETE FROM {table} WHERE session_id = ?1 AND {column} IN"
                f" (SELECT {column} FROM {table} WHERE session_id = ?1 LIMIT {rows})"
            )
            gone = 1
            while gone > 0:
                gone = self._at_once(partial(drop, batch, (session_id,)))
            if gone < 0:
                return False
        last = "DELETE FROM sessions WHERE session_id = ?"
        return self._at_once(partial(drop, last, (session_id,))) > 0

    def drop_outputs(self, before: float) -> None:
        one = (
            "DELETE FROM outputs WHERE rowid = (SELECT rowid FROM outputs"
            f" WHERE changed < ? AND {_AT_REST} ORDER BY changed LIMIT 1)"
        )
        while self._at_once(partial(self._rows, one, (before, _alive()))) > 0:
            pass

    def drop_outputs_over(self, most: int) -> None:
        """The oldest, until the others fit."""
        size: int = self._db.execute("SELECT ifnull(sum(size), 0) FROM outputs").fetchone()[0]
        oldest = f"SELECT rowid, size FROM outputs WHERE {_AT_REST} ORDER BY changed LIMIT 1"
        one = "DELETE FROM outputs WHERE rowid = ?"
        while size > most:
            row = self._db.execute(oldest, (_alive(),)).fetchone()
            if row is None:
                return
            self._at_once(partial(self._rows, one, (row[0],)))
            size -= row[1]

    def give_back(self) -> None:
        """Free pages at the end of the file, to the file system."""
        if self._db.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
            return
        left, free = self._free(), -1
        while left > 0 and left != free:
            free = left
            with self._writing:
                # (`execute` would stop after one page.)
                self._db.executescript(f"PRAGMA incremental_vacuum({_PAGES})")
            time.sleep(_PAUSE)
            left = self._free()

    def _rows(self, statement: str, values: tuple[object, ...]) -> int:
        return self._db.execute(statement, values).rowcount

    def _free(self) -> int:
        pages: int = self._db.execute("PRAGMA freelist_count").fetchone()[0]
        return pages

    def _at_once(self, work: Callable[[], int]) -> int:
        with self._writing:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                done = work()
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
        time.sleep(_PAUSE)
        return done


_AT_REST = "session_id NOT IN (SELECT session_id FROM leases WHERE beat > ?)"


def _alive() -> float:
    """Leases that were renewed since are good."""
    return time.time() - LEASE_TIME
