"""Insert a code cell and run it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Union

import msgspec

from ...checks.shared.contract import Contract
from ...events import Event
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class RunCell(msgspec.Struct, frozen=True):
    source: str
    title: Union[str, None] = None
    after_cell_id: Union[str, None] = None
    expects: Union[Contract, None] = None


_NAMES = {"type": "array", "items": STRING}
EXPECTS = {
    "type": "object",
    "properties": {
        "name": STRING,
        "type": STRING,
        "columns": _NAMES,
        "rows": STRING,
        "may_change": _NAMES,
    },
}


def _work(drafting: Drafting, call: ToolUse, arguments: RunCell) -> AsyncIterator[Event]:
    return drafting.write(call, arguments.source, expects=arguments.expects)


RUN_CELL = Tool(
    "run_cell",
    "",
    "Run a new code cell, by default after your last one.",
    RunCell,
    {
        "title": STRING,
        "after_cell_id": STRING,
        "expects": EXPECTS,
        "source": STRING,
    },
    ("source",),
    effect="changes",
    draft="insert",
    work=_work,
)
