"""The net changes of a turn, cell by cell, computed from its confirmed ops. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Union

import msgspec

from ..document.ops import (
    BeginRun,
    Cell,
    Delete,
    Insert,
    Move,
    Receipt,
    Restore,
    SetSource,
    run_id_of,
    shaped,
)
from ..stores import StoredOp

CELL_TYPES = ("raw", "code", "markdown")


class Change(msgspec.Struct, frozen=True):
    """``before`` is the whole earlier cell; None for an added one, one that only moved, or if
    unknown (a page was reloaded before its receipt). The journal keeps its outputs under the digest
    ``outputs``, or they were ``left_out``. ``above`` are the ids above it without this turn,
    nearest first. ``source`` and ``cell_type`` are what the agent left; "" for a removed cell. So
    is ``run``: the agent's run that the cell showed then, "" if none.
    """

    cell_id: str
    kind: Literal["added", "edited", "moved", "removed"]
    before: Union[Cell, None] = None
    above: tuple[str, ...] = ()
    source: str = ""
    cell_type: str = ""
    left_out: bool = False
    outputs: str = ""
    run: str = ""
    moved: Union[tuple[str, ...], None] = None
    """The ids that were above the cell before it moved; None if it did not."""
    moved_at: int = 0
    """The number of that move among the turn's ops."""

    @property
    def had_outputs(self) -> bool:
        return self.left_out or bool(self.outputs or (self.before or {}).get("outputs"))

    @property
    def was_replaced(self) -> bool:
        """Whether it was an empty code cell that another replaced: nothing to review."""
        was = self.before or {}
        empty = not str(was.get("source", "-")).strip() and not self.had_outputs
        return self.kind == "removed" and was.get("cell_type") == "code" and empty

    @property
    def only_ran(self) -> bool:
        """Whether the cell has the source and type that it had."""
        was = self.before or {}
        same = (was.get("source"), was.get("cell_type")) == (self.source, self.cell_type)
        return self.kind == "edited" and same and self.moved is None

    @property
    def undoable(self) -> bool:
        return self.kind in ("added", "moved") or self.before is not None


class _Track:
    """One cell from the first op of the turn to its last."""

    def __init__(
        self,
        before: Cell | None,
        above: tuple[str, ...],
        existed: bool,
        receipt: Receipt | None = None,
    ) -> None:
        self.before = before
        self.left_out = receipt is not None and receipt.left_out
        self.outputs = receipt.outputs if receipt is not None else ""
        self.above = above
        self.existed = existed
        self.exists = True
        self.source = before["source"] if before is not None else ""
        self.cell_type = before["cell_type"] if before is not None else ""
        self.run = run_id_of(before) if before is not None else ""
        self.moved: tuple[str, ...] | None = None
        self.moved_at = 0
        self.only_moved = False
        self.remade = False
        """Whether more than source and type may differ: it ran, or changed type for a while."""

    def take(self, stored: StoredOp, number: int) -> None:
        op = stored.op
        if isinstance(op, Delete):
            self.exists = False
        elif isinstance(op, Move):
            if self.moved is None and stored.receipt is not None and stored.receipt.after:
                self.moved, self.moved_at = stored.receipt.after, number
        elif isinstance(op, Insert):
            self.exists, self.source, self.cell_type = True, op.source, op.cell_type
            self.run = run_id_of(shaped({"metadata": op.metadata}))
        elif isinstance(op, SetSource):
            self.remade |= op.cell_type not in (None, self.cell_type)
            self.source, self.cell_type = op.source, op.cell_type or self.cell_type
        elif isinstance(op, BeginRun):
            self.cell_type, self.remade, self.run = "code", True, op.run_id
        elif isinstance(op, Restore):
            self.exists, self.remade = True, not self._is_as_before(op.cell, stored.outputs)
            self.source, self.cell_type = op.cell["source"], op.cell["cell_type"]
            self.run = run_id_of(op.cell)

    def _is_as_before(self, cell: Cell, outputs: str) -> bool:
        if self.outputs != outputs and not self.left_out:
            return False
        return self.before is not None and {**cell, "outputs": []} == {**self.before, "outputs": []}

    def change(self, cell_id: str) -> Change | None:
        """None if the cell is unchanged, or came and went."""
        before, above = self.before, self.above
        if not self.existed:
            added = Change(cell_id, "added", None, above, self.source, self.cell_type, run=self.run)
            return added if self.exists else None
        if not self.exists:
            return Change(
                cell_id, "removed", before, above, left_out=self.left_out, outputs=self.outputs
            )
        was = (before["source"], before["cell_type"]) if before is not None else None
        same = not self.remade and was == (self.source, self.cell_type)
        if same or self.only_moved:
            moved = Change(cell_id, "moved", None, above, moved=self.moved, moved_at=self.moved_at)
            return moved if self.moved is not None else None
        left = (self.source, self.cell_type, self.left_out, self.outputs, self.run)
        return Change(cell_id, "edited", before, above, *left, self.moved, self.moved_at)


def changes_of(ops: Sequence[StoredOp]) -> tuple[Change, ...]:
    """Changes in the order of each cell's first op. ``ops`` must be confirmed."""
    tracks: dict[str, _Track] = {}
    for index, stored in enumerate(ops):
        op = stored.op
        known = tracks.get(op.cell_id)
        if known is None or known.only_moved:
            track = _begin(ops, index)
            if track is None:
                continue
            if known is not None:
                track.above, track.moved = known.above, known.moved
                track.moved_at = known.moved_at
            tracks[op.cell_id] = track
        tracks[op.cell_id].take(stored, index)
    found = (track.change(cell_id) for cell_id, track in tracks.items())
    return tuple(change for change in found if change is not None)


def _begin(ops: Sequence[StoredOp], index: int) -> _Track | None:
    """None if the op changed nothing, as far as its receipt says."""
    op, receipt = ops[index].op, ops[index].receipt
    if isinstance(op, Insert) or (isinstance(op, Restore) and op.expect is None):
        return _Track(None, (), existed=False)
    before = receipt.before if receipt is not None else None
    if isinstance(op, Move):
        track = _Track(None, receipt.after if receipt is not None else (), existed=True)
        track.only_moved = True
        return track
    if receipt is not None and before is not None and _is_sound(before):
        return _Track(before, _above_before(ops, index), True, receipt)
    unknown = isinstance(op, BeginRun) or (isinstance(op, SetSource) and op.source != op.expect)
    return _Track(None, (), existed=True) if unknown else None


def _is_sound(cell: Cell) -> bool:
    """Whether a cell that a window reported has the right shape. Windows are not trusted."""
    return (
        isinstance(cell.get("source"), str)
        and cell.get("cell_type") in CELL_TYPES
        and isinstance(cell.get("metadata"), dict)
        and isinstance(cell.get("outputs", []), list)
    )


def _above_before(ops: Sequence[StoredOp], index: int) -> tuple[str, ...]:
    """The ids above a cell at the op ``index``, plus those that earlier ops deleted."""
    cell_id, receipt = ops[index].op.cell_id, ops[index].receipt
    above = list(receipt.after) if receipt is not None else []
    for stored in reversed(ops[:index]):
        op, receipt = stored.op, stored.receipt
        if not isinstance(op, Delete) or receipt is None or receipt.before is None:
            continue
        if cell_id not in receipt.after and op.cell_id not in above:
            places = (above.index(other) for other in receipt.after if other in above)
            above.insert(next(places, len(above)), op.cell_id)
    return tuple(above)
