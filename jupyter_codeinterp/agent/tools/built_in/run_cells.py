"""Run existing cells unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.errors import DocumentError
from ....base.sentences import Sentence
from ....run.job import CellJob, part_of
from ....run.turn.turn import Turn
from ....wire.messages import ToolUse
from ....wire.ops import PRIVATE, CellView
from ..shared.base import Tool
from ..shared.several import Several
from ..shared.step import Step, add_notes, not_started
from ..shared.titles import name_of
from .run_cell import Timeout

NOTHING = "There is no code cell to run."
NOT_CODE = "The cell {name!r} is not a code cell that can run: it is {why}."


class RunCells(msgspec.Struct, frozen=True, kw_only=True):
    cell_ids: Annotated[
        tuple[str, ...],
        Meta(
            description='Ids in the order to run, or "all", "above:CELL_ID", '
            '"below:CELL_ID" (without it).'
        ),
    ]
    stop_on_error: Annotated[bool, Meta(description="Default true.")] = True
    timeout_s: Timeout = None


async def _work(step: Step, call: ToolUse, given: RunCells) -> None:
    try:
        cells = await _named(step, call, given.cell_ids)
    except (DocumentError, LookupError) as error:
        not_started(step, call, str(error))
        return
    jobs = [_job(step.turn, call, cell) for cell in cells]
    for job in jobs:
        job.timeout = given.timeout_s
    title, words = Sentence("Run a cell"), Sentence("Run it as it is:")
    if len(cells) > 1:
        title = Sentence("Run {count} cells", count=len(cells))
        words = Sentence("Run {count} cells as they are:", count=len(cells))
    several = Several(step, call, "run_again", jobs)
    await several.run(title, words, stop_on_error=given.stop_on_error)


async def _named(step: Step, call: ToolUse, names: Sequence[str]) -> list[CellView]:
    """The cells in the order of the names, each once. Raises DocumentError, and LookupError with
    words for the model."""
    notebook = step.turn.notebook
    cells = (await notebook.look()).cells
    ids = [cell.cell_id for cell in cells]
    chosen: dict[str, CellView] = {}
    for name in names:
        side, colon, rest = name.partition(":")
        if name == "all":
            chosen |= {cell.cell_id: cell for cell in cells if _why_not(cell) == ""}
            continue
        found = notebook.find(rest.strip() if colon and side in ("above", "below") else name)
        if found is None or found.cell_id not in ids:
            raise LookupError(f"There is no cell {name!r}. Cells: {notebook.known_ids()}.")
        add_notes(step, call, found.note)
        at = ids.index(found.cell_id)
        if colon and side in ("above", "below"):
            part = cells[:at] if side == "above" else cells[at + 1 :]
            chosen |= {cell.cell_id: cell for cell in part if _why_not(cell) == ""}
        elif why := _why_not(cells[at]):
            raise LookupError(NOT_CODE.format(name=name, why=why))
        else:
            chosen[found.cell_id] = cells[at]
    if not chosen:
        raise LookupError(NOTHING)
    return list(chosen.values())


def _why_not(cell: CellView) -> str:
    if cell.cell_type != "code":
        return cell.cell_type
    if PRIVATE in cell.tags:
        return "private"
    return "" if cell.source.strip() else "empty"


def _job(turn: Turn, call: ToolUse, cell: CellView) -> CellJob:
    job = CellJob(turn, part_of(call), "rerun", cell.cell_id, name_of(turn, cell), cell.source)
    job.source = cell.source
    turn.context.seen(cell)
    return job


RUN_CELLS = Tool(
    "run_cells",
    "",
    "Run cells that are in the notebook, unchanged, also the person's.",
    RunCells,
    effect="changes",
    work=_work,
    action="run_again",
)
