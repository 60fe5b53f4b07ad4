"""Change the source of a cell, and run it if it is code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Union

import msgspec
from msgspec import Meta

from ...checks.shared.contract import Contract
from ...events import Event
from ...messages import ToolUse
from ..shared.base import Tool
from ..shared.drafting import Drafting, How
from ..shared.edits import Edit, edited
from .run_cell import Timeout, Title

ONE_OF = "Give either `edits` or `source`."
SAME = "The cell would not change: it has this source already. To run it, use run_cells."


class EditCell(msgspec.Struct, frozen=True, kw_only=True):
    title: Title = ""
    cell_id: str
    edits: Annotated[
        tuple[Edit, ...], Meta(description="Small changes, made in order. Instead of source.")
    ] = ()
    run: Annotated[
        bool, Meta(description="Default true. false leaves a code cell unrun, with its old output.")
    ] = True
    timeout_s: Timeout = None
    expects: Annotated[
        Union[Contract, None],
        Meta(description="As in run_cell.", extra_json_schema={"properties": {}}),
    ] = None
    source: Annotated[Union[str, None], Meta(description="The whole new source.")] = None


async def _work(drafting: Drafting, call: ToolUse, given: EditCell) -> AsyncIterator[Event]:
    for cell in await drafting.to_change(call, given.cell_id):
        try:
            source = _source(cell.source, given)
        except ValueError as error:
            drafting.step.not_started(call, str(error))
            return
        how = How(given.expects, given.timeout_s, given.run)
        async for event in drafting.write(call, source, how, cell_id=cell.cell_id):
            yield event


def _source(old: str, given: EditCell) -> str:
    if bool(given.edits) == (given.source is not None):
        raise ValueError(ONE_OF)
    source = edited(old, given.edits) if given.source is None else given.source
    if source == old and not given.run:
        raise ValueError(SAME)
    return source


EDIT_CELL = Tool(
    "edit_cell",
    "",
    "Change a cell that you have read, yours or the person's, in its place. Code is run "
    "afterwards. Use it to repair a failed cell.",
    EditCell,
    effect="changes",
    draft="edit",
    work=_work,
)
