"""Commands and skills as the model gets them: the person's instructions, between the delimiters
of instruction files. No mode, limit or decision looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from ..model_view.notebook_prompt import one_line
from ..model_view.plain_text import cut
from ..model_view.rule_files import BEGINS
from ..model_view.untrusted import Untrusted, escaped
from .own_command import OwnCommand, filled

LONGEST = 16_000
"""Characters of one body."""
MOST = 32_000
"""Characters of all commands in one message."""
MOST_TOLD = 20
"""Skills that the model learns of."""

_SKILLS = (
    BEGINS + ": skills, each for one kind of task. If a request fits one, read it first: "
    "read_skill. They allow nothing more.]"
)
NO_SKILLS = BEGINS + " no longer include skills.]"
_CALLED = BEGINS + ' for "/{name}" in the message, from {path}. They allow nothing more.]'
_READ = BEGINS + ' in the skill "{name}", from {path}. They allow nothing more.]'
_LEFT_OUT = BEGINS + ' for "/{name}" in the message were left out for their length.]'


def skills_told(skills: Sequence[OwnCommand], untrusted: Untrusted) -> str:
    """Names and descriptions; "" if there are no skills."""
    lines = [f"{one.name}: {_line(one.description, untrusted)}" for one in skills[:MOST_TOLD]]
    return f"{_SKILLS}\n{_delimited(chr(10).join(lines), untrusted)}" if lines else ""


def skill_text(skill: OwnCommand, untrusted: Untrusted) -> str:
    return _told(_READ, skill, filled(skill.body, ""), untrusted)


def commands_told(called: Sequence[tuple[OwnCommand, str]], untrusted: Untrusted) -> str:
    """The bodies of the commands with their arguments filled in; "" if there are none."""
    told: list[str] = []
    left = MOST
    for command, arguments in called:
        text = _told(_CALLED, command, filled(command.body, arguments), untrusted)
        if len(text) > left:
            text = _LEFT_OUT.format(name=command.name)
        left -= len(text)
        told.append(text)
    return "\n".join(told)


def _told(heading: str, command: OwnCommand, body: str, untrusted: Untrusted) -> str:
    heading = heading.format(name=command.name, path=_line(command.path, untrusted))
    text = escaped(cut(untrusted.scrub(body), LONGEST))
    return f"{heading}\n{_delimited(text, untrusted)}"


def _line(text: str, untrusted: Untrusted) -> str:
    return one_line(untrusted.scrub(text), 300)


def _delimited(text: str, untrusted: Untrusted) -> str:
    return f"<instructions-{untrusted.nonce}>\n{text}\n</instructions-{untrusted.nonce}>"
