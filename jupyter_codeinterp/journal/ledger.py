"""The agent's changes to cells, rebuilt from the journal's ops.

A cell is the agent's only if this session inserted it and its source has not changed since;
notebook metadata grants nothing. The same ops show what a turn changed and how to undo it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from ..wire.ops import (
    BeginRun,
    Cell,
    CellView,
    Delete,
    FinishRun,
    Insert,
    Move,
    Op,
    Output,
    Receipt,
    Restore,
    SetSource,
    Snapshot,
    order_after,
    run_id_of,
)
from ..wire.stores import StoredOp, light_op
from .changes import CellChange, changes_of
from .sqlite.store import SqliteStore

Outputs = Callable[[CellChange], tuple[Output, ...]]
"""The outputs of a cell before a change; () if the journal lacks them."""


def outputs_of(store: SqliteStore, session_id: str) -> Outputs:
    """A loader of outputs from the journal."""

    def outputs(change: CellChange) -> tuple[Output, ...]:
        return store.outputs(session_id, change.outputs) or ()

    return outputs


class UndoneCell(NamedTuple):
    """``change``: what an undo did to a cell. ``left``: the cell afterwards; None if deleted."""

    change: CellChange
    left: Cell | None


class Ledger:
    """The agent's changes; ``record`` takes every confirmed op of a session in order."""

    def __init__(self, ops: Iterable[StoredOp] = ()) -> None:
        self._ops: list[StoredOp] = []
        self._written: dict[str, str] = {}
        """The source that the agent last wrote, for cells that it inserted."""
        self._runs: dict[str, str] = {}
        """The id of the agent's last run, by cell id."""
        self.touched: list[str] = []
        """Cells that the agent inserted or ran, the latest last."""
        self.added: list[str] = []
        """Cells that the agent inserted, the latest last."""
        self._states: dict[str, set[tuple[str, str]]] = {}
        """Each source and run that the agent left in a cell that it inserted."""
        self.failed: dict[str, int] = {}
        """Cells whose last run failed, with the turn of that run."""
        self.drafts: dict[str, None] = {}
        """Inserted raw cells without a decision, in order."""
        for stored in ops:
            self.take(stored)

    def record(self, turn: int, op: Op, receipt: Receipt) -> None:
        """Record an op and its receipt. ``turn`` as in ``StoredOp``."""
        kept = op.kept if isinstance(op, (FinishRun, Restore)) else ""
        self.take(StoredOp(0, turn, op, receipt, kept))

    def take(self, stored: StoredOp) -> None:
        """Record an op of the journal, if it has a receipt."""
        receipt = stored.receipt
        if receipt is None:
            return
        if receipt.status == "conflict" and isinstance(stored.op, Delete):
            # The person typed into this draft, so it stays as their cell.
            self.drafts.pop(stored.op.cell_id, None)
        if receipt.status != "done":
            return
        turn, op = stored.turn, stored.op
        if not isinstance(op, FinishRun):
            light, _ = light_op(op)
            self._ops.append(StoredOp(stored.seq, turn, light, receipt, stored.outputs))
        if isinstance(op, Move):
            return
        if isinstance(op, (Delete, Restore)) or turn <= 0:
            self._forget(op.cell_id)
            if isinstance(op, Restore) and op.cell_id in self._states:
                self.added.append(op.cell_id)  # A redo: new cells go after it.
                state = (op.cell["source"], run_id_of(op.cell))
                if state in self._states[op.cell_id]:
                    self._written[op.cell_id], self._runs[op.cell_id] = state
            return
        if isinstance(op, Insert):
            self._written[op.cell_id] = op.source
            self.added.append(op.cell_id)
            if op.cell_type == "raw":
                self.drafts[op.cell_id] = None
        elif isinstance(op, (SetSource, BeginRun)):
            if isinstance(op, SetSource) and op.cell_id in self._written:
                self._written[op.cell_id] = op.source
            if isinstance(op, BeginRun) or op.cell_type not in (None, "raw"):
                self.drafts.pop(op.cell_id, None)
            elif op.cell_type == "raw":
                self.drafts[op.cell_id] = None
        elif isinstance(op, FinishRun) and any(
            output.get("output_type") == "error" for output in op.outputs
        ):
            self.failed[op.cell_id] = turn
        else:
            self.failed.pop(op.cell_id, None)
        if isinstance(op, BeginRun):
            self._runs[op.cell_id] = op.run_id
        if op.cell_id in self._written:
            state = (self._written[op.cell_id], self._runs.get(op.cell_id, ""))
            self._states.setdefault(op.cell_id, set()).add(state)
        if isinstance(op, (Insert, BeginRun)):
            self._touch(op.cell_id)

    def _touch(self, cell_id: str) -> None:
        if cell_id in self.touched:
            self.touched.remove(cell_id)
        self.touched.append(cell_id)

    def _forget(self, cell_id: str) -> None:
        self._written.pop(cell_id, None)
        self._runs.pop(cell_id, None)
        self.failed.pop(cell_id, None)
        self.drafts.pop(cell_id, None)
        for cells in (self.touched, self.added):
            if cell_id in cells:
                cells.remove(cell_id)

    def owns(self, cell: CellView) -> bool:
        """Whether the agent inserted the cell, wrote its current source and ran it last."""
        if self._written.get(cell.cell_id) != cell.source:
            return False
        return cell.cell_type != "code" or self._runs.get(cell.cell_id, "") == cell.run_id

    def owned(self, snapshot: Snapshot) -> set[str]:
        return {cell.cell_id for cell in snapshot.cells if self.owns(cell)}

    def observe(self, cell_id: str, cell: CellView | None) -> None:
        """Update from the cell's current state (None: gone). A cell that the person edited or
        ran no longer counts as a failed cell of the agent."""
        shows_error = cell is not None and any(
            output.get("output_type") == "error" for output in cell.outputs
        )
        if cell is None or not shows_error or not self.owns(cell):
            self.failed.pop(cell_id, None)

    def last_run(self, cell_id: str) -> str | None:
        """The id of the agent's last run of the cell; None if it never ran it."""
        return self._runs.get(cell_id)

    def written(self, cell_id: str) -> str | None:
        return self._written.get(cell_id)

    def failed_since(self, turn: int) -> list[str]:
        """Cells of the agent whose last run, in that turn or later, failed."""
        return [c for c, number in self.failed.items() if number >= turn and c in self._written]

    def changes(self, turn: int) -> tuple[CellChange, ...]:
        """What a turn changed, ignoring later changes."""
        return changes_of([stored for stored in self._ops if stored.turn == turn])

    def undone(self, turn: int, cells: Iterable[str]) -> dict[str, UndoneCell]:
        """What the last undo of a turn did to these cells, in the order of its ops."""
        chosen = set(cells)
        last: dict[str, list[int]] = {}
        for number, stored in enumerate(self._ops):
            cell_id = stored.op.cell_id
            if stored.turn == -turn and cell_id in chosen:
                # An undo restores the state of an edited and moved cell first, then its place.
                before = last.get(cell_id, ())
                state = [one for one in before if isinstance(self._ops[one].op, Restore)]
                last[cell_id] = [*(state if isinstance(stored.op, Move) else ()), number]
        every = [self._ops[number] for number in sorted(chain(*last.values()))]
        changes = {change.cell_id: change for change in changes_of(every)}
        return {
            cell_id: UndoneCell(
                changes[cell_id], first.cell if isinstance(first, Restore) else None
            )
            for cell_id, first in ((cell_id, self._ops[ops[0]].op) for cell_id, ops in last.items())
            if cell_id in changes
        }

    def stands(self, turn: int, cell_id: str, ids: Sequence[str]) -> bool:
        """Whether a cell is still where the turn, its undo or its redo moved it: below the same
        cells. ``ids``: all cells in order. Ignores cells added or deleted since."""
        order: tuple[str, ...] = ()
        for stored in self._ops:
            op, told = stored.op, stored.receipt.after if stored.receipt is not None else ()
            if isinstance(op, Move) and op.cell_id == cell_id:
                if abs(stored.turn) == turn and cell_id in told:
                    order = order_after(told, op)
            elif order:
                order = order_after(order, op)
        both = set(order).intersection(ids)
        above, left = (
            both.intersection(cells[: cells.index(cell_id)]) if cell_id in both else None
            for cells in (ids, order)
        )
        return above is not None and above == left

    def written_later(self, turn: int, cell_id: str, source: str) -> bool:
        """Whether a later turn left ``source`` in the cell."""
        later = changes_of([stored for stored in self._ops if stored.turn > turn])
        return any((change.cell_id, change.source) == (cell_id, source) for change in later)

    def undo_cell(self, turn: int, cell_id: str, outputs: Outputs) -> Op | None:
        """The op that undoes what this and later turns did to an existing cell; None if they did
        nothing."""
        since = [stored for stored in self._ops if stored.turn >= turn]
        for change in changes_of(since):
            if change.cell_id == cell_id and change.kind != "removed":
                return undo_op(change, change.source, outputs, self.last_run(cell_id))
        return None


def undo_op(
    change: CellChange,
    expect: str,
    outputs: Outputs,
    last_run: str | None = None,
    tell: bool = False,
) -> Op | None:
    """The op that undoes a change if the cell's source is still ``expect``; None if the earlier
    state is unknown. ``outputs`` loads the earlier outputs. ``last_run``: undo only if that run
    was the last one. ``tell`` as in ``Restore``."""
    if change.kind == "added":
        return Delete(change.cell_id, expect, last_run)
    if change.before is None:
        return None
    before = change.before
    if change.left_out or change.outputs:
        before = {**before, "outputs": list(outputs(change))}
    # The journal has these outputs, unless a receipt left them out.
    kept = change.outputs if before.get("outputs") else ""
    if change.kind == "edited":
        return Restore(change.cell_id, before, expect, (), kept, last_run, tell)
    return Restore(change.cell_id, before, None, change.above, kept)
