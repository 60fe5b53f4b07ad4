"""The journal's tables and their migrations."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from ...base.errors import StoreError
from ...wire.ops import Output, digest
from ...wire.stores import StoredOp, light_op, light_receipt

# -------------------------------------------------------------------------------------------------
# Rows of outputs: each stored once, in parts, under its digest.

PART = 500_000
"""Bytes written in one transaction: some 4 ms."""


class EncodedOutputs(NamedTuple):
    """Encoded outputs, without the text of any secret: JSON in pieces."""

    digest: str
    size: int
    pieces: tuple[bytes, ...]


def written(outputs: tuple[Output, ...], scrub: Callable[[str], str]) -> EncodedOutputs:
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
    return EncodedOutputs(digest.hexdigest(), size, tuple(pieces))


def parts(new: EncodedOutputs) -> Iterator[tuple[int, bytes]]:
    """The part for each transaction, and its offset."""
    place = 0
    for piece in new.pieces:
        for start in range(0, len(piece), PART):
            yield place + start, piece[start : start + PART]
        place += len(piece)


def begin(db: sqlite3.Connection, session_id: str, new: EncodedOutputs, now: float) -> bool:
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


def put(db: sqlite3.Connection, session_id: str, new: EncodedOutputs, now: float) -> None:
    """Write all parts. Needs an open transaction."""
    if begin(db, session_id, new, now):
        for start, part in parts(new):
            add_part(db, new.digest, start, part)
        end(db, new.digest)


# Events, tables and values that earlier versions wrote and this one cannot read. The last
# migration deletes or replaces them: what is added here needs another such step at the end. A
# removed field needs no entry: the reader ignores it.
REMOVED_EVENTS: tuple[str, ...] = (
    "answer_checked",
    "cell_removed",
    "files_put_back",
    "finding_silenced",
    "looked",
    "rehearsal_started",
    "rehearsed",
    "rule_made",
    "rule_removed",
    "run_progress",
    "went_on",
)
"""Kinds of events."""

REMOVED_TABLES: tuple[str, ...] = ("actions", "notices", "silenced")

REPLACED_VALUES: tuple[tuple[str, str, str], ...] = (
    ("draft_waiting", '"kind":"notebook"', '"kind":"tool"'),
    ("draft_waiting", '"kind":"peek"', '"kind":"tool"'),
    ("turn_undone", '"why":"run"', '"why":"changed"'),
    ("turn_redone", '"why":"run"', '"why":"changed"'),
    ("turn_undone", '"why":"earlier_undone"', '"why":"changed"'),
    ("turn_redone", '"why":"earlier_undone"', '"why":"changed"'),
)
"""(kind of event, text of its JSON, new text): values that a field no longer has."""


def _outputs_once(db: sqlite3.Connection) -> None:
    keys = "SELECT o.session_id, seq, number, s.changed FROM ops_6 o JOIN sessions s"
    for session_id, seq, number, changed in db.execute(
        f"{keys} USING (session_id) ORDER BY number, session_id, seq"
    ).fetchall():
        row = "SELECT data FROM ops_6 WHERE session_id = ? AND seq = ?"
        _move_op(db, session_id, number, changed, db.execute(row, (session_id, seq)).fetchone()[0])
    keys = "SELECT session_id, cell_id, changed FROM outputs_6"
    for session_id, cell_id, changed in db.execute(keys).fetchall():
        row = "SELECT data FROM outputs_6 WHERE session_id = ? AND cell_id = ?"
        data: str = db.execute(row, (session_id, cell_id)).fetchone()[0]
        digest = _kept(db, session_id, msgspec.json.decode(data), changed)
        db.execute("INSERT INTO cell_outputs VALUES (?, ?, ?)", (session_id, cell_id, digest))


def _move_op(
    db: sqlite3.Connection, session_id: str, number: int, changed: float, data: str
) -> None:
    stored = msgspec.json.decode(data, type=StoredOp)
    op, outputs = light_op(stored.op)
    digest = _kept(db, session_id, outputs, changed) if outputs else None
    receipt = stored.receipt
    if receipt is not None:
        light, before = light_receipt(receipt)
        if before:
            kept = _kept(db, session_id, before, changed)
            light = msgspec.structs.replace(light, outputs=kept)
        receipt = light
    stored_receipt = msgspec.json.encode(receipt).decode() if receipt is not None else None
    row = (session_id, stored.seq, number, stored.turn, msgspec.json.encode(op).decode())
    db.execute("INSERT INTO ops VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, digest, stored_receipt))


def _kept(
    db: sqlite3.Connection, session_id: str, outputs: tuple[Output, ...], changed: float
) -> str:
    new = written(outputs, str)
    put(db, session_id, new, changed)
    return new.digest


def _rename_field(db: sqlite3.Connection) -> None:
    """Rename a field of an event. (Texts cannot match: they escape quotation marks.)"""
    names = ('"mended":', '"fixed":')
    db.execute("UPDATE events SET data = replace(data, ?, ?) WHERE kind = 'tool_done'", names)


def _delete_removed(db: sqlite3.Connection) -> None:
    """Delete what this version cannot read. Numbers of events may have gaps."""
    for kind in REMOVED_EVENTS:
        db.execute("DELETE FROM events WHERE kind = ?", (kind,))
    for table in REMOVED_TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for kind, old, new in REPLACED_VALUES:
        db.execute("UPDATE events SET data = replace(data, ?, ?) WHERE kind = ?", (old, new, kind))


# For each version from 1, the statements that make it from the version before.
MIGRATIONS: tuple[tuple[str | Callable[[sqlite3.Connection], None], ...], ...] = (
    (
        """CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY, notebook TEXT NOT NULL, changed REAL NOT NULL,
            info TEXT NOT NULL)""",
        "CREATE INDEX sessions_by_notebook ON sessions (notebook)",
        """CREATE TABLE events (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            seq INTEGER NOT NULL, kind TEXT NOT NULL, block INTEGER, data TEXT NOT NULL,
            PRIMARY KEY (session_id, seq)) WITHOUT ROWID""",
        """CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            conversation INTEGER NOT NULL, data TEXT NOT NULL)""",
        "CREATE INDEX messages_in_order ON messages (session_id, conversation, id)",
        """CREATE TABLE prompts (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            digest TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (session_id, digest)) WITHOUT ROWID""",
        """CREATE TABLE requests (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            step INTEGER NOT NULL, digest TEXT NOT NULL, data TEXT NOT NULL,
            conversation INTEGER NOT NULL, last_message INTEGER NOT NULL,
            PRIMARY KEY (session_id, step)) WITHOUT ROWID""",
        """CREATE TABLE ops (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            seq INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (session_id, seq)) WITHOUT ROWID""",
        """CREATE TABLE outputs (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cell_id TEXT NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (session_id, cell_id))""",
    ),
    # Which ops the notebook's file has. Older journals cannot know: their ops are never applied
    # again.
    (
        "ALTER TABLE sessions ADD COLUMN saved INTEGER NOT NULL DEFAULT 0",
        """UPDATE sessions SET saved = ifnull(
            (SELECT max(seq) FROM ops WHERE ops.session_id = sessions.session_id), 0)""",
    ),
    # Which server works on a session; unread notices for the person; age and size of
    # outputs, in an index that can be read without the outputs.
    (
        """CREATE TABLE leases (
            session_id TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            server TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
            beat REAL NOT NULL) WITHOUT ROWID""",
        "CREATE TABLE notices (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
        "ALTER TABLE outputs RENAME TO outputs_2",
        """CREATE TABLE outputs (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cell_id TEXT NOT NULL, changed REAL NOT NULL, size INTEGER NOT NULL,
            data TEXT NOT NULL, PRIMARY KEY (session_id, cell_id))""",
        """INSERT INTO outputs
            SELECT o.session_id, o.cell_id, s.changed, length(CAST(o.data AS BLOB)), o.data
            FROM outputs_2 o JOIN sessions s USING (session_id)""",
        "DROP TABLE outputs_2",
        "CREATE INDEX outputs_by_age ON outputs (changed, size)",
    ),
    # The order in which the ops of all sessions were journaled: one may build on another's.
    (
        "ALTER TABLE ops ADD COLUMN number INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX ops_in_order ON ops (number)",
    ),
    # A run names its source by digest: an earlier op wrote it.
    ("""UPDATE ops SET data = with_digest(data) WHERE data LIKE '%"op":"begin_run"%'""",),
    # The cost of models a day, where an admin has set a limit.
    ("CREATE TABLE spending (day TEXT PRIMARY KEY, dollars REAL NOT NULL) WITHOUT ROWID",),
    # Each output once, in parts, apart from ops and receipts.
    (
        """CREATE TABLE output_parts (
            digest TEXT NOT NULL, start INTEGER NOT NULL, content BLOB NOT NULL,
            PRIMARY KEY (digest, start))""",
        """CREATE TABLE output_uses (
            digest TEXT NOT NULL, session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            PRIMARY KEY (digest, session_id)) WITHOUT ROWID""",
        "CREATE INDEX output_uses_by_session ON output_uses (session_id)",
        """CREATE TABLE cell_outputs (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cell_id TEXT NOT NULL, digest TEXT NOT NULL,
            PRIMARY KEY (session_id, cell_id)) WITHOUT ROWID""",
        "ALTER TABLE outputs RENAME TO outputs_6",
        "DROP INDEX outputs_by_age",
        """CREATE TABLE outputs (
            digest TEXT PRIMARY KEY, changed REAL NOT NULL, bytes INTEGER NOT NULL,
            whole INTEGER NOT NULL)""",
        "CREATE INDEX outputs_by_age ON outputs (changed)",
        "ALTER TABLE ops RENAME TO ops_6",
        "DROP INDEX ops_in_order",
        """CREATE TABLE ops (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            seq INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL,
            op TEXT NOT NULL, outputs TEXT, receipt TEXT,
            PRIMARY KEY (session_id, seq)) WITHOUT ROWID""",
        "CREATE INDEX ops_in_order ON ops (number)",
        _outputs_once,
        "DROP TABLE ops_6",
        "DROP TABLE outputs_6",
    ),
    # Actions of windows and clients, for those that were disconnected.
    (
        """CREATE TABLE actions (
            number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, window INTEGER NOT NULL,
            what TEXT NOT NULL, name TEXT NOT NULL, session_id TEXT NOT NULL,
            notebook TEXT NOT NULL, turn INTEGER NOT NULL, before TEXT NOT NULL)""",
        "CREATE INDEX actions_of_sessions ON actions (session_id)",
    ),
    (_rename_field,),
    # Findings that a person does not want. A key is a digest.
    (
        """CREATE TABLE silenced (
            notebook TEXT NOT NULL, key TEXT NOT NULL,
            PRIMARY KEY (notebook, key)) WITHOUT ROWID""",
    ),
    # Notebooks have whole paths from here on (journal.py). Early versions would miss them.
    (),
    # Events and values that no version writes any more.
    (_delete_removed,),
    (_delete_removed,),
    (_delete_removed,),
    (_delete_removed,),
    (_delete_removed,),
)


def _with_digest(data: str) -> str:
    """A stored op in JSON, with a digest in place of a run's source."""
    stored = json.loads(data)
    if stored["op"]["op"] == "begin_run":
        stored["op"]["digest"] = digest(stored["op"].pop("source"))
    return json.dumps(stored, ensure_ascii=False)


def migrate(db: sqlite3.Connection) -> None:
    """Migrate the file to the newest version, one transaction a step.

    Raises StoreError ``too_new``.
    """
    db.create_function("with_digest", 1, _with_digest)
    while True:
        db.execute("BEGIN IMMEDIATE")  # another process may be migrating, too
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        if version >= len(MIGRATIONS):
            db.execute("COMMIT")
            break
        for statement in MIGRATIONS[version]:
            if isinstance(statement, str):
                db.execute(statement)
            else:
                statement(db)
        db.execute(f"PRAGMA user_version={version + 1}")
        db.execute("COMMIT")
    if version > len(MIGRATIONS):
        raise StoreError("too_new", "A newer version of this program wrote the journal.")
