"""Runs that a killed server left open. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..document.ops import BeginRun, FinishRun
from ..stores import StoredOp


def ends_of_runs(ops: Iterable[StoredOp]) -> tuple[FinishRun, ...]:
    """The end of each run in ``ops``, a turn's, that the notebook may still show as running. One
    that the server had posted is posted again, with its outputs: the notebook may have it already,
    and the person may have run the cell since."""
    ends: dict[str, FinishRun] = {}
    for stored in ops:
        op = stored.op
        if isinstance(op, BeginRun):
            ends[op.run_id] = FinishRun(op.cell_id, op.run_id, (), None, cut_off=True)
        elif isinstance(op, FinishRun):
            if stored.receipt is None:
                ends[op.run_id] = msgspec.structs.replace(op, cut_off=True)
            else:
                ends.pop(op.run_id, None)
    return tuple(ends.values())
