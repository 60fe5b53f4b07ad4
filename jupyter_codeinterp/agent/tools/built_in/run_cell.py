"""Run new code: in a cell of its own, or without one."""

from __future__ import annotations

from typing import Annotated, Union

import msgspec
from msgspec import Meta

from ....run.expected import Contract
from ....wire.messages import ToolUse
from ..shared.base import Tool
from ..shared.step import Step
from ..shared.writing import How, scratch, write

SAME = Meta(description="As in run_cell.")
"""Saves bytes in the prompt: only ``run_cell`` has the full description."""
Title = Annotated[str, SAME]
Position = Annotated[str, SAME]
Seconds = Union[Annotated[float, Meta(gt=0, le=1_000_000)], None]
Timeout = Annotated[Seconds, SAME]


class RunCell(msgspec.Struct, frozen=True, kw_only=True):
    title: Annotated[
        str, Meta(description="A few words for the person, such as: Revenue by month")
    ] = ""
    position: Annotated[
        str,
        Meta(
            description='"start", "end", "before:CELL_ID" or "after:CELL_ID". Default: after your '
            "last new cell, or where the person chose; the result says where."
        ),
    ] = ""
    timeout_s: Annotated[
        Seconds, Meta(description="Seconds. Default and maximum: the server's limit of a run.")
    ] = None
    expects: Annotated[
        Union[Contract, None],
        Meta(description="What you already know of the result. It is compared after the run."),
    ] = None
    source: Annotated[str, Meta(description="The cell's code. Magics and !commands work.")]


async def _work(step: Step, call: ToolUse, given: RunCell) -> None:
    how = How(given.expects, given.timeout_s)
    await write(step, call, given.source, how, position=given.position)


RUN_CELL = Tool(
    "run_cell",
    "",
    "Insert a new code cell into the notebook and run it in the live kernel, where variables stay. "
    "The person may review it first. The result has the cell's id, its place (3/12 is the third of "
    "12 cells) and its outputs.",
    RunCell,
    effect="changes",
    draft="insert",
    work=_work,
)


class RunScratch(msgspec.Struct, frozen=True, kw_only=True):
    title: Title = ""
    timeout_s: Timeout = None
    source: Annotated[str, Meta(description="Name helper variables with a leading underscore.")]


async def _scratch(step: Step, call: ToolUse, given: RunScratch) -> None:
    await scratch(step, call, given.source, given.timeout_s)


SCRATCH = Tool(
    "scratch",
    "",
    "Run code in the live kernel under the same review, without a cell: to look at data, count or "
    "find a fault. Only you and the card of this call get the result. What the answer rests on "
    "belongs into cells.",
    RunScratch,
    effect="changes",
    work=_scratch,
    action="scratch",
)
