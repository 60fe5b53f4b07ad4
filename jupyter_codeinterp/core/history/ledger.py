"""What the agent did to the notebook's cells, rebuilt from the journal's ops.

A cell is the agent's only if this session's journal inserted it and its source has not
changed since; notebook metadata grants nothing. The same ops tell what a turn changed and
how to put it back.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..document.ops import (
    BeginRun,
    Delete,
    Insert,
    Op,
    Receipt,
    Restore,
    SetSource,
    Snapshot,
)
from ..stores import StoredOp
from .changes import Change, changes_of


class Ledger:
    """Fed with every confirmed op of a session, in order (``record``)."""

    def __init__(self, ops: Iterable[StoredOp] = ()) -> None:
        self._ops: list[StoredOp] = []
        self._written: dict[str, str] = {}
        """The source that the agent last wrote, for cells that it inserted."""
        self.touched: list[str] = []
        """Cells that the agent inserted or ran, the latest last."""
        self.failed: dict[str, int] = {}
        """Cells whose last run failed, with the turn of that run."""
        self.drafts: dict[str, None] = {}
        """Raw cells that were inserted and never decided on, in order."""
        for stored in ops:
            if stored.receipt is not None:
                self.record(stored.turn, stored.op, stored.receipt, stored.seq)

    def record(self, turn: int, op: Op, receipt: Receipt, seq: int = 0) -> None:
        """``turn`` is 0 for what a person had put back: that makes nothing the agent's."""
        if receipt.status != "done":
            return
        self._ops.append(StoredOp(seq, turn, op, receipt))
        if isinstance(op, (Delete, Restore)) or turn == 0:
            self._forget(op.cell_id)
            return
        if isinstance(op, Insert):
            self._written[op.cell_id] = op.source
            if op.cell_type == "raw":
                self.drafts[op.cell_id] = None
        elif isinstance(op, (SetSource, BeginRun)):
            if isinstance(op, SetSource) and op.cell_id in self._written:
                self._written[op.cell_id] = op.source
            if isinstance(op, BeginRun) or op.cell_type not in (None, "raw"):
                self.drafts.pop(op.cell_id, None)
            elif op.cell_type == "raw":
                self.drafts[op.cell_id] = None
        elif any(output.get("output_type") == "error" for output in op.outputs):
            self.failed[op.cell_id] = turn
        else:
            self.failed.pop(op.cell_id, None)
        if isinstance(op, (Insert, BeginRun)):
            self._touch(op.cell_id)

    def _touch(self, cell_id: str) -> None:
        if cell_id in self.touched:
            self.touched.remove(cell_id)
        self.touched.append(cell_id)

    def _forget(self, cell_id: str) -> None:
        self._written.pop(cell_id, None)
        self.failed.pop(cell_id, None)
        self.drafts.pop(cell_id, None)
        if cell_id in self.touched:
            self.touched.remove(cell_id)

    def owns(self, cell_id: str, source: str) -> bool:
        """Whether the cell is the agent's: inserted by it, and ``source`` (as it stands in
        the notebook now) is what it wrote last."""
        return self._written.get(cell_id) == source

    def owned(self, snapshot: Snapshot) -> set[str]:
        return {c.cell_id for c in snapshot.cells if self.owns(c.cell_id, c.source)}

    def written(self, cell_id: str) -> str | None:
        return self._written.get(cell_id)

    def failed_since(self, turn: int) -> list[str]:
        """Cells of the agent whose last run, in that turn or later, failed."""
        return [c for c, number in self.failed.items() if number >= turn and c in self._written]

    def changes(self, turn: int) -> tuple[Change, ...]:
        """What a turn changed, whatever has become of it since."""
        return changes_of([stored for stored in self._ops if stored.turn == turn])

    def left_later(self, turn: int, cell_id: str, source: str) -> bool:
        """Whether it is a later turn that has left ``source`` in the cell."""
        later = changes_of([stored for stored in self._ops if stored.turn > turn])
        return any((change.cell_id, change.source) == (cell_id, source) for change in later)

    def undo_cell(self, turn: int, cell_id: str) -> Op | None:
        """The op that takes back what a turn, and later ones, did to a cell that it left;
        None if there is nothing to put back."""
        since = [stored for stored in self._ops if stored.turn >= turn]
        for change in changes_of(since):
            if change.cell_id == cell_id and change.kind != "removed":
                return undo_op(change, change.source)
        return None


def undo_op(change: Change, expect: str) -> Op | None:
    """The op that takes back a change that has left ``expect`` as the cell's source; None if
    it is not known how the cell was."""
    if change.kind == "added":
        return Delete(change.cell_id, expect)
    if change.before is None:
        return None
    if change.kind == "edited":
        return Restore(change.cell_id, change.before, expect)
    return Restore(change.cell_id, change.before, None, change.above)
