"""The tools that a model is told of. A tool that looks is added with one line in ``BUILT_IN``, or
from another package by the entry-point group ``jupyter_codeinterp.tools``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from ..document.ops import normalise
from ..ports import ToolSpec
from .base import Tool
from .inspect_variables import INSPECT_VARIABLES
from .read_notebook import READ_NOTEBOOK
from .read_output import READ_OUTPUT
from .specs import ADD_MARKDOWN, ASK_USER, DELETE_CELL, EDIT_CELL, RUN_CELL

BUILT_IN = (
    RUN_CELL,
    EDIT_CELL,
    ADD_MARKDOWN,
    DELETE_CELL,
    READ_NOTEBOOK,
    READ_OUTPUT,
    INSPECT_VARIABLES,
    ASK_USER,
)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolRegistry:
    """In the order in which they were added. A turn begins with those that are there then."""

    def __init__(self, tools: Iterable[Tool] = BUILT_IN) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def add(self, tool: Tool) -> None:
        """One that looks, of others. Raises ValueError with what is wrong with it."""
        if not isinstance(tool, Tool):
            raise ValueError(f"{tool!r} is no Tool")
        if not _NAME.fullmatch(tool.name):
            raise ValueError(f"{tool.name!r} is no name for a tool")
        if tool.name in self._tools:
            raise ValueError(f"there is a tool {tool.name!r} already")
        if tool.effect != "looks" or tool.run is None or not tool.label:
            raise ValueError(f"{tool.name!r} must look, have a run of its own and a label")
        self._tools[tool.name] = tool

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def label(self, name: str) -> str:
        """ "" for a tool that is not known, or whose calls have titles."""
        tool = self._tools.get(name)
        return tool.label if tool is not None else ""

    def changes(self, name: str) -> bool:
        """Whether it changes the notebook."""
        tool = self._tools.get(name)
        return tool is not None and tool.effect == "changes"

    def parse(self, name: str, arguments: dict[str, Any]) -> msgspec.Struct:
        """The tool's input as a value, lenient on optional and unknown properties, strict on
        the types of what is used. Raises ValueError with words for the model."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools)
            raise ValueError(f"There is no tool {name!r}. The tools are: {known}.")
        given = dict(arguments)
        if isinstance(given.get("source"), str):
            given["source"] = normalise(given["source"])
        try:
            return msgspec.convert(given, tool.arguments)
        except msgspec.ValidationError as error:
            raise ValueError(f"Wrong input for {name}: {error}.") from None
