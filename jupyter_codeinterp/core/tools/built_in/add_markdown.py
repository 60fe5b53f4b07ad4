"""Insert a Markdown cell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Union

import msgspec

from ...events import Event
from ...messages import ToolUse
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting


class AddMarkdown(msgspec.Struct, frozen=True):
    source: str
    after_cell_id: Union[str, None] = None


def _work(drafting: Drafting, call: ToolUse, arguments: AddMarkdown) -> AsyncIterator[Event]:
    return drafting.write(call, arguments.source)


ADD_MARKDOWN = Tool(
    "add_markdown",
    "Write text",
    "Insert a Markdown cell; no raw HTML.",
    AddMarkdown,
    {"after_cell_id": STRING, "source": STRING},
    ("source",),
    effect="changes",
    draft="markdown",
    work=_work,
)
