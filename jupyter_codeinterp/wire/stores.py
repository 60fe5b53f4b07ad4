"""What the journal stores of ops, branches and leases."""

from __future__ import annotations

from typing import Union

import msgspec

from .commands import SessionInfo
from .events import Event
from .ops import FinishRun, Op, Output, Receipt, Restore


class StoredOp(msgspec.Struct, frozen=True):
    """``turn`` is 0 outside a turn, and -N for an undo or redo of turn N. ``outputs`` is the
    digest of the outputs that a light op lacks (``light_op``)."""

    seq: int
    turn: int
    op: Op
    receipt: Union[Receipt, None] = None
    outputs: str = ""


LEASE_TIME = 30.0
"""Seconds until a lease expires without renewal."""


INHERITED = -(2**53)
"""A number below all ops. A branch numbers its own ops from 1 and inherited ones from 0 down; a
document has inherited ops under the original session's numbers."""

Sessions = list[SessionInfo]
NumberedEvents = list[tuple[int, Event]]
StoredOps = list[StoredOp]
OpsBySession = list[tuple[str, StoredOps]]


class Beginning(msgspec.Struct, frozen=True):
    """The state that a branch inherits: events and ops with the branch's numbers, and the other
    session's first ``messages`` messages and the requests of its first ``steps`` steps. ``model``:
    the other session's model."""

    events: NumberedEvents
    ops: StoredOps
    messages: int
    steps: int
    model: str


# -------------------------------------------------------------------------------------------------
# Separates ops and receipts from their outputs, which the journal stores once.
#
# A light op or receipt names its outputs by digest; a light ``FinishRun`` also has their types.

GONE: Output = {
    "output_type": "stream",
    "name": "stderr",
    "text": "[These outputs are no longer kept. Run the cell again to see them.]\n",
}


def light_op(op: Op) -> tuple[Op, tuple[Output, ...]]:
    """The op without its outputs, and the outputs."""
    if isinstance(op, FinishRun) and op.outputs:
        types = tuple({"output_type": output.get("output_type")} for output in op.outputs)
        return msgspec.structs.replace(op, outputs=types, kept=""), op.outputs
    if isinstance(op, Restore) and op.cell.get("outputs"):
        cell = {**op.cell, "outputs": []}
        return msgspec.structs.replace(op, cell=cell, kept=""), tuple(op.cell["outputs"])
    return op, ()


def whole_op(stored: StoredOp, outputs: tuple[Output, ...] | None) -> StoredOp:
    """A light op with its outputs, or a note in their place if the journal dropped them."""
    op: Op = stored.op
    if isinstance(op, FinishRun):
        op = msgspec.structs.replace(op, outputs=outputs or (GONE,), kept=stored.outputs)
    elif isinstance(op, Restore):
        cell = {**op.cell, "outputs": list(outputs or ())}
        op = msgspec.structs.replace(op, cell=cell, kept=stored.outputs)
    return msgspec.structs.replace(stored, op=op, outputs="")


def light_receipt(receipt: Receipt) -> tuple[Receipt, tuple[Output, ...]]:
    """The receipt without the outputs of ``before``, and the outputs."""
    if receipt.before is None or not receipt.before.get("outputs"):
        return receipt, ()
    before = {**receipt.before, "outputs": []}
    return msgspec.structs.replace(receipt, before=before), tuple(receipt.before["outputs"])
