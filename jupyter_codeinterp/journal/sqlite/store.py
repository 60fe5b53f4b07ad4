"""The journal in one SQLite file: sessions, events, messages, ops and outputs.

Synchronous, for one thread: an append takes 0.1 ms. ``settle`` and ``tidy`` wait for the disk in
a thread of their own; on a network drive, appends do as well (``writer.py``). All written text
passes ``scrub``. The caller numbers events; folding streamed parts leaves gaps.
"""

from __future__ import annotations

import hashlib
import sqlite3
from typing import Any

import msgspec

from ...wire.commands import SessionInfo
from ...wire.events import (
    Event,
    StepDiscarded,
    TextDone,
    ThinkingDelta,
    TurnEnded,
    event_json,
)
from ...wire.messages import Message
from ...wire.stores import Beginning, NumberedEvents, Sessions
from .journal import read, reader
from .ops import Ops
from .writer import append

_Written = list[tuple[int, bytes]]
_Deltas = list[tuple[int, ThinkingDelta]]
_Rows = list[tuple[Any, ...]]

_NEW_SESSION = "INSERT INTO sessions (info, notebook, changed, session_id) VALUES (?, ?, ?, ?)"
_NEW_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"

# A branch copies its share of the session, so that each can be deleted without the other.
_FIRST = "SELECT id FROM messages WHERE session_id = :of ORDER BY id LIMIT :messages"

_COPIES = (
    # New rows are numbered in the order of the old ones; `base` is below all of them.
    f"""INSERT INTO messages (session_id, conversation, data)
        SELECT :new, conversation, data FROM messages WHERE id IN ({_FIRST}) ORDER BY id""",
    """INSERT INTO prompts SELECT :new, digest, text FROM prompts
        WHERE session_id = :of AND digest IN
            (SELECT digest FROM requests WHERE session_id = :of AND step <= :steps)""",
    """INSERT INTO requests
        SELECT :new, step, digest, data, conversation, :base +
            (SELECT count(*) FROM messages m WHERE m.session_id = :of AND m.id <= last_message)
        FROM requests WHERE session_id = :of AND step <= :steps""",
)


class SqliteStore(Ops):
    """The journal in the file ``path``. The constructor raises nothing (see ``JournalFile``).

    Every method is one transaction, and raises StoreError: disk_full, read_only, locked, damaged,
    not_found, too_new, too_old, unknown_session, repeated, disk_error. Synchronous on purpose: an
    append takes 0.1 ms (SQLite, WAL). On a network drive a thread makes the appends; the error of
    one is raised at the next append, or at ``settle``.
    """

    # --- sessions --------------------------------------------------------------------

    def create(self, info: SessionInfo) -> None:
        with self._transaction():
            self._db.execute(_NEW_SESSION, self._row(info))

    def create_branch(self, info: SessionInfo, of: str, beginning: Beginning) -> None:
        """Copy the beginning of session ``of``, atomically. Both are then independent."""
        new = info.session_id
        with self._transaction():
            self._db.execute(_NEW_SESSION, self._row(info))
            self._db.executemany(_NEW_EVENT, self._event_rows(new, beginning.events))
            for op in beginning.ops:
                self._add_op(new, op)
            _copy_conversation(self._db, of, new, beginning.messages, beginning.steps)

    @append
    def update(self, info: SessionInfo) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET info = ?, notebook = ?, changed = ? WHERE session_id = ?",
                self._row(info),
            )

    def get(self, session_id: str) -> SessionInfo | None:
        return next(iter(self._sessions("session_id = ?", session_id)), None)

    def list(self, notebook: str | None = None) -> Sessions:
        """Sessions, newest first."""
        if notebook is None:
            return self._sessions("true")
        return self._sessions("notebook IN (?, ?)", *self._names(notebook))

    def rename_notebook(self, old: str, new: str) -> None:
        names = (self._names(new)[0], *self._names(old))
        with self._transaction():
            self._db.execute("UPDATE sessions SET notebook = ? WHERE notebook IN (?, ?)", names)

    def delete(self, session_id: str) -> None:
        """Delete a session and all its data, if it exists."""
        with self._transaction():
            self._db.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))
        self._left_in_log = True

    # --- spending -------------------------------------------------------

    @append
    def spend(self, day: str, dollars: float) -> None:
        with self._transaction():
            self._db.execute(
                "INSERT INTO spending VALUES (?, ?) ON CONFLICT (day) "
                "DO UPDATE SET dollars = dollars + excluded.dollars",
                (day, dollars),
            )

    def spent(self, day: str) -> float:
        rows = self._rows("SELECT dollars FROM spending WHERE day = ?", (day,))
        return float(rows[0][0]) if rows else 0.0

    # --- events ----------------------------------------------------------------------

    @append
    def append_events(self, session_id: str, events: NumberedEvents) -> None:
        """Append events. They survive the end of the process at once, a power cut after
        ``settle``."""
        rows = self._event_rows(session_id, events)
        with self._transaction():
            self._db.executemany(_NEW_EVENT, rows)
            for seq, event in events:
                if isinstance(event, TextDone):
                    self._drop_deltas(session_id, seq, event.block)
                elif isinstance(event, StepDiscarded):
                    self._drop_deltas(session_id, seq)
                elif isinstance(event, TurnEnded):
                    self._fold_thinking(session_id, seq)

    def _event_rows(self, session_id: str, events: NumberedEvents) -> _Rows:
        return [
            (
                *(session_id, seq, event.__struct_config__.tag),
                *(getattr(event, "block", None), self._scrub(event_json(event).decode())),
            )
            for seq, event in events
        ]

    def last_seq(self, session_id: str) -> int:
        """The number of the last event; 0 before the first."""
        query = "SELECT ifnull(max(seq), 0) FROM events WHERE session_id = ?"
        return self._number(query, session_id)

    def events(self, session_id: str, after: int = 0) -> NumberedEvents:
        rows = self._rows(
            "SELECT seq, data FROM events WHERE session_id = ? AND seq > ? ORDER BY seq",
            (session_id, after),
        )
        decode = reader(Event)
        return [(seq, decode(data)) for seq, data in rows]

    def written_events(self, session_id: str, after: int, most: int) -> _Written:
        """At most ``most`` events as the stored JSON."""
        rows = self._rows(
            "SELECT seq, data FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (session_id, after, most),
        )
        return [(seq, data.encode()) for seq, data in rows]

    def _drop_deltas(self, session_id: str, seq: int, block: int | None = None) -> None:
        """Delete the parts of text blocks in the step of ``seq``: the complete block is stored.

        (A stopped turn has no complete block, and keeps its parts.)
        """
        self._db.execute(
            "DELETE FROM events WHERE session_id = ? AND seq > ? AND seq < ?"
            " AND kind = 'text_delta' AND block = ifnull(?, block)",
            (session_id, self._last(session_id, seq, "step_started"), seq, block),
        )

    def _fold_thinking(self, session_id: str, seq: int) -> None:
        """Merge each thinking block of the turn that ends with ``seq`` into its first event."""
        rows = self._db.execute(
            "SELECT seq, kind, block, data FROM events WHERE session_id = ? AND seq > ?"
            " AND seq < ? AND kind IN ('thinking_delta', 'step_started') ORDER BY seq",
            (session_id, self._last(session_id, seq, "turn_started"), seq),
        )
        step = 0
        parts: dict[tuple[int, int], _Deltas] = {}
        for number, kind, block, data in rows:
            if kind == "step_started":
                step = number
            else:
                delta = msgspec.json.decode(data, type=ThinkingDelta)
                parts.setdefault((step, block), []).append((number, delta))
        for (_, block), deltas in parts.items():
            whole = ThinkingDelta(block, "".join(delta.text for _, delta in deltas))
            self._db.execute(
                "UPDATE events SET data = ? WHERE session_id = ? AND seq = ?",
                (self._written(whole), session_id, deltas[0][0]),
            )
            self._db.executemany(
                "DELETE FROM events WHERE session_id = ? AND seq = ?",
                [(session_id, number) for number, _ in deltas[1:]],
            )

    def _last(self, session_id: str, before: int, kind: str) -> int:
        row = self._db.execute(
            "SELECT seq FROM events WHERE session_id = ? AND seq < ? AND kind = ?"
            " ORDER BY seq DESC LIMIT 1",
            (session_id, before, kind),
        ).fetchone()
        return row[0] if row else 0

    # --- messages and requests -------------------------------------------------------

    @append
    def append_messages(
        self, session_id: str, messages: tuple[Message, ...], conversation: int
    ) -> None:
        """Append an assistant message with its tool results, or a user message."""
        with self._transaction():
            self._db.executemany(
                "INSERT INTO messages (session_id, conversation, data) VALUES (?, ?, ?)",
                [(session_id, conversation, self._written(message)) for message in messages],
            )

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        """The latest conversation's number and messages. Numbers count from 1, also in an empty
        session."""
        rows = self._rows(
            "SELECT conversation, data FROM messages WHERE session_id = ? AND conversation ="
            " (SELECT max(conversation) FROM messages WHERE session_id = ?) ORDER BY id",
            (session_id, session_id),
        )
        number = rows[0][0] if rows else 1
        return number, tuple(read(data, Message) for _, data in rows)

    def count_messages(self, session_id: str) -> int:
        """Number of messages of all conversations of the session."""
        return self._number("SELECT count(*) FROM messages WHERE session_id = ?", session_id)

    def all_messages(self, session_id: str) -> tuple[Message, ...]:
        """Messages of all conversations of the session, in order."""
        rows = self._rows(
            "SELECT data FROM messages WHERE session_id = ? ORDER BY id", (session_id,)
        )
        return tuple(read(row[0], Message) for row in rows)

    @append
    def append_request(self, session_id: str, step: int, request: dict[str, Any]) -> None:
        """Store the system prompt once: it is the same in every step."""
        system = self._scrub(str(request.get("system", "")))
        digest = hashlib.sha256(system.encode()).hexdigest()
        rest = {key: value for key, value in request.items() if key != "system"}
        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?)", (session_id, digest, system)
            )
            self._db.execute(
                "INSERT OR REPLACE INTO requests SELECT ?, ?, ?, ?, ifnull(max(conversation),"
                " 1), ifnull(max(id), 0) FROM messages WHERE session_id = ?",
                (session_id, step, digest, self._written(rest), session_id),
            )

    def request(self, session_id: str, step: int) -> dict[str, Any] | None:
        """The stored request, with the ``messages`` of that time in Messages API form."""
        rows = self._rows(
            "SELECT r.data, p.text, r.last_message, r.conversation FROM requests r"
            " JOIN prompts p USING (session_id, digest) WHERE r.session_id = ? AND r.step = ?",
            (session_id, step),
        )
        if not rows:
            return None
        data, system, last, conversation = rows[0]
        messages = self._rows(
            "SELECT data FROM messages WHERE session_id = ? AND conversation = ? AND id <= ?"
            " ORDER BY id",
            (session_id, conversation, last),
        )
        request = read(data, dict[str, Any])
        return {
            **request,
            "system": system,
            "messages": [read(row[0], dict[str, Any]) for row in messages],
        }

    # --- the file --------------------------------------------------------------------

    def _row(self, info: SessionInfo) -> tuple[str, str, float, str]:
        return self._written(info), self._names(info.notebook)[0], info.changed, info.session_id

    def _sessions(self, where: str, *values: str) -> Sessions:
        """Sessions below the root folder, newest first. Path and last number come from the
        journal's own columns."""
        rows = self._rows(
            "SELECT info, notebook, (SELECT max(seq) FROM events e"
            " WHERE e.session_id = s.session_id)"
            f" FROM sessions s WHERE {where} ORDER BY changed DESC, session_id",
            values,
        )
        return [
            msgspec.structs.replace(
                read(info, SessionInfo), notebook=notebook, last_seq=last_seq or 0
            )
            for info, stored, last_seq in rows
            if (notebook := self._root.relative(stored)) is not None
        ]


def _copy_conversation(
    db: sqlite3.Connection, of: str, new: str, messages: int, steps: int
) -> None:
    """Copy the first messages and the requests of the first steps. Needs an open transaction."""
    base: int = db.execute("SELECT ifnull(max(id), 0) FROM messages").fetchone()[0]
    values = {"of": of, "new": new, "messages": messages, "steps": steps, "base": base}
    for statement in _COPIES:
        db.execute(statement, values)
