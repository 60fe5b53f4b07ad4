"""The tools the model is told of, and the reading of what it sends.

Lenient on optional and unknown properties, strict on the types of what is used.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from ..document.ops import normalise
from ..ports import ToolSpec

TITLE_LENGTH = 60
"""Characters of a card's title."""


def _tool(name: str, description: str, required: list[str], **properties: Any) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(name, description, schema)


_TITLE = {"type": "string", "description": "What the cell does, at most 60 characters."}
_CELL = {"type": "string", "description": "Id of a cell."}

TOOLS: tuple[ToolSpec, ...] = (
    _tool(
        "run_cell",
        "Insert a new code cell, have it reviewed, run it in the live kernel, and get its "
        "outputs. Goes after your last cell unless after_cell_id says otherwise.",
        ["source"],
        title=_TITLE,
        after_cell_id={"type": "string", "description": "Id of the cell to insert after."},
        source={"type": "string", "description": "The code."},
    ),
    _tool(
        "edit_cell",
        "Replace the whole source of an existing cell, have the change reviewed, and run it if "
        "it is code. This is how to mend a cell that failed.",
        ["cell_id", "source"],
        title=_TITLE,
        cell_id=_CELL,
        source={"type": "string", "description": "The whole new source."},
    ),
    _tool(
        "add_markdown",
        "Insert a Markdown cell.",
        ["source"],
        after_cell_id={"type": "string", "description": "Id of the cell to insert after."},
        source={"type": "string", "description": "Markdown, without raw HTML."},
    ),
    _tool("delete_cell", "Delete a cell.", ["cell_id"], cell_id=_CELL),
    _tool(
        "read_notebook",
        "Read cells as they are now: ids, types, sources, and outputs if asked for.",
        [],
        cell_ids={"type": "array", "items": {"type": "string"}, "description": "Default: all."},
        include_outputs={"type": "boolean"},
    ),
    _tool(
        "read_output",
        "Read a part of a long output that was cut.",
        ["cell_id"],
        cell_id=_CELL,
        start={"type": "integer", "description": "First character, from 0."},
        length={"type": "integer", "description": "Characters, at most 10000."},
    ),
    _tool(
        "inspect_variables",
        "Types, shapes, columns and short values of the kernel's variables, without running code.",
        [],
        names={"type": "array", "items": {"type": "string"}, "description": "Default: all."},
    ),
    _tool(
        "ask_user",
        "Ask the person a question and wait for the answer.",
        ["question"],
        question={"type": "string"},
        options={"type": "array", "items": {"type": "string"}},
    ),
)

WRITING_TOOLS = frozenset({"run_cell", "edit_cell", "add_markdown"})
"""Tools whose ``source`` streams into the notebook while it is written."""
CHANGING_TOOLS = WRITING_TOOLS | {"delete_cell"}


class RunCell(msgspec.Struct, frozen=True):
    source: str
    title: Union[str, None] = None
    after_cell_id: Union[str, None] = None


class EditCell(msgspec.Struct, frozen=True):
    cell_id: str
    source: str
    title: Union[str, None] = None


class AddMarkdown(msgspec.Struct, frozen=True):
    source: str
    after_cell_id: Union[str, None] = None


class DeleteCell(msgspec.Struct, frozen=True):
    cell_id: str


class ReadNotebook(msgspec.Struct, frozen=True):
    cell_ids: Union[tuple[str, ...], None] = None
    include_outputs: Union[bool, None] = None


class ReadOutput(msgspec.Struct, frozen=True):
    cell_id: str
    start: Union[int, None] = None
    length: Union[int, None] = None


class InspectVariables(msgspec.Struct, frozen=True):
    names: Union[tuple[str, ...], None] = None


class AskUser(msgspec.Struct, frozen=True):
    question: str
    options: Union[tuple[str, ...], None] = None


Arguments = Union[
    RunCell, EditCell, AddMarkdown, DeleteCell, ReadNotebook, ReadOutput, InspectVariables, AskUser
]

_ARGUMENTS: dict[str, type[Arguments]] = {
    "run_cell": RunCell,
    "edit_cell": EditCell,
    "add_markdown": AddMarkdown,
    "delete_cell": DeleteCell,
    "read_notebook": ReadNotebook,
    "read_output": ReadOutput,
    "inspect_variables": InspectVariables,
    "ask_user": AskUser,
}


def parse(name: str, arguments: dict[str, Any]) -> Arguments:
    """The tool's input as a value. Raises ValueError with words for the model."""
    kind = _ARGUMENTS.get(name)
    if kind is None:
        known = ", ".join(tool.name for tool in TOOLS)
        raise ValueError(f"There is no tool {name!r}. The tools are: {known}.")
    given = dict(arguments)
    if isinstance(given.get("source"), str):
        given["source"] = normalise(given["source"])
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"Wrong input for {name}: {error}.") from None


def title_so_far(title: object, source: str) -> str:
    """The card's name while ``source`` is being written; "" until it is known."""
    given = isinstance(title, str) and bool(title.strip())
    whole_lines, _, _ = source.rpartition("\n")
    return title_of(title, whole_lines) if given or whole_lines.strip() else ""


def title_of(title: object, source: str) -> str:
    """The card's name: the title, else the first comment or line of the source."""
    text = title if isinstance(title, str) and title.strip() else ""
    if not text:
        lines = (line.strip() for line in source.splitlines())
        text = next((line for line in lines if line and not line.startswith("%%")), "")
        text = text.lstrip("#").strip() or "Cell"
    text = " ".join(text.split())
    return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1] + "…"
