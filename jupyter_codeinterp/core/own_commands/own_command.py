"""A command (``.codeinterp/commands/NAME.md``) or a skill (``.codeinterp/skills/NAME/SKILL.md``).

Both are Markdown with an optional front matter. They are words for the model and nothing else:
keys of the front matter that would grant something, such as ``allowed-tools``, are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from .front_matter import split

Kind = Literal["command", "skill"]

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
LONGEST_LINE = 200
"""Characters of a description, and of an argument hint."""
MOST_PLACES = 50
"""Placeholders of one file that are filled."""
_CALL = re.compile(r"/([^\s/]+)(?:\s+(.*))?", re.DOTALL)
_PART = re.compile(
    r"""([ \t\r\n]+)|([^ \t\r\n'"\\]+)|\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL
)
_KEPT = re.compile(r"""\\(["\\])""")
_PLACE = re.compile(r"\$(?:ARGUMENTS\b|([1-9])(?![0-9]))")

BAD_NAME = (
    "Not used: rename it. A name has lower-case letters, digits, - and _, at most 64 characters."
)
NOT_TEXT = "Not used: the file cannot be read as UTF-8 text inside the server's folder."
EMPTY = "Not used: the file is empty."


class OwnCommand(msgspec.Struct, frozen=True):
    """``path`` is from the server's root. ``hint``: which words go behind the name. ``trouble``:
    why it cannot be used, for a person; "" if it can."""

    kind: Kind
    name: str
    path: str
    description: str = ""
    hint: str = ""
    body: str = ""
    trouble: str = ""


def parsed(kind: Kind, name: str, path: str, text: str) -> OwnCommand:
    """``name`` is that of the file or, for a skill, of its folder."""
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
        _line(facts.get("argument-hint", "")),
        body,
        trouble or ("" if body else EMPTY),
    )


def chosen(found: Iterable[OwnCommand]) -> list[OwnCommand]:
    """``found`` is nearest first: of those with one kind and name, the nearest counts. A command
    wins over a skill with its name."""
    nearest: dict[tuple[str, str], OwnCommand] = {}
    for one in found:
        nearest.setdefault((one.kind, one.name), one)
    kept = []
    for one in nearest.values():
        command = nearest.get(("command", one.name))
        if one.kind == "skill" and command is not None and not one.trouble:
            trouble = f"Not used: /{one.name} is the command in {command.path}."
            one = msgspec.structs.replace(one, trouble=trouble)
        kept.append(one)
    return sorted(kept, key=lambda one: (one.kind, one.name))


def skills_of(found: Iterable[OwnCommand]) -> list[OwnCommand]:
    return [one for one in found if one.kind == "skill" and not one.trouble]


def arguments_in(text: str, name: str) -> str:
    """The words behind ``/name`` at the start of a message."""
    call = _CALL.fullmatch(text.strip())
    return (call[2] or "") if call is not None and call[1] == name else ""


def filled(body: str, arguments: str) -> str:
    """``$ARGUMENTS`` is all words, ``$1`` the first one; "" where there are too few. Quotes keep
    words together. The arguments' own text stays as it is."""
    words = _words(arguments)

    def value(place: re.Match[str]) -> str:
        number = int(place[1] or 0)
        if not number:
            return arguments
        return words[number - 1] if number <= len(words) else ""

    return _PLACE.sub(value, body, MOST_PLACES)


def _words(arguments: str) -> list[str]:
    """As ``shlex.split`` reads them, whose time grows with the square of a word's length."""
    words: list[str] = []
    word: list[str] = []
    at, within = 0, False
    while at < len(arguments):
        part = _PART.match(arguments, at)
        if part is None:  # A quote is open, as in "don't".
            return arguments.split()
        at, blank = part.end(), part[1] is not None
        if blank and within:
            words.append("".join(word))
            word = []
        within = not blank
        if part[5] is not None:
            word.append(_KEPT.sub(r"\1", part[5]))
        elif not blank:
            word.append(part[2] or part[3] or part[4] or "")
    return [*words, "".join(word)] if within else words


def _line(text: str) -> str:
    line = " ".join(text[: LONGEST_LINE * 4].split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
