"""Reads cells of the notebook."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.off_loop import off_loop
from ....base.sentences import Sentence
from ....run.turn.results import UNREADABLE
from ....view import outputs
from ....view.notebook_prompt import cell_tag, count_text, earlier
from ....view.outputs import Seen
from ....view.plain_text import cut
from ....view.untrusted import Untrusted
from ....wire.ops import CellView, weight
from ....wire.ports import KernelState
from ..shared.base import Tool, ToolContext

_OUTPUTS = 2_000
"""Characters of a cell's outputs beside its source."""


class ReadCells(msgspec.Struct, frozen=True, kw_only=True):
    cell_ids: Annotated[tuple[str, ...], Meta(description="Default: all.")] = ()
    outputs: Annotated[bool, Meta(description="Show the outputs too. Default false.")] = False


async def _run(context: ToolContext, given: ReadCells) -> Seen:
    cells = await context.cells(given.cell_ids or None)
    state = await context.turn.kernel.state()
    text, whole = await off_loop(
        partial(cell_texts, cells, given.outputs, context.untrusted, state),
        sum(len(cell.source) + weight(cell.outputs) for cell in cells),
        lambda: (UNREADABLE, ()),
    )
    for cell in whole:
        context.turn.context.seen(cell)
    return Seen(text)


READ_NOTEBOOK = Tool(
    "read_notebook",
    Sentence("Read the notebook"),
    "Read whole cells as they are now, about 10,000 characters at once.",
    ReadCells,
    run=_run,
)


def cell_texts(
    cells: list[CellView],
    with_outputs: bool,
    untrusted: Untrusted,
    state: KernelState = KernelState(),  # noqa: B008, frozen
) -> tuple[str, tuple[CellView, ...]]:
    """The cells in tags, within the limit, and the list of cells shown in full."""
    parts: list[str] = []
    whole: list[CellView] = []
    room = outputs.BUDGET
    before = earlier(cells, state)
    for cell in cells:
        count = count_text(cell, before)
        text = _cell_text(cell, count, with_outputs, untrusted, outputs.BUDGET)
        if len(text) > room and parts:
            left = len(cells) - len(parts)
            words = f"… {left} more cells, from {cell.cell_id} on; request them with cell_ids."
            parts.append(words)
            break
        if len(text) > room:
            text = _cell_text(cell, count, with_outputs, untrusted, room - _OUTPUTS - 500)
        elif len(cell.source) <= outputs.BUDGET:
            whole.append(cell)
        room -= len(text)
        parts.append(text)
    return "\n".join(parts) or "The notebook is empty.", tuple(whole)


def _cell_text(
    cell: CellView, count: str, with_outputs: bool, untrusted: Untrusted, most: int
) -> str:
    facts = {"id": cell.cell_id, "type": cell.cell_type, "count": count}
    source = untrusted.scrub(cell.source)
    if len(source) > most:
        facts |= {"length": f"{len(source):,} characters", "shown": "part"}
    if with_outputs and cell.cell_type == "code" and not cell.outputs:
        facts["outputs"] = "none"
    room = _OUTPUTS if with_outputs else 0
    return cell_tag(cell, cut(source, most), untrusted.scrub, room, facts)
