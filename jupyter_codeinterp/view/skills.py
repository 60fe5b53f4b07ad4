"""The person's skills: ``.codeinterp/skills/NAME/SKILL.md``, Markdown files with a front matter.

The model reads a skill when it fits a request, and a person calls one with ``/NAME``. Skills grant
nothing: keys such as ``allowed-tools`` are ignored. The front matter is read without YAML and only
with single values, because files are untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from ..base.sentences import Sentence
from .notebook_prompt import one_line
from .plain_text import cut
from .rule_files import BEGINS
from .untrusted import Untrusted, escaped

_FENCE = "---"
_MOST_LINES = 100


def split(text: str) -> tuple[dict[str, str], str]:
    """The values by key, and the text after them. A text without a closed front matter has none.

    Reads ``key: value``, quoted values, and blocks (``>``, ``|``) as one line each. Ignores lists
    and nested values.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    ends = [n for n, line in enumerate(lines[1:_MOST_LINES], 1) if line.rstrip() == _FENCE]
    if not ends:
        return {}, text
    return _values(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _values(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in lines:
        if not line.strip():
            continue
        if line[:1].isspace():
            if key:
                found[key] = f"{found[key]} {line.strip()}".strip()
            continue
        name, colon, value = line.partition(":")
        key = name.strip().lower() if colon else ""
        if key:
            found[key] = _plain(value.strip())
    return found


def _plain(value: str) -> str:
    if value[:1] in ("'", '"') and len(value) > 1 and value[-1] == value[0]:
        return value[1:-1]
    return "" if value.rstrip("+-") in (">", "|") else value


# -------------------------------------------------------------------------------------------------
# A skill.

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
LONGEST_LINE = 200
"""Characters of a description."""
MOST_PLACES = 50
"""Placeholders of one file that are filled."""
_CALL = re.compile(r"/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
_PLACE = re.compile(r"\$ARGUMENTS\b")

BAD_NAME = Sentence(
    "Not used: rename it. A name has lower-case letters, digits, - and _, at most 64 characters."
)
NOT_TEXT = Sentence("Not used: the file cannot be read as UTF-8 text inside the server's folder.")


class Skill(msgspec.Struct, frozen=True):
    """``path`` is from the server's root. ``trouble``: why it cannot be used, for a person; "" if
    it can."""

    name: str
    path: str
    description: str = ""
    body: str = ""
    trouble: str = ""


def parsed(folder: str, path: str, text: str) -> Skill:
    """Read a skill's file. ``folder``: the name of its folder, which its own name replaces."""
    facts, body = split(text)
    name = facts.get("name") or folder
    trouble = "" if NAME.fullmatch(name) else BAD_NAME
    return Skill(name[:64], path, _line(facts.get("description", "")), body.strip(), trouble)


def nearest(found: Iterable[Skill]) -> list[Skill]:
    """``found`` is nearest first: of several with the same name, the nearest counts."""
    by_name: dict[str, Skill] = {}
    for skill in found:
        by_name.setdefault(skill.name, skill)
    return sorted(by_name.values(), key=lambda skill: skill.name)


def arguments_in(text: str, name: str) -> str:
    """The words behind ``/name`` at the start of a message."""
    call = _CALL.fullmatch(text.strip())
    return (call[2] or "") if call is not None and call[1] == name else ""


def filled(body: str, arguments: str) -> str:
    """Replace ``$ARGUMENTS`` by the words behind the name. Placeholders in the arguments are not
    replaced."""
    return _PLACE.sub(lambda _: arguments, body, MOST_PLACES)


def _line(text: str) -> str:
    line = " ".join(text[: LONGEST_LINE * 4].split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


# -------------------------------------------------------------------------------------------------
# Skills as text for the model, between the delimiters of instruction files.

LONGEST = 16_000
"""Characters of one body."""
MOST_TOLD = 20
"""Most skills in the list for the model."""

_SKILLS = (
    BEGINS + ": skills, each for one kind of task. If a request fits one, read it first: "
    "read_skill. They allow nothing more.]"
)
NO_SKILLS = BEGINS + " no longer include skills.]"
_CALLED = BEGINS + ' for "/{name}" in the message, from {path}. They allow nothing more.]'
_READ = BEGINS + ' in the skill "{name}", from {path}. They allow nothing more.]'


def skills_told(skills: Sequence[Skill], untrusted: Untrusted) -> str:
    """Names and descriptions of the usable skills; "" if there are none."""
    usable = [skill for skill in skills if not skill.trouble][:MOST_TOLD]
    lines = [f"{one.name}: {_scrubbed(one.description, untrusted)}" for one in usable]
    return f"{_SKILLS}\n{_delimited(chr(10).join(lines), untrusted)}" if lines else ""


def skill_text(skill: Skill, untrusted: Untrusted) -> str:
    return _told(_READ, skill, filled(skill.body, ""), untrusted)


def called_told(called: Sequence[tuple[Skill, str]], untrusted: Untrusted) -> str:
    """The bodies of the called skills with their arguments filled in; "" if there are none."""
    return "\n".join(
        _told(_CALLED, skill, filled(skill.body, arguments), untrusted)
        for skill, arguments in called
    )


def _told(heading: str, skill: Skill, body: str, untrusted: Untrusted) -> str:
    heading = heading.format(name=skill.name, path=_scrubbed(skill.path, untrusted))
    text = escaped(cut(untrusted.scrub(body), LONGEST))
    return f"{heading}\n{_delimited(text, untrusted)}"


def _scrubbed(text: str, untrusted: Untrusted) -> str:
    return one_line(untrusted.scrub(text), 300)


def _delimited(text: str, untrusted: Untrusted) -> str:
    return f"<instructions-{untrusted.nonce}>\n{text}\n</instructions-{untrusted.nonce}>"
