"""A tool for the code interpreter: the columns of a table, without running code."""

from __future__ import annotations

from typing import Annotated

import msgspec

from jupyter_codeinterp.api import Seen, Tool, ToolContext


class Table(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(description="The variable.")]


async def describe(context: ToolContext, given: Table) -> Seen:
    """One line a column: its name and type. LookupError becomes words for the model."""
    found = await context.variables([given.name])
    columns = [column for one in found or () for column in one.get("columns", ())]
    if not columns:
        raise LookupError(f"{given.name!r} is not the name of a table.")
    return Seen("\n".join(f"{name}  {kind}" for name, kind in columns))


DESCRIBE_TABLE = Tool(
    "describe_table",
    "Describe a table",
    "The names and types of a table's columns.",
    Table,
    run=describe,
)
