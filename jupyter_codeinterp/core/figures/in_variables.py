"""Looks up figures in what the cells' variables held after their runs. By the rules for outputs;
but as nobody sees these values, a figure of one or two digits needs a word of its sentence in the
variable's name, or in the labels of the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

import msgspec

from .finding import Claim
from .matching import Found, find
from .shown import Cell, Outputs

SURE = 3
"""Digits of a figure that needs no such word."""


class InVariable(msgspec.Struct, frozen=True):
    """``count`` is the execution count of the run that left the value."""

    found: Found
    name: str
    count: Union[int, None]


class Variables:
    def __init__(self, cells: Sequence[Cell]) -> None:
        """Of the cells that ran in the turn or that the answer links."""
        known = [cell for cell in cells if cell.ran and cell.after.variables]
        self._after = {cell.cell_id: cell.after for cell in known}
        self._values = Outputs(list(map(_shown, known)))

    @property
    def partly(self) -> bool:
        return self._values.partly

    def find(self, claim: Claim) -> InVariable | None:
        found = find(claim, self._values) if self._values.texts else None
        if found is None or not self._is_sure(claim, found):
            return None
        after = self._after[found.text.cell_id]
        return InVariable(found, after.variables[found.text.output].name, after.count)

    def _is_sure(self, claim: Claim, found: Found) -> bool:
        if claim.number is None or claim.digits >= SURE or found.shown is None:
            return True
        return bool(self._values.labels(found.shown) & claim.sentence.words)


def _shown(cell: Cell) -> Cell:
    """The values as outputs, in the order of the variables."""
    texts = ({"output_type": "stream", "text": one.text} for one in cell.after.variables)
    return Cell(cell.cell_id, "", tuple(texts))
