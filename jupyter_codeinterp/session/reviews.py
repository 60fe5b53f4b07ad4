"""The person's review of finished turns: keep or restore changes, cell by cell."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace

from ..base.errors import CommandError
from ..journal.branching import beginning
from ..journal.changes import CellChange, Review, review
from ..journal.ledger import outputs_of
from ..wire.events import ChangesKept, Kept, TurnUndone
from ..wire.stores import INHERITED, Beginning
from . import undo
from .log import SessionLog

NOT_CHANGED = "The turn did not change this cell."
FINISH_TIME = 5.0
"""Seconds that a session's end waits for an undo, because a window that hangs never answers."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class Reviews:
    def __init__(self, session: SessionLog) -> None:
        self._session = session
        self._working: set[asyncio.Future[Any]] = set()
        """Each undo and redo that has not ended."""

    def review(self, turn: int) -> Review:
        """The changes of a turn. Raises CommandError ``unknown_turn``."""
        return review(turn, self._changes(turn), self._session.replay.reviewed.get(turn, {}))

    async def undo(self, turn: int, cells: tuple[str, ...] = (), window: int = 0) -> None:
        """Restore ``cells`` of a turn, or all that are neither restored nor kept. Skips cells that
        the person has edited since.

        Raises CommandError ``busy``, ``unknown_turn``, ``unknown_cell``, ``nothing_to_undo``
        or ``already_undone``, and DocumentError ``not_open``.
        """
        await self._to_the_end(self._undo(turn, cells, window))

    async def _to_the_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Finish and record the work even if the window closes meanwhile."""
        task = asyncio.ensure_future(work)
        self._working.add(task)
        task.add_done_callback(self._working.discard)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for running undos and redos. Cancel those that take too long."""
        if not self._working:
            return
        _, late = await asyncio.wait(self._working, timeout=FINISH_TIME)
        for task in late:
            log.error(
                "Gave up an undo of %s: it did not end in time", self._session.info.session_id
            )
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _undo(self, turn: int, cells: tuple[str, ...], window: int) -> None:
        with self._session.alone(turn):
            chosen = self._chosen(turn, cells) if cells else self._left(turn)
            await self._take_back(turn, chosen, window)

    async def _take_back(
        self, turn: int, changes: tuple[CellChange, ...], window: int
    ) -> TurnUndone:
        document, ledger = self._session.workplace.document, self._session.ledger
        outputs = outputs_of(self._session.store, self._session.info.session_id)
        astray = self._moved(turn, undone=False)
        done = await undo.undo(turn, changes, document, ledger, outputs, astray)
        self._session.show(replace(done, window=window))
        return done

    def _moved(self, turn: int, *, undone: bool) -> set[str]:
        """The cells whose move in the turn is undone (``undone``), or is not."""
        states = self._session.replay.reviewed.get(turn, {})
        moved = {change.cell_id for change in self._changes(turn) if change.moved}
        return {one for one in moved if (states.get(one) == "undone") == undone}

    async def redo(self, turn: int, cells: tuple[str, ...] = (), window: int = 0) -> None:
        """Redo ``cells`` of a turn, or all undone ones that can be redone, unless the person has
        touched them since.

        Raises CommandError ``busy``, ``unknown_turn``, ``unknown_cell`` or ``nothing_to_redo``,
        and DocumentError ``not_open``.
        """
        await self._to_the_end(self._redo(turn, cells, window))

    async def _redo(self, turn: int, cells: tuple[str, ...], window: int) -> None:
        with self._session.alone(turn):
            chosen = self._redoable(turn, cells)
            document, ledger = self._session.workplace.document, self._session.ledger
            outputs = outputs_of(self._session.store, self._session.info.session_id)
            astray = self._moved(turn, undone=True)
            redone = await undo.redo(turn, chosen, document, ledger, outputs, astray)
            self._session.show(replace(redone, window=window))

    async def undo_since(self, turn: int, window: int = 0) -> tuple[Kept, ...]:
        """Undo this and all later turns, the newest first. Skips cells that the person touched or
        kept, and returns them, each once.

        Raises CommandError ``busy``, and DocumentError ``not_open``.
        """
        return await self._to_the_end(self._undo_since(turn, window))

    async def _undo_since(self, turn: int, window: int) -> tuple[Kept, ...]:
        kept: dict[str, Kept] = {}
        with self._session.alone():
            for number in range(self._session.replay.turns, turn - 1, -1):
                left = self._open(number)
                if left:
                    self._session.workplace.begin_turn(-number)
                    undone = await self._take_back(number, left, window)
                    for one in undone.kept:
                        kept.setdefault(one.cell_id, one)
        return tuple(kept.values())

    def beginning(self, turn: int) -> Beginning:
        """The state that a branch at this turn inherits. Raises CommandError ``busy`` or
        ``unknown_turn``."""
        self._session.need_idle()
        store, session_id = self._session.store, self._session.info.session_id
        events, ops = store.events(session_id), store.ops(session_id, INHERITED)
        return beginning(turn, events, ops)

    def keep(self, turn: int, cells: tuple[str, ...], window: int = 0) -> None:
        """Mark changes of a turn as kept. Raises CommandError as ``undo``."""
        self._session.need_idle()
        with self._session.here():
            kept = self._chosen(turn, cells)
            self._session.publish(
                ChangesKept(turn, tuple(change.cell_id for change in kept), window)
            )

    def _changes(self, turn: int) -> tuple[CellChange, ...]:
        if not 1 <= turn <= self._session.replay.turns:
            raise CommandError("unknown_turn", "This turn does not exist.")
        return self._session.ledger.changes(turn)

    def _left(self, turn: int) -> tuple[CellChange, ...]:
        """Changes that can be undone; at least one."""
        if not self._changes(turn):
            raise CommandError("nothing_to_undo", "This turn changed no cells.")
        left = self._open(turn)
        if not left:
            raise CommandError("already_undone", "Everything is already undone or kept.")
        return left

    def _open(self, turn: int) -> tuple[CellChange, ...]:
        """Changes that are neither restored nor kept."""
        states = self._session.replay.reviewed.get(turn, {})
        return tuple(change for change in self._changes(turn) if change.cell_id not in states)

    def _redoable(self, turn: int, cells: tuple[str, ...]) -> tuple[str, ...]:
        """Cells that can be redone; at least one."""
        changed = {change.cell_id for change in self._changes(turn)}
        redoable = self._session.replay.redoable.get(turn, {})
        if not changed.issuperset(cells):
            raise CommandError("unknown_cell", NOT_CHANGED)
        chosen = tuple(dict.fromkeys(cells or redoable))
        if not chosen or not redoable.keys() >= set(chosen):
            raise CommandError("nothing_to_redo", "Nothing to redo.")
        return chosen

    def _chosen(self, turn: int, cells: tuple[str, ...]) -> tuple[CellChange, ...]:
        changes = {change.cell_id: change for change in self._changes(turn)}
        states = self._session.replay.reviewed.get(turn, {})
        for cell_id in cells:
            if cell_id not in changes:
                raise CommandError("unknown_cell", NOT_CHANGED)
            if states.get(cell_id) == "undone":
                raise CommandError("already_undone", "This cell was already restored.")
        return tuple(changes[cell_id] for cell_id in dict.fromkeys(cells))
