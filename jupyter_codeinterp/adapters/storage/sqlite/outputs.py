"""Outputs in the journal: each stored once, in parts, under its digest.

A thread encodes and writes large ones on its own connection. The event loop writes to the same
file and waits for one part at most.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing

import msgspec

from ....core.document.ops import Output, fits
from ....core.errors import StoreError
from .file import connect, in_words
from .leases import Leases
from .output_rows import add_part, begin, end, parts, put, written

AT_ONCE = 50_000
"""Characters of outputs that the event loop writes itself: less than 2 ms."""


class KeptOutputs(Leases):
    async def keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        """Store outputs and return their digest, or "" on failure. Their op or receipt then
        carries them, and its write raises the error."""
        if not outputs or fits(outputs, AT_ONCE) or self._fault is not None:
            return ""
        try:
            return await asyncio.to_thread(self._keep_outputs, session_id, outputs)
        except StoreError:
            return ""

    def _keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        new = written(outputs, self._scrub)
        with in_words(), closing(connect(self._path)) as db:
            with self._step(db):
                missing = begin(db, session_id, new, time.time())
            for start, part in parts(new) if missing else ():
                with self._step(db):
                    add_part(db, new.digest, start, part)
            with self._step(db):
                end(db, new.digest)
        return new.digest

    def outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        with in_words():
            return _read(self._db, session_id, digest)

    async def kept_outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        return await asyncio.to_thread(self._kept_outputs, session_id, digest)

    def _kept_outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        with in_words(), closing(connect(self._path)) as db:
            return _read(db, session_id, digest)

    async def cell_outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        query = "SELECT digest FROM cell_outputs WHERE session_id = ? AND cell_id = ?"
        with in_words():
            row = self._db.execute(query, (session_id, cell_id)).fetchone()
        return await self.kept_outputs(session_id, row[0]) if row is not None else None

    def _put_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        """Store outputs and return their digest. Needs an open transaction."""
        new = written(outputs, self._scrub)
        put(self._db, session_id, new, time.time())
        return new.digest


def _read(db: sqlite3.Connection, session_id: str, digest: str) -> tuple[Output, ...] | None:
    """None if parts are missing, or no op of the session refers to them."""
    rows = db.execute(
        "SELECT p.content FROM outputs o JOIN output_uses u USING (digest)"
        " JOIN output_parts p USING (digest)"
        " WHERE o.digest = ? AND u.session_id = ? AND o.whole ORDER BY p.start",
        (digest, session_id),
    ).fetchall()
    if not rows:
        return None
    try:
        return msgspec.json.decode(b"".join(row[0] for row in rows), type=tuple[Output, ...])
    except msgspec.MsgspecError as error:
        words = f"Cannot read an entry of the journal: {error}."
        raise StoreError("damaged", words) from error
