"""Insert a Markdown cell."""

from __future__ import annotations

import msgspec

from ....base.sentences import Sentence
from ....wire.messages import ToolUse
from ..shared.base import Tool
from ..shared.step import Step
from ..shared.writing import write
from .run_cell import Position


class AddMarkdown(msgspec.Struct, frozen=True, kw_only=True):
    position: Position = ""
    source: str


async def _work(step: Step, call: ToolUse, given: AddMarkdown) -> None:
    await write(step, call, given.source, position=given.position)


ADD_MARKDOWN = Tool(
    "add_markdown",
    Sentence("Write text"),
    "Insert a Markdown cell, without raw HTML.",
    AddMarkdown,
    effect="changes",
    draft="markdown",
    work=_work,
)
