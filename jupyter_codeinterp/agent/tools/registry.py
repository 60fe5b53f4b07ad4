"""The tools that a model may call. Add one with a line in ``BUILT_IN``, or from another package
with the entry-point group ``jupyter_codeinterp.tools``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ...wire.ops import normalise
from ...wire.ports import ToolSpec
from .built_in.add_markdown import ADD_MARKDOWN
from .built_in.arrange import DELETE_CELL, MOVE_CELL
from .built_in.ask_user import ASK_USER
from .built_in.edit_cell import EDIT_CELL
from .built_in.inspect_variables import INSPECT_VARIABLES
from .built_in.kernel import KERNEL
from .built_in.new_notebook import NEW_NOTEBOOK
from .built_in.read_notebook import READ_NOTEBOOK
from .built_in.read_output import READ_OUTPUT, READ_SKILL
from .built_in.run_cell import RUN_CELL, SCRATCH
from .built_in.run_cells import RUN_CELLS
from .built_in.verify import VERIFY
from .shared import arguments, own_run
from .shared.base import Tool, Work

BUILT_IN = (
    RUN_CELL,
    RUN_CELLS,
    EDIT_CELL,
    SCRATCH,
    ADD_MARKDOWN,
    MOVE_CELL,
    DELETE_CELL,
    READ_NOTEBOOK,
    READ_OUTPUT,
    READ_SKILL,
    INSPECT_VARIABLES,
    KERNEL,
    NEW_NOTEBOOK,
    VERIFY,
    ASK_USER,
)
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolRegistry:
    """Tools in the order of their addition."""

    def __init__(self, tools: Iterable[Tool] = BUILT_IN) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def add(self, tool: Tool) -> None:
        """Add another package's tool. Raises ValueError with the fault."""
        if not isinstance(tool, Tool):
            raise ValueError(f"{tool!r} is not a Tool")
        if not _NAME.fullmatch(tool.name):
            raise ValueError(f"{tool.name!r} is not a valid tool name")
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name!r} already exists")
        if tool.effect == "asks" or tool.work is not None or tool.draft is not None:
            raise ValueError(f"{tool.name!r} must look or change")
        if tool.run is None or not tool.label:
            raise ValueError(f"{tool.name!r} must have a run of its own and a label")
        self._tools[tool.name] = tool

    def with_more(self, tools: Sequence[Tool]) -> ToolRegistry:
        """A copy for one conversation, with more tools. Those with a known name are left out."""
        if not tools:
            return self
        others = (tool for tool in tools if tool.name not in self._tools)
        return ToolRegistry((*self._tools.values(), *others))

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def is_built_in(self, tool: Tool) -> bool:
        return tool in BUILT_IN

    def work(self, tool: Tool) -> Work:
        """What carries out a call of the tool."""
        return tool.work or own_run.work

    def label(self, name: str) -> str:
        """The tool's label; "" if it is unknown, or its calls have titles."""
        tool = self._tools.get(name)
        return tool.label if tool is not None else ""

    def changes(self, name: str) -> bool:
        """Whether the tool changes the notebook."""
        tool = self._tools.get(name)
        return tool is not None and tool.effect == "changes"

    def parse(
        self, name: str, given: dict[str, Any]
    ) -> tuple[msgspec.Struct | dict[str, Any], tuple[str, ...]]:
        """A tool's input, and notes for the model on ignored parts. Raises ValueError with words
        for the model."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools)
            raise ValueError(f"There is no tool {name!r}. The tools are: {known}.")
        if not issubclass(tool.arguments, msgspec.Struct):
            return dict(given), ()
        found, notes = arguments.read(name, given, tool.arguments)
        source = getattr(found, "source", None)
        if isinstance(source, str):
            found = msgspec.structs.replace(found, source=normalise(source))
        return found, notes
