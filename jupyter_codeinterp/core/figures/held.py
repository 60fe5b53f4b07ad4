"""Values of variables that cells assigned, as the kernel reports them: an answer may state one that
no output shows. Code in the kernel may report anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Union

import msgspec

MOST_VARIABLES = 50
MOST_TEXT = 6_000
"""Characters of all values of a cell."""
NAME = 100
MOST_CELLS = 200
"""Cells of a conversation whose values are remembered, the latest ones."""


class Variable(msgspec.Struct, frozen=True):
    """``text`` is `name = value`, or the lines of a small container or table."""

    name: str
    text: str


class _Report(msgspec.Struct, frozen=True):
    held: tuple[Variable, ...] = ()


class After(msgspec.Struct, frozen=True):
    """What the variables of a cell held after its run with this execution count."""

    count: Union[int, None] = None
    variables: tuple[Variable, ...] = ()


class Held:
    """Of the cells of one conversation."""

    def __init__(self) -> None:
        self._cells: dict[str, After] = {}

    def ran(self, cell_id: str, count: int | None, report: dict[str, Any]) -> None:
        """Remember what a run reports; nothing of a report in another form."""
        self._cells.pop(cell_id, None)
        try:
            told = msgspec.convert(report, _Report, strict=True).held
        except (msgspec.ValidationError, RecursionError):
            return
        known, left = [], MOST_TEXT
        for one in told[:MOST_VARIABLES]:
            left -= len(one.text)
            if left >= 0 and one.name.isidentifier() and len(one.name) <= NAME:
                known.append(one)
        self._cells[cell_id] = After(count, tuple(known))
        if len(self._cells) > MOST_CELLS:
            del self._cells[next(iter(self._cells))]

    def after(self, cell_id: str, is_private: Callable[[str], bool]) -> After:
        """Without private variables."""
        found = self._cells.get(cell_id, After())
        shown = tuple(one for one in found.variables if not is_private(one.name))
        return msgspec.structs.replace(found, variables=shown)
