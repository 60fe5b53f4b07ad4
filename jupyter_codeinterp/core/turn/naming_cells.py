"""Cells by the numbers that people and models name them by.

A cell has an id, a place (1 is the top one) and, once it ran, an execution count. "7" is the cell
at place 7, "[7]" the one that ran as number 7; where only one of both exists, it is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..document.ops import CellView

_NUMBER = re.compile(r"(?:In ?|cell ?)?(\[?)(\d{1,6})\]?", re.IGNORECASE)


class Found(NamedTuple):
    """``note`` tells the model how its words were read; "" for an id."""

    cell_id: str
    note: str = ""


def found_in(cells: Sequence[CellView], name: str) -> Found | None:
    """The cell that a number names; None if ``name`` is none, or no cell has it."""
    match = _NUMBER.fullmatch(name.strip())
    if match is None:
        return None
    number = int(match[2])
    at = cells[number - 1] if 0 < number <= len(cells) else None
    ran = next((cell for cell in cells if cell.execution_count == number), None)
    first, second = (ran, at) if match[1] else (at, ran)
    meant = first or second
    if meant is None:
        return None
    how = {id(at): f"cell {number}, counted from 1 at the top", id(ran): f"the cell [{number}]"}
    note = f'"{name.strip()}" was read as {how[id(meant)]}: cell_id={meant.cell_id}.'
    if first is not None and second is not None and first is not second:
        note += f" Not meant: {how[id(second)]}, cell_id={second.cell_id}."
    return Found(meant.cell_id, note)
