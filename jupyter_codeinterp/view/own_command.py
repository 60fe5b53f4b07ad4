"""The person's commands and skills: Markdown files with a front matter.

The front matter is read without YAML and only with single values, because files are untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

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
# A command (``.codeinterp/commands/NAME.md``) or a skill (``.codeinterp/skills/NAME/SKILL.md``).
#
# Both are Markdown with an optional front matter. They grant nothing: keys such as
# ``allowed-tools`` are ignored.

Kind = Literal["command", "skill"]

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
EMPTY = Sentence("Not used: the file is empty.")


class OwnCommand(msgspec.Struct, frozen=True):
    """``path`` is from the server's root. ``trouble``: why it cannot be used, for a person; "" if
    it can."""

    kind: Kind
    name: str
    path: str
    description: str = ""
    body: str = ""
    trouble: str = ""


def parsed(kind: Kind, name: str, path: str, text: str) -> OwnCommand:
    """Read a file. ``name``: the name of the file or, for a skill, of its folder."""
    facts, body = split(text)
    body = body.strip()
    name = (facts.get("name") or name) if kind == "skill" else name
    first = body.split("\n", 1)[0].lstrip("# ")
    trouble = "" if NAME.fullmatch(name) else BAD_NAME
    return OwnCommand(
        kind,
        name[:64],
        path,
        _line(facts.get("description", "") or first),
        body,
        trouble or ("" if body else EMPTY),
    )


def chosen(found: Iterable[OwnCommand]) -> list[OwnCommand]:
    """``found`` is nearest first: of several with the same kind and name, the nearest counts."""
    nearest: dict[tuple[str, str], OwnCommand] = {}
    for one in found:
        nearest.setdefault((one.kind, one.name), one)
    return sorted(nearest.values(), key=lambda one: (one.kind, one.name))


def skills_of(found: Iterable[OwnCommand]) -> list[OwnCommand]:
    return [one for one in found if one.kind == "skill" and not one.trouble]


def arguments_in(text: str, name: str) -> str:
    """The words behind ``/name`` at the start of a message."""
    call = _CALL.fullmatch(text.strip())
    return (call[2] or "") if call is not None and call[1] == name else ""


def filled(body: str, arguments: str) -> str:
    """Replace ``$ARGUMENTS`` by the words behind the command. Placeholders in the arguments are
    not replaced."""
    return _PLACE.sub(lambda _: arguments, body, MOST_PLACES)


def _line(text: str) -> str:
    line = " ".join(text[: LONGEST_LINE * 4].split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


# -------------------------------------------------------------------------------------------------
# Commands and skills as text for the model, between the delimiters of instruction files. They
# change no mode, limit or decision.

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


def skills_told(skills: Sequence[OwnCommand], untrusted: Untrusted) -> str:
    """Names and descriptions; "" if there are no skills."""
    lines = [f"{one.name}: {_scrubbed(one.description, untrusted)}" for one in skills[:MOST_TOLD]]
    return f"{_SKILLS}\n{_delimited(chr(10).join(lines), untrusted)}" if lines else ""


def skill_text(skill: OwnCommand, untrusted: Untrusted) -> str:
    return _told(_READ, skill, filled(skill.body, ""), untrusted)


def commands_told(called: Sequence[tuple[OwnCommand, str]], untrusted: Untrusted) -> str:
    """The bodies of the commands with their arguments filled in; "" if there are none."""
    return "\n".join(
        _told(_CALLED, command, filled(command.body, arguments), untrusted)
        for command, arguments in called
    )


def _told(heading: str, command: OwnCommand, body: str, untrusted: Untrusted) -> str:
    heading = heading.format(name=command.name, path=_scrubbed(command.path, untrusted))
    text = escaped(cut(untrusted.scrub(body), LONGEST))
    return f"{heading}\n{_delimited(text, untrusted)}"


def _scrubbed(text: str, untrusted: Untrusted) -> str:
    return one_line(untrusted.scrub(text), 300)


def _delimited(text: str, untrusted: Untrusted) -> str:
    return f"<instructions-{untrusted.nonce}>\n{text}\n</instructions-{untrusted.nonce}>"
