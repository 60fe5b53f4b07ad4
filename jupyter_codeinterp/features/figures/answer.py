"""The text of an answer: its prose, its sentences, and the part of a sentence that is about a
number.

Punctuation or a word such as “and”, “to” and “than” parts one number of a sentence from the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest

import msgspec

from .names import COMMON, LabelNames, Mention
from .numbers import Number, scan

# -------------------------------------------------------------------------------------------------
# The prose of Markdown: parts without figures become blanks, so that positions stay the same.

_FENCE = re.compile(r"\s{0,12}(?:[-*+]\s+|\d{1,3}[.)]\s+|>\s?)?(`{3,}|~{3,})")
_MARKER = re.compile(
    r"(?:[ \t>]{0,20}(?:[-*+][ \t]+)?\d{1,9}[.)]"
    r"| {0,3}#{1,6}[ \t]+\d{1,3}(?:\.\d{1,3}){0,3}[.):]?)(?=[ \t])"
)
"""The number of a list item or heading, and what comes before it."""
_CODE = re.compile(r"(`{1,3})([^`\n]{1,200})\1(?!`)")
_VALUE = re.compile(r"[^=()\[\]{}_/\\<>'\"]*")
"""Code that may be a value: no call, index, path or assignment."""
_HIDDEN = re.compile(
    r"\]\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,500})?\)"  # a link's target
    r"|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*\S{1,500}"
    r"|<[A-Za-z/!?][^<>\n]{0,500}>"
    r"|\b[a-z]{2,10}://[^\s<>)]{1,500}"
    r"|\b(?:In|Out)[ \t]?\[[ \t]?\d{1,6}[ \t]?\]",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """``text`` with blanks for code, link targets, HTML tags, addresses, list numbers and
    references such as “In [5]”."""
    lines = text.split("\n")
    fence = ""
    for place, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found is not None and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
            lines[place] = " " * len(line)
        elif found is not None:
            fence = found[1]
            lines[place] = " " * len(line)
        else:
            line = _MARKER.sub(_blank, line, count=1) if _MARKER.match(line) else line
            lines[place] = _HIDDEN.sub(_blank, _CODE.sub(_code, line) if "`" in line else line)
    return "\n".join(lines)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _code(found: re.Match[str]) -> str:
    """Inline code without its backticks if it may be a value; else blanks."""
    ticks = " " * len(found[1])
    words = found[2] if _VALUE.fullmatch(found[2]) else " " * len(found[2])
    return f"{ticks}{words}{ticks}"


# -------------------------------------------------------------------------------------------------
# Sentences

LONGEST = 1_000
"""Characters of a sentence; longer ones are cut."""
_END = re.compile(
    r"(?<!\b[A-Z][a-z])[.!?][\"')*_]{0,3}(?=\s)"
    r"|\n(?=[ \t]{0,40}\n)|\n(?=[ \t>]{0,12}(?:[-*+|#]|\d{1,3}[.)]\s))"
)
_PARTED = re.compile(
    r"[,;:](?=[\s*_])|\((?![^()]*\))|\)|[\u2013\u2014]"
    r"|(?<=\s)(?:-|and|but|while|or|vs|versus|than|to|from|against|compared|instead|then"
    r"|und|aber|oder|als|auf|von|bis|gegen|et|mais|contre|puis)(?=\s)"
)
"""What parts two numbers of a sentence."""
_HEADING = re.compile(
    r"^(?: {0,3}#{1,6} [^\n]{1,200}|[ \t>*+-]{0,12}\*\*[^*\n]{1,100}\*\*)", re.MULTILINE
)
_UNIT = re.compile(r"[(\[](?:[^()]{0,9}\W)?([kM]|[mb]n|[mb]illion|thousand)s?\b[^()]{0,12}[)\]]")
"""A scale in the head of a column."""
_SUBJECT = re.compile(
    r"(?:^|[,;:]\s|\b(?:and|und|et|but|that|while|in|for|from|of|by|at)\s)[ *_>+-]{0,6}"
    r"(?:(?:In|For|From|Of|By|At)\s)?(?:[Tt]he\s)?"
    r"(`\w{1,30}`|[A-Z][\w-]{2,30}(?:\s[A-Z][\w-]{1,30}){0,2})"
    r"(?:['\u2019]s)?[*_]{0,3}(?:\s\w{1,20}){0,3}[\s*_:($\u20ac\u00a3]{1,5}$"
)
"""A name that begins a clause, and at most four words from it to a number."""
_NO_SUBJECT = (
    "about across again after also altogether among around because before below between both "
    "but compared das der die during each elle elles er es every everyone few half here "
    "however if ihr il ils im insgesamt its la le les leur many more most my once one only "
    "our out over overall per sa sein ses sie since so some son such than that their then there "
    "these they those two typical under until une up we what when where which while wir you"
)
"""Words that begin sentences and are no names."""


class Row(msgspec.Struct, frozen=True):
    """A row of a Markdown table."""

    heads: list[str]
    cells: list[str]


class Sentence(msgspec.Struct, frozen=True):
    text: str
    words: frozenset[str]
    mentions: list[Mention]


class AnswerNames:
    """Tells which names an answer has around a number."""

    def __init__(self, text: str, numbers: Sequence[Number], names: LabelNames) -> None:
        """``numbers``: all that the prose has."""
        self._text = text
        self._names = names
        self._rows = _rows(text)
        self._headings = [
            (found.end(), names.find(found[0])) for found in _HEADING.finditer(prose(text))
        ]
        self._bounds = [0]
        for end in (*(found.end() for found in _END.finditer(text)), len(text)):
            self._bounds += range(self._bounds[-1] + LONGEST, end, LONGEST)
            self._bounds.append(end)
        self._sentences: dict[int, Sentence] = {}
        self._about: dict[tuple[Number, str], set[str]] = {}
        self._parts: dict[Number, tuple[int, int]] = {}
        by_sentence: dict[int, list[Number]] = {}
        for number in numbers:
            by_sentence.setdefault(self._place(number), []).append(number)
        for place, some in by_sentence.items():
            self._read(place, some)

    def _place(self, number: Number) -> int:
        return bisect_right(self._bounds, number.start, hi=len(self._bounds) - 1) - 1

    def _read(self, place: int, numbers: list[Number]) -> None:
        """Find the names of a sentence and the part of each number."""
        start, end = self._bounds[place], self._bounds[place + 1]
        figures = {one for number in numbers for one in range(number.start, number.end)}
        text = self._text[start:end]
        mentions = [
            one
            for one in self._names.find(text, start)
            if one.kind != ":year" or one.start not in figures
        ]
        words = frozenset(self._names.stems(text) - COMMON)
        self._sentences[place] = Sentence(text, words, mentions)
        named = {one for mention in mentions for one in range(mention.start, mention.end)}
        numbers = [one for one in numbers if one.start not in named]
        for number, following in zip_longest(numbers, numbers[1:]):
            until = following.start if following is not None else end
            cut = _PARTED.search(self._text, number.end, until)
            last = cut.start() if cut is not None else end if following is None else number.end
            self._parts[number] = (start, last)
            start = last

    def sentence(self, number: Number) -> Sentence:
        return self._sentences[self._place(number)]

    def about(self, number: Number, kind: str) -> set[str]:
        """The names of a kind around the number: those of its row in a Markdown table; else of its
        part of the sentence, else before it in the sentence, else in the heading above.

        The name of a column counts only in the part, and not after a percentage: “5 % of orders”.
        """
        key = (number, kind)
        if key not in self._about:
            self._about[key] = self._named(number, kind)
        return self._about[key]

    def _named(self, number: Number, kind: str) -> set[str]:
        texts = self._row_of(number)
        if texts is not None:
            named = (_of(self._names.find(text), kind) for text in texts)
            return next(filter(None, named), set())
        if number not in self._parts:
            return set()
        mentions = self.sentence(number).mentions
        first, last = self._parts[number]
        is_measure = self._names.is_measure(kind)
        last = number.start if is_measure and number.percent else last
        part = [one for one in mentions if first <= one.start < last]
        if is_measure:
            return {
                one.name
                for one in part
                if one.kind == kind and not self._text.endswith("per ", 0, one.start)
            }
        before = [one for one in mentions if one.start < number.start]
        return _of(part, kind) or _of(before, kind) or self._of_heading(number, kind)

    def _of_heading(self, number: Number, kind: str) -> set[str]:
        place = bisect_right(self._headings, number.start, key=lambda one: one[0]) - 1
        return _of(self._headings[place][1], kind) if place >= 0 else set()

    def has_stranger(self, number: Number) -> bool:
        """Whether the number belongs to a name that no output has: “Spain paid 10,000”."""
        row = self._rows.get(self._text.rfind("\n", 0, number.start) + 1)
        start = max(self._bounds[self._place(number)], number.start - 120)
        found = _SUBJECT.search(self._text[start : number.start].lstrip())
        name = row.cells[0] if row is not None else found[1] if found is not None else ""
        words = self._names.stems(name)
        known = (self._names.words, COMMON, _NO_SUBJECT.split())
        is_new = bool(words) and all(map(words.isdisjoint, known))
        return is_new and not self._names.find(name)

    def scale(self, number: Number) -> float:
        """The factor that the column's head gives: 1e6 for “Population (M)”."""
        texts = self._row_of(number)
        found = _UNIT.search(texts[1]) if texts is not None else None
        return next(scan(f"1 {found[1]}")).value if found is not None else 1.0

    def _row_of(self, number: Number) -> tuple[str, str, str] | None:
        """In a Markdown table: the number's cell, its column's head, and the texts of its row."""
        start = self._text.rfind("\n", 0, number.start) + 1
        row = self._rows.get(start)
        if row is None:
            return None
        line = self._text[start : number.start]
        place = line.count("|") - line.lstrip().startswith("|")
        heads, cells = row.heads, row.cells
        texts = [cell for cell in cells if not re.search(r"\d[\d.,]*\d", cell) or cell == cells[0]]
        own = cells[place] if place < len(cells) else ""
        return own, heads[place] if place < len(heads) else "", " ; ".join(texts)


def _of(mentions: Sequence[Mention], kind: str) -> set[str]:
    return {one.name for one in mentions if one.kind == kind}


def _rows(text: str) -> dict[int, Row]:
    """The rows of Markdown tables by offset."""
    found: dict[int, Row] = {}
    heads: list[str] = []
    before, start, inside = "", 0, False
    for line in text.split("\n"):
        if "|" in line and "-" in line and not line.strip("|-: \t\r"):
            heads, inside = _cells(before), True
        elif inside and "|" in line:
            found[start] = Row(heads, _cells(line))
        else:
            inside = False
        before, start = line, start + len(line) + 1
    return found


def _cells(line: str) -> list[str]:
    return [
        cell.strip(" *_`") for cell in line.strip().removeprefix("|").removesuffix("|").split("|")
    ]
