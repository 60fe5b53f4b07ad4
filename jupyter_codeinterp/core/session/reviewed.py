"""What the person makes of turns that are over: reviewed, kept, put back, cell by cell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import CommandError
from ..events import ChangesKept, Kept
from ..history.branching import beginning
from ..history.changes import Change
from ..history.review import Review, review
from ..stores import INHERITED, Beginning
from . import undo
from .persistence import PersistentSession


class ReviewedSession(PersistentSession):
    def review(self, turn: int) -> Review:
        """What a turn has changed so far. Raises CommandError ``unknown_turn``."""
        return review(turn, self._changes(turn), self._replay.reviewed.get(turn, {}))

    async def undo(self, turn: int, cells: tuple[str, ...] = ()) -> None:
        """Put back what a turn changed, where the person has not touched it since. With
        ``cells``, those alone; else all that are neither put back nor kept.

        Raises CommandError ``busy``, ``unknown_turn``, ``unknown_cell``, ``nothing_to_undo``
        or ``already_undone``, and DocumentError ``not_open``.
        """
        with self._alone():
            chosen = self._chosen(turn, cells) if cells else self._left(turn)
            document = self.workplace.document
            self._show(await undo.undo(turn, chosen, document, self._ledger))

    async def undo_since(self, turn: int) -> tuple[Kept, ...]:
        """Put back what this turn and all after it changed, the newest first, where the person
        has neither touched it since nor kept it. What was left as it is, a cell once.

        Raises CommandError ``busy``, and DocumentError ``not_open``.
        """
        kept: dict[str, Kept] = {}
        with self._alone():
            for number in range(self._replay.turns, turn - 1, -1):
                left = self._open(number)
                if left:
                    undone = await undo.undo(number, left, self.workplace.document, self._ledger)
                    self._show(undone)
                    for one in undone.kept:
                        kept.setdefault(one.cell_id, one)
        return tuple(kept.values())

    def beginning(self, turn: int) -> Beginning:
        """What a branch at this turn takes over. Raises CommandError ``busy`` or
        ``unknown_turn``."""
        self._need_idle()
        store, session_id = self._store, self.info.session_id
        events, ops = store.events(session_id), store.ops(session_id, INHERITED)
        return beginning(turn, events, ops, lambda: store.all_messages(session_id))

    def keep(self, turn: int, cells: tuple[str, ...]) -> None:
        """The person keeps these changes of a turn. Raises CommandError like ``undo``."""
        self._need_idle()
        with self._here():
            kept = self._chosen(turn, cells)
            self._publish(ChangesKept(turn, tuple(change.cell_id for change in kept)))

    def _changes(self, turn: int) -> tuple[Change, ...]:
        if not 1 <= turn <= self._replay.turns:
            raise CommandError("unknown_turn", "There is no such turn.")
        return self._ledger.changes(turn)

    def _left(self, turn: int) -> tuple[Change, ...]:
        if not self._changes(turn):
            raise CommandError("nothing_to_undo", "This turn changed no cell.")
        left = self._open(turn)
        if not left:
            raise CommandError("already_undone", "All of this is put back or kept already.")
        return left

    def _open(self, turn: int) -> tuple[Change, ...]:
        """What is neither put back nor kept."""
        said = self._replay.reviewed.get(turn, {})
        return tuple(change for change in self._changes(turn) if change.cell_id not in said)

    def _chosen(self, turn: int, cells: tuple[str, ...]) -> tuple[Change, ...]:
        changes = {change.cell_id: change for change in self._changes(turn)}
        said = self._replay.reviewed.get(turn, {})
        for cell_id in cells:
            if cell_id not in changes:
                raise CommandError("unknown_cell", "The turn did not change this cell.")
            if said.get(cell_id) == "undone":
                raise CommandError("already_undone", "This cell has been put back already.")
        return tuple(changes[cell_id] for cell_id in dict.fromkeys(cells))

    async def remove(self, cell_id: str) -> None:
        """Remove a failed cell that was left standing. Raises CommandError ``busy``,
        ``not_ours`` or ``cell_changed``, and DocumentError ``not_open``."""
        with self._alone():
            self._show(await undo.remove(cell_id, self.workplace.document, self._ledger))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """No turn meanwhile; ops belong to none (0)."""
        self._need_idle()
        with self._here():
            self._undoing = True
            self.workplace.begin_turn(0)
            try:
                yield
            finally:
                self._undoing = False
                self.workplace.end_turn()
