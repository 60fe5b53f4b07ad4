"""Undo the agent's work on a notebook: a turn, failed cells, an abandoned draft.

Every op names the source that the agent left, so the document refuses it if the person has
touched the cell since. Redo restores the outputs of a cell that ran again since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Literal, NamedTuple

import msgspec

from ..journal.changes import CellChange
from ..journal.ledger import Ledger, Outputs, outputs_of, undo_op
from ..run.turn.notebook import ANCHORS
from ..run.turn.turn import Turn
from ..view.redaction.secrets import REMOVED
from ..wire.events import Cleared, Kept, TurnRedone, TurnUndone
from ..wire.ops import (
    Cell,
    CellView,
    Delete,
    Move,
    Op,
    Receipt,
    Restore,
    Snapshot,
    order_after,
    tags_of,
)
from ..wire.ports import NotebookDocument

RECEIPT_TIME = 0.5
"""Seconds that the start of a turn waits for the removal of drafts that a stopped server left."""


async def undo(
    turn: int,
    changes: Iterable[CellChange],
    document: NotebookDocument,
    ledger: Ledger,
    outputs: Outputs,
    astray: Iterable[str] = (),
) -> TurnUndone:
    """Restore what a turn changed. ``astray``: all cells whose move in the turn is not undone.
    Raises DocumentError ``not_open``."""
    snapshot = await document.snapshot()
    undoing = Undoing(turn, tuple(changes), document, snapshot, ledger, outputs, astray)
    done = await undoing.carry_out()
    redoable = (one.change for one in ledger.undone(turn, done.restored).values())
    return TurnUndone(turn, *done, redoable=tuple(c.cell_id for c in redoable if c.undoable))


class Done(NamedTuple):
    """The fields with these names in ``TurnUndone``."""

    restored: tuple[str, ...]
    kept: tuple[Kept, ...]
    without_outputs: tuple[str, ...]


class Undoing:
    """The ops that undo changes, and the reasons to skip one."""

    def __init__(
        self,
        turn: int,
        changes: tuple[CellChange, ...],
        document: NotebookDocument,
        snapshot: Snapshot,
        ledger: Ledger,
        outputs: Outputs,
        astray: Iterable[str],
        left: Mapping[str, Cell | None] | None = None,
    ) -> None:
        """``left``: for a redo, which undoes an undo, the cells as the undo left them."""
        self._turn = turn
        self._changes = changes
        self._document = document
        self._snapshot = snapshot
        self._ledger = ledger
        self._outputs = outputs
        self._order: Sequence[str] = [cell.cell_id for cell in snapshot.cells]
        self._astray = set(astray)
        self._left = left or {}
        back = "added" if left is None else "removed"
        """The kind of change that is undone by deleting the cell."""
        self._inserted = {one.cell_id for one in ledger.changes(turn) if one.kind == back}

    async def carry_out(self) -> Done:
        """Undo the changes one by one, and ask the document to save."""
        restored: list[str] = []
        kept: list[Kept] = []
        without_outputs: list[str] = []
        for change in self._in_order():
            op = self._op(change)
            receipt = await self._apply(op) if op is not None else None
            why = self._why_kept(change, receipt)
            if why is not None:
                kept.append(why)
                continue
            restored.append(change.cell_id)
            back = self._moved_back(change) if isinstance(op, Restore) else None
            if back is not None:
                await self._apply(back)
            if isinstance(op, Restore) and change.had_outputs and not op.cell["outputs"]:
                without_outputs.append(change.cell_id)
        await self._document.save()
        return Done(tuple(restored), tuple(kept), tuple(without_outputs))

    async def _apply(self, op: Op) -> Receipt:
        receipt = await self._document.apply(op)
        self._ledger.record(-self._turn, op, receipt)
        if receipt.status == "done":
            self._order = order_after(self._order, op)
            if isinstance(op, Move):
                self._astray.discard(op.cell_id)
        return receipt

    def _in_order(self) -> list[CellChange]:
        """Delete added cells first. Then put cells back from the top down, so that each finds the
        cells above it."""
        back = {change.cell_id for change in self._changes if change.kind != "added"}
        return sorted(
            self._changes,
            key=lambda one: (one.kind != "added", len(back.intersection(one.above))),
        )

    def _above(self, change: CellChange) -> tuple[str, ...]:
        """Anchors for the cell: the cells that the turn inserted directly above it, then those
        that were above it before."""
        there = set(self._order) - self._astray - self._inserted
        above = [other for other in change.above if other in there]
        between = self._order[self._order.index(above[0]) + 1 if above else 0 :]
        kept = takewhile(self._inserted.intersection(change.above).__contains__, between)
        return tuple([*reversed([*kept]), *above][:ANCHORS])

    def _moved_back(self, change: CellChange) -> Move | None:
        """The op that undoes a move; None if the turn did not move the cell, or somebody has moved
        it since."""
        there = change.cell_id in self._order
        stands = not there or self._ledger.stands(self._turn, change.cell_id, self._order)
        return Move(change.cell_id, self._above(change)) if change.moved and stands else None

    def _op(self, change: CellChange) -> Op | None:
        """The op that undoes a change; None if that is impossible, or the person changed the
        cell's type."""
        cell = self._snapshot.cell(change.cell_id)
        expect = change.source
        if change.kind == "moved":
            return self._moved_back(change)
        if cell is not None and change.kind != "removed":
            if cell.cell_type != change.cell_type and not _is_restored(change, cell):
                return None
            if change.kind == "added" and cell.tags != self._tags(change):
                return None
            if change.kind == "added" and change.cell_id in self._ledger.drafts:
                # The stream broke off, so it is unknown how much of the draft arrived.
                expect = expect or cell.source
        if change.before is not None and REMOVED in change.before["source"]:
            return None
        placed = msgspec.structs.replace(change, above=self._above(change))
        return undo_op(placed, expect, self._outputs, tell=True)

    def _tags(self, change: CellChange) -> tuple[str, ...]:
        """The tags that an added cell may have. The agent sets none."""
        left = self._left.get(change.cell_id)
        return tags_of(left) if left is not None else ()

    def _why_kept(self, change: CellChange, receipt: Receipt | None) -> Kept | None:
        """Why the cell was skipped; None if it was restored."""
        cell_id = change.cell_id
        later = self._ledger.written_later(self._turn, cell_id, change.source)
        if receipt is None and later and change.kind == "moved":
            return Kept(cell_id, "changed_later")
        if receipt is None:
            redacted = change.before is not None and REMOVED in change.before["source"]
            return Kept(cell_id, "changed" if change.undoable and not redacted else "unknown")
        if receipt.status == "done":
            return None
        if receipt.status == "refused":
            return Kept(cell_id, "locked")
        if receipt.status == "pending":
            return Kept(cell_id, "unconfirmed")
        if self._ledger.written_later(self._turn, cell_id, receipt.source):
            return Kept(cell_id, "changed_later")
        return Kept(cell_id, "deleted" if receipt.status == "missing" else "changed")


def _is_restored(change: CellChange, cell: CellView) -> bool:
    """Whether the cell has its earlier source and type again."""
    was = change.before
    return was is not None and (was["source"], was["cell_type"]) == (cell.source, cell.cell_type)


async def clear_failed(turn: Turn, cleared: list[Cleared]) -> None:
    """Remove or restore the agent's failed cells at ``end_turn``. Appends each to ``cleared``
    at once, because Stop may interrupt."""
    if turn.ledger.failed_since(turn.since):
        await turn.notebook.look()
    for cell_id in turn.ledger.failed_since(turn.since):
        op = turn.ledger.undo_cell(turn.since, cell_id, outputs_of(turn.store, turn.session_id))
        if op is not None and (await turn.notebook.apply(op)).status == "done":
            how: Literal["removed", "put_back"] = (
                "removed" if isinstance(op, Delete) else "put_back"
            )
            cleared.append(Cleared(cell_id, how))


async def remove_left_drafts(turn: Turn, snapshot: Snapshot) -> None:
    """Remove drafts that a stopped server left. One that the person typed into or made a code
    cell stays. An incomplete draft always goes: what was streamed into it is unknown."""
    ledger = turn.ledger
    left = [c for c in snapshot.cells if c.cell_id in ledger.drafts and c.cell_type == "raw"]
    for cell in left:
        turn.notebook.take_out(cell.cell_id, ledger.written(cell.cell_id) or cell.source)
    if left:
        await turn.notebook.settled(RECEIPT_TIME)
        await turn.notebook.look()


# -------------------------------------------------------------------------------------------------
# Redo undoes the undo, whose own ops and receipts say what it changed.
#
# It has the same safeguards as undo.


async def redo(
    turn: int,
    cells: Iterable[str],
    document: NotebookDocument,
    ledger: Ledger,
    outputs: Outputs,
    astray: Iterable[str] = (),
) -> TurnRedone:
    """Redo the last undo of these cells. ``astray``: all cells whose move in the turn is undone.
    Raises DocumentError ``not_open``."""
    undone = ledger.undone(turn, cells)
    changes, left = (
        [one.change for one in undone.values()],
        {i: one.left for i, one in undone.items()},
    )
    snapshot = await document.snapshot()
    redoing = Undoing(turn, tuple(changes), document, snapshot, ledger, outputs, astray, left)
    return TurnRedone(turn, *await redoing.carry_out())
