"""Change the source of a cell, and run it if it is code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Union

import msgspec
from msgspec import Meta

from ....run.expected import Contract
from ....wire.messages import ToolUse
from ..shared.base import Tool
from ..shared.step import Step, not_started
from ..shared.writing import How, to_change, write
from .run_cell import Timeout, Title

# -------------------------------------------------------------------------------------------------
# Partial edits of a source, by text that occurs in it once.

LONGEST_SHOWN = 200
"""Characters of a quoted line."""
MOST_LINES = 2_000
"""Lines that are searched for the nearest one."""


_WORD = re.compile(r"\w+")


class Edit(msgspec.Struct, frozen=True):
    old: Annotated[str, Meta(description="Text that occurs exactly once in the cell.")]
    new: Annotated[str, Meta(description="What takes its place.")]


def edited(source: str, edits: Sequence[Edit]) -> str:
    """The source after all edits, applied in order. Raises ValueError with words for the model if
    one cannot be applied."""
    for number, edit in enumerate(edits, 1):
        which = f"Edit {number}: " if len(edits) > 1 else ""
        if not edit.old:
            raise ValueError(f"{which}`old` is empty. Quote the text to replace.")
        found = source.count(edit.old)
        if found > 1:
            words = f"`old` occurs {found} times in the cell. Quote more of what is around it."
            raise ValueError(f"{which}{words}")
        if not found:
            raise ValueError(f"{which}`old` is not in the cell.{_nearest(source, edit.old)}")
        source = source.replace(edit.old, edit.new)
    return source


def _nearest(source: str, old: str) -> str:
    """Quotes the line that shares the most words with the first line of ``old``."""
    first = next((line for line in old.splitlines() if line.strip()), "")
    wanted = set(_WORD.findall(first[:LONGEST_SHOWN]))
    lines = [line.strip()[:LONGEST_SHOWN] for line in source.splitlines()[:MOST_LINES]]
    shared = [len(wanted.intersection(_WORD.findall(line))) for line in lines]
    most = max(shared, default=0)
    return f" The nearest line is: {lines[shared.index(most)]}" if most else ""


ONE_OF = "Give either `edits` or `source`."
SAME = "The cell would not change: it has this source already. To run it, use run_cells."


class EditCell(msgspec.Struct, frozen=True, kw_only=True):
    title: Title = ""
    cell_id: str
    edits: Annotated[
        tuple[Edit, ...], Meta(description="Small changes, made in order. Instead of source.")
    ] = ()
    run: Annotated[
        bool, Meta(description="Default true. false leaves a code cell unrun, with its old output.")
    ] = True
    timeout_s: Timeout = None
    expects: Annotated[
        Union[Contract, None],
        Meta(description="As in run_cell.", extra_json_schema={"properties": {}}),
    ] = None
    source: Annotated[Union[str, None], Meta(description="The whole new source.")] = None


async def _work(step: Step, call: ToolUse, given: EditCell) -> None:
    for cell in await to_change(step, call, given.cell_id):
        try:
            source = _source(cell.source, given)
        except ValueError as error:
            not_started(step, call, str(error))
            return
        how = How(given.expects, given.timeout_s, given.run)
        await write(step, call, source, how, cell_id=cell.cell_id)


def _source(old: str, given: EditCell) -> str:
    if bool(given.edits) == (given.source is not None):
        raise ValueError(ONE_OF)
    source = edited(old, given.edits) if given.source is None else given.source
    if source == old and not given.run:
        raise ValueError(SAME)
    return source


EDIT_CELL = Tool(
    "edit_cell",
    "",
    "Change a cell that you have read, yours or the person's, in its place. Code is run "
    "afterwards. Use it to repair a failed cell.",
    EditCell,
    effect="changes",
    draft="edit",
    work=_work,
)
