"""A request as a script sees it: what was said, and how far the conversation has come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_CELL_ID = re.compile(r"\bcell_id=(\S+)")
_CONTEXT = re.compile(
    r"<(context|changes)\b.*?</\1>|^\[Between <output-[0-9a-f]{16}> and [^\]]*\]"
    r"|^\[Check of your answer:[^\]]*\]|\[This turn:[^\]]*\]"
    r"|\[picture of [^\[\]]*(?:\[\d+\])?\]",
    re.DOTALL,
)
"""What the product adds to the person's words."""
_NOTEBOOK_CELL = re.compile(r'<cell [^>]*?\bid="([^"]+)"')


@dataclass(frozen=True)
class Request:
    """``attempt`` counts how often this very body has come, from 1."""

    body: dict[str, Any]
    attempt: int = 1

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @cached_property
    def said(self) -> list[str]:
        """What the person said, in order: the texts of user messages, without results."""
        texts = [_texts(message) for message in self.messages if _is_said(message)]
        return [_CONTEXT.sub("", text).strip() for text in texts]

    @cached_property
    def step(self) -> int:
        """How many answers there are since the person last said something."""
        last = max(i for i, message in enumerate(self.messages) if _is_said(message))
        return sum(message["role"] == "assistant" for message in self.messages[last:])

    @cached_property
    def results(self) -> list[str]:
        """The texts of the tool results in the last message."""
        blocks = _all_blocks(self.messages[-1:])
        return [_texts(block) for block in blocks if block["type"] == "tool_result"]

    @cached_property
    def cell_ids(self) -> list[str]:
        """The ids of the cells that results of the whole conversation name, in order."""
        results = (block for block in _all_blocks(self.messages) if block["type"] == "tool_result")
        return [name for block in results for name in _CELL_ID.findall(_texts(block))]

    @property
    def notebook_cell(self) -> str:
        """The first cell of the notebook that the context or a result shows."""
        found = _NOTEBOOK_CELL.search("\n".join(_all_texts(self.messages)))
        return found[1] if found else "no-such-cell"

    @property
    def last_cell(self) -> str:
        return self.cell_ids[-1] if self.cell_ids else "no-such-cell"


def _is_said(message: dict[str, Any]) -> bool:
    """After a stopped turn the person's words follow its results, in one message."""
    return message["role"] == "user" and bool(_CONTEXT.sub("", _texts(message)).strip())


def _all_blocks(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    contents = (m["content"] for m in messages if isinstance(m["content"], list))
    return [block for content in contents for block in content]


def _all_texts(messages: list[dict[str, Any]]) -> list[str]:
    results = (block for block in _all_blocks(messages) if block["type"] == "tool_result")
    return [*map(_texts, messages), *map(_texts, results)]


def _texts(value: dict[str, Any]) -> str:
    content = value.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
