"""What the outputs of cells show: their texts, numbers and dates, within bounds.

The server reads the first and the last part of each text, of cells that ran in the turn first.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from itertools import chain, islice
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
    r"(?:\d{4}-\d{2}(?:-\d{2}(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?)?(?![\d-])"
    r"|\d\d?:\d\d(?::\d\d)?(?![\d:])"
    r"|(?P<number>[-+\u2212]?\d{1,3}(?:(?:,\d{3})+|\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
    r"(?:(?!\w)|(?=[^\W\d_]{1,3}(?!\w)))(?!\.\d)))"
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
_Row = tuple[int, int, frozenset[str]]
"""The first number of a line, the one after its last, and its words."""


class Outputs:
    """All that is known of some cells' outputs."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.texts: list[Text] = []
        self.code: list[Text] = []
        self.partly = False
        """Whether something was left unread."""
        self.shown: list[float] = []
        """The numbers of all texts, in order. Few are asked for: ``Shown`` is made of those."""
        self._spans: list[tuple[int, int]] = []
        self._first: list[int] = []
        """How many numbers come before each text."""
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
        self._rows: dict[str, list[list[_Row]]] | None = None
        """By each of their words."""
        self._named: dict[frozenset[str], list[Line]] = {}
        self._used = 0
        for cell in sorted(cells, key=lambda cell: not cell.ran):
            self._read(cell)
        for place, text in enumerate(self.texts):
            self._find(place, text)
        sizes = list(map(abs, self.shown))
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
        words, values, spans = text.text, self.shown, self._spans
        self._first.append(len(values))
        row = -1
        tokens = _ASCII_TOKEN if words.isascii() else _TOKEN
        grouped = "," in words or "\u2212" in words
        matches = tokens.finditer(words)
        for match in matches if len(values) < MOST_NUMBERS else ():
            word = match[1]
            if word is None or len(word) > 40:
                continue
            span = match.span()
            start, end = span
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
            values.append(value)
            spans.append(span)
            if len(values) == MOST_NUMBERS:
                break
        if next(matches, None) is not None:
            self.partly = True
        elif text.ran:
            self.from_run = len(values)

    # --- looking up ------------------------------------------------------------------

    def _shown(self, number: int) -> Shown:
        place = bisect_right(self._first, number) - 1
        return Shown(self.shown[number], *self._spans[number], place)

    def between(self, low: float, high: float, most: int = 20) -> Iterator[Shown]:
        """Numbers whose size, sign aside, is in this range."""
        first, last = bisect_left(self._sizes, low), bisect_right(self._sizes, high)
        numbers_ = sorted(self._order[first : min(last, first + 2_000)])
        yield from map(self._shown, numbers_[:most])

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
        if self._rows is None:
            self._rows = {}
            alike: dict[frozenset[str], list[_Row]] = {}
            for row in self._read_rows():
                alike.setdefault(row[2], []).append(row)
            for known, rows in alike.items():
                for word in known:
                    self._rows.setdefault(word, []).append(rows)
        named = {row[0]: row for word in words for row in self._named_rows(word)}
        return [
            (known & words, list(map(self._shown, range(first, after))))
            for first, after, known in map(named.__getitem__, sorted(named))
        ]

    def _named_rows(self, word: str) -> list[_Row]:
        found = self._rows.get(word, []) if self._rows is not None else []
        # A word that stands in many rows is the name of no single row.
        return list(chain(*found)) if sum(map(len, found)) <= MOST_NAMED else []

    def _read_rows(self) -> Iterator[_Row]:
        """The lines with numbers, of cells that ran."""
        left = MOST_LINES
        for place, number in enumerate(self._first):
            text = self.texts[place].text
            last = min([self.from_run, *self._first[place + 1 : place + 2]])
            while number < last and left:
                start, end = line_of(text, self._spans[number][0])
                after = bisect_left(self._spans, (end,), number + 1, last)
                yield number, after, labels(text[start:end])
                number, left = after, left - 1

    def dates_on(self, days: Set[Day]) -> list[tuple[Text, Date]]:
        """Dates and times of day that may be on one of these days, in order. The day None is any
        one of the month, the month None any one at all."""
        if self._dates is None:
            found = ((text, date) for text in self.texts for date in dates(text.text, MOST_DATES))
            self._dates = list(islice(found, MOST_DATES))
            for place, (_, date) in enumerate(self._dates):
                for _, month, day, *_ in date.parts:
                    self._by_day.setdefault((month, None), []).append(place)
                    self._by_day.setdefault((month, day), []).append(place)
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
