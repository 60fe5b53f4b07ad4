"""Read one of the person's skills."""

from __future__ import annotations

import msgspec

from ...model_view.outputs import Seen
from ...own_commands.for_model import skill_text
from ..shared.base import Tool, ToolContext


class ReadSkill(msgspec.Struct, frozen=True, kw_only=True):
    name: str


async def _run(context: ToolContext, given: ReadSkill) -> Seen:
    skills = context.turn.skills
    skill = next((one for one in skills if one.name == given.name), None)
    if skill is None:
        names = ", ".join(one.name for one in skills) or "none"
        raise LookupError(f"There is no skill {given.name!r}. Skills: {names}.")
    text = skill_text(skill, context.turn.untrusted)
    return Seen(text, title=f"Read the skill {given.name}", is_delimited=True)


READ_SKILL = Tool(
    "read_skill",
    "Read a skill",
    "Read one of the person's skills, which the first message lists if there are any.",
    ReadSkill,
    run=_run,
)
