"""What the agent did to the notebook's cells, rebuilt from the journal's ops.

A cell is the agent's only if this session's journal inserted it and its source has not
changed since; notebook metadata grants nothing. The same ops tell what a turn changed and
how to put it back.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import msgspec

from .document import (
    BeginRun,
    Cell,
    Delete,
    Insert,
    Op,
    Receipt,
    SetSource,
    Snapshot,
)
from .ports import StoredOp


class Changes(msgspec.Struct, frozen=True):
    """Cell ids that a turn added, edited and removed, as they stand at its end."""

    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


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
        put_back = isinstance(op, SetSource) and op.outputs is not None
        if isinstance(op, Delete) or put_back or turn == 0:
            self._forget(op.cell_id)
            return
        if isinstance(op, Insert):
            self._written[op.cell_id] = op.source
            if op.cell_type == "raw":
                self.drafts[op.cell_id] = None
        elif isinstance(op, (SetSource, BeginRun)):
            if op.cell_id in self._written:
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

    def changes(self, turn: int) -> Changes:
        added: list[str] = []
        edited: list[str] = []
        removed: list[str] = []
        for stored in self._ops:
            op = stored.op
            if stored.turn != turn:
                continue
            if isinstance(op, Insert):
                added.append(op.cell_id)
            elif isinstance(op, Delete) and op.cell_id in added:
                added.remove(op.cell_id)
            elif isinstance(op, Delete):
                if op.cell_id in edited:
                    edited.remove(op.cell_id)
                if stored.receipt is not None and stored.receipt.before is not None:
                    removed.append(op.cell_id)
            elif isinstance(op, (SetSource, BeginRun)) and op.cell_id not in added + edited:
                edited.append(op.cell_id)
        return Changes(tuple(added), tuple(edited), tuple(removed))

    def undo(self, turn: int) -> list[Op]:
        """The ops that put a turn's cells back, to be applied in this order.

        Each names the source that the agent left, so the document refuses those that the
        person has touched since.
        """
        changes = self.changes(turn)
        left, first = self._ends_of(turn)
        ops: list[Op] = [Delete(cell_id, left[cell_id]) for cell_id in reversed(changes.added)]
        for cell_id in changes.edited:
            if cell_id in first:
                ops.append(_put_back(cell_id, left[cell_id], first[cell_id][0]))
        # The last that was removed first: an earlier one may have stood above it.
        for cell_id in reversed(changes.removed):
            before, above = first[cell_id]
            ops.append(_insert_again(cell_id, before, above))
            if before.get("outputs"):
                ops.append(_put_back(cell_id, before["source"], before))
        return ops

    def undo_cell(self, turn: int, cell_id: str) -> Op | None:
        """The op that takes back what a turn, and later ones, did to a cell that it left;
        None if there is nothing to put back."""
        source = self._written.get(cell_id)
        if source is None:
            return None
        inserted = any(
            stored.turn >= turn and isinstance(stored.op, Insert) and stored.op.cell_id == cell_id
            for stored in self._ops
        )
        if inserted:
            return Delete(cell_id, source)
        for stored in self._ops:
            before = stored.receipt.before if stored.receipt is not None else None
            if stored.turn >= turn and stored.op.cell_id == cell_id and before is not None:
                return _put_back(cell_id, source, before)
        return None

    def _ends_of(self, turn: int) -> tuple[dict[str, str], dict[str, tuple[Cell, tuple[str, ...]]]]:
        """What a turn left in each cell, and how each was before it (with the ids above)."""
        left: dict[str, str] = {}
        first: dict[str, tuple[Cell, tuple[str, ...]]] = {}
        for stored in self._ops:
            if stored.turn != turn or stored.receipt is None:
                continue
            op = stored.op
            if isinstance(op, (Insert, SetSource, BeginRun)):
                left[op.cell_id] = op.source
            if stored.receipt.before is not None:
                first.setdefault(op.cell_id, (stored.receipt.before, stored.receipt.after))
        return left, first


def _put_back(cell_id: str, expect: str, before: Cell) -> SetSource:
    cell = copy.deepcopy(before)
    return msgspec.convert(
        {
            "op": "set_source",
            "cell_id": cell_id,
            "source": cell["source"],
            "expect": expect,
            "cell_type": cell["cell_type"],
            "outputs": cell.get("outputs"),
            "execution_count": cell.get("execution_count"),
        },
        SetSource,
    )


def _insert_again(cell_id: str, before: Cell, above: tuple[str, ...]) -> Insert:
    return msgspec.convert(
        {
            "op": "insert",
            "cell_id": cell_id,
            "cell_type": before["cell_type"],
            "source": before["source"],
            "after": above,
            "metadata": before.get("metadata", {}),
        },
        Insert,
    )
