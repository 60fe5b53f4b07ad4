"""The tools for clients: the agent's own, with a notebook's path, and three more."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...core.tools.registry import BUILT_IN
from ...core.wire.commands import CHANGE, EXECUTE, LOOK

_STRING = {"type": "string"}
_NOTEBOOK = {
    "type": "string",
    "description": "Path of the notebook on the server, as list_notebooks gives it.",
}
REVIEWED = (
    "A person reviews it in JupyterLab first, unless the server's admin lets it run at once. The "
    "call waits for the decision."
)
_DESCRIBED = {
    "read_notebook": "Read current cells. Long notebooks are cut: name more with cell_ids.",
    "read_output": "Read more of a cell's cut output, by start and length in characters.",
    "inspect_variables": "Types, shapes, columns and short values of variables in the kernel.",
    "run_cell": f"Insert a code cell, by default after your last one, and run it. {REVIEWED}",
    "edit_cell": f"Replace the source of a code cell and run it. {REVIEWED}",
    "add_markdown": "Insert a Markdown cell. A person reviews anything beyond plain Markdown.",
    "delete_cell": f"Delete a cell. {REVIEWED}",
}
LOOKS = ("read_notebook", "read_output", "inspect_variables")
CHANGES = ("run_cell", "edit_cell", "add_markdown", "delete_cell")


class Offered(NamedTuple):
    """A tool as a client sees it. ``schema`` is the JSON Schema of its input."""

    name: str
    description: str
    schema: dict[str, Any]
    changes: bool


def _own() -> tuple[Offered, ...]:
    found = {tool.name: tool.spec for tool in BUILT_IN}
    return tuple(
        Offered(
            name,
            _DESCRIBED[name],
            {
                "type": "object",
                "properties": {"notebook": _NOTEBOOK, **found[name].input_schema["properties"]},
                "required": ["notebook", *found[name].input_schema.get("required", ())],
            },
            name in CHANGES,
        )
        for name in (*LOOKS, *CHANGES)
    )


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


OFFERED = (
    Offered(
        "list_notebooks",
        "Notebooks and folders in a folder of the server, by default its root.",
        _schema([], folder=_STRING),
        False,
    ),
    *_own(),
    Offered(
        "interrupt",
        "Stop your call at work in a notebook. If you have none there, ask the person to interrupt "
        "the kernel.",
        _schema(["notebook"], notebook=_NOTEBOOK),
        True,
    ),
    Offered(
        "ask",
        "Give a task to the notebook's own agent. It writes and runs cells, which a person "
        "reviews. Returns its answer, cells and pictures. Name a conversation to continue it.",
        _schema(["notebook", "text"], notebook=_NOTEBOOK, text=_STRING, conversation=_STRING),
        True,
    ),
)


def needs_of(name: str) -> tuple[tuple[str, str], ...]:
    """The permissions of a call, as (action, resource) of jupyter_server's authorizer."""
    if name == "inspect_variables":
        return LOOK, EXECUTE
    if name == "interrupt":
        return (EXECUTE,)
    return (EXECUTE, CHANGE) if name in CHANGES or name == "ask" else (LOOK,)


def offered(scope: str) -> tuple[Offered, ...]:
    """The tools of a token with this scope."""
    return tuple(tool for tool in OFFERED if scope == "run" or not tool.changes)
