"""What the agent did to the notebook's cells, rebuilt from the journal's ops.

A cell is the agent's only if this session's journal inserted it and its source has not
changed since; notebook metadata grants nothing. The same ops tell what a turn changed and
how to put it back.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

import msgspec

from .document import BeginRun, Delete, FinishRun, Insert, Op, Receipt, SetSource, Snapshot
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
        for stored in ops:
            if stored.receipt is not None:
                self.record(stored.turn, stored.op, stored.receipt, stored.seq)

    def record(self, turn: int, op: Op, receipt: Receipt, seq: int = 0) -> None:
        if receipt.status != "done":
            return
        self._ops.append(StoredOp(seq, turn, op, receipt))
        if isinstance(op, Delete):
            self._written.pop(op.cell_id, None)
            self.failed.pop(op.cell_id, None)
            if op.cell_id in self.touched:
                self.touched.remove(op.cell_id)
            return
        if isinstance(op, Insert) or op.cell_id in self._written:
            self._written[op.cell_id] = (
                op.source if not isinstance(op, FinishRun) else self._written[op.cell_id]
            )
        if isinstance(op, (Insert, BeginRun)):
            if op.cell_id in self.touched:
                self.touched.remove(op.cell_id)
            self.touched.append(op.cell_id)
        if isinstance(op, FinishRun):
            if any(output.get("output_type") == "error" for output in op.outputs):
                self.failed[op.cell_id] = turn
            else:
                self.failed.pop(op.cell_id, None)

    def owns(self, cell_id: str, source: str) -> bool:
        """Whether the cell is the agent's: inserted by it, and ``source`` (as it stands in
        the notebook now) is what it wrote last."""
        return self._written.get(cell_id) == source

    def owned(self, snapshot: Snapshot) -> set[str]:
        return {c.cell_id for c in snapshot.cells if self.owns(c.cell_id, c.source)}

    def written(self, cell_id: str) -> str | None:
        return self._written.get(cell_id)

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
            elif isinstance(op, SetSource) and op.cell_id not in added + edited:
                edited.append(op.cell_id)
        return Changes(tuple(added), tuple(edited), tuple(removed))

    def undo(self, turn: int) -> list[Op]:
        """The ops that put a turn's cells back, to be applied in this order.

        Each names the source that the agent left, so the document refuses those that the
        person has touched since.
        """
        changes = self.changes(turn)
        left: dict[str, str] = {}
        first: dict[str, Receipt] = {}
        for stored in self._ops:
            if stored.turn != turn or stored.receipt is None:
                continue
            op = stored.op
            if isinstance(op, (Insert, SetSource, BeginRun)):
                left[op.cell_id] = op.source
            if stored.receipt.before is not None:
                first.setdefault(op.cell_id, stored.receipt)
        ops: list[Op] = [Delete(cell_id, left[cell_id]) for cell_id in reversed(changes.added)]
        for cell_id in changes.edited:
            before = first[cell_id].before
            if before is not None:
                ops.append(_put_back(cell_id, left[cell_id], before))
        for cell_id in changes.removed:
            receipt = first[cell_id]
            before = receipt.before
            if before is not None:
                ops.append(_insert_again(cell_id, before, receipt.after))
                if before.get("outputs"):
                    ops.append(_put_back(cell_id, before["source"], before))
        return ops


def _put_back(cell_id: str, expect: str, before: dict[str, object]) -> SetSource:
    cell = copy.deepcopy(before)
    outputs = cell.get("outputs")
    return msgspec.convert(
        {
            "op": "set_source",
            "cell_id": cell_id,
            "source": cell["source"],
            "expect": expect,
            "cell_type": cell["cell_type"],
            "outputs": outputs if outputs is not None else None,
            "execution_count": cell.get("execution_count"),
        },
        SetSource,
    )


def _insert_again(cell_id: str, before: dict[str, object], above: tuple[str, ...]) -> Insert:
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
