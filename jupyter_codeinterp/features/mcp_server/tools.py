"""The tools for clients: the agent's own, with a notebook's path, and ``list_notebooks``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...agent.tools.registry import BUILT_IN
from ...wire.commands import CHANGE, EXECUTE, LOOK

_FOLDER = {"type": "object", "properties": {"folder": {"type": "string"}}, "required": []}
_NOTEBOOK = {
    "type": "string",
    "description": "Path of the notebook on the server, as list_notebooks gives it.",
}
REVIEWED = (
    "A person reviews it in JupyterLab first, unless the server's admin lets it run at once. The "
    "call waits for the decision."
)


class OfferedTool(NamedTuple):
    """A tool as a client sees it. ``schema`` is the JSON Schema of its input; ``needs``: the
    permissions of a call, as (action, resource) of jupyter_server's authorizer."""

    name: str
    description: str
    schema: dict[str, Any]
    needs: tuple[tuple[str, str], ...]
    changes: bool = True


def _own(name: str, description: str, *needs: tuple[str, str]) -> OfferedTool:
    """The agent's tool of this name."""
    spec = next(tool.spec for tool in BUILT_IN if tool.name == name).input_schema
    properties = {"notebook": _NOTEBOOK, **spec["properties"]}
    required = ["notebook", *spec.get("required", ())]
    schema = {"type": "object", "properties": properties, "required": required}
    return OfferedTool(name, description, schema, needs, CHANGE in needs)


LISTS = "Notebooks and folders in a folder of the server, by default its root."
READS = "Read current cells. Long notebooks are cut: name more with cell_ids."
READS_ON = "Read more of a cell's cut output, by start and length in characters."
INSPECTS = "Types, shapes, columns and short values of variables in the kernel."
RUNS = f"Insert a code cell, by default after your last one, and run it. {REVIEWED}"
EDITS = f"Replace the source of a code cell and run it. {REVIEWED}"
WRITES = "Insert a Markdown cell. A person reviews anything beyond plain Markdown."
OFFERED = (
    OfferedTool("list_notebooks", LISTS, _FOLDER, (LOOK,), changes=False),
    _own("read_notebook", READS, LOOK),
    _own("read_output", READS_ON, LOOK),
    _own("inspect_variables", INSPECTS, LOOK, EXECUTE),
    _own("run_cell", RUNS, EXECUTE, CHANGE),
    _own("edit_cell", EDITS, EXECUTE, CHANGE),
    _own("add_markdown", WRITES, EXECUTE, CHANGE),
    _own("delete_cell", f"Delete a cell. {REVIEWED}", EXECUTE, CHANGE),
)
BY_NAME = {tool.name: tool for tool in OFFERED}


def offered(scope: str) -> tuple[OfferedTool, ...]:
    """The tools of a token with this scope."""
    return tuple(tool for tool in OFFERED if scope == "run" or not tool.changes)
