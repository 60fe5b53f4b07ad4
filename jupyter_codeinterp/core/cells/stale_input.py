"""Notes the agent's runs for the marks of stale cells, and what a run read that is out of date."""

from __future__ import annotations

from ..document.ops import Snapshot
from ..errors import DocumentError
from ..ports import KernelInfo
from ..staleness.stale import Cell
from ..staleness.watch import Watch
from ..turn.turn import Turn

TOLD = "[This run read what may be out of date: {reason}]"


async def noted(
    turn: Turn, kernel: KernelInfo, cell_id: str, number: int | None, source: str
) -> str:
    """Note a run. Returns what to tell the model of it; "" if it read nothing stale."""
    watch, path = turn.watch, turn.document.path
    if watch is None or number is None or kernel.language != "python":
        return ""
    if not watch.knows(path):
        _report(turn, watch, turn.notebook.snapshot)
    watch.put(path, Cell(cell_id, source), turn.notebook.above(cell_id)[1:])
    watch.ran(kernel.kernel_id, cell_id, number, source)
    if cell_id not in watch.stale(path, kernel.kernel_id):
        return ""
    # A window's report comes a moment after an edit.
    reason = await _looked(turn, watch, kernel, cell_id)
    return TOLD.format(reason=turn.untrusted.inert(reason)) if reason else ""


async def _looked(turn: Turn, watch: Watch, kernel: KernelInfo, cell_id: str) -> str:
    try:
        # Not ``notebook.look``: the person's edits are still to be told.
        snapshot = await turn.document.snapshot()
    except DocumentError:
        return ""  # The result says already that the notebook does not answer.
    _report(turn, watch, snapshot)
    return watch.stale(turn.document.path, kernel.kernel_id).get(cell_id, "")


def _report(turn: Turn, watch: Watch, snapshot: Snapshot) -> None:
    code = [cell for cell in snapshot.cells if cell.cell_type == "code"]
    sources = {cell.cell_id: cell.source for cell in code}
    watch.report(turn.document.path, list(sources), sources)
