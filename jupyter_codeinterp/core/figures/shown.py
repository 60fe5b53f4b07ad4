"""The numbers that outputs of cells show, within bounds.

The server reads the first and the last part of each text, of cells that ran in the turn first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from ..document.ops import Output
from .held import After
from .texts import MOST_OF_ONE, text_of

MOST_TEXT = 100_000
"""Characters that are read of all outputs."""
MOST_OUTPUTS = 500
MOST_NUMBERS = 4_000

_TOKEN = re.compile(
    r"(?=[-+\u2212\d])(?<![\w.])"
    r"(?:\d{4}-\d{2}(?:-\d{2}(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?)?(?![\d-])"
    r"|\d\d?:\d\d(?::\d\d)?(?![\d:])"
    r"|(?P<number>[-+\u2212]?\d{1,3}(?:(?:,\d{3})+|\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
    r"(?:(?!\w)|(?=[^\W\d_]{1,3}(?!\w)))(?!\.\d)))"
)
_ASCII_TOKEN = re.compile(_TOKEN.pattern, re.ASCII)
"""The same in text without other digits and letters, in less time."""
_LEFT_OUT = ("..", "...", ".. ")


class Cell(msgspec.Struct, frozen=True):
    """``ran``: whether it ran in this turn, or the answer links it. ``after``: what its variables
    held then."""

    cell_id: str
    outputs: tuple[Output, ...]
    ran: bool = True
    after: After = After()


class Text(msgspec.Struct, frozen=True):
    """A part of an output's text, from character ``base`` on."""

    cell_id: str
    output: int
    text: str
    base: int
    ran: bool


class Shown(msgspec.Struct, frozen=True, gc=False):
    """A number in a text."""

    value: float
    start: int
    end: int
    place: int
    """Index of the text."""


class Outputs:
    """All that is known of some cells' outputs."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.texts: list[Text] = []
        self.values: list[float] = []
        """The numbers of all texts, in order. Few are asked for: ``Shown`` is made of those."""
        self.from_run = 0
        """How many of the numbers are of cells that ran."""
        self._spans: list[tuple[int, int]] = []
        self._first: list[int] = []
        """How many numbers come before each text."""
        self._used = 0
        for cell in sorted(cells, key=lambda cell: not cell.ran):
            self._read(cell)
        for text in self.texts:
            self._find(text)
        sizes = list(map(abs, self.values))
        self._order = sorted(range(len(sizes)), key=sizes.__getitem__)
        self._sizes = [sizes[number] for number in self._order]

    def between(self, low: float, high: float, most: int = 20) -> Iterator[Shown]:
        """Numbers whose size, sign aside, is in this range."""
        first, last = bisect_left(self._sizes, low), bisect_right(self._sizes, high)
        for number in sorted(self._order[first : min(last, first + 2_000)])[:most]:
            place = bisect_right(self._first, number) - 1
            yield Shown(self.values[number], *self._spans[number], place)

    def _read(self, cell: Cell) -> None:
        for index, output in enumerate(cell.outputs):
            room = MOST_TEXT - self._used
            if len(self.texts) >= MOST_OUTPUTS or room <= 0:
                return
            for base, part in _parts(text_of(output), min(room, MOST_OF_ONE)):
                self.texts.append(Text(cell.cell_id, index, part, base, cell.ran))
                self._used += len(part)

    def _find(self, text: Text) -> None:
        words, values = text.text, self.values
        self._first.append(len(values))
        row = -1
        tokens = _ASCII_TOKEN if words.isascii() else _TOKEN
        grouped = "," in words or "\u2212" in words
        found = (one for one in tokens.finditer(words) if one[1] and len(one[1]) <= 40)
        for match in islice(found, MOST_NUMBERS - len(values)):
            start, end = match.span()
            word = match[1].replace(",", "").replace("\u2212", "-") if grouped else match[1]
            value = float(word)
            if (start == 0 or words[start - 1] == "\n") and words.startswith("  ", end):
                is_index = value == row + 1 or words.endswith(_LEFT_OUT, 0, start - 1)
                row = int(value) if is_index and value < 1e9 else row
                if is_index:
                    continue
            values.append(value)
            self._spans.append((start, end))
        if text.ran:
            self.from_run = len(values)


def _parts(text: str, most: int) -> Iterator[tuple[int, str]]:
    if len(text) <= most:
        if text:
            yield 0, text
        return
    head, tail = most * 6 // 10, most * 4 // 10
    yield 0, text[: text.rfind("\n", 0, head) + 1 or head]
    start = text.find("\n", len(text) - tail) + 1 or len(text) - tail
    yield start, text[start:]
