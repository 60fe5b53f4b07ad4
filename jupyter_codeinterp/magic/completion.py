"""Tab behind ``%ai`` and ``%%ai``: commands, options, forms, models, variables."""

from __future__ import annotations

from .asking.options import FORMATS, OPTIONS
from .commands import COMMANDS

MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
"""Offered without asking anybody; ``%ai models`` lists all."""


def complete(line: str) -> list[str]:
    """What may stand where the line ends."""
    words = line.split(" ")
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
