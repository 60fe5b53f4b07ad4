"""Delete cells, or move them as they are."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.sentences import Sentence
from ....run.job import CellJob, part_of
from ....run.turn.notebook import ANCHORS
from ....wire.messages import ToolUse
from ..shared.base import Tool
from ..shared.several import Several
from ..shared.step import Step, add_notes, not_started
from ..shared.titles import name_of, title_of
from ..shared.writing import NO_POSITION, delete, to_change
from .run_cell import Position


class DeleteCell(msgspec.Struct, frozen=True, kw_only=True):
    cell_ids: Annotated[tuple[str, ...], Meta(description="Cells that you have read.")]


async def _delete(step: Step, call: ToolUse, given: DeleteCell) -> None:
    cells = await to_change(step, call, *dict.fromkeys(given.cell_ids))
    if len(cells) == 1:
        await delete(step, call, cells[0].cell_id)
    elif cells:
        jobs = [
            CellJob(step.turn, part_of(call), "delete", cell.cell_id, Sentence(), cell.source)
            for cell in cells
        ]
        for job in jobs:
            known = step.turn.titles.get(job.cell_id)
            job.source, job.title = job.old_source, known or title_of("", job.old_source)
        title = Sentence("Delete {count} cells", count=len(cells))
        words = Sentence("Delete {count} cells:", count=len(cells))
        await Several(step, call, "delete", jobs).run(title, words)


DELETE_CELL = Tool(
    "delete_cell",
    Sentence("Delete a cell"),
    "Delete cells, yours or, if the request needs it, the person's.",
    DeleteCell,
    effect="changes",
    draft="delete",
    work=_delete,
)


BELOW = Sentence("{title} below cell {place}:")
TO_THE_TOP = Sentence("{title} to the top:")


class MoveCell(msgspec.Struct, frozen=True, kw_only=True):
    cell_ids: Annotated[tuple[str, ...], Meta(description="In the order that they get.")]
    position: Position


async def _move(step: Step, call: ToolUse, given: MoveCell) -> None:
    notebook = step.turn.notebook
    cells = await to_change(step, call, *dict.fromkeys(given.cell_ids))
    if not cells:
        return
    moving = [cell.cell_id for cell in cells]
    spot = notebook.at(given.position)
    if spot is None or not given.position:
        words = NO_POSITION.format(position=given.position, ids=notebook.known_ids())
        not_started(step, call, words)
        return
    add_notes(step, call, spot[1])
    ids = [cell.cell_id for cell in notebook.snapshot.cells]
    place = ids.index(spot[0].after) + 1 if spot[0].after in ids else 0
    after = tuple(one for one in reversed(ids[:place]) if one not in moving)[:ANCHORS]
    jobs: list[CellJob] = []
    for cell in cells:
        title = Sentence("Move “{name}”", name=name_of(step.turn, cell))
        job = CellJob(step.turn, part_of(call), "move", cell.cell_id, title, cell.source)
        job.source, job.to = cell.source, after
        after = (cell.cell_id, *after)[:ANCHORS]
        jobs.append(job)
    name = Sentence("Move a cell")
    if len(cells) > 1:
        name = Sentence("Move {count} cells", count=len(cells))
    words = Sentence(BELOW if place else TO_THE_TOP, title=name, place=place)
    await Several(step, call, "move", jobs).run(name, words)


MOVE_CELL = Tool(
    "move_cell",
    Sentence("Move a cell"),
    "Move cells that you have read; ids, outputs and tags stay.",
    MoveCell,
    effect="changes",
    work=_move,
    action="move",
)
