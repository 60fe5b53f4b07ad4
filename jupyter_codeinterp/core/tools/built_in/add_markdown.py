"""Insert a Markdown cell."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from ...messages import ToolUse
from ...wire.events import Event
from ..shared.base import Tool
from ..shared.drafting import Drafting
from .run_cell import Position


class AddMarkdown(msgspec.Struct, frozen=True, kw_only=True):
    position: Position = ""
    source: str


def _work(drafting: Drafting, call: ToolUse, given: AddMarkdown) -> AsyncIterator[Event]:
    return drafting.write(call, given.source, position=given.position)


ADD_MARKDOWN = Tool(
    "add_markdown",
    "Write text",
    "Insert a Markdown cell, without raw HTML.",
    AddMarkdown,
    effect="changes",
    draft="markdown",
    work=_work,
)
