"""Delete cells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from msgspec import Meta

from ...cells.draft import DraftCell
from ...events import Event
from ...messages import ToolUse
from ..shared.base import Tool
from ..shared.drafting import Drafting
from ..shared.several import Several
from ..shared.titles import title_of


class DeleteCell(msgspec.Struct, frozen=True, kw_only=True):
    cell_ids: Annotated[tuple[str, ...], Meta(description="Cells that you have read.")]


async def _work(drafting: Drafting, call: ToolUse, given: DeleteCell) -> AsyncIterator[Event]:
    cells = await drafting.to_change(call, *dict.fromkeys(given.cell_ids))
    if len(cells) == 1:
        async for event in drafting.delete(call, cells[0].cell_id):
            yield event
    elif cells:
        drafts = [
            DraftCell(drafting.turn, f"{call.id}-cell{n}", "delete", cell.cell_id, "", cell.source)
            for n, cell in enumerate(cells, 1)
        ]
        for draft in drafts:
            draft.source, draft.title = draft.old_source, title_of("", draft.old_source)
        several = Several(drafting, call, "delete", drafts)
        title = f"Delete {len(cells)} cells"
        async for event in several.events(title, f"{title}:"):
            yield event


DELETE_CELL = Tool(
    "delete_cell",
    "Delete a cell",
    "Delete cells, yours or, if the request needs it, the person's.",
    DeleteCell,
    effect="changes",
    draft="delete",
    work=_work,
)
