"""What windows and clients did: a log of its own, numbered over all servers that share it.

A conversation's events cannot record its own deletion, or that a key was set. Numbers never
repeat, so a window's number is one of these, too.
"""

from __future__ import annotations

import time
from typing import Any

from ....core.commands import DoneElsewhere
from .leases import Leases

_Actions = list[DoneElsewhere]

_WINDOW = "window"
_COLUMNS = "window, what, name, session_id, notebook, turn, before, number"
_NEXT = "max(?, ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'actions'), 0)) + 1"
_LAST_OF_A_KIND = """SELECT max(number) FROM actions
    WHERE number > ? AND window <> ? AND what <> 'window' GROUP BY window, session_id, what"""


class ActionTable(Leases):
    def last_action(self) -> int:
        rows = self._rows("SELECT seq FROM sqlite_sequence WHERE name = 'actions'")
        return int(rows[0][0]) if rows else 0

    def append_action(self, action: DoneElsewhere, after: int) -> int:
        name, before = self._scrub(action.name), self._scrub(action.before)
        what = (action.window, action.what, name, action.session_id, action.notebook)
        return self._append(after, (*what, action.turn, before))

    def append_window(self, after: int) -> int:
        return self._append(after, (0, _WINDOW, "", "", "", 0, ""))

    def _append(self, after: int, values: tuple[Any, ...]) -> int:
        with self._transaction():
            added = self._db.execute(
                f"INSERT INTO actions (at, {_COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ?, ?, {_NEXT}",
                (time.time(), *values, after),
            )
        return int(added.lastrowid or 0)

    def actions(self, after: int, window: int, most: int) -> tuple[_Actions, bool]:
        first = self._rows("SELECT ifnull(min(number), 0) FROM actions")[0][0]
        found = self._actions(
            f"number IN ({_LAST_OF_A_KIND}) ORDER BY number LIMIT ?", after, window, most + 1
        )
        nothing_gone = first <= after + 1 and after <= self.last_action()
        return found[:most], nothing_gone and len(found) <= most

    def models_set(self, after: int) -> _Actions:
        return self._actions("what = 'model' AND number > ? ORDER BY number", after)

    def _actions(self, where: str, *values: Any) -> _Actions:
        rows = self._rows(f"SELECT {_COLUMNS} FROM actions WHERE {where}", values)
        return [DoneElsewhere(*row) for row in rows]
