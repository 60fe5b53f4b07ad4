"""The net changes of a turn, cell by cell, computed from its confirmed ops. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Union

import msgspec

from ..wire.ops import (
    BeginRun,
    Cell,
    Delete,
    Insert,
    Move,
    Receipt,
    Restore,
    SetSource,
)
from ..wire.stores import StoredOp

CELL_TYPES = ("raw", "code", "markdown")


class CellChange(msgspec.Struct, frozen=True):
    """What a turn did to a cell. ``before`` is the earlier cell; None if the cell was added, only
    moved, or if unknown (the page was reloaded before its receipt). ``outputs`` is the digest of
    the earlier outputs in the journal, unless ``left_out``. ``above``: the ids above the cell
    before the turn, nearest first. ``source`` and ``cell_type`` are
    the cell's state after the turn; "" if removed."""

    cell_id: str
    kind: Literal["added", "edited", "moved", "removed"]
    before: Union[Cell, None] = None
    above: tuple[str, ...] = ()
    source: str = ""
    cell_type: str = ""
    left_out: bool = False
    outputs: str = ""
    moved: bool = False

    @property
    def had_outputs(self) -> bool:
        return self.left_out or bool(self.outputs or (self.before or {}).get("outputs"))

    @property
    def was_replaced(self) -> bool:
        """Whether the turn replaced an empty code cell, which needs no review."""
        was = self.before or {}
        empty = not str(was.get("source", "-")).strip() and not self.had_outputs
        return self.kind == "removed" and was.get("cell_type") == "code" and empty

    @property
    def only_ran(self) -> bool:
        """Whether source, type and place are unchanged."""
        was = self.before or {}
        same = (was.get("source"), was.get("cell_type")) == (self.source, self.cell_type)
        return self.kind == "edited" and same and not self.moved

    @property
    def undoable(self) -> bool:
        return self.kind in ("added", "moved") or self.before is not None


class _Track:
    """The state of one cell through the ops of a turn."""

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
        self.moved = self.only_moved = False
        self.remade = False
        """Whether more than source and type may differ: the cell ran or had another type."""

    def take(self, stored: StoredOp) -> None:
        op = stored.op
        if isinstance(op, Delete):
            self.exists = False
        elif isinstance(op, Move):
            self.moved |= _told_above(stored) is not None
        elif isinstance(op, Insert):
            self.exists, self.source, self.cell_type = True, op.source, op.cell_type
        elif isinstance(op, SetSource):
            self.remade |= op.cell_type not in (None, self.cell_type)
            self.source, self.cell_type = op.source, op.cell_type or self.cell_type
        elif isinstance(op, BeginRun):
            self.cell_type, self.remade = "code", True
        elif isinstance(op, Restore):
            self.exists, self.remade = True, not self._is_as_before(op.cell, stored.outputs)
            self.source, self.cell_type = op.cell["source"], op.cell["cell_type"]

    def _is_as_before(self, cell: Cell, outputs: str) -> bool:
        if self.outputs != outputs and not self.left_out:
            return False
        return self.before is not None and {**cell, "outputs": []} == {**self.before, "outputs": []}

    def change(self, cell_id: str) -> CellChange | None:
        """The net change; None if the cell is unchanged, or was added and removed."""
        before, above = self.before, self.above
        if not self.existed:
            added = CellChange(cell_id, "added", None, above, self.source, self.cell_type)
            return added if self.exists else None
        if not self.exists:
            return CellChange(
                cell_id, "removed", before, above, left_out=self.left_out, outputs=self.outputs
            )
        was = (before["source"], before["cell_type"]) if before is not None else None
        same = not self.remade and was == (self.source, self.cell_type)
        if same or self.only_moved:
            return CellChange(cell_id, "moved", None, above, moved=True) if self.moved else None
        left = (self.source, self.cell_type, self.left_out, self.outputs)
        return CellChange(cell_id, "edited", before, above, *left, self.moved)


def changes_of(ops: Sequence[StoredOp]) -> tuple[CellChange, ...]:
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
            tracks[op.cell_id] = track
        tracks[op.cell_id].take(stored)
    found = (track.change(cell_id) for cell_id, track in tracks.items())
    return tuple(change for change in found if change is not None)


def _begin(ops: Sequence[StoredOp], index: int) -> _Track | None:
    """A track that begins with this op; None if its receipt shows no change."""
    op, receipt = ops[index].op, ops[index].receipt
    if isinstance(op, Insert) or (isinstance(op, Restore) and op.expect is None):
        return _Track(None, (), existed=False)
    before = receipt.before if receipt is not None else None
    if isinstance(op, Move):
        track = _Track(None, _above_before(ops, index), existed=True)
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


def _told_above(stored: StoredOp) -> tuple[str, ...] | None:
    """The ids above the cell in the op's receipt, nearest first; None if unknown."""
    told = stored.receipt.after if stored.receipt is not None else ()
    if not isinstance(stored.op, Move):
        return told
    known = stored.op.cell_id in told
    return told[: told.index(stored.op.cell_id)][::-1] if known else None


def _above_before(ops: Sequence[StoredOp], index: int) -> tuple[str, ...]:
    """The ids above the op's cell before all of ``ops``, and those that ``ops`` inserted there."""
    cell_id = ops[index].op.cell_id
    above = list(_told_above(ops[index]) or ())
    for stored in reversed(ops[:index]):
        op, receipt, told = stored.op, stored.receipt, _told_above(stored)
        if receipt is None or told is None:
            continue
        moved = isinstance(op, Move) and cell_id in receipt.after
        if moved and op.cell_id in above:
            above.remove(op.cell_id)
        deleted = isinstance(op, Delete) and receipt.before is not None
        if (moved or deleted) and cell_id not in told and op.cell_id not in above:
            places = (above.index(other) for other in told if other in above)
            above.insert(next(places, len(above)), op.cell_id)
    return tuple(above)


# -------------------------------------------------------------------------------------------------
# A turn's changes for review: source before and after, and state, by cell. Bounded.

MOST_CELLS = 200
MOST_ABOVE = 50
MOST_SOURCE = 20_000
"""Characters of one source."""

State = Literal["open", "undone", "kept"]


class Reviewed(msgspec.Struct, frozen=True):
    """A cell's change for review. ``before`` is None for an added cell, ``after`` for a removed
    one. ``outputs``: an undo restores outputs. ``cut``: a source is cut. ``undoable``: the earlier
    state is known. ``above``: the ids above the cell before the turn, nearest first."""

    cell_id: str
    kind: Literal["added", "edited", "removed"]
    cell_type: str
    before: Union[str, None]
    after: Union[str, None]
    outputs: bool
    undoable: bool
    state: State
    cut: bool = False
    above: tuple[str, ...] = ()


class Review(msgspec.Struct, frozen=True):
    """``left_out`` counts the cells not listed."""

    turn: int
    changes: tuple[Reviewed, ...]
    left_out: int = 0


def review(turn: int, changes: Iterable[CellChange], states: Mapping[str, State]) -> Review:
    every = tuple(change for change in changes if not change.was_replaced)
    shown = tuple(_reviewed(c, states.get(c.cell_id, "open")) for c in every[:MOST_CELLS])
    return Review(turn, shown, len(every) - len(shown))


def _reviewed(change: CellChange, state: State) -> Reviewed:
    was = change.before
    before = was["source"] if was is not None else None
    after = None if change.kind == "removed" else change.source
    sources = [source for source in (before, after) if source is not None]
    return Reviewed(
        cell_id=change.cell_id,
        kind="edited" if change.kind == "moved" else change.kind,
        cell_type=change.cell_type or (was["cell_type"] if was is not None else ""),
        before=before if before is None else before[:MOST_SOURCE],
        after=after if after is None else after[:MOST_SOURCE],
        outputs=change.had_outputs,
        undoable=change.undoable,
        state=state,
        cut=any(len(source) > MOST_SOURCE for source in sources),
        above=change.above[:MOST_ABOVE],
    )
