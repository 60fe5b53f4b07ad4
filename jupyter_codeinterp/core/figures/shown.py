"""What the outputs of cells show: their texts, numbers and dates, within bounds.

The server reads the first and the last part of each text, of cells that ran in the turn first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import Union

import msgspec

from ..document.ops import Output
from .held import After
from .numbers import Date, Number, dates, numbers
from .texts import MOST_LINE, MOST_OF_ONE, line_of, text_of
from .words import labels

MOST_TEXT = 100_000
"""Characters that are read of all outputs."""
MOST_OUTPUTS = 500
MOST_NUMBERS = 4_000
MOST_DATES = 500
MOST_CODE_NUMBERS = 500
MOST_LINES = 1_000
"""Lines that a figure of two numbers may take them from."""
MOST_NAMED = 12
"""Lines that one word may name."""
MOST_CODE = 10_000
"""Characters that are read of a cell's code."""
FARTHEST_HEAD = 6_000
"""Characters between a number and the head of its table."""

_TOKEN = re.compile(
    r"(?=[-+\u2212\d])(?<![\w.])"
    r"(?:(\d{4}-\d{2}(?:-\d{2}(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?)?(?![\d-])"
    r"|\d\d?:\d\d(?::\d\d)?(?![\d:]))"
    r"|[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
    r"(?:(?!\w)|(?=[^\W\d_]{1,3}(?!\w)))(?!\.\d))"
)
_ASCII_TOKEN = re.compile(_TOKEN.pattern, re.ASCII)
"""The same in text without other digits and letters, in less time."""
Day = tuple[Union[int, None], ...]
"""Month and day."""
_LEFT_OUT = ("..", "...", ".. ")


class Cell(msgspec.Struct, frozen=True):
    """``ran``: whether it ran in this turn, or the answer links it. ``after``: what its variables
    held then."""

    cell_id: str
    source: str
    outputs: tuple[Output, ...]
    ran: bool = True
    after: After = After()


class Text(msgspec.Struct, frozen=True):
    """A part of an output's text, from character ``base`` on; of the code where ``output`` is
    -1."""

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


Line = tuple[frozenset[str], list[Shown]]
"""Words of a sentence that a line has, and the line's numbers."""


class Outputs:
    """All that is known of some cells' outputs."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.texts: list[Text] = []
        self.code: list[Text] = []
        self.partly = False
        """Whether something was left unread."""
        self.shown: list[Shown] = []
        self.from_run = 0
        """How many of the numbers are of cells that ran."""
        self._dates: list[tuple[Text, Date]] | None = None
        self._by_day: dict[Day, list[int]] = {}
        """Also by month alone, as the day None."""
        self._code_numbers: dict[float, list[tuple[Text, Number]]] | None = None
        self._lower: dict[int, str] = {}
        self._alike: dict[int, str] = {}
        self._labels: dict[tuple[int, int], frozenset[str]] = {}
        self._heads: dict[tuple[int, int], list[tuple[int, int, frozenset[str]]]] = {}
        self._lines: dict[str, list[list[Shown]]] | None = None
        self._named: dict[frozenset[str], list[Line]] = {}
        self._used = 0
        for cell in sorted(cells, key=lambda cell: not cell.ran):
            self._read(cell)
        for place, text in enumerate(self.texts):
            self._find(place, text)
        sizes = [abs(one.value) for one in self.shown]
        self._order = sorted(range(len(sizes)), key=sizes.__getitem__)
        self._sizes = [sizes[number] for number in self._order]

    # --- reading ---------------------------------------------------------------------

    def _read(self, cell: Cell) -> None:
        if cell.source:
            self.code.append(Text(cell.cell_id, -1, cell.source[:MOST_CODE], 0, cell.ran))
        for index, output in enumerate(cell.outputs):
            room = MOST_TEXT - self._used
            if len(self.texts) >= MOST_OUTPUTS or room <= 0:
                self.partly = True
                return
            text, whole = text_of(output)
            self.partly = self.partly or not whole
            for base, part in self._parts(text, min(room, MOST_OF_ONE)):
                self.texts.append(Text(cell.cell_id, index, part, base, cell.ran))
                self._used += len(part)

    def _parts(self, text: str, most: int) -> Iterator[tuple[int, str]]:
        if len(text) <= most:
            if text:
                yield 0, text
            return
        self.partly = True
        head, tail = most * 6 // 10, most * 4 // 10
        yield 0, text[: text.rfind("\n", 0, head) + 1 or head]
        start = text.find("\n", len(text) - tail) + 1 or len(text) - tail
        yield start, text[start:]

    def _find(self, place: int, text: Text) -> None:
        words, found = text.text, self.shown
        row = -1
        tokens = _ASCII_TOKEN if words.isascii() else _TOKEN
        grouped = "," in words or "\u2212" in words
        for match in tokens.finditer(words):
            if len(found) >= MOST_NUMBERS:
                self.partly = True
                return
            start, end = match.span()
            if match.lastindex or end - start > 40:
                continue
            word = match[0]
            if grouped:
                word = word.replace(",", "").replace("\u2212", "-")
            value = float(word)
            if start == 0 or words[start - 1] == "\n":
                if words.startswith("  ", end):
                    is_index = value == row + 1 or words.endswith(_LEFT_OUT, 0, start - 1)
                    row = int(value) if is_index and value < 1e9 else row
                    if is_index:
                        continue
                elif words.startswith("%  ", end):
                    continue  # The row of a percentile.
            found.append(Shown(value, start, end, place))
        if text.ran:
            self.from_run = len(found)

    # --- looking up ------------------------------------------------------------------

    def between(self, low: float, high: float, most: int = 20) -> Iterator[Shown]:
        """Numbers whose size, sign aside, is in this range."""
        first, last = bisect_left(self._sizes, low), bisect_right(self._sizes, high)
        numbers_ = sorted(self._order[first : min(last, first + 2_000)])
        for number in numbers_[:most]:
            yield self.shown[number]

    def word(self, one: Shown) -> str:
        return self.texts[one.place].text[one.start : one.end]

    def has_percent(self, one: Shown) -> bool:
        text = self.texts[one.place].text
        return text[one.end : one.end + 2].lstrip(" ")[:1] == "%"

    def labels(self, one: Shown) -> frozenset[str]:
        """Words that say what the number is: of its line, and of its column's head."""
        return self.line_labels(one) | self.head_labels(one)

    def line_labels(self, one: Shown) -> frozenset[str]:
        text = self.texts[one.place].text
        start, end = line_of(text, one.start)
        key = (one.place, start)
        if key not in self._labels:
            self._labels[key] = labels(text[start:end])
        return self._labels[key]

    def head_labels(self, one: Shown) -> frozenset[str]:
        text = self.texts[one.place].text
        line, line_end = line_of(text, one.start)
        floor = max(0, line - FARTHEST_HEAD)
        gap = text.rfind("\n\n", floor, line)
        block = gap + 2 if gap >= 0 else 0
        if (gap < 0 and floor > 0) or block >= line:
            return frozenset()
        key = (one.place, block)
        if key not in self._heads:
            self._heads[key] = _head(text, block)
        if "\t" in text[line:line_end]:
            columns = text.count("\t", line, line_end) + 1
            column = text.count("\t", line, one.start)
            # The corner of a table is empty and was stripped.
            heads = [found for _, _, found in self._heads[key]]
            column -= max(0, columns - len(heads))
            return heads[column] if 0 <= column < len(heads) else frozenset()
        first, last = one.start - line, one.end - line
        over = (found for s, e, found in self._heads[key] if s <= last and first <= e)
        return next(over, frozenset())

    def lines(self, words: frozenset[str]) -> list[Line]:
        """The lines of cells that ran that have any of the words, with their numbers."""
        if words not in self._named:
            self._named[words] = self._lines_with(words)
        return self._named[words]

    def _lines_with(self, words: frozenset[str]) -> list[Line]:
        if self._lines is None:
            self._lines = {}
            for row in self._rows():
                for word in self.line_labels(row[0]):
                    self._lines.setdefault(word, []).append(row)
        rows = (row for word in words for row in self._named_lines(word))
        found = {id(row): (self.line_labels(row[0]) & words, row) for row in rows}
        return sorted(found.values(), key=lambda line: (line[1][0].place, line[1][0].start))

    def _named_lines(self, word: str) -> list[list[Shown]]:
        found = self._lines.get(word, []) if self._lines is not None else []
        return found if len(found) <= MOST_NAMED else []  # So many name nothing.

    def _rows(self) -> list[list[Shown]]:
        """The numbers of cells that ran, line by line."""
        rows: list[list[Shown]] = []
        place, end = -1, 0
        for one in self.shown[: self.from_run]:
            if one.place != place or one.start >= end:
                if len(rows) == MOST_LINES:
                    break
                place, end = one.place, line_of(self.texts[one.place].text, one.start)[1]
                rows.append([])
            rows[-1].append(one)
        return rows

    def dates_on(self, days: Set[Day]) -> list[tuple[Text, Date]]:
        """Dates and times of day that may be on one of these days, in order. The day None is any
        one of the month, the month None any one at all."""
        if self._dates is None:
            found = ((text, date) for text in self.texts for date in dates(text.text, MOST_DATES))
            self._dates = list(islice(found, MOST_DATES))
            for place, (_, date) in enumerate(self._dates):
                for day in {day for parts in date.parts for day in ((parts[1], None), parts[1:3])}:
                    self._by_day.setdefault(day, []).append(place)
        if any(month is None for month, _ in days):
            return self._dates
        places = {place for day in days for place in self._by_day.get(day, ())}
        return [self._dates[place] for place in sorted(places)]

    def code_numbers(self, value: float) -> list[tuple[Text, Number]]:
        """Where the code has this number, in order."""
        if self._code_numbers is None:
            self._code_numbers = {}
            found = ((text, number) for text in self.code for number in numbers(text.text))
            for text, number in islice(found, MOST_CODE_NUMBERS):
                self._code_numbers.setdefault(number.whole, []).append((text, number))
        return self._code_numbers.get(value, [])

    def alike(self, place: int) -> str:
        """The text in which names that are only written differently are the same."""
        if place not in self._alike:
            self._alike[place] = alike(self.lower(place))
        return self._alike[place]

    def lower(self, place: int) -> str:
        if place not in self._lower:
            self._lower[place] = self.texts[place].text.lower()
        return self._lower[place]


_ALIKE = str.maketrans("_-\u00a0\u2009\u202f\n\t\u2010\u2011\u2018\u2019", " " * 9 + "''")


def alike(lower: str) -> str:
    """Blanks for underscores, hyphens and line ends, and plain quotes: ``total_sales`` is "total
    sales". Every character keeps its place."""
    return lower.translate(_ALIKE)


def _head(text: str, block: int) -> list[tuple[int, int, frozenset[str]]]:
    """The words at the head of a table, with their columns."""
    end = text.find("\n", block, block + MOST_LINE)
    head = text[block : end if end >= 0 else block + MOST_LINE]
    pattern = r"[^\t]+" if "\t" in head else r"\S+(?: \S+)*"
    found = list(re.finditer(pattern, head))
    if len(found) < 2 and not head.startswith(" "):
        return []  # A line of words.
    return [(one.start(), one.end(), labels(one[0])) for one in found]
