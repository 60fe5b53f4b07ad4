"""What the kernel holds, without running code."""

from __future__ import annotations

import json
from typing import Any, Union

import msgspec

from ...model_view import outputs
from ...model_view.outputs import Seen
from ..shared.base import STRING, Tool, ToolContext

_MOST_VARIABLES = 1_000


class InspectVariables(msgspec.Struct, frozen=True):
    names: Union[tuple[str, ...], None] = None


async def _run(context: ToolContext, arguments: InspectVariables) -> Seen:
    found = await context.variables(arguments.names or ())
    if found is None:
        raise LookupError(
            "Variables are not available: the kernel is busy, or its language is unknown."
        )
    lines = [_line(entry) for entry in found[:_MOST_VARIABLES]]
    text = context.turn.untrusted.scrub("\n".join(lines)) or "No variables."
    return Seen(outputs.excerpt(text, 0, outputs.BUDGET))


def _line(entry: Any) -> str:
    """A variable as the kernel tells it: it may tell anything."""
    try:
        return json.dumps(entry, ensure_ascii=False)[: outputs.BUDGET]
    except (RecursionError, TypeError, ValueError):
        return "(not readable)"


INSPECT_VARIABLES = Tool(
    "inspect_variables",
    "Look at the variables",
    "Types, shapes, columns, short values.",
    InspectVariables,
    {"names": {"type": "array", "items": STRING}},
    run=_run,
)
