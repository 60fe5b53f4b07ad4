"""Insert a code cell and run it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Union

import msgspec

from ...events import Event
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class RunCell(msgspec.Struct, frozen=True):
    source: str
    title: Union[str, None] = None
    after_cell_id: Union[str, None] = None


def _work(drafting: Drafting, call: ToolUse, arguments: RunCell) -> AsyncIterator[Event]:
    return drafting.write(call, arguments.source)


RUN_CELL = Tool(
    "run_cell",
    "",
    "Insert a code cell and run it once reviewed; by default after your last cell.",
    RunCell,
    {
        "title": STRING,
        "after_cell_id": STRING,
        "source": STRING,
    },
    ("source",),
    effect="changes",
    draft="insert",
    work=_work,
)
