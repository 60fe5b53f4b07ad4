"""Ops and receipts in the journal, and their outputs: each stored once, in parts, under its digest.

A thread encodes and writes large outputs on its own connection. The event loop writes to the same
file and waits for one part at most.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from ...base.errors import StoreError
from ...wire.ops import FinishRun, Op, Output, Receipt, Restore, fits
from ...wire.stores import OpsBySession, StoredOp, StoredOps, light_op, light_receipt, whole_op
from .file import connect, in_words, step
from .journal import JournalFile, read
from .writer import append

_NEW = "INSERT INTO ops SELECT ?, ?, ifnull(max(number), 0) + 1, ?, ?, ?, ? FROM ops"
_COLUMNS = "seq, turn, op, receipt, outputs"


AT_ONCE = 50_000
"""Characters of outputs that the event loop writes itself: less than 2 ms."""
_PART = 500_000
"""Bytes written in one transaction: some 4 ms."""


class Ops(JournalFile):
    @append
    def append_op(self, session_id: str, op: StoredOp) -> None:
        with self._transaction():
            self._add_op(session_id, op)

    def _add_op(self, session_id: str, stored: StoredOp) -> None:
        """Needs an open transaction."""
        op, outputs = light_op(stored.op)
        kept = stored.op.kept if isinstance(stored.op, (FinishRun, Restore)) else ""
        digest = stored.outputs or kept or (outputs and self._put_outputs(session_id, outputs))
        receipt = (
            self._without_outputs(session_id, stored.receipt)
            if stored.receipt is not None
            else None
        )
        uses = [digest, receipt.outputs if receipt is not None else ""]
        self._db.executemany(
            "INSERT OR IGNORE INTO output_uses SELECT digest, ? FROM outputs WHERE digest = ?",
            [(session_id, use) for use in uses if use],
        )
        written = (self._written(op), digest or None, receipt and self._written(receipt))
        self._db.execute(_NEW, (session_id, stored.seq, stored.turn, *written))
        if isinstance(op, FinishRun):
            self._db.execute(
                "INSERT OR REPLACE INTO cell_outputs VALUES (?, ?, ?)",
                (session_id, op.cell_id, digest or ""),
            )

    def _without_outputs(self, session_id: str, receipt: Receipt) -> Receipt:
        """Move the receipt's outputs to their own table. Needs an open transaction."""
        light, outputs = light_receipt(receipt)
        if not outputs:
            return receipt
        return msgspec.structs.replace(light, outputs=self._put_outputs(session_id, outputs))

    @append
    def set_receipt(self, session_id: str, seq: int, receipt: Receipt) -> None:
        with self._transaction():
            light = self._without_outputs(session_id, receipt)
            updated = self._db.execute(
                "UPDATE ops SET receipt = ? WHERE session_id = ? AND seq = ?",
                (self._written(light), session_id, seq),
            )
            if not updated.rowcount:
                raise StoreError("unknown_op", "No op {seq} to set a receipt for.", seq=seq)

    def last_op(self, session_id: str) -> int:
        """The number of the last op; 0 before the first."""
        query = "SELECT ifnull(max(seq), 0) FROM ops WHERE session_id = ?"
        return max(0, self._number(query, session_id))

    def ops(self, session_id: str, after: int = 0) -> StoredOps:
        """Light ops in order."""
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM ops WHERE session_id = ? AND seq > ? ORDER BY seq",
            (session_id, after),
        )
        return [_op(row) for row in rows]

    def whole_ops(self, session_id: str, after: int = 0) -> StoredOps:
        """Ops with their outputs, for a document."""
        return self._whole(session_id, self.ops(session_id, after))

    def _whole(self, session_id: str, ops: StoredOps) -> StoredOps:
        return [
            whole_op(stored, self.outputs(session_id, stored.outputs)) if stored.outputs else stored
            for stored in ops
        ]

    @append
    def set_saved(self, session_id: str, seq: int) -> None:
        """Record that the notebook's file has the session's ops up to ``seq``. Never lowers the
        number; ignores an unknown session."""
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET saved = max(saved, ?) WHERE session_id = ?", (seq, session_id)
            )

    def give_up_ops(self, notebook: str, session_id: str = "") -> None:
        """The notebook's file is gone: never apply past ops of its sessions (or of this one) to
        another file of that name."""
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET saved = max(saved, (SELECT ifnull(max(seq), 0) FROM ops"
                " WHERE ops.session_id = sessions.session_id))"
                " WHERE notebook IN (?, ?) AND ? IN ('', session_id)",
                (*self._names(notebook), session_id),
            )

    def saved_ops(self, notebook: str) -> dict[str, int]:
        """The numbers from ``set_saved``, by session of that notebook."""
        rows = self._rows(
            "SELECT session_id, saved FROM sessions WHERE notebook IN (?, ?) AND saved > 0",
            self._names(notebook),
        )
        return dict(rows)

    def ops_above(self, notebook: str, seqs: Mapping[str, int]) -> OpsBySession:
        """Whole ops of these sessions of the notebook with higher numbers, in journal order,
        neighbours of one session grouped."""
        above = ("JOIN json_each(?) AS above ON above.key = session_id", "above.value")
        return self._by_session(notebook, *above, json.dumps(dict(seqs)))

    def unsaved_ops(self, notebook: str) -> OpsBySession:
        """Whole ops that the notebook's file may lack, in journal order, neighbours of one
        session grouped. Omits sessions that another server works on."""
        found = self._by_session(notebook, "", "s.saved")
        free = {key for key in {key for key, _ in found} if not self.holder(key)}
        return [(session_id, ops) for session_id, ops in found if session_id in free]

    def _by_session(self, notebook: str, join: str, above: str, *given: str) -> OpsBySession:
        rows = self._rows(
            f"SELECT session_id, {_COLUMNS} FROM ops JOIN sessions s USING (session_id) {join}"
            f" WHERE s.notebook IN (?, ?) AND ops.seq > {above}"
            " ORDER BY ops.number, session_id, ops.seq",
            (*given, *self._names(notebook)),
        )
        return [
            (session_id, self._whole(session_id, [_op(row[1:]) for row in group]))
            for session_id, group in groupby(rows, key=itemgetter(0))
        ]

    # --- outputs -----------------------------------------------------------------------

    async def keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        """Store outputs and return their digest; "" on failure. The op or receipt then carries
        the outputs itself, and its write raises the error."""
        if not outputs or fits(outputs, AT_ONCE) or self._fault is not None:
            return ""
        try:
            return await asyncio.to_thread(self._keep_outputs, session_id, outputs)
        except StoreError:
            return ""

    def _keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        new = _encoded(outputs, self._scrub)
        with in_words(), closing(connect(self._path)) as db:
            with step(db, self._writing):
                missing = _begin(db, session_id, new)
            for start, part in _parts(new) if missing else ():
                with step(db, self._writing):
                    _add_part(db, new.digest, start, part)
            with step(db, self._writing):
                _end(db, new.digest)
        return new.digest

    def outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        """Outputs of an op or receipt of the session; None if the journal dropped them."""
        self._drain()
        with in_words():
            return _outputs_of(self._db, session_id, digest)

    async def kept_outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        """As ``outputs``, but read in a worker thread."""
        return await asyncio.to_thread(self._kept_outputs, session_id, digest)

    def _kept_outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        self._drain()
        with in_words(), closing(connect(self._path)) as db:
            return _outputs_of(db, session_id, digest)

    async def cell_outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        """Outputs of a cell's last run in the session, for ``read_output``."""
        query = "SELECT digest FROM cell_outputs WHERE session_id = ? AND cell_id = ?"
        rows = self._rows(query, (session_id, cell_id))
        return await self.kept_outputs(session_id, rows[0][0]) if rows else None

    def _put_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        """Store outputs and return their digest. Needs an open transaction."""
        new = _encoded(outputs, self._scrub)
        if _begin(self._db, session_id, new):
            for start, part in _parts(new):
                _add_part(self._db, new.digest, start, part)
            _end(self._db, new.digest)
        return new.digest


def _op(row: tuple[Any, ...]) -> StoredOp:
    seq, turn, op, receipt, outputs = row
    answered = read(receipt, Receipt) if receipt is not None else None
    return StoredOp(seq, turn, read(op, Op), answered, outputs or "")


class _Encoded(NamedTuple):
    """Encoded outputs, without the text of any secret: JSON in pieces."""

    digest: str
    size: int
    pieces: tuple[bytes, ...]


def _encoded(outputs: tuple[Output, ...], scrub: Callable[[str], str]) -> _Encoded:
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
    return _Encoded(digest.hexdigest(), size, tuple(pieces))


def _parts(new: _Encoded) -> Iterator[tuple[int, bytes]]:
    """The part for each transaction, and its offset."""
    place = 0
    for piece in new.pieces:
        for start in range(0, len(piece), _PART):
            yield place + start, piece[start : start + _PART]
        place += len(piece)


def _begin(db: sqlite3.Connection, session_id: str, new: _Encoded) -> bool:
    """Record that a session has these outputs; return whether they still need writing. Needs an
    open transaction."""
    db.execute(
        "INSERT INTO outputs VALUES (?, ?, ?, 0) ON CONFLICT (digest)"
        " DO UPDATE SET changed = excluded.changed",
        (new.digest, time.time(), new.size),
    )
    db.execute("INSERT OR IGNORE INTO output_uses VALUES (?, ?)", (new.digest, session_id))
    row = db.execute("SELECT whole FROM outputs WHERE digest = ?", (new.digest,)).fetchone()
    return not row[0]


def _add_part(db: sqlite3.Connection, digest: str, start: int, part: bytes) -> None:
    db.execute("INSERT OR IGNORE INTO output_parts VALUES (?, ?, ?)", (digest, start, part))


def _end(db: sqlite3.Connection, digest: str) -> None:
    db.execute("UPDATE outputs SET whole = 1 WHERE digest = ?", (digest,))


def _outputs_of(db: sqlite3.Connection, session_id: str, digest: str) -> tuple[Output, ...] | None:
    """None if parts are missing, or no op of the session refers to them."""
    rows = db.execute(
        "SELECT p.content FROM outputs o JOIN output_uses u USING (digest)"
        " JOIN output_parts p USING (digest)"
        " WHERE o.digest = ? AND u.session_id = ? AND o.whole ORDER BY p.start",
        (digest, session_id),
    ).fetchall()
    if not rows:
        return None
    found: tuple[Output, ...] = read(b"".join(row[0] for row in rows), tuple[Output, ...])
    return found
