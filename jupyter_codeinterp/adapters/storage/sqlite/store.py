"""The journal in one SQLite file: sessions, events, messages, ops and outputs.

Synchronous, for one thread: an append takes 0.1 ms. What waits for the disk (``settle``,
``tidy``) does so in a thread of its own. Everything written goes through ``scrub``.
Sequence numbers are the caller's; where streamed parts were folded they have holes.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from ....core.commands import SessionInfo
from ....core.document.ops import Output, Receipt
from ....core.errors import StoreError
from ....core.events import Event, StepDiscarded, TextDone, ThinkingDelta, TurnEnded
from ....core.messages import Message
from ....core.stores import Beginning, StoredOp
from .branches import copy_said
from .leases import Leases
from .mark import Mark
from .retention import CUT, cut
from .searching import fold, saying

_Sessions = list[SessionInfo]
_Numbered = list[tuple[int, Event]]
_Written = list[tuple[int, bytes]]
_Ops = list[StoredOp]
_OpsBySession = list[tuple[str, list[StoredOp]]]
_Deltas = list[tuple[int, ThinkingDelta]]
_Rows = list[tuple[Any, ...]]

_NEW_SESSION = "INSERT INTO sessions (info, notebook, changed, session_id) VALUES (?, ?, ?, ?)"
_NEW_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"
_NEW_OP = "INSERT INTO ops SELECT ?, ?, ?, ifnull(max(number), 0) + 1 FROM ops"


class SqliteStore(Leases):
    """``SessionStore`` in the file ``path``. Making it raises nothing (see ``Journal``).

    Every method raises StoreError: disk_full, read_only, locked, damaged, not_found,
    too_new, unknown_session, repeated, disk_error.
    """

    # --- sessions --------------------------------------------------------------------

    def create(self, info: SessionInfo) -> None:
        with self._transaction():
            self._db.execute(_NEW_SESSION, self._row(info))

    def create_branch(self, info: SessionInfo, of: str, beginning: Beginning) -> None:
        new = info.session_id
        with self._transaction():
            self._db.execute(_NEW_SESSION, self._row(info))
            self._db.executemany(_NEW_EVENT, self._event_rows(new, beginning.events))
            for op in beginning.ops:
                self._db.execute(_NEW_OP, (new, op.seq, self._written(op)))
            copy_said(self._db, of, new, beginning.messages, beginning.steps)

    def update(self, info: SessionInfo) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET info = ?, notebook = ?, changed = ? WHERE session_id = ?",
                self._row(info),
            )

    def get(self, session_id: str) -> SessionInfo | None:
        return next(iter(self._sessions("session_id = ?", session_id)), None)

    def list(self, notebook: str | None = None) -> _Sessions:
        if notebook is None:
            return self._sessions("true")
        return self._sessions("notebook = ?", self._scrub(notebook))

    async def search(self, word: str, notebook: str | None = None) -> _Sessions:
        said = await asyncio.to_thread(saying, self._path, word)
        return [
            info
            for info in self.list(notebook)
            if info.session_id in said or fold(word) in fold(info.title)
        ]

    def rename_notebook(self, old: str, new: str) -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET notebook = ? WHERE notebook = ?",
                (self._scrub(new), self._scrub(old)),
            )

    def delete(self, session_id: str) -> None:
        """Forget a session and all that belongs to it. Nothing happens if there is none."""
        with self._transaction():
            self._db.execute("DELETE FROM sessions WHERE session_id = ?", (session_id,))
        self._forget(session_id)

    # --- what models have cost -------------------------------------------------------

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

    def append_events(self, session_id: str, events: _Numbered) -> None:
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

        if events:
            self._newest = Mark(session_id, events[-1][0])

    def _event_rows(self, session_id: str, events: _Numbered) -> _Rows:
        return [
            (session_id, seq, _kind(event), getattr(event, "block", None), self._written(event))
            for seq, event in events
        ]

    def last_seq(self, session_id: str) -> int:
        query = "SELECT ifnull(max(seq), 0) FROM events WHERE session_id = ?"
        seq: int = self._rows(query, (session_id,))[0][0]
        return seq

    def events(self, session_id: str, after: int = 0) -> _Numbered:
        rows = self._rows(
            "SELECT seq, data FROM events WHERE session_id = ? AND seq > ? ORDER BY seq",
            (session_id, after),
        )
        read = _reader(Event)
        return [(seq, read(data)) for seq, data in rows]

    def written_events(self, session_id: str, after: int, most: int) -> _Written:
        rows = self._rows(
            "SELECT seq, data FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?",
            (session_id, after, most),
        )
        return [(seq, data.encode()) for seq, data in rows]

    def _drop_deltas(self, session_id: str, seq: int, block: int | None = None) -> None:
        """The parts of text blocks in the step that ``seq`` is in: the whole is there now.

        (What a stopped turn had said has no whole, and keeps its parts.)
        """
        self._db.execute(
            "DELETE FROM events WHERE session_id = ?1 AND seq > ?2 AND seq < ?3"
            " AND kind = 'text_delta' AND (?4 IS NULL OR block = ?4)",
            (session_id, self._last(session_id, seq, "step_started"), seq, block),
        )

    def _fold_thinking(self, session_id: str, seq: int) -> None:
        """Each thinking block of the turn that ends with ``seq`` in one event, its first."""
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

    def append_messages(
        self, session_id: str, messages: tuple[Message, ...], conversation: int
    ) -> None:
        with self._transaction():
            self._db.executemany(
                "INSERT INTO messages (session_id, conversation, data) VALUES (?, ?, ?)",
                [(session_id, conversation, self._written(message)) for message in messages],
            )

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        """Conversations count from 1, which is also the number while there is none."""
        rows = self._rows(
            "SELECT conversation, data FROM messages WHERE session_id = ?1 AND conversation ="
            " (SELECT max(conversation) FROM messages WHERE session_id = ?1) ORDER BY id",
            (session_id,),
        )
        number = rows[0][0] if rows else 1
        return number, tuple(_read(data, Message) for _, data in rows)

    def count_messages(self, session_id: str) -> int:
        query = "SELECT count(*) FROM messages WHERE session_id = ?"
        count: int = self._rows(query, (session_id,))[0][0]
        return count

    def all_messages(self, session_id: str) -> tuple[Message, ...]:
        rows = self._rows(
            "SELECT data FROM messages WHERE session_id = ? ORDER BY id", (session_id,)
        )
        return tuple(_read(row[0], Message) for row in rows)

    def append_request(self, session_id: str, step: int, request: dict[str, Any]) -> None:
        """The system prompt, the same in every step, is kept once."""
        system = self._scrub(str(request.get("system", "")))
        digest = hashlib.sha256(system.encode()).hexdigest()
        rest = {key: value for key, value in request.items() if key != "system"}
        with self._transaction():
            self._db.execute(
                "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?)", (session_id, digest, system)
            )
            self._db.execute(
                "INSERT OR REPLACE INTO requests SELECT ?1, ?2, ?3, ?4, ifnull(max(conversation),"
                " 1), ifnull(max(id), 0) FROM messages WHERE session_id = ?1",
                (session_id, step, digest, self._written(rest)),
            )

    def request(self, session_id: str, step: int) -> dict[str, Any] | None:
        """``messages`` are those stored when it was sent, as the Messages API writes them."""
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
        request = _read(data, dict[str, Any])
        return {
            **request,
            "system": system,
            "messages": [_read(row[0], dict[str, Any]) for row in messages],
        }

    # --- ops and outputs -------------------------------------------------------------

    def append_op(self, session_id: str, op: StoredOp) -> None:
        with self._transaction():
            self._db.execute(_NEW_OP, (session_id, op.seq, self._written(op)))

    def set_receipt(self, session_id: str, seq: int, receipt: Receipt) -> None:
        with self._transaction():
            row = self._db.execute(
                "SELECT data FROM ops WHERE session_id = ? AND seq = ?", (session_id, seq)
            ).fetchone()
            if row is None:
                raise StoreError("unknown_op", f"There is no op {seq} to set the receipt of.")
            op = msgspec.structs.replace(_read(row[0], StoredOp), receipt=receipt)
            self._db.execute(
                "UPDATE ops SET data = ? WHERE session_id = ? AND seq = ?",
                (self._written(op), session_id, seq),
            )

    def ops(self, session_id: str, after: int = 0) -> _Ops:
        rows = self._rows(
            "SELECT data FROM ops WHERE session_id = ? AND seq > ? ORDER BY seq",
            (session_id, after),
        )
        return [_read(row[0], StoredOp) for row in rows]

    def set_saved(self, session_id: str, seq: int) -> None:
        """The number only rises. Nothing happens if there is no such session."""
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET saved = ?2 WHERE session_id = ?1 AND saved < ?2",
                (session_id, seq),
            )

    def give_up_ops(self, notebook: str, session_id: str = "") -> None:
        with self._transaction():
            self._db.execute(
                "UPDATE sessions SET saved = max(saved, (SELECT ifnull(max(seq), 0) FROM ops"
                " WHERE ops.session_id = sessions.session_id))"
                " WHERE notebook = ?1 AND ?2 IN ('', session_id)",
                (self._scrub(notebook), session_id),
            )

    def saved_ops(self, notebook: str) -> dict[str, int]:
        rows = self._rows(
            "SELECT session_id, saved FROM sessions WHERE notebook = ? AND saved > 0",
            (self._scrub(notebook),),
        )
        return dict(rows)

    def unsaved_ops(self, notebook: str) -> _OpsBySession:
        rows = self._rows(
            "SELECT session_id, ops.data FROM ops JOIN sessions s USING (session_id)"
            " WHERE s.notebook = ? AND ops.seq > s.saved ORDER BY ops.number, session_id, ops.seq",
            (self._scrub(notebook),),
        )
        free = {key for key in {row[0] for row in rows} if self.holder(key) is None}
        return [
            (session_id, [_read(data, StoredOp) for _, data in group])
            for session_id, group in groupby(rows, key=itemgetter(0))
            if session_id in free
        ]

    def put_outputs(self, session_id: str, cell_id: str, outputs: tuple[Output, ...]) -> None:
        data = self._written(outputs)
        if (size := len(data.encode())) > CUT:
            data = self._written(cut(outputs))
            size = len(data.encode())
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO outputs VALUES (?, ?, ?, ?, ?)",
                (session_id, cell_id, time.time(), size, data),
            )

    def outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        rows = self._rows(
            "SELECT data FROM outputs WHERE session_id = ? AND cell_id = ?", (session_id, cell_id)
        )
        return _read(rows[0][0], tuple[Output, ...]) if rows else None

    # --- the file --------------------------------------------------------------------

    def _row(self, info: SessionInfo) -> tuple[str, str, float, str]:
        return self._written(info), self._scrub(info.notebook), info.changed, info.session_id

    def _sessions(self, where: str, *values: str) -> _Sessions:
        """Newest first. Path and last number are the journal's own, not the stored info's."""
        rows = self._rows(
            "SELECT info, notebook, (SELECT max(seq) FROM events e"
            " WHERE e.session_id = s.session_id)"
            f" FROM sessions s WHERE {where} ORDER BY changed DESC, session_id",
            values,
        )
        return [
            msgspec.structs.replace(
                _read(info, SessionInfo), notebook=notebook, last_seq=last_seq or 0
            )
            for info, notebook, last_seq in rows
        ]


def _kind(event: Event) -> str:
    """The event's tag: `text_delta`, `turn_ended`, …"""
    return str(event.__struct_config__.tag)


def _read(data: str, kind: Any) -> Any:
    return _reader(kind)(data)


@cache
def _reader(kind: Any) -> Callable[[str], Any]:
    """To be had once for many: to make a decoder for a union of 30 structs takes 0.1 ms,
    and to find it again longer than to read an event."""
    decoder = msgspec.json.Decoder(kind)

    def read(data: str) -> Any:
        try:
            return decoder.decode(data)
        except msgspec.MsgspecError as error:
            words = f"An entry of the journal cannot be read: {error}."
            raise StoreError("damaged", words) from error

    return read
