"""Lists the kernel's variables without running code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ....base.sentences import Sentence
from ....view import outputs
from ....view.outputs import Seen
from ..shared.base import Tool, ToolContext

_MOST_VARIABLES = 1_000


class InspectVariables(msgspec.Struct, frozen=True, kw_only=True):
    names: Annotated[tuple[str, ...], Meta(description="Default: all.")] = ()


async def _run(context: ToolContext, given: InspectVariables) -> Seen:
    found = await context.variables(given.names)
    if found is None:
        raise LookupError(
            "Variables are not available: the kernel is busy, or its language is unknown."
        )
    lines = [_line(entry) for entry in found[:_MOST_VARIABLES]]
    known = {str(entry.get("name", "")) for entry in found if isinstance(entry, Mapping)}
    lines += [f"{name[:100]}: not defined" for name in given.names if name not in known]
    text = context.turn.untrusted.scrub("\n".join(lines)) or "No variables."
    return Seen(outputs.excerpt(text, 0, outputs.BUDGET))


def _line(entry: Any) -> str:
    """One line for a variable. ``entry`` comes from the kernel, so it can be anything."""
    try:
        return json.dumps(entry, ensure_ascii=False)[: outputs.BUDGET]
    except (RecursionError, TypeError, ValueError):
        return "(not readable)"


INSPECT_VARIABLES = Tool(
    "inspect_variables",
    Sentence("Look at the variables"),
    "Types, shapes, columns and short values of variables, without running code.",
    InspectVariables,
    run=_run,
)
