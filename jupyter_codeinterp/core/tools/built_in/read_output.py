"""A part of a long output that was cut."""

from __future__ import annotations

from functools import partial
from typing import Union

import msgspec

from ...document.ops import PRIVATE
from ...model_view import outputs
from ...model_view.outputs import Seen
from ...off_loop import off_loop
from ...own_commands.for_model import SKILL, skill_text
from ...turn.results import UNREADABLE
from ..shared.base import Tool, ToolContext


class ReadOutput(msgspec.Struct, frozen=True):
    cell_id: str
    start: Union[int, None] = None
    length: Union[int, None] = None


def _skill(context: ToolContext, name: str) -> Seen:
    """A skill of the person's (``own_commands/for_model.py``)."""
    skill = next((one for one in context.turn.skills if one.name == name), None)
    if skill is None:
        names = ", ".join(one.name for one in context.turn.skills) or "none"
        raise LookupError(f"There is no skill {name!r}. Skills: {names}.")
    text = skill_text(skill, context.turn.untrusted)
    return Seen(text, title=f"Read the skill {name}", is_delimited=True)


async def _run(context: ToolContext, arguments: ReadOutput) -> Seen:
    turn = context.turn
    if arguments.cell_id.startswith(SKILL):
        return _skill(context, arguments.cell_id.removeprefix(SKILL))
    (cell,) = await context.cells([arguments.cell_id])
    if PRIVATE in cell.tags:
        raise LookupError(f"The person keeps the cell {cell.cell_id!r} private.")
    kept = await turn.store.cell_outputs(turn.session_id, cell.cell_id)
    shown = cell.outputs if kept is None else kept
    read = partial(
        outputs.read,
        shown,
        arguments.start or 0,
        outputs.BUDGET if arguments.length is None else arguments.length,
        images_left=turn.results.images_left,
        scrub=turn.untrusted.scrub,
    )
    return await off_loop(read, outputs.size(shown), lambda: Seen(UNREADABLE))


READ_OUTPUT = Tool(
    "read_output",
    "Read an output",
    "Read more of a cut output.",
    ReadOutput,
    {
        "cell_id": {"type": "string"},
        "start": {"type": "integer"},
        "length": {"type": "integer"},
    },
    ("cell_id",),
    run=_run,
)
