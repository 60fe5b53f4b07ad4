"""The numbers that outputs of cells show, within bounds: those of later runs first."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from ..document.ops import Output
from .names import Names
from .tables import Value, values
from .texts import MOST_OF_ONE, text_of

MOST_TEXT = 100_000
"""Characters that are read of all outputs."""
MOST_OUTPUTS = 500
MOST_NUMBERS = 4_000


class Cell(msgspec.Struct, frozen=True):
    """``ran``: whether this conversation ran it."""

    cell_id: str
    outputs: tuple[Output, ...]
    ran: bool = True


class Shown(msgspec.Struct, frozen=True, gc=False):
    """A number and the output that shows it."""

    value: Value
    cell_id: str
    output: int
    ran: bool


class Outputs:
    """All that is known of some cells' outputs."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.names = Names()
        self.shown: list[Shown] = []
        self._used = 0
        outputs = 0
        for cell in sorted(cells, key=lambda cell: not cell.ran):
            for index, output in enumerate(cell.outputs):
                outputs += 1
                if outputs <= MOST_OUTPUTS and self._used < MOST_TEXT:
                    self._read(cell, index, output)
        self.names.finish()
        self._order = sorted(range(len(self.shown)), key=self._size)
        self._sizes = list(map(self._size, self._order))

    def _size(self, number: int) -> float:
        return abs(self.shown[number].value.number.value)

    def _read(self, cell: Cell, index: int, output: Output) -> None:
        text = _ends(text_of(output), min(MOST_OF_ONE, MOST_TEXT - self._used))
        self._used += len(text)
        for value in values(text, f"{cell.cell_id}:{index}"):
            if len(self.shown) >= MOST_NUMBERS:
                return
            self.shown.append(Shown(value, cell.cell_id, index, cell.ran))
            for label in value.labels:
                self.names.learn(label)

    def between(self, low: float, high: float, most: int = 50) -> Iterator[Shown]:
        """Numbers whose size, sign aside, is in this range."""
        first, last = bisect_left(self._sizes, low), bisect_right(self._sizes, high)
        for number in sorted(self._order[first : min(last, first + 2_000)])[:most]:
            yield self.shown[number]


def _ends(text: str, most: int) -> str:
    """The first and the last part of a long text, in whole lines."""
    if len(text) <= most:
        return text
    head, tail = most * 6 // 10, most * 4 // 10
    before = text[: text.rfind("\n", 0, head) + 1 or head]
    return f"{before}\n\n{text[text.find(chr(10), len(text) - tail) + 1 or len(text) - tail :]}"
