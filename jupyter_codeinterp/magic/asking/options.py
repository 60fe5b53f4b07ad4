"""Parses the line of ``%%ai``: options, then the beginning of the prompt."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPTIONS = {
    "-m": "MODEL  the model to use",
    "-y": "run the code without asking",
    "--plan": "answer or write a plan: nothing runs",
    "--strict": "raise an error if the prompt fails, so that Run All stops",
}
FLAGS = {"-y": "yes", "--plan": "planned", "--strict": "strict"}
"""Options without a value, and their fields."""
LONG = {"--model": "-m", "--yes": "-y"}
"""Aliases."""
_WORD = re.compile(r"\S+")


class UsageProblem(Exception):
    """Wrong usage. The message is for the person."""


@dataclass
class Options:
    model: str = ""
    yes: bool = False
    planned: bool = False
    strict: bool = False


def parse(line: str) -> tuple[Options, str]:
    """The options and the rest of the line. ``--`` ends the options. Raises UsageProblem."""
    options = Options()
    place = 0
    while match := _WORD.search(line, place):
        word, sign, given = match[0].partition("=")
        if not re.match(r"--?[A-Za-z]|--$", word):
            break
        place = match.end()
        if word == "--":
            break
        name = LONG.get(word, word)
        if name not in OPTIONS:
            raise UsageProblem(f"There is no option {word}. See: %ai help")
        if name in FLAGS:
            setattr(options, FLAGS[name], True)
            continue
        value = None if sign else _WORD.search(line, place)
        if value is not None:
            given, place = value[0], value.end()
        if not given or given.startswith("-"):
            raise UsageProblem(f"{name} needs a value: {name} {OPTIONS[name]}.")
        options.model = given
    if options.yes and options.planned:
        raise UsageProblem("-y runs code, but --plan runs nothing. Use only one of them.")
    return options, line[place:].strip()
