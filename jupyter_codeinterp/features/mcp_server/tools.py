"""The tools for clients: the agent's own, with a notebook's path, and ``list_notebooks``."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...agent.tools.registry import BUILT_IN
from ...wire.commands import CHANGE, EXECUTE, LOOK

_NOTEBOOK = {
    "type": "string",
    "description": "Path of the notebook, relative to the root of the Jupyter server.",
}
REVIEWED = " A person reviews it in JupyterLab first. The call waits for the decision."


class OfferedTool(NamedTuple):
    """A tool as a client sees it. ``schema`` is the JSON Schema of its input; ``needs``: the
    permissions of a call, as (action, resource) of jupyter_server's authorizer."""

    name: str
    description: str
    schema: dict[str, Any]
    needs: tuple[tuple[str, str], ...]

    @property
    def changes(self) -> bool:
        return CHANGE in self.needs


def _own(name: str, *needs: tuple[str, str]) -> OfferedTool:
    """The agent's tool of this name."""
    spec = next(tool.spec for tool in BUILT_IN if tool.name == name)
    properties = {"notebook": _NOTEBOOK, **spec.input_schema["properties"]}
    required = ["notebook", *spec.input_schema.get("required", ())]
    schema = {"type": "object", "properties": properties, "required": required}
    description = spec.description + (REVIEWED if CHANGE in needs else "")
    return OfferedTool(name, description, schema, needs)


LISTS = "Paths of the notebooks that are open in JupyterLab."
OFFERED = (
    OfferedTool("list_notebooks", LISTS, {"type": "object", "properties": {}}, (LOOK,)),
    _own("read_notebook", LOOK),
    _own("read_output", LOOK),
    _own("inspect_variables", LOOK, EXECUTE),
    _own("run_cell", EXECUTE, CHANGE),
    _own("edit_cell", EXECUTE, CHANGE),
    _own("add_markdown", EXECUTE, CHANGE),
    _own("delete_cell", EXECUTE, CHANGE),
)
BY_NAME = {tool.name: tool for tool in OFFERED}
