"""The sentences of an answer, and which names in a sentence belong to a number in it.

Each number has a span of its sentence, which ends at punctuation or words such as “and”, “to” and
“than”. The last name before the number in its span, or the one right after it, belongs to it. A
span without names uses the last name before it, a sentence without names those of its heading.
A list of as many names as numbers is paired with them in order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

import msgspec

from .names import COMMON, LabelNames, Mention
from .numbers import Number, scan

LONGEST = 1_000
"""Characters of a sentence; longer ones are cut."""
_END = re.compile(
    r"(?<!\b[A-Z][a-z])[.!?][\"')*_]{0,3}(?=\s)"
    r"|\n(?=[ \t]{0,40}\n)|\n(?=[ \t>]{0,12}(?:[-*+|#]|\d{1,3}[.)]\s))"
)
_CUTS = (
    re.compile(
        r"[,;:](?=[\s*_])|\((?![^()]*\))|\)|[\u2013\u2014]"
        r"|(?<=\s)(?:-|and|but|while|or|vs|versus|und|aber|oder|et|mais)(?=\s)"
    ),
    re.compile(
        r"(?<=\s)(?:than|to|from|against|compared|instead|then|als|auf|von|bis|gegen|contre|puis)(?=\s)"
    ),
)
"""Signs and words that separate the spans of two numbers."""
_HARD = re.compile(r"[;:]|, |\b(?:but|while|aber|mais)\b")
_RIGHT = re.compile(
    r"[ *_]{0,4}(?:[a-z]{2,4} )?|[ \w%\u20ac\u00b0*]{1,20} (?:on|in|at|for|im|en|auf|bei) (?:the )?"
)
_MOVES = re.compile(r"\b(?:from|to|von|auf|de|à)\b")
_PRONOUN = re.compile(
    r"\b(?:its?|the(?:y|ir|m|se|re)|s?he|his|her|dort|sie|ihre?|elles?|ils?|ses|son|sa)\b",
    re.IGNORECASE,
)
_LEFT = re.compile(r"[ *_`:=($\u20ac]{1,9}|[^,;:(\u2013\u2014]*")
_AND = re.compile(
    r"[\s,*_`]{0,9}(?:(?:and|or|und|oder|et|ou|&|/)[\s*_`]{1,9})?"
    r"(?:(?:the|die|der|les?|la) )?[*_`]{0,3}"
)
"""Text between the names of a list."""
_COUNTED = re.compile(
    r"[ *_`)]{0,4}(?:[a-z\u20ac$%\u00b0]{1,9} )?"
    r"(?:(?:of|in|at|for|on|under|by|per|bei|für|im|à|pour) )?(?:the )?[*_`]{0,3}"
)
"""Text between a number and the name right after it."""
_UNIT = re.compile(r"[(\[](?:[^()]{0,9}\W)?([kM]|[mb]n|[mb]illion|thousand)s?\b[^()]{0,12}[)\]]")
"""A scale in the head of a column."""
_HEADING = re.compile(
    r"^(?: {0,3}#{1,6} [^\n]{1,200}|[ \t>*+-]{0,12}\*\*[^*\n]{1,100}\*\*)", re.MULTILINE
)
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


class AnswerSentence(msgspec.Struct, frozen=True):
    """``numbers``: those that are not part of a name. ``spans``: where the numbers' spans begin,
    and the last end. ``mentions``: names by kind, each list of names together. ``runs``: for each
    number, the numbers of its clause without a name between them, by kind."""

    start: int
    text: str
    numbers: list[Number]
    spans: list[int]
    mentions: dict[str, list[list[Mention]]]
    runs: dict[str, list[list[Number]]]
    words: frozenset[str]


class Sentences:
    def __init__(self, text: str, prose: str, numbers: Sequence[Number], names: LabelNames) -> None:
        """``prose`` is ``text`` with blanks for all but prose (``lookup.prose``)."""
        self._text = prose
        self._raw = text
        self._names = names
        self._rows = _table_rows(text)
        self._headings = [
            (found.end(), _by_kind(names.find(text[found.start() : found.end()])))
            for found in _HEADING.finditer(prose)
        ]
        self._bounds = [0]
        for end in (*(found.end() for found in _END.finditer(text)), len(text)):
            self._bounds += range(self._bounds[-1] + LONGEST, end, LONGEST)
            self._bounds.append(end)
        self._about: dict[tuple[Number, str], set[str]] = {}
        self._numbers: dict[int, list[Number]] = {}
        for number in numbers:
            self._numbers.setdefault(self._place(number), []).append(number)
        self._sentences = {place: self._sentence(place) for place in self._numbers}

    def of(self, number: Number) -> AnswerSentence:
        return self._sentences[self._place(number)]

    def _place(self, number: Number) -> int:
        return bisect_right(self._bounds, number.start, hi=len(self._bounds) - 1) - 1

    def _sentence(self, place: int) -> AnswerSentence:
        start, end = self._bounds[place], self._bounds[place + 1]
        text, numbers = self._raw[start:end], self._numbers[place]
        digits = _places(numbers)
        mentions = _by_kind(
            one
            for one in self._names.find(text, start)
            if one.kind != ":year" or one.start not in digits
        )
        named = _places(chain.from_iterable(mentions.values()))
        numbers = [one for one in numbers if one.start not in named]
        spans = [start]
        for one, following in pairwise(numbers):
            spans.append(self._cut(one, following.start, mentions))
        if numbers:
            cut = _CUTS[0].search(self._text, numbers[-1].end, end)
            spans.append(cut.start() if cut is not None else end)
        words = frozenset(self._names.stems(text) - COMMON)
        groups = {kind: self._grouped(ones) for kind, ones in mentions.items()}
        runs = {kind: self._runs(numbers, ones) for kind, ones in groups.items()}
        return AnswerSentence(start, text, numbers, spans, groups, runs, words)

    def _cut(self, number: Number, end: int, mentions: dict[str, list[Mention]]) -> int:
        """Where the span of a number ends."""
        for pattern in _CUTS:
            if (cut := pattern.search(self._text, number.end, end)) is not None:
                return cut.start()
        ones = [
            one.end
            for one in chain.from_iterable(mentions.values())
            if number.end <= one.start and _COUNTED.fullmatch(self._text, number.end, one.start)
        ]
        return max(ones, default=number.end)

    def _grouped(self, mentions: list[Mention]) -> list[list[Mention]]:
        groups: list[list[Mention]] = []
        for one in mentions:
            if groups and _AND.fullmatch(self._text, groups[-1][-1].end, one.start):
                groups[-1].append(one)
            else:
                groups.append([one])
        return groups

    def has_stranger(self, number: Number) -> bool:
        """Whether the number belongs to a name that no output has: “Spain paid 10,000”."""
        row = self._rows.get(self._text.rfind("\n", 0, number.start) + 1)
        start = max(self._bounds[self._place(number)], number.start - 120)
        found = _SUBJECT.search(self._raw[start : number.start].lstrip())
        name = row[1][0] if row is not None else found[1] if found is not None else ""
        words = self._names.stems(name)
        known = (self._names.words, COMMON, _NO_SUBJECT.split())
        is_new = bool(words) and all(map(words.isdisjoint, known))
        return is_new and not self._names.find(name)

    def about(self, number: Number, kind: str) -> set[str]:
        """The names of a kind that belong to the number; empty if unclear."""
        key = (number, kind)
        if key not in self._about:
            cell, sentence = self._cell(number), self.of(number)
            if cell is not None:
                found = self._of_cell(cell, kind)
            elif number not in sentence.numbers:
                found = set()
            elif kind in sentence.mentions:
                found = {one.name for one in self._chosen(number, sentence, kind)}
            elif self._names.is_measure(kind):
                found = set()
            else:
                found = self._of_heading(number, kind) or self._earlier(number, kind)
            self._about[key] = found
        return self._about[key]

    def _earlier(self, number: Number, kind: str) -> set[str]:
        """The names of the sentence before, if a pronoun refers to them: “Its mean is 12”."""
        place = self._place(number)
        start, end = self._bounds[place], self._bounds[place + 1]
        before = self._raw[self._bounds[place - 1] : start]
        if place == 0 or before.endswith("\n") or not _PRONOUN.search(self._raw, start, end):
            return set()
        found = {one.name for one in self._names.find(before) if one.kind == kind}
        return set() if re.search(r"\d", "".join(found)) else found

    def _chosen(self, number: Number, sentence: AnswerSentence, kind: str) -> list[Mention]:
        groups = sentence.mentions[kind]
        if self._names.is_measure(kind):
            return self._measure(number, sentence, groups)
        place = sentence.numbers.index(number)
        first, last = sentence.spans[place : place + 2]
        for one, following in pairwise(sentence.numbers[place : place + 4]):
            # “5 % of 120 in North”
            if any(cut.search(self._text, one.end, following.start) for cut in _CUTS):
                break
            last = sentence.spans[sentence.numbers.index(following) + 1]
        after = [one for one in groups if number.end <= one[0].start < last]
        own = [one for one in groups if first <= one[0].start and one[-1].end <= number.start]
        # As many names as numbers: “12 and 14 in North and South”, and the other way round.
        run = sentence.runs[kind][place]
        next_ = next((one for one in groups if one[0].start >= run[-1].end), [])
        if len(run) == len(next_) > 1 and not _HARD.search(self._text, run[-1].end, next_[0].start):
            return [next_[run.index(number)]]
        if not own and after:
            return after[0]
        before = [one for one in groups if one[-1].end <= number.start]
        if not before:
            return []
        names = list({one.name: one for one in chain(*(own or before))}.values())
        if len(run) == len(names) > 1:
            return [names[run.index(number)]]
        if own:
            return own[-1]
        # “From 12 in 2022 to 14”
        if re.search(r"\d", before[-1][-1].name) and _MOVES.search(self._text, first, number.start):
            return []
        return before[-1]

    def _runs(self, numbers: list[Number], groups: list[list[Mention]]) -> list[list[Number]]:
        """For each number, the numbers of its clause without a name between them."""
        runs: list[list[Number]] = []
        end = 0
        for one in numbers:
            is_parted = any(end <= group[0].start < one.start for group in groups)
            if not runs or is_parted or _HARD.search(self._text, end, one.start):
                runs.append([])
            runs[-1].append(one)
            end = one.end
        return [run for run in runs for _ in run]

    def _measure(
        self, number: Number, sentence: AnswerSentence, groups: list[list[Mention]]
    ) -> list[Mention]:
        first = sentence.spans[sentence.numbers.index(number)]
        groups = [one for one in groups if not self._text.endswith("per ", 0, one[0].start)]
        right = [one for one in groups if _RIGHT.fullmatch(self._text, number.end, one[0].start)]
        before = [
            one
            for one in groups
            if first <= one[0].start < number.start
            and _LEFT.fullmatch(self._text, one[-1].end, number.start)
        ]
        return [*chain(*before, *(() if number.percent else right))]

    def _of_cell(self, cell: Iterable[str], kind: str) -> set[str]:
        """The names in the number's cell, else in its column's head, else in its row."""
        named = ({one.name for one in self._names.find(text) if one.kind == kind} for text in cell)
        return next(filter(None, named), set())

    def _of_heading(self, number: Number, kind: str) -> set[str]:
        place = bisect_right(self._headings, number.start, key=lambda one: one[0]) - 1
        return {one.name for one in self._headings[place][1].get(kind, ())} if place >= 0 else set()

    def scale(self, number: Number) -> float:
        """The factor that the column's head gives: 1e6 for “Population (M)”."""
        cell = self._cell(number)
        found = _UNIT.search(cell[1]) if cell is not None else None
        return next(scan(f"1 {found[1]}")).value if found is not None else 1.0

    def _cell(self, number: Number) -> tuple[str, ...] | None:
        """For a number in a table: its cell, its column's head, and the row's texts; else None."""
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
    """The rows of Markdown tables by offset, each as the table's head and the row's cells."""
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


def _places(ones: Iterable[Number | Mention]) -> set[int]:
    return {place for one in ones for place in range(one.start, one.end)}


def _by_kind(mentions: Iterable[Mention]) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for one in mentions:
        found.setdefault(one.kind, []).append(one)
    return found
