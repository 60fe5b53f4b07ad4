"""The journal's tables, and what is changed in a file of an earlier version."""

from __future__ import annotations

import sqlite3

from ...base.errors import StoreError

VERSION = 16
"""Of the tables below, and of what is deleted from older files. Raise it with each change."""
OLDEST = 11
"""The oldest version of a file that can be read."""

TABLES: tuple[str, ...] = (
    """CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY, notebook TEXT NOT NULL, changed REAL NOT NULL,
        info TEXT NOT NULL, saved INTEGER NOT NULL DEFAULT 0)""",
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
    # ``number``: the order of the ops of all sessions, as one may build on another's.
    """CREATE TABLE ops (
        session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
        seq INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL,
        op TEXT NOT NULL, outputs TEXT, receipt TEXT,
        PRIMARY KEY (session_id, seq)) WITHOUT ROWID""",
    "CREATE INDEX ops_in_order ON ops (number)",
    # Each output once, in parts, apart from ops and receipts. Age and size are in a table of their
    # own, which can be read without the outputs.
    """CREATE TABLE outputs (
        digest TEXT PRIMARY KEY, changed REAL NOT NULL, bytes INTEGER NOT NULL,
        whole INTEGER NOT NULL)""",
    "CREATE INDEX outputs_by_age ON outputs (changed)",
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
    # Which server works on a session.
    """CREATE TABLE leases (
        session_id TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
        server TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
        beat REAL NOT NULL) WITHOUT ROWID""",
    # The cost of models a day, where an admin has set a limit.
    "CREATE TABLE spending (day TEXT PRIMARY KEY, dollars REAL NOT NULL) WITHOUT ROWID",
)

# Events, tables and values that earlier versions wrote and this one cannot read: what is added
# here needs a higher VERSION. A removed field needs no entry: the reader ignores it.
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


def migrate(db: sqlite3.Connection) -> None:
    """Make the tables of a new file, or bring an older one to this version, in one transaction.

    Raises StoreError ``too_new`` or ``too_old``, and changes nothing then.
    """
    db.execute("BEGIN IMMEDIATE")  # Another process may be migrating, too.
    version = known_version(db)
    if version == 0:
        for statement in TABLES:
            db.execute(statement)
    elif version < VERSION:
        _delete_removed(db)
    db.execute(f"PRAGMA user_version={VERSION}")
    db.execute("COMMIT")


def known_version(db: sqlite3.Connection) -> int:
    """The version of a file that this program can read, or 0 for a new file.

    Raises StoreError ``too_new`` or ``too_old``.
    """
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError("too_new", "A newer version of this program wrote the journal.")
    if version != 0 and version < OLDEST:
        raise StoreError(
            "too_old",
            "An early version of this program wrote the journal, and this version cannot read it. "
            "Nothing in the file was changed. Move it to another folder, and a new journal is "
            "started: {file}.",
            file=db.execute("PRAGMA database_list").fetchone()[2],
        )
    return version


def _delete_removed(db: sqlite3.Connection) -> None:
    """Delete what this version cannot read. Numbers of events may have gaps."""
    for kind in REMOVED_EVENTS:
        db.execute("DELETE FROM events WHERE kind = ?", (kind,))
    for table in REMOVED_TABLES:
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for kind, old, new in REPLACED_VALUES:
        db.execute("UPDATE events SET data = replace(data, ?, ?) WHERE kind = ?", (old, new, kind))
