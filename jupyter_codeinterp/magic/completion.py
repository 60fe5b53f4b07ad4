"""Tab completion after ``%ai`` and ``%%ai``: commands, options, forms and models."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from IPython.core.completer import SimpleCompletion, context_matcher

from .asking.options import FORMATS, OPTIONS
from .commands import COMMANDS

MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
"""Suggested without a request; ``%ai models`` lists all."""


def complete(line: str) -> list[str]:
    """Completions for the end of the line."""
    words = line.replace("=", " ").split(" ")
    is_cell = words[0].startswith("%%")
    before = words[-2] if len(words) > 1 else ""
    if before in ("-m", "--model") or words[1:-1] == ["model"]:
        return list(MODELS)
    if before == "--as":
        return list(FORMATS)
    if before in ("--max-steps", "--store"):
        return []
    if words[-1].startswith("-") or is_cell:
        return list(OPTIONS)
    return list(COMMANDS) if len(words) == 2 else []


def matcher(names: Collection[str]) -> Any:
    """IPython's matcher for the magics ``names``. In their line, nothing else is completed: it
    holds no Python."""

    @context_matcher()  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, Any]:
        line = context.text_until_cursor.split("\n")[-1]
        first = line.split(" ")[0]
        if " " not in line or first.lstrip("%") not in names or not first.startswith("%"):
            return {"completions": []}
        found = [one for one in complete(line) if one.startswith(context.token)]
        return {"completions": [SimpleCompletion(one) for one in found], "suppress": True}

    return match
