"""The journal's tables, and how an older file gets them."""

from __future__ import annotations

import json
import sqlite3

from ....core.document.ops import digest
from ....core.errors import StoreError

# (version 1, version 2, …): each the statements that lead to it from the one before.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
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
    # Which ops the notebook's file has. Of an older journal it is not known: none is put
    # into a notebook a second time.
    (
        "ALTER TABLE sessions ADD COLUMN saved INTEGER NOT NULL DEFAULT 0",
        """UPDATE sessions SET saved = ifnull(
            (SELECT max(seq) FROM ops WHERE ops.session_id = sessions.session_id), 0)""",
    ),
    # Which server works on a session. What a person is told until they have read it. And
    # outputs with their age and size, in an index that is read without the outputs.
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
    # In which order the ops of all sessions were journaled: one may build on another's.
    (
        "ALTER TABLE ops ADD COLUMN number INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX ops_in_order ON ops (number)",
    ),
    # The begin of a run names the source that an op before it has written.
    ("""UPDATE ops SET data = with_digest(data) WHERE data LIKE '%"op":"begin_run"%'""",),
    # What models have cost, where an admin has set a limit.
    ("CREATE TABLE spending (day TEXT PRIMARY KEY, dollars REAL NOT NULL) WITHOUT ROWID",),
)


def _with_digest(data: str) -> str:
    """An op of the journal."""
    stored = json.loads(data)
    if stored["op"]["op"] == "begin_run":
        stored["op"]["digest"] = digest(stored["op"].pop("source"))
    return json.dumps(stored, ensure_ascii=False)


def migrate(db: sqlite3.Connection) -> None:
    """Climb from the version that the file has to the newest, one transaction a step.

    Raises StoreError ``too_new``.
    """
    db.create_function("with_digest", 1, _with_digest)
    while True:
        db.execute("BEGIN IMMEDIATE")  # another process may be climbing, too
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
        if version >= len(MIGRATIONS):
            db.execute("COMMIT")
            break
        for statement in MIGRATIONS[version]:
            db.execute(statement)
        db.execute(f"PRAGMA user_version={version + 1}")
        db.execute("COMMIT")
    if version > len(MIGRATIONS):
        raise StoreError("too_new", "The journal was written by a newer version of this program.")
