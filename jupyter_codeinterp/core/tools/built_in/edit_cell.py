"""Replace the source of a cell, and run it if it is code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Union

import msgspec

from ...checks.shared.contract import Contract
from ...events import Event
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class EditCell(msgspec.Struct, frozen=True):
    cell_id: str
    source: str
    title: Union[str, None] = None
    expects: Union[Contract, None] = None


def _work(drafting: Drafting, call: ToolUse, arguments: EditCell) -> AsyncIterator[Event]:
    return drafting.write(call, arguments.source, arguments.cell_id, arguments.expects)


EDIT_CELL = Tool(
    "edit_cell",
    "",
    "Replace a cell's whole source; code is run.",
    EditCell,
    {
        "title": STRING,
        "cell_id": STRING,
        "expects": {"type": "object", "properties": {"name": STRING}},
        "source": STRING,
    },
    ("cell_id", "source"),
    effect="changes",
    draft="edit",
    work=_work,
)
