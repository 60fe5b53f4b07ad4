"""Two tools for the code interpreter. One asks the kernel, the other leaves a cell.

Both have ``effect="changes"``, because both run code. A person reviews that code as the agent's.
"""

from __future__ import annotations

import keyword
from typing import Annotated

import msgspec

from jupyter_codeinterp.api import Seen, Tool, ToolContext


class Table(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(description="The variable.")]


class Key(msgspec.Struct):
    table: Annotated[str, msgspec.Meta(description="The variable.")]
    columns: Annotated[list[str], msgspec.Meta(description="The key.")]


async def describe(context: ToolContext, given: Table) -> Seen:
    """One line a column: its type, the share of NaN and how many different values it has."""
    table = variable(given.name)
    text = await context.evaluate(
        f"{table}.dtypes.to_frame('type').assign("
        f"nan={table}.isna().mean().round(3), different={table}.nunique())"
    )
    return Seen(text)


async def count_duplicates(context: ToolContext, given: Key) -> Seen:
    """The cell stays in the notebook, for the person."""
    table, key = variable(given.table), repr(given.columns)
    cell = await context.run_cell(
        f"{table}[{table}.duplicated({key}, keep=False)].sort_values({key})",
        f"Duplicates by {', '.join(given.columns)}",
    )
    if cell.status != "ok":
        return Seen(f"Not counted ({cell.status}): {cell.text}")
    return Seen(cell.text)


def variable(name: str) -> str:
    """The model's text becomes code only as a name. LookupError becomes words for the model."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise LookupError(f"{name!r} is not the name of a variable.")
    return name


DESCRIBE_TABLE = Tool(
    "describe_table",
    "Describe a table",
    "Types, shares of NaN and numbers of different values of a pandas DataFrame's columns.",
    Table,
    effect="changes",
    run=describe,
)
COUNT_DUPLICATES = Tool(
    "count_duplicates",
    "Count duplicates",
    "Leaves a cell with the rows of a pandas DataFrame whose key occurs more than once.",
    Key,
    effect="changes",
    run=count_duplicates,
)
