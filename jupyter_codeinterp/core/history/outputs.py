"""Separates ops and receipts from their outputs, which the journal stores once.

A light op or receipt names its outputs by digest. A light ``FinishRun`` keeps the type of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from ..document.ops import FinishRun, Op, Output, Receipt, Restore
from ..stores import INHERITED, OpStore, OutputStore, StoredOp
from .changes import Change

Outputs = Callable[[Change], tuple[Output, ...]]
"""The outputs of a cell before a change; () if the journal lacks them."""
GONE: Output = {
    "output_type": "stream",
    "name": "stderr",
    "text": "[These outputs are no longer kept. Run the cell again to see them.]\n",
}


def light_op(op: Op) -> tuple[Op, tuple[Output, ...]]:
    """The op without its outputs, and these."""
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
    """The receipt without the outputs of ``before``, and these."""
    if receipt.before is None or not receipt.before.get("outputs"):
        return receipt, ()
    before = {**receipt.before, "outputs": []}
    return msgspec.structs.replace(receipt, before=before), tuple(receipt.before["outputs"])


class Store(OpStore, OutputStore, Protocol):
    """What keeps both."""


def outputs_of(store: Store, session_id: str) -> Outputs:
    """From the journal."""

    def outputs(change: Change) -> tuple[Output, ...]:
        return store.outputs(session_id, kept_under(store, session_id, change)) or ()

    return outputs


def kept_under(store: OpStore, session_id: str, change: Change) -> str:
    """The digest of the outputs before a change; "" if the journal lacks them. Outputs too large
    for a receipt are those of the run in the cell's metadata, if the execution count still
    matches."""
    if change.outputs or not change.left_out or change.before is None:
        return change.outputs
    ours = change.before["metadata"].get("codeinterp")
    run_id = ours.get("run_id") if isinstance(ours, dict) else None
    for stored in reversed(store.ops(session_id, INHERITED)):
        op = stored.op
        if isinstance(op, FinishRun) and op.run_id == run_id:
            same = op.execution_count == change.before.get("execution_count")
            return stored.outputs if same else ""
    return ""
