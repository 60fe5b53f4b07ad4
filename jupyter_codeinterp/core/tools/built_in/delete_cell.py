"""Delete a cell."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from ...events import Event
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class DeleteCell(msgspec.Struct, frozen=True):
    cell_id: str


def _work(drafting: Drafting, call: ToolUse, arguments: DeleteCell) -> AsyncIterator[Event]:
    return drafting.delete(call, arguments.cell_id)


DELETE_CELL = Tool(
    "delete_cell",
    "Delete a cell",
    "Delete a cell.",
    DeleteCell,
    {"cell_id": STRING},
    ("cell_id",),
    effect="changes",
    draft="delete",
    work=_work,
)
