"""Retention: what the journal keeps and for how long. Deletes in small steps.

It runs in a thread, on its own connection, in transactions of some milliseconds: the event loop
writes to the same file and would wait for a longer one. Only a conversation goes as a whole, so
that nobody opens half of one. One of 20 MB takes some 0.2 s.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import msgspec

from ...wire.stores import LEASE_TIME
from .file import connect, in_words, step

DAY = 86_400.0
_WRITE_TIMEOUT = 3_600.0
"""Seconds that writing large outputs may take."""
_PAUSE = 0.005
"""Seconds between two steps, for others to write."""
_PAGES = 250
"""Free pages (4 kB each) returned per step."""


class Retention(msgspec.Struct, frozen=True):
    """Days since the last change (None: for ever), and bytes of the whole file: the oldest outputs
    are deleted until it fits."""

    conversations_days: float | None = None
    outputs_size: int | None = 1_000_000_000


def keep(path: Path, retention: Retention, writing: threading.Lock) -> bool:
    """Delete expired data; return whether there was any. Sessions that a server works on are
    left alone.

    Writers of this process hold ``writing``, so that the event loop waits for at most one step.
    Raises StoreError.
    """
    with in_words(), closing(connect(path)) as db:
        now = time.time()
        work = _Retainer(db, writing)
        if retention.conversations_days is not None:
            work.drop_sessions(now - retention.conversations_days * DAY)
        work.drop_unused(now - _WRITE_TIMEOUT)
        if retention.outputs_size is not None:
            work.drop_outputs_over(retention.outputs_size)
        work.return_free_pages()
        return work.dropped


class _Retainer:
    def __init__(self, db: sqlite3.Connection, writing: threading.Lock) -> None:
        self.dropped = False
        self._db = db
        self._writing = writing

    def drop_sessions(self, before: float) -> None:
        """Delete sessions unchanged since then, each with all its rows."""
        old = f"changed < ? AND {_UNLEASED}"
        one = f"DELETE FROM sessions WHERE session_id = ? AND {old}"
        bounds = (before, _oldest_lease())
        found = f"SELECT session_id FROM sessions WHERE {old}"
        for (session_id,) in self._db.execute(found, bounds).fetchall():
            self._change(one, (session_id, *bounds))

    def drop_outputs_over(self, most: int) -> None:
        """Delete the oldest outputs until the file fits."""
        while self._used() > most and (digest := self._oldest()) is not None:
            self._drop(digest)

    def drop_unused(self, before: float) -> None:
        """Delete outputs without a conversation, and those only partly written."""
        unused = (
            "SELECT digest FROM outputs o WHERE (changed < ? AND NOT whole) OR NOT EXISTS"
            " (SELECT 1 FROM output_uses u WHERE u.digest = o.digest)"
        )
        for (digest,) in self._db.execute(unused, (before,)).fetchall():
            self._drop(digest)

    def _oldest(self) -> str | None:
        """The oldest outputs that no active conversation has."""
        row = self._db.execute(
            "SELECT digest FROM outputs o WHERE NOT EXISTS"
            " (SELECT 1 FROM output_uses u JOIN leases l USING (session_id)"
            " WHERE u.digest = o.digest AND l.beat > ?) ORDER BY changed LIMIT 1",
            (_oldest_lease(),),
        ).fetchone()
        return row[0] if row is not None else None

    def _drop(self, digest: str) -> None:
        """Delete part by part. Outputs written again meanwhile stay."""
        going = "EXISTS (SELECT 1 FROM outputs WHERE digest = :it AND NOT whole AND changed = 0)"
        statements = (
            "UPDATE outputs SET whole = 0, changed = 0 WHERE digest = :it AND changed > 0",
            "DELETE FROM output_parts WHERE rowid = (SELECT rowid FROM output_parts"
            f" WHERE digest = :it AND {going} LIMIT 1)",
            f"DELETE FROM output_uses WHERE digest = :it AND {going}",
            "DELETE FROM outputs WHERE digest = :it AND NOT whole AND changed = 0",
        )
        for statement in statements:
            while self._change(statement, {"it": digest}) > 0:
                pass

    def _used(self) -> int:
        """Bytes of the file without its free pages."""
        pages = self._db.execute("PRAGMA page_count").fetchone()[0] - self._free()
        return int(pages * self._db.execute("PRAGMA page_size").fetchone()[0])

    def return_free_pages(self) -> None:
        """Return free pages at the end of the file to the file system."""
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

    def _free(self) -> int:
        pages: int = self._db.execute("PRAGMA freelist_count").fetchone()[0]
        return pages

    def _change(self, statement: str, values: tuple[object, ...] | dict[str, object]) -> int:
        """Carry out the statement in a transaction of its own; return how many rows it changed."""
        with step(self._db, self._writing):
            done = self._db.execute(statement, values).rowcount
        self.dropped = self.dropped or done > 0
        time.sleep(_PAUSE)
        return done


_UNLEASED = "session_id NOT IN (SELECT session_id FROM leases WHERE beat > ?)"


def _oldest_lease() -> float:
    """Leases renewed since this time are valid."""
    return time.time() - LEASE_TIME
