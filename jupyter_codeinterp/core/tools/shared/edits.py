"""Partial edits of a source, by text that occurs in it once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

LONGEST_SHOWN = 200
"""Characters of a quoted line."""
MOST_LINES = 2_000
"""Lines among which the nearest is looked for."""


_WORD = re.compile(r"\w+")


class Edit(msgspec.Struct, frozen=True):
    old: Annotated[str, Meta(description="Text that occurs exactly once in the cell.")]
    new: Annotated[str, Meta(description="What takes its place.")]


def edited(source: str, edits: Sequence[Edit]) -> str:
    """The source after all edits, each made in the result of the one before. Raises ValueError
    with words for the model; nothing is edited then."""
    for number, edit in enumerate(edits, 1):
        which = f"Edit {number}: " if len(edits) > 1 else ""
        if not edit.old:
            raise ValueError(f"{which}`old` is empty. Quote the text to replace.")
        found = source.count(edit.old)
        if found > 1:
            words = f"`old` occurs {found} times in the cell. Quote more of what is around it."
            raise ValueError(f"{which}{words}")
        if not found:
            raise ValueError(f"{which}`old` is not in the cell.{_nearest(source, edit.old)}")
        source = source.replace(edit.old, edit.new)
    return source


def _nearest(source: str, old: str) -> str:
    """The line of the cell that has the most words of the first line of ``old``."""
    first = next((line for line in old.splitlines() if line.strip()), "")
    wanted = set(_WORD.findall(first[:LONGEST_SHOWN]))
    lines = [line.strip()[:LONGEST_SHOWN] for line in source.splitlines()[:MOST_LINES]]
    shared = [len(wanted.intersection(_WORD.findall(line))) for line in lines]
    most = max(shared, default=0)
    return f" The nearest line is: {lines[shared.index(most)]}" if most else ""
