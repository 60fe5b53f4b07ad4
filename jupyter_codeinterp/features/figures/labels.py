"""The labels of the numbers in an output, and which number the title of a link fits.

``[7,412](#cell:ID "Kiel, revenue")``: the title names the row and column, or the words beside the
number. It fits the number whose labels have most of its words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from .outputs import HEADS, NO_HEAD, Shown, cells_of

_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+")
_NAME = r"[^\s:=,;(){}\[\]]{1,60} ?[:=]"
_KEY = re.compile(rf"(?<![^\s,;(){{}}\[\]]){_NAME}(?: ?{_NAME})? ?(?=[-+\u2212]?[\d.])")
"""The key of a number, as in ``loss: 0.2`` and ``{'loss': 0.2}``."""
_DIGIT = re.compile(r"\d")
MOST_WORDS = 12
"""Words compared of a title."""
LONGEST = 1_000
"""Characters read of a line."""
MOST_ROWS = 60
"""Lines above that are read for labels that they share with a line."""
MOST_ALIKE = 20
"""Numbers for which the order of words is compared."""


class Labels:
    """The labels of the numbers in a cell's outputs."""

    def __init__(self, cell: Sequence[Shown]) -> None:
        self._lines: dict[tuple[int, int], _Line] = {}
        self._heads: dict[tuple[int, int], list[_Head]] = {}
        words = ((one, self._words(one)) for one in cell)
        self._rows = [(one, found, frozenset(found)) for one, found in words]

    def fitting(self, title: str, places: Sequence[Shown], *, of_line: bool) -> list[Shown]:
        """Those of ``places`` that the title fits as well as any number of the cell. All if there
        is no title, or if it fits no number. ``of_line``: the title is that of several numbers,
        and fits all in a line."""
        wanted = _words(title)[:MOST_WORDS]
        one_each = frozenset(wanted)
        common = [len(one_each & words) for *_, words in self._rows]
        most = max(common)
        alike = [row for row, count in zip(self._rows, common, strict=True) if count == most]
        if 1 < len(alike) <= MOST_ALIKE:
            runs = [_in_order(wanted, words) for _, words, _ in alike]
            longest = max(runs)
            alike = [row for row, run in zip(alike, runs, strict=True) if run == longest]
        fits = {_place(one, of_line) for one, *_ in alike}
        return [one for one in places if _place(one, of_line) in fits]

    def _words(self, shown: Shown) -> list[str]:
        """The words of its line, of the heads above it, and of the lines that its line is part
        of."""
        place = (id(shown.lines), shown.line)
        start, end = shown.number.start, shown.number.end
        if place not in self._lines:
            line = shown.lines[shown.line][:LONGEST]
            self._lines[place] = _Line(list(_groups(shown.lines, shown.line)), line)
            self._heads[place] = _heads(shown.lines, shown.line)
        above = [head.above(start, end) for head in self._heads[place]]
        return [*self._lines[place].words(start), *_words(" ".join(above))]


class _Line:
    """The words of a line, and of earlier ones that say what it is about. In ``loss: 0.2, rate:
    0.1`` each number has its own key."""

    def __init__(self, groups: Sequence[str], line: str) -> None:
        self._ends, self._keys, self._others = [0], [_words(" ".join(groups))], []
        for key in _KEY.finditer(line):
            self._others.append(_words(line[self._ends[-1] : key.start()]))
            self._ends.append(key.end())
            self._keys.append(_words(key[0]))
        self._others.append(_words(line[self._ends[-1] :]))

    def words(self, number: int) -> list[str]:
        """Those of the number that begins at this place: not the keys of numbers before or after
        it."""
        nearest = bisect_right(self._ends, number) - 1
        found = list(self._keys[0])
        for place, others in enumerate(self._others):
            found += [*(self._keys[place] if place and place == nearest else ()), *others]
        return found


class _Head:
    """A line that may be the head of a table."""

    def __init__(self, line: str) -> None:
        found = list(re.finditer(r"\S+", line[:LONGEST]))
        self._words = [one[0] for one in found]
        self._starts = [one.start() for one in found]
        self._ends = [one.end() for one in found]
        # Columns with a common head have it above the left one.
        self._cells = [] if NO_HEAD.search(line) else list(cells_of(line[:LONGEST]))

    def above(self, start: int, end: int) -> str:
        """The words above these places, or else those of the cell to their left."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        if first < last:
            return " ".join(self._words[first:last])
        left = [text for place, text in self._cells if place < end]
        return left[-1] if left else ""


def _heads(lines: Sequence[str], line: int) -> list[_Head]:
    """The lines that may be the title and heads of a line's columns. Heads may be numbers, such as
    years, in the first line below the title."""
    heads: list[_Head] = []
    is_titled = True
    for one in filter(_WORD.search, lines[: min(line, HEADS)]):
        if NO_HEAD.search(one):
            return [*heads, _Head(one)] if is_titled else heads
        heads.append(_Head(one))
        is_titled = is_titled and _width(one) == 1
    return heads


def _groups(lines: Sequence[str], line: int) -> Iterator[str]:
    """What earlier lines say of this line: labels that rows share, the head of a list, the nearest
    line without a number."""
    indent, is_named = _indent(lines[line]), False
    for earlier in reversed(lines[max(0, line - MOST_ROWS) : line]):
        less = _indent(earlier)
        if less >= indent:
            if less == indent and not is_named and not _DIGIT.search(earlier):
                is_named = True
                yield earlier[:LONGEST]
            continue
        is_named = True
        if not earlier[indent - 1 : indent].strip():
            yield earlier[:indent]
        elif _width(earlier) != _width(lines[line]) or not _DIGIT.search(earlier):
            yield earlier[:LONGEST]
        indent = less


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _width(line: str) -> int:
    return sum(1 for _ in cells_of(line[:LONGEST]))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> int:
    """How many words of the title the labels have in the same order."""
    words = [word for word in words if word in wanted][:MOST_WORDS]
    longest = [0] * (len(words) + 1)
    for one in wanted:
        before = longest
        longest = [0]
        for place, word in enumerate(words):
            same = before[place] + 1 if one == word else 0
            longest.append(max(same, before[place + 1], longest[place]))
    return longest[-1]


def _place(shown: Shown, of_line: bool) -> tuple[int, int, int]:
    return id(shown.lines), shown.line, 0 if of_line else shown.number.start
