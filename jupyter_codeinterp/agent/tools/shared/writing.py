"""What tools do with cells: write, delete or run one as a call of a step."""

from __future__ import annotations

import msgspec

from ....base.sentences import Sentence, as_it_is
from ....run.deciding import carry_out
from ....run.expected import Contract
from ....run.job import CellJob
from ....run.turn.turn import Turn
from ....view import outputs
from ....wire.messages import ToolUse
from ....wire.ops import PRIVATE, CellView, RanCode
from .step import (
    Step,
    add_notes,
    is_refused,
    not_started,
    open_draft,
    opened,
    title_for,
    tool_of,
)
from .titles import name_of, title_of

RECORD = (
    "{id!r} is code that the person ran; the cell itself is not known here, so it stays. Write a "
    "new cell, or tell the person what to change."
)
NO_POSITION = (
    "There is no position {position!r}. Use start, end, before:ID or after:ID. Cells: {ids}."
)


class How(msgspec.Struct, frozen=True):
    """How to run a source. ``run``: whether it runs at all; ``timeout``: seconds, None for the
    turn's limit."""

    expects: Contract | None = None
    timeout: float | None = None
    run: bool = True


AS_USUAL = How()


# --- what a call does --------------------------------------------------------------------


async def write(
    step: Step,
    call: ToolUse,
    source: str,
    how: How = AS_USUAL,
    *,
    position: str = "",
    cell_id: str = "",
) -> None:
    """Write a new cell at ``position``, or ``cell_id``."""
    turn = step.turn
    spot = turn.notebook.at(position)
    if is_refused(step, call):
        return
    if spot is None:
        words = NO_POSITION.format(position=position, ids=turn.notebook.known_ids())
        not_started(step, call, words)
        return
    add_notes(step, call, spot[1])
    early = step.jobs.get(call.id)
    if early is not None and (early.cell_id != cell_id if cell_id else early.position != position):
        # It opened before the model had named the place.
        early.remove()
        del step.jobs[call.id]
    job = opened(step, tool_of(step, call), call.id, call.input, source)
    if job is None:
        raise RuntimeError(f"{call.name} has no draft")
    cell = turn.notebook.snapshot.cell(cell_id) if cell_id else None
    unnamed = cell is not None and not call.input.get("title")
    job.title = name_of(turn, cell) if cell is not None and unnamed else title_for(step, call)
    job.expects, job.timeout, job.only_edits = how.expects, how.timeout, not how.run
    if cell is not None:
        job.is_code = cell.cell_type == "code"
    await carry_out(job, source)


async def scratch(step: Step, call: ToolUse, source: str, timeout: float | None) -> None:
    if is_refused(step, call):
        return
    job = open_draft(step, CellJob(step.turn, call, "scratch", "", title_for(step, call)))
    job.timeout = timeout
    await carry_out(job, source)


async def delete(step: Step, call: ToolUse, cell_id: str) -> None:
    turn = step.turn
    seen = turn.context.source_seen(cell_id) or ""
    known = turn.titles.get(cell_id)
    title = Sentence("Delete: {title}", title=known or title_of("", seen))
    job = open_draft(step, CellJob(turn, call, "delete", cell_id, title, seen))
    await carry_out(job, seen)


# --- whether a cell can be changed -------------------------------------------------------


async def to_change(step: Step, call: ToolUse, *names: str) -> list[CellView]:
    """The cells with these names, if the model knows their current source; else none, and the call
    has its result."""
    if is_refused(step, call):
        return []
    notebook, found_cells = step.turn.notebook, dict[str, CellView]()
    for name in names:
        found = notebook.find(name)
        cell = await notebook.look_at(found.cell_id) if found is not None else None
        if found is None or cell is None:
            words = f"There is no cell {name!r}. Cells: {notebook.known_ids()}."
            not_started(step, call, words)
            return []
        add_notes(step, call, found.note)
        if (stale := _stale(step.turn, cell)) is not None:
            _end_stale(step, call, *stale)
            return []
        found_cells[cell.cell_id] = cell
    return list(found_cells.values())


def _stale(turn: Turn, cell: CellView) -> tuple[str, str] | None:
    """Why a cell cannot be changed (it is private, or the model does not know its source), and the
    source to show, if any. None if it can be changed."""
    if PRIVATE in cell.tags:
        return f"The person keeps the cell {cell.cell_id!r} private. It cannot be changed.", ""
    if isinstance(cell, RanCode):
        return RECORD.format(id=cell.cell_id), ""
    seen = turn.context.source_seen(cell.cell_id)
    if seen == cell.source:
        return None
    why = "You have not read this cell" if seen is None else "The person changed this cell"
    if len(cell.source) > outputs.BUDGET:
        return f"{why}, and it is too long to show in full. Nothing was changed.", ""
    turn.context.seen(cell)
    return f"{why}. Nothing was changed. It reads:", cell.source


def _end_stale(step: Step, call: ToolUse, words: str, source: str) -> None:
    job = step.jobs.pop(call.id, None)
    title = (job.title if job is not None else None) or title_for(step, call)
    quoted = step.turn.untrusted.shown(source) if source else ""
    step.results[call.id] = step.turn.results.make(
        call, "not_started", words, title=title, summary=as_it_is(words), quoted=quoted
    )
