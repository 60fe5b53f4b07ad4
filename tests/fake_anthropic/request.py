"""A request as a script sees it: what was said, and how far the conversation has come."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_CELL_ID = re.compile(r"\bcell_id=(\S+)")


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
        """What the person said, in order: the texts of user messages without results."""
        return [_texts(message) for message in self.messages if _is_said(message)]

    @cached_property
    def step(self) -> int:
        """How many answers there are since the person last said something."""
        last = max(i for i, message in enumerate(self.messages) if _is_said(message))
        return sum(message["role"] == "assistant" for message in self.messages[last:])

    @cached_property
    def results(self) -> list[str]:
        """The texts of the tool results in the last message."""
        content = self.messages[-1]["content"]
        blocks = content if isinstance(content, list) else []
        return [_texts(block) for block in blocks if block["type"] == "tool_result"]

    @cached_property
    def cell_ids(self) -> list[str]:
        """The ids of the cells that results of the whole conversation name, in order."""
        ids: list[str] = []
        for message in self.messages:
            for block in message["content"] if isinstance(message["content"], list) else []:
                if block["type"] == "tool_result":
                    ids += _CELL_ID.findall(_texts(block))
        return ids

    @property
    def last_cell(self) -> str:
        return self.cell_ids[-1] if self.cell_ids else "no-such-cell"


def _is_said(message: dict[str, Any]) -> bool:
    content = message["content"]
    if message["role"] != "user":
        return False
    return isinstance(content, str) or all(block["type"] != "tool_result" for block in content)


def _texts(value: dict[str, Any]) -> str:
    content = value.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
