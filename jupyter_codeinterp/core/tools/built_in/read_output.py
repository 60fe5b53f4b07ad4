"""A part of a long output that was cut."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ...document.ops import PRIVATE
from ...model_view import outputs
from ...model_view.outputs import Seen
from ...off_loop import off_loop
from ...turn.results import UNREADABLE
from ..shared.base import Tool, ToolContext


class ReadOutput(msgspec.Struct, frozen=True, kw_only=True):
    cell_id: str
    start_char: Annotated[
        int, Meta(description="Where to begin; negative counts from the end. Default 0.")
    ] = 0
    max_chars: Annotated[int, Meta(description="At most 10,000, the default.")] = outputs.BUDGET


async def _run(context: ToolContext, given: ReadOutput) -> Seen:
    turn = context.turn
    (cell,) = await context.cells([given.cell_id])
    if PRIVATE in cell.tags:
        raise LookupError(f"The person keeps the cell {cell.cell_id!r} private.")
    kept = await turn.store.cell_outputs(turn.session_id, cell.cell_id)
    shown = cell.outputs if kept is None else kept
    read = partial(
        outputs.read,
        shown,
        given.start_char,
        given.max_chars,
        images_left=turn.results.images_left,
        scrub=turn.untrusted.scrub,
    )
    return await off_loop(read, outputs.size(shown), lambda: Seen(UNREADABLE))


READ_OUTPUT = Tool(
    "read_output",
    "Read an output",
    "Read a part of a cell's output that was cut; its pictures are shown again.",
    ReadOutput,
    run=_run,
)
