"""Finds markup of a model that its server should have parsed: thinking and tool calls as text.

Local servers send it if they do not know the model's format, or were started without parsers.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from json import JSONDecodeError, loads
from typing import Literal

Kind = Literal["thinking", "text"]
THINKING = {"<think>": "</think>", "[THINK]": "[/THINK]"}
"""Tags around thinking (Qwen, DeepSeek and others; Mistral), at the beginning of an answer."""
_CALL = re.compile(
    r"^[ \t]*(?:<tool_call>|<\|tool_call\|?>|\[TOOL_CALLS\]|<\|python_tag\|>|<function=)", re.M
)
_NEAR = 200
"""Characters after the beginning of a call in which the tool's name stands."""
_LONGEST_JSON = 200_000


class ThinkingSplitter:
    """Splits a streamed text into thinking, if it begins with that, and the answer."""

    def __init__(self) -> None:
        self._held = ""
        """The last characters, which may be a part of a tag."""
        self._end = ""
        """The tag that ends the thinking; "" outside of it."""
        self._is_text = False
        self._is_first = False
        """Whether thinking has just ended."""

    def split(self, text: str, last: bool = False) -> list[tuple[Kind, str]]:
        """The pieces that are certain by now. ``last``: nothing follows."""
        if self._is_text:
            return self._answer(text)
        text, self._held = self._held + text, ""
        if not self._end:
            return self._begin(text, last)
        thought, closed, rest = text.partition(self._end)
        if closed:
            self._is_text = self._is_first = True
            return [("thinking", thought), *self._answer(rest)]
        certain = len(text) if last else len(text) - _overlap(text, self._end)
        self._held = text[certain:]
        return [("thinking", text[:certain])]

    def _answer(self, text: str) -> list[tuple[Kind, str]]:
        """Without the blank lines that follow thinking."""
        if self._is_first:
            text = text.lstrip()
            self._is_first = not text
        return [("text", text)]

    def _begin(self, text: str, last: bool) -> list[tuple[Kind, str]]:
        start = text.lstrip()
        for tag, end in THINKING.items():
            if start.startswith(tag):
                self._end = end
                return self.split(start.removeprefix(tag), last)
        if not last and any(tag.startswith(start) for tag in THINKING):
            self._held = text
            return []
        self._is_text = True
        return [("text", text)]


def _overlap(text: str, tag: str) -> int:
    """The length of the longest beginning of ``tag`` that ends ``text``."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)


def ends_with_call(answer: str, tools: Collection[str]) -> bool:
    """Whether an answer ends with a call of one of these tools, written as text. A call in a
    code block is an example."""
    found = _CALL.search(answer)
    if found is None:
        return _is_json_call(answer.strip(), tools)
    call = answer[found.start() :]
    return "```" not in call and any(name in call[: len(found[0]) + _NEAR] for name in tools)


def _is_json_call(answer: str, tools: Collection[str]) -> bool:
    """Llama's models write a call as a JSON object and nothing else."""
    if not answer.startswith("{") or len(answer) > _LONGEST_JSON:
        return False
    try:
        value = loads(answer)
    except (JSONDecodeError, RecursionError):
        return False
    named = isinstance(value, dict) and value.get("name") in tools
    return named and bool(value.keys() & {"parameters", "arguments"})
