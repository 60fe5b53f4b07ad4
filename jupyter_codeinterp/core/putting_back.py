"""Taking back what the agent did to a notebook: a turn, a failed cell, a draft left over.

Every op names the source that the agent left, so the document refuses those whose cell the
person has touched since.
"""

from __future__ import annotations

from .document import Delete, Op, Receipt, Snapshot
from .errors import CommandError
from .events import CellRemoved, TurnUndone
from .ledger import Ledger
from .ports import Document
from .turn import Turn

RECEIPT_TIME = 0.5
"""Seconds that a turn waits, at its start, for leftovers to go."""


async def undo(turn: int, document: Document, ledger: Ledger) -> TurnUndone:
    """Put back what a turn changed. Raises DocumentError ``not_open``."""
    await document.snapshot()
    restored: list[str] = []
    kept: list[str] = []
    for op in ledger.undo(turn):
        receipt = await _apply(op, document, ledger)
        (restored if receipt.status == "done" else kept).append(op.cell_id)
    left = tuple(dict.fromkeys(kept))
    put_back = tuple(cell for cell in dict.fromkeys(restored) if cell not in left)
    await document.save()
    return TurnUndone(turn, put_back, left)


async def remove(cell_id: str, document: Document, ledger: Ledger) -> CellRemoved:
    """Remove a failed cell that was left standing. Raises CommandError ``not_ours`` or
    ``cell_changed``, and DocumentError ``not_open``."""
    source = ledger.written(cell_id)
    if source is None:
        raise CommandError("not_ours", "This cell is not one of the agent's.")
    await document.snapshot()
    receipt = await _apply(Delete(cell_id, source), document, ledger)
    if receipt.status != "done":
        raise CommandError("cell_changed", "You have changed this cell; it was kept.")
    return CellRemoved(cell_id)


async def _apply(op: Op, document: Document, ledger: Ledger) -> Receipt:
    receipt = await document.apply(op)
    ledger.record(0, op, receipt)
    return receipt


async def clear_failed(turn: Turn) -> None:
    """At ``end_turn`` no failed leftover of the agent stands in the notebook."""
    failed = turn.ledger.failed_since(turn.since)
    snapshot = await turn.look() if failed else turn.snapshot
    for cell_id in failed:
        cell = snapshot.cell(cell_id)
        if cell is None or not any(o.get("output_type") == "error" for o in cell.outputs):
            continue  # the person has deleted it, or run it with success
        op = turn.ledger.undo_cell(turn.since, cell_id)
        if op is not None:
            await turn.apply(op)


async def remove_left_drafts(turn: Turn, snapshot: Snapshot) -> None:
    """Drafts that the end of the server has cut off: nothing waits for them any more. One
    that the person has made a code cell is theirs."""
    drafts = turn.ledger.drafts
    left = [c for c in snapshot.cells if c.cell_id in drafts and c.cell_type == "raw"]
    for cell in left:
        turn.take_out(cell.cell_id, cell.source)
    if left:
        await turn.settled(RECEIPT_TIME)
        await turn.look()
