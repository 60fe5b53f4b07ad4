"""The definition of a tool: its text for the model, its label for people, its function.

Our own tools that change the notebook or ask the person have a ``work``. A tool that looks, as
every tool of another package, has a ``run``.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, cast

import msgspec

from ....base.errors import DocumentError
from ....run.approval import policy
from ....run.job import Kind
from ....run.turn.turn import Turn
from ....view.outputs import Seen
from ....view.redaction.private_names import Variable
from ....view.untrusted import Untrusted
from ....wire.messages import ToolUse
from ....wire.ops import PRIVATE, CellView, Snapshot, normalise
from ....wire.ports import ToolSpec
from . import arguments

# -------------------------------------------------------------------------------------------------
# The JSON schema of a tool's input, made from the type of its arguments.

_DROPPED = ("title", "default", "$defs", "exclusiveMinimum", "maximum")


def schema_of(arguments: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema without references, titles, nulls, bounds and defaults. The properties keep the
    order of the fields."""
    whole = msgspec.json.schema(arguments)
    plain: dict[str, Any] = _plain(whole, whole["$defs"])
    return plain


def _plain(given: Any, types: dict[str, Any]) -> Any:
    if not isinstance(given, dict):
        return given
    if "$ref" in given:
        named = types[given["$ref"].rpartition("/")[2]]
        # A docstring is for readers of the code.
        given = {**{k: v for k, v in named.items() if k != "description"}, **given}
        del given["$ref"]
    if "anyOf" in given:
        forms = [one for one in given["anyOf"] if one != {"type": "null"}]
        rest = {k: v for k, v in given.items() if k != "anyOf"}
        given = {**rest, **forms[0]} if len(forms) == 1 else {**rest, "anyOf": forms}
        if len(forms) == 1:
            return _plain(given, types)
    made: dict[str, Any] = {}
    for key, value in given.items():
        if key in _DROPPED or (key, value) == ("required", []):
            continue
        if key == "properties":
            made[key] = {name: _plain(one, types) for name, one in value.items()}
        elif key == "anyOf":
            made[key] = [_plain(one, types) for one in value]
        else:
            made[key] = _plain(value, types)
    return made


Effect = Literal["looks", "changes", "asks"]


class ToolContext:
    """A tool's access to the turn. ``turn`` is for built-in tools only, and its interface may
    change; the rest of this class is stable."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    @property
    def untrusted(self) -> Untrusted:
        """Escapes and cuts untrusted text, and removes known keys."""
        return self.turn.untrusted

    async def cells(self, cell_ids: Sequence[str] | None = None) -> list[CellView]:
        """The current cells, all or these; private ones lack source and outputs. "7" is the cell at
        place 7, "[7]" the cell that ran as number 7. Raises DocumentError, and LookupError with
        words for the model."""
        snapshot = await self.turn.notebook.look()
        if cell_ids is None:
            return [_redacted(cell) for cell in snapshot.cells]
        return [_redacted(self._one_of(snapshot, cell_id)) for cell_id in cell_ids]

    def _one_of(self, snapshot: Snapshot, name: str) -> CellView:
        found = self.turn.notebook.find(name)
        cell = snapshot.cell(found.cell_id) if found is not None else None
        if cell is None:
            raise LookupError(
                f"There is no cell {name!r}. Cells: {self.turn.notebook.known_ids()}."
            )
        return cell

    async def variables(self, names: Sequence[str] = ()) -> list[Variable] | None:
        """The kernel's variables, without running code; all if ``names`` is empty. None while it
        is busy. Omits values of private ones."""
        with suppress(DocumentError):  # A cell may have become private since the last look.
            await self.turn.notebook.look()
        return cast("list[Variable] | None", await self.turn.variables(tuple(names)))


def _redacted(cell: CellView) -> CellView:
    if PRIVATE not in cell.tags:
        return cell
    return msgspec.structs.replace(cell, source="", outputs=())


Run = Callable[[ToolContext, Any], Awaitable[Seen]]
Work = Callable[[Any, ToolUse, Any], Awaitable[None]]


@dataclass(frozen=True)
class Tool:
    name: str
    """At most 64 letters, digits, ``_`` and ``-``, as the Messages API requires."""
    label: str
    """Text on the card; "" to show the call's own title."""
    description: str
    """For the model."""
    arguments: type[msgspec.Struct] | type[dict[str, Any]]
    """The type of the input, from which the schema is made: describe each field with
    ``Annotated[str, msgspec.Meta(description="…")]``. A dictionary takes any input and needs
    ``whole_schema``."""
    effect: Effect = "looks"
    run: Run | None = None
    """Returns the text for the model. Text of other packages is untrusted: cut at 10,000
    characters, escaped, without known keys and images. DocumentError, KernelError and
    LookupError become words for the model."""
    work: Work | None = None
    """Our own tools only: carries out a call of the step's ``Step``, which get its result."""
    draft: Kind | None = None
    """Our own tools only: what the call drafts in the notebook."""
    action: policy.Action | None = None
    """The action for the policy, if the tool has no ``draft``."""
    whole_schema: dict[str, Any] | None = None

    @property
    def spec(self) -> ToolSpec:
        schema = self.whole_schema
        if schema is None and issubclass(self.arguments, msgspec.Struct):
            schema = schema_of(self.arguments)
        return ToolSpec(self.name, self.description, schema or {"type": "object"})


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ToolRegistry:
    """Tools in the order of their addition."""

    def __init__(self, built_in: Iterable[Tool], added: Iterable[Tool] = ()) -> None:
        self._built_in = tuple(built_in)
        self._tools = {tool.name: tool for tool in (*self._built_in, *added)}

    def add(self, tool: Tool) -> None:
        """Add another package's tool. Raises ValueError with the fault."""
        if not isinstance(tool, Tool):
            raise ValueError(f"{tool!r} is not a Tool")
        if not _NAME.fullmatch(tool.name):
            raise ValueError(f"{tool.name!r} is not a valid tool name")
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name!r} already exists")
        if tool.effect != "looks" or tool.work is not None or tool.draft is not None:
            raise ValueError(f"{tool.name!r} must only look")
        if tool.run is None or not tool.label:
            raise ValueError(f"{tool.name!r} must have a run of its own and a label")
        self._tools[tool.name] = tool

    def with_more(self, tools: Sequence[Tool]) -> ToolRegistry:
        """A copy for one conversation, with more tools. Those with a known name are left out."""
        if not tools:
            return self
        others = (tool for tool in tools if tool.name not in self._tools)
        return ToolRegistry(self._built_in, (*self._tools.values(), *others))

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def is_built_in(self, tool: Tool) -> bool:
        return tool in self._built_in

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
