"""Reads text on demand: a part of an output that was cut, or a skill of the person."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.off_loop import off_loop
from ....base.sentences import Sentence
from ....run.turn.results import UNREADABLE
from ....view import outputs
from ....view.outputs import Seen
from ....view.skills import skill_text
from ....wire.ops import PRIVATE, weight
from ..shared.base import Tool, ToolContext


class ReadOutput(msgspec.Struct, frozen=True, kw_only=True):
    cell_id: str
    start_char: Annotated[
        int, Meta(description="Where to begin; negative counts from the end. Default 0.")
    ] = 0
    max_chars: Annotated[int, Meta(description="At most 10,000, the default.")] = outputs.BUDGET


async def _run(context: ToolContext, given: ReadOutput) -> Seen:
    turn = context.turn
    (cell,) = await context.cells([given.cell_id])
    if PRIVATE in cell.tags:
        raise LookupError(f"The person keeps the cell {cell.cell_id!r} private.")
    kept = await turn.store.cell_outputs(turn.session_id, cell.cell_id)
    shown = cell.outputs if kept is None else kept
    read = partial(
        outputs.read,
        shown,
        given.start_char,
        given.max_chars,
        scrub=turn.untrusted.scrub,
    )
    return await off_loop(read, weight(shown), lambda: Seen(UNREADABLE))


READ_OUTPUT = Tool(
    "read_output",
    Sentence("Read an output"),
    "Read a part of a cell's output that was cut; its pictures are shown again.",
    ReadOutput,
    run=_run,
)


class ReadSkill(msgspec.Struct, frozen=True, kw_only=True):
    name: str


async def _skill(context: ToolContext, given: ReadSkill) -> Seen:
    skills = context.turn.skills
    skill = next((one for one in skills if one.name == given.name), None)
    if skill is None:
        names = ", ".join(one.name for one in skills) or "none"
        raise LookupError(f"There is no skill {given.name!r}. Skills: {names}.")
    text = skill_text(skill, context.turn.untrusted)
    return Seen(text, title=f"Read the skill {given.name}", is_delimited=True)


READ_SKILL = Tool(
    "read_skill",
    Sentence("Read a skill"),
    "Read one of the person's skills, which the first message lists if there are any.",
    ReadSkill,
    run=_skill,
)
