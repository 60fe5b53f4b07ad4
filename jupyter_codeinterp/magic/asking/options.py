"""Parses the line of ``%%ai``: options, then the beginning of the prompt."""

from __future__ import annotations

import difflib
import keyword
import re
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

# -------------------------------------------------------------------------------------------------
# Replaces ``{name}`` in a prompt by the variable's value, without evaluating code. Unknown names
# stay unchanged, and ``{{…}}`` becomes ``{…}``.

MOST = 4_000
"""Characters of one value."""
ROWS = 5
_PLACE = re.compile(r"\{\{\{(?P<braced>\w+)\}\}\}|\{\{(?P<literal>[^{}]*)\}\}|\{(?P<name>\w+)\}")


def interpolated(prompt: str, variables: Mapping[str, Any], private: Collection[str] = ()) -> str:
    """``private``: names from private cells; their values are not sent."""

    def put(match: re.Match[str]) -> str:
        if match["literal"] is not None:
            return "{" + match["literal"] + "}"
        name = match["name"] or match["braced"]
        if name not in variables:
            return match[0]
        value = variables[name]
        text = f"[{name}: private]" if name in private else described(name, value)
        return "{" + text + "}" if match["braced"] else text

    return _PLACE.sub(put, prompt)


def described(name: str, value: Any) -> str:
    """A table's columns and first rows, or the value's repr, bounded. Never raises."""
    try:
        if isinstance(value, str):
            return _bounded(value)
        return _table(name, value) or _bounded(repr(value))
    except Exception as error:
        return f"[{name}: {type(value).__name__}, not shown ({type(error).__name__})]"


def _table(name: str, value: Any) -> str:
    """A description of a table; "" for other values."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    kind = type(value)
    if pandas is not None and kind is getattr(pandas, "DataFrame", None):
        rows, columns = value.shape
        types = ", ".join(f"{label}: {kind}" for label, kind in list(value.dtypes.items())[:50])
        head = value.iloc[:ROWS, :50].to_string()
        size = f"{rows:,} rows, {columns:,} columns"
        return _bounded(f"{name} (DataFrame, {size})\n{types}\nFirst rows:\n{head}")
    if pandas is not None and kind is getattr(pandas, "Series", None):
        head = value.iloc[:ROWS].to_string()
        return _bounded(f"{name} (Series of {len(value):,}, {value.dtype})\nFirst:\n{head}")
    if polars is not None and kind is getattr(polars, "DataFrame", None):
        return _bounded(f"{name} (DataFrame {value.shape})\n{value.schema}\n{value.head(ROWS)}")
    return ""


def _bounded(text: str) -> str:
    if len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


Format = Literal["markdown", "text", "code", "json"]
FORMATS = ("markdown", "text", "code", "json")
MOST_STEPS = 1_000
OPTIONS = {
    "-m": "MODEL  the model to use",
    "-y": "run the code without asking",
    "-t": "ask a question only: nothing runs",
    "--plan": "write a plan: nothing runs",
    "--cell": "insert the code as a new cell below instead of running it",
    "--no-context": "send the model no variables, errors or earlier cells",
    "--max-steps": "N  maximum number of model calls",
    "--as": "markdown|text|code|json  the form of the answer",
    "--store": "NAME  keep the answer in a variable",
    "--again": "ask the model, even if an answer is kept",
    "--strict": "raise an error if the prompt fails, so that Run All stops",
}
FLAGS = {
    "-y": "yes",
    "-t": "question",
    "--plan": "planned",
    "--cell": "cell",
    "--again": "again",
    "--strict": "strict",
}
"""Options without a value, and their fields."""
LONG = {"--model": "-m", "--yes": "-y", "--text": "-t"}
"""Aliases."""
_WORD = re.compile(r"\S+")


class UsageProblem(Exception):
    """Wrong usage. The message is for the person."""


@dataclass
class Options:
    """``max_steps`` 0: use the limit in the settings."""

    model: str = ""
    yes: bool = False
    question: bool = False
    planned: bool = False
    cell: bool = False
    context: bool = True
    max_steps: int = 0
    form: Format = "markdown"
    store: str = ""
    again: bool = False
    strict: bool = False


def parse(line: str) -> tuple[Options, str]:
    """The options and the rest of the line. ``--`` ends the options. Raises UsageProblem."""
    options = Options()
    place = 0

    def value(name: str) -> str:
        nonlocal place
        match = _WORD.search(line, place)
        if match is None or match[0].startswith("-"):
            raise UsageProblem(f"{name} needs a value: {name} {OPTIONS[name]}.")
        place = match.end()
        return match[0]

    while match := _WORD.search(line, place):
        word, sign, given = match[0].partition("=")
        if not re.match(r"--?[A-Za-z]|--$", word):
            break
        place = match.end()
        if word == "--":
            break
        name = LONG.get(word, word)
        if name not in OPTIONS:
            raise UsageProblem(_unknown(word))
        _take(options, name, _given(given) if sign else value)
    if options.yes and (options.question or options.planned):
        raise UsageProblem("-y runs code, but -t and --plan run nothing. Use only one of them.")
    return options, line[place:].strip()


def _given(text: str) -> Callable[[str], str]:
    return lambda name: text


def _take(options: Options, name: str, value: Callable[[str], str]) -> None:
    if name in FLAGS:
        setattr(options, FLAGS[name], True)
    elif name == "--no-context":
        options.context = False
    elif name == "-m":
        options.model = value(name)
    elif name == "--as":
        form = value(name)
        if form not in FORMATS:
            raise UsageProblem(f"--as takes one of {', '.join(FORMATS)}, not “{form}”.")
        options.form = cast(Format, form)
    elif name == "--max-steps":
        number = value(name)
        if not number.isascii() or not number.isdecimal() or not 0 < int(number) <= MOST_STEPS:
            raise UsageProblem(f"--max-steps takes a number from 1 to {MOST_STEPS:,}.")
        options.max_steps = int(number)
    else:
        variable = value(name)
        if not variable.isidentifier() or keyword.iskeyword(variable):
            raise UsageProblem(f"--store takes the name of a variable, not “{variable}”.")
        options.store = variable


def _unknown(word: str) -> str:
    known = (*OPTIONS, *LONG)
    near = difflib.get_close_matches(word, known, 1, 0.5)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"There is no option {word}.{meant} See: %ai help"
