"""Partial edits of a source, by text that occurs in it once."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

LONGEST_SHOWN = 200
"""Characters of a quoted line."""
MOST_LINES = 300
"""Lines among which the nearest is looked for."""


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
    """The line of the cell that is most like the first line of ``old``."""
    wanted = next((line.strip() for line in old.splitlines() if line.strip()), "")
    lines = [line.strip()[:LONGEST_SHOWN] for line in source.splitlines()[:MOST_LINES]]
    near = difflib.get_close_matches(wanted[:LONGEST_SHOWN], [*filter(None, lines)], 1)
    return f" The nearest line is: {near[0]}" if near else ""
