"""The sentences of an answer, and which of the names in a sentence are about a number in it.

Commas, colons and dashes part a sentence, and so do brackets that have numbers. A number is about
the names of its part: the one in its place if there are as many names as numbers, otherwise the
last one before it. A part without names goes on with those of the parts before it, and a sentence
without names with those of its heading.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from .names import COMMON, STATISTICS, Mention, Names
from .numbers import Number, scan

LONGEST = 1_000
"""Characters of a sentence; longer ones are cut."""
_END = re.compile(
    r"(?<!\bvs)(?<!\bca)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)[.!?][\"')*_]{0,3}(?=\s)"
    r"|\n(?=[ \t]{0,40}\n)|\n(?=[ \t>]{0,12}(?:[-*+|#]|\d{1,3}[.)]\s))"
)
_CUT = re.compile(r"[,;:](?=[\s*_])|(?<=\s)[-\u2013\u2014](?=\s)")
_BRACKETS = re.compile(r"\([^()]{1,200}\)")
_COUNTED = re.compile(r"[ *_]{0,4}(?:[a-z]{2,4} )?")
"""Between a number and what it counts."""
_UNIT = re.compile(r"[(\[](?:[^()]{0,9}\W)?([kM]|[mb]n|[mb]illion|thousand)s?\b[^()]{0,12}[)\]]")
"""In the head of a column."""
_HEADING = re.compile(
    r"^(?: {0,3}#{1,6} [^\n]{1,200}|[ \t>*+-]{0,12}\*\*[^*\n]{1,100}\*\*)", re.MULTILINE
)
_SUBJECT = re.compile(
    r"(?:^|[,;:]\s|\b(?:and|und|et|but|that|while|in|for|from|of|by|at)\s)[ *_>+-]{0,6}"
    r"(?:(?:In|For|From|Of|By|At)\s)?(?:[Tt]he\s)?"
    r"(`\w{1,30}`|[A-Z][\w-]{1,30}(?:\s[A-Z][\w-]{1,30}){0,2})"
    r"(?:['\u2019]s)?[*_]{0,3}(?:\s\w{1,20}){0,4}[\s*_:($\u20ac\u00a3]{1,5}$"
)
"""A name that begins a clause, and at most four words from it to a number."""
_NO_SUBJECT = (
    "about across again after also altogether among around because before below between both "
    "but compared das der die during each elle elles er es every everyone few half here "
    "however if ihr il ils im insgesamt its la le les leur many more most my once one only "
    "our over overall per sa sein ses sie since so some son such than that their then there "
    "these they those two typical under until une up we what when where which while wir you"
)
"""What begins sentences, and is no name."""


class Sentence(msgspec.Struct, frozen=True):
    """``numbers`` are those that belong to no name, ``mentions`` the names by kind, ``cuts`` and
    ``brackets`` the places between its parts."""

    start: int
    text: str
    numbers: list[Number]
    mentions: dict[str, list[Mention]]
    words: frozenset[str]
    cuts: list[int]
    brackets: list[tuple[int, int]]

    def part(self, place: int) -> int:
        """The part that has this place; below zero for brackets."""
        inner = bisect_right(self.brackets, (place, place)) - 1
        if inner >= 0 and place < self.brackets[inner][1]:
            return -1 - inner
        return bisect_right(self.cuts, place)


class Sentences:
    def __init__(self, text: str, prose: str, numbers: Sequence[Number], names: Names) -> None:
        """``prose`` is ``text`` with blanks for what is no prose, of the same length."""
        self._text = prose
        self._raw = text
        self._names = names
        self._rows = _table_rows(text)
        self._headings = [
            (found.end(), _by_kind(names.find(found[0]))) for found in _HEADING.finditer(prose)
        ]
        self._bounds = [0]
        for end in (*(found.end() for found in _END.finditer(text)), len(text)):
            self._bounds += range(self._bounds[-1] + LONGEST, end, LONGEST)
            self._bounds.append(end)
        self._read: dict[int, Sentence] = {}
        self._about: dict[tuple[Number, str], set[str]] = {}
        self._numbers: dict[int, list[Number]] = {}
        for number in numbers:
            self._numbers.setdefault(self._place(number), []).append(number)

    def of(self, number: Number) -> Sentence:
        place = self._place(number)
        if place not in self._read:
            self._read[place] = self._sentence(place)
        return self._read[place]

    def _place(self, number: Number) -> int:
        return bisect_right(self._bounds, number.start, hi=len(self._bounds) - 1) - 1

    def _sentence(self, place: int) -> Sentence:
        start, end = self._bounds[place], self._bounds[place + 1]
        text, numbers = self._text[start:end], self._numbers[place]
        digits = _places(numbers)
        mentions = _by_kind(
            one
            for one in self._names.find(text, start)
            if one.kind != ":year" or one.start not in digits
        )
        named = _places(chain.from_iterable(mentions.values()))
        numbers = [one for one in numbers if one.start not in named]
        brackets = [(start + one.start(), start + one.end()) for one in _BRACKETS.finditer(text)]
        brackets = [(a, b) for a, b in brackets if any(a < one.start < b for one in numbers)]
        words = frozenset(self._names.stems(text) - COMMON)
        cuts = [start + found.start() for found in _CUT.finditer(text)]
        return Sentence(start, text, numbers, mentions, words, cuts, brackets)

    def has_stranger(self, number: Number) -> bool:
        """Whether it is about a name that no output has: “Spain paid 10,000”."""
        row = self._rows.get(self._text.rfind("\n", 0, number.start) + 1)
        start = max(self._bounds[self._place(number)], number.start - 120)
        found = _SUBJECT.search(self._raw[start : number.start].lstrip())
        name = row[1][0] if row is not None else found[1] if found is not None else ""
        words = self._names.stems(name)
        known = (self._names.words, COMMON, STATISTICS, _NO_SUBJECT.split())
        is_new = bool(words) and all(map(words.isdisjoint, known))
        return is_new and not self._names.find(name)

    def about(self, number: Number, kind: str) -> set[str]:
        """The names of a kind that are about the number; none if the answer leaves it open."""
        key = (number, kind)
        if key not in self._about:
            cell, sentence = self._cell(number), self.of(number)
            if cell is not None:
                found = self._of_cell(cell, kind)
            elif number not in sentence.numbers:
                found = set()
            elif self._names.is_measure(kind):
                found = _of_measure(number, sentence, kind)
            elif kind in sentence.mentions:
                found = {one.name for one in _chosen(number, sentence, kind)}
            else:
                found = self._of_heading(number, kind)
            self._about[key] = found
        return self._about[key]

    def _of_cell(self, cell: Iterable[str], kind: str) -> set[str]:
        """Its own cell or the head of its column, and otherwise the row."""
        named = ({one.name for one in self._names.find(text) if one.kind == kind} for text in cell)
        return next(filter(None, named), set())

    def _of_heading(self, number: Number, kind: str) -> set[str]:
        place = bisect_right(self._headings, number.start, key=lambda one: one[0]) - 1
        return {one.name for one in self._headings[place][1].get(kind, ())} if place >= 0 else set()

    def scale(self, number: Number) -> float:
        """What the head of its column says to multiply it with: “Population (M)”."""
        cell = self._cell(number)
        found = _UNIT.search(cell[1]) if cell is not None else None
        return next(scan(f"1 {found[1]}")).value if found is not None else 1.0

    def _cell(self, number: Number) -> tuple[str, ...] | None:
        """Of a number in a table: its cell, the head of its column, and the row's other texts."""
        start = self._text.rfind("\n", 0, number.start) + 1
        if start not in self._rows:
            return None
        head, cells = self._rows[start]
        line = self._text[start : number.start]
        place = line.count("|") - line.lstrip().startswith("|")
        texts = [cell for cell in cells if not re.search(r"\d[\d.,]*\d", cell) or cell == cells[0]]
        own = cells[place] if place < len(cells) else ""
        return (own, head[place] if place < len(head) else "", " ; ".join(texts))


def _table_rows(text: str) -> dict[int, tuple[list[str], list[str]]]:
    """Rows of Markdown tables by where they begin: the head and the cells."""
    found: dict[int, tuple[list[str], list[str]]] = {}
    head: list[str] = []
    before, start, inside = "", 0, False
    for line in text.split("\n"):
        if "|" in line and "-" in line and not line.strip("|-: \t\r"):
            head, inside = _cells(before), True
        elif inside and "|" in line:
            found[start] = (head, _cells(line))
        else:
            inside = False
        before, start = line, start + len(line) + 1
    return found


def _cells(line: str) -> list[str]:
    return [
        cell.strip(" *_`") for cell in line.strip().removeprefix("|").removesuffix("|").split("|")
    ]


def _chosen(number: Number, sentence: Sentence, kind: str) -> list[Mention]:
    mentions, own = sentence.mentions[kind], sentence.part(number.start)
    near = [one for one in mentions if sentence.part(one.start) == own]
    numbers = [one for one in sentence.numbers if sentence.part(one.start) == own]
    if near and len(numbers) == 1:
        return near
    if len(numbers) == len(near):
        return [near[numbers.index(number)]]
    before = [one for one in near if one.end <= number.start]
    if before:
        return before[-1:]
    if near and not any(number.end <= one.start < near[0].start for one in numbers):
        return near[:1]
    earlier = [one for one in mentions if one.end <= number.start and sentence.part(one.start) >= 0]
    names = list({one.name: one for one in earlier}.values())
    if own >= 0 and len(names) == len(numbers) > 1:
        return [names[numbers.index(number)]]
    last = sentence.part(earlier[-1].start) if earlier else 0
    group = [one for one in earlier if sentence.part(one.start) == last]
    if own < 0:
        # “lower in North (80) than in South (120)”
        opens = sentence.brackets[-1 - own][0]
        since = max((one.end for one in sentence.numbers if one.end <= opens), default=0)
        group = [one for one in group if one.start >= since]
    return group


def _of_measure(number: Number, sentence: Sentence, kind: str) -> set[str]:
    """What comes before, “the mean is 12”, and right after, “342 passengers”."""
    own, first = sentence.part(number.start), sentence.start
    mentions = [
        one
        for one in sentence.mentions.get(kind, ())
        if not sentence.text.endswith("per ", 0, one.start - first)
    ]
    near = [one for one in mentions if sentence.part(one.start) == own]
    brackets = range(-len(sentence.brackets), 0)
    numbers = [one for one in sentence.numbers if sentence.part(one.start) in (own, *brackets)]
    if len(near) == len(numbers):
        near = [near[numbers.index(number)]]
    else:
        near = [one for one in near if min(numbers, key=lambda n: _gap(n, one)) == number]
    after = number.end - first
    return {one.name for one in near if one.end <= number.start} | {
        one.name
        for one in mentions
        if one.start >= number.end
        and not number.percent
        and _COUNTED.fullmatch(sentence.text, after, one.start - first)
    }


def _gap(number: Number, mention: Mention) -> int:
    return max(mention.start - number.end, number.start - mention.end)


def _places(ones: Iterable[Number | Mention]) -> set[int]:
    return {place for one in ones for place in range(one.start, one.end)}


def _by_kind(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for one in mentions:
        found.setdefault(one.kind, []).append(one)
    return found
