"""Run code without a cell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from msgspec import Meta

from ...events import Event
from ...messages import ToolUse
from ..shared.base import Tool
from ..shared.drafting import Drafting
from .run_cell import Timeout, Title


class RunScratch(msgspec.Struct, frozen=True, kw_only=True):
    title: Title = ""
    timeout_s: Timeout = None
    source: Annotated[str, Meta(description="Name helper variables with a leading underscore.")]


def _work(drafting: Drafting, call: ToolUse, given: RunScratch) -> AsyncIterator[Event]:
    return drafting.scratch(call, given.source, given.timeout_s)


SCRATCH = Tool(
    "scratch",
    "",
    "Run code in the live kernel under the same review, without a cell: to look at data, count or "
    "find a fault. Only you and the card of this call get the result. What the answer rests on "
    "belongs into cells.",
    RunScratch,
    effect="changes",
    work=_work,
    action="scratch",
)
