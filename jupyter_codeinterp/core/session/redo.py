"""Redo what an undo took back, by undoing the undo.

The undo's own ops and receipts say what it changed. So redo has the same safeguards as undo, and
one more: it skips a cell that the person has run since.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..document.ops import PRIVATE, Op, Receipt, Restore, Snapshot, run_id_of, tags_of
from ..events import Kept, TurnRedone
from ..history.changes import Change
from ..history.ledger import Ledger, Undone
from ..history.outputs import Outputs
from ..ports import Document
from .undo import Undoing, carry_out

LATER = ("locked", "unconfirmed", "earlier_undone")
"""Reasons that may pass: a redo of the cell can be tried again."""


async def redo(
    turn: int,
    cells: Iterable[str],
    document: Document,
    ledger: Ledger,
    outputs: Outputs,
    astray: Iterable[str] = (),
) -> TurnRedone:
    """Bring back what the last undo of these cells took back. ``astray``: all cells whose move in
    the turn is undone. Raises DocumentError ``not_open``."""
    snapshot = await document.snapshot()
    redoing = Redoing(turn, ledger.undone(turn, cells), snapshot, ledger, outputs, astray)
    done = await carry_out(redoing, document, ledger)
    later = tuple(one.cell_id for one in done.kept if one.why in LATER)
    return TurnRedone(turn, *done, redoable=later)


class Redoing(Undoing):
    inserts = "removed"

    def __init__(
        self,
        turn: int,
        undone: dict[str, Undone],
        snapshot: Snapshot,
        ledger: Ledger,
        outputs: Outputs,
        astray: Iterable[str] = (),
    ) -> None:
        changes = tuple(one.change for one in undone.values())
        super().__init__(turn, changes, snapshot, ledger, outputs, astray=astray)
        self._undone = undone

    def op(self, change: Change) -> Op | None:
        return None if self.was_run(change) else super().op(change)

    def tags(self, change: Change) -> tuple[str, ...]:
        left = self._undone[change.cell_id].left
        return tags_of(left) if left is not None else ()

    def why_kept(self, change: Change, receipt: Receipt | None) -> Kept | None:
        why = super().why_kept(change, receipt)
        if why is None:
            return None
        if receipt is None and self.was_run(change):
            return Kept(change.cell_id, "run")
        if receipt is not None and self._another_undo_left(change.cell_id, receipt):
            return Kept(change.cell_id, "earlier_undone")
        return why

    def was_run(self, change: Change) -> bool:
        """Whether the cell has the undo's source and the result of another run."""
        cell, left = self._snapshot.cell(change.cell_id), self._undone[change.cell_id].left
        if cell is None or left is None or cell.source != left["source"]:
            return False
        if PRIVATE in cell.tags:
            return False  # The document does not tell its count.
        ours = (left.get("execution_count"), run_id_of(left))
        return (cell.execution_count, cell.run_id) != ours

    def _another_undo_left(self, cell_id: str, receipt: Receipt) -> bool:
        """Whether the undo of another turn left the cell as it is now."""
        last = self._ledger.last_op(cell_id)
        if last is None or last.turn >= 0 or last.turn == -self.turn:
            return False
        if isinstance(last.op, Restore):
            return receipt.status == "conflict" and receipt.source == last.op.cell["source"]
        return receipt.status == "missing"
