"""Reports the agent's runs to the staleness watch, and tells the model of stale input."""

from __future__ import annotations

from ..document.ops import Snapshot
from ..errors import DocumentError
from ..ports import ExecutionDone, KernelInfo
from ..staleness import Cell, Watch
from ..turn.turn import Turn
from .draft import DraftCell

STALE_INPUT = "[This run read what may be out of date: {reason}]"


async def notes(
    draft: DraftCell, kernel: KernelInfo, done: ExecutionDone, source: str
) -> tuple[str, ...]:
    """Record what ran. Returns a note for the model if it read stale input."""
    turn, cell_id, number = draft.turn, draft.cell_id, done.execution_count
    if done.captured:
        turn.notebook.has_run(cell_id, done.everything)
    watch, path = turn.workplace.watch, turn.document.path
    if watch is None or number is None or kernel.language != "python":
        return ()
    if not watch.knows(path):
        _report(turn, watch, turn.notebook.snapshot)
    watch.put(path, Cell(cell_id, source), turn.notebook.above(cell_id)[1:])
    watch.ran(kernel.kernel_id, cell_id, number, source)
    if cell_id not in watch.stale(path, kernel.kernel_id):
        return ()
    # A window's report comes a moment after an edit.
    reason = await _reason(turn, watch, kernel, cell_id)
    return (STALE_INPUT.format(reason=turn.untrusted.inert(reason)),) if reason else ()


async def _reason(turn: Turn, watch: Watch, kernel: KernelInfo, cell_id: str) -> str:
    try:
        # Not ``notebook.look``, which would mark the person's edits as told to the model.
        snapshot = await turn.document.snapshot()
    except DocumentError:
        return ""  # The result says already that the notebook does not answer.
    _report(turn, watch, snapshot)
    return watch.stale(turn.document.path, kernel.kernel_id).get(cell_id, "")


def _report(turn: Turn, watch: Watch, snapshot: Snapshot) -> None:
    code = [cell for cell in snapshot.cells if cell.cell_type == "code"]
    sources = {cell.cell_id: cell.source for cell in code}
    watch.report(turn.document.path, list(sources), sources)
