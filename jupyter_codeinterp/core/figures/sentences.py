"""The sentences of an answer, and which of the names in a sentence are about a number in it.

Sentences know nothing of headings and of the sentences before them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from .names import COMMON, TIMES, Mention, Names, stems
from .numbers import Number, scan

_END = re.compile(
    r"(?<!\bvs)(?<!\bca)(?<!\be\.g)(?<!\bi\.e)(?<!\bapprox)[.!?][\"')*_]{0,3}(?=\s)"
    r"|\n(?=[ \t]{0,40}\n)|\n(?=[ \t>]{0,12}(?:[-*+|#]|\d{1,3}[.)]\s))"
)
_CUT = re.compile(
    r"[,;:](?=[\s*_])|(?<=\s)[-\u2013\u2014](?=\s)|[()]|\b(?:and|but|while|whereas|to|vs|versus|against|than"
    r"|then|before|after|followed|und|aber|w\u00e4hrend|bis)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[\s,&/*\u2013-]*(?:(?:and|or|to|through|until|und|oder|bis|vs|versus)\b)?[\s*\u2013-]*",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|von)\s\W{0,3}$")
"""What compares with another time."""
_AFTER = re.compile(r"\s?(?:[^\W\d]{1,12}\s)?\W{0,4}")
"""Between a number and what it counts."""
_CLAIM = re.compile(r"(?:(?!and\b|und\b|but\b)[^,;:.()]){1,14}")
"""Between a name and the number that it is about."""
_UNIT = re.compile(r"[(\[](?:[^()]{0,9}\W)?([kM]|[mb]n|[mb]illion|thousand)s?\b[^()]{0,12}[)\]]")
"""In the head of a column."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_SUBJECT = re.compile(
    r"(?:^|[.!?;,][ \n]|\d[.)] )[ *_>+-]{0,6}(?:[Tt]he )?([A-Z][\w-]{1,30}"
    r"(?: [A-Z][\w-]{1,30}){0,2})(?:['\u2019]s)?[ *_,:]{1,4}(?=[\w*_])",
    re.MULTILINE,
)
_PLACE = re.compile(
    r"\b(?:[Ii]n|[Ff]or|[Ff]rom|[Oo]f|[Bb]y|[Aa]t|[Tt]hat|[Ww]hile|[Bb]ut)\s(?:the\s)?\W{0,2}([A-Z][\w-]{2,30})"
    r"|\b([A-Z][\w-]{2,30})['\u2019]s\b"
)
_CODE = re.compile(r"`([^\W\d]\w{1,30})`")
_NO_SUBJECT = COMMON | frozenset(
    re.split(
        " ",
        "about across after also altogether among around average because before below between both "
        "but compared das der die during each es every few half here however if im insgesamt its "
        "many more most my once one only our over overall per since so some such than that their "
        "then there these they those two typical under until up we what when where which while you",
    )
)
"""What begins sentences, and is no subject."""


class Sentence(msgspec.Struct):
    start: int
    end: int
    numbers: list[Number]
    mentions: dict[str, list[Mention]] = {}
    """By kind."""
    strangers: frozenset[str] = frozenset()
    """Words that name something, but nothing of the outputs."""
    words: frozenset[str] = frozenset()
    cuts: list[int] = []


class Sentences:
    def __init__(self, text: str, prose: str, numbers: Sequence[Number], names: Names) -> None:
        """``prose`` is ``text`` with blanks for what is no prose, of the same length."""
        self._text = prose
        self._raw = text
        self._names = names
        self._rows = _table_rows(text)
        bounds = [0, *(found.end() for found in _END.finditer(text)), len(text)]
        self._starts = bounds[:-1]
        self._known: dict[int, Sentence] = {}
        self._numbers: dict[int, list[Number]] = {}
        self._bounds = bounds
        for number in numbers:
            self._numbers.setdefault(self._place(number), []).append(number)

    def of(self, number: Number) -> Sentence:
        place = self._place(number)
        if place not in self._known:
            start, end = self._bounds[place], self._bounds[place + 1]
            self._known[place] = self._read(start, end, self._numbers[place])
        return self._known[place]

    def text(self, start: int, end: int) -> str:
        return self._text[start:end]

    def _place(self, number: Number) -> int:
        return bisect_right(self._starts, number.start) - 1

    def _read(self, start: int, end: int, numbers: list[Number]) -> Sentence:
        text = self._text[start:end]
        mentions: dict[str, list[Mention]] = {}
        for one in self._names.find(text):
            moved = Mention(one.kind, one.name, one.start + start, one.end + start)
            if one.kind != "year" or not any(n.start <= moved.start < n.end for n in numbers):
                mentions.setdefault(one.kind, []).append(moved)
                numbers = [n for n in numbers if not moved.start <= n.start < moved.end]
        strange = [found[1] or found[2] for found in _PLACE.finditer(text)]
        strange += [found[1] for found in _SUBJECT.finditer(text)]
        strange += _CODE.findall(self._raw, start, end)
        strange += self._rows[start][1][:1] if start in self._rows else []
        strangers = {
            word
            for name in strange
            if name.split(" ")[0].lower() not in _NO_SUBJECT
            if not self._names.find(name)
            for word in stems(name)
            if word not in self._names.words
        }
        cuts = [
            start + found.start() for found in _CUT.finditer(text) if not _opens_name(text, found)
        ]
        return Sentence(
            start, end, numbers, mentions, frozenset(strangers), frozenset(stems(text)), cuts
        )

    def about(self, number: Number, kind: str) -> set[str]:
        """The names of a kind that are about the number; none if the sentence leaves it open."""
        cell = self._cell(number)
        if cell is not None:
            # Its own cell or the head of its column, and otherwise the row.
            for text in cell:
                found = {one.name for one in self._names.find(text) if one.kind == kind}
                if found:
                    return found
            return set()
        sentence = self.of(number)
        groups = _groups(self._text, sentence.mentions.get(kind, []))
        cuts = [
            cut for cut in sentence.cuts if not any(g[0].start <= cut < g[-1].end for g in groups)
        ]
        is_measure = self._names.is_measure(kind)
        if is_measure:
            # “1,284 orders” says nothing of the next number.
            groups = [one for one in groups if not self._is_counted(one, sentence, number)]
        edges = [sentence.start, *cuts, sentence.end]
        own = bisect_right(edges, number.start) - 1

        def inside(part: int) -> tuple[list[list[Mention]], list[Number]]:
            low, high = edges[part], edges[part + 1]
            return (
                [group for group in groups if low <= group[0].start < high],
                [one for one in sentence.numbers if low <= one.start < high],
            )

        near, others = inside(own)
        before = [group for group in near if group[-1].end <= number.start]
        if before and not any(before[-1][-1].end <= one.start < number.start for one in others):
            return _chosen(before[-1], number, sentence, groups)
        after = [group for group in near if group[0].start >= number.end]
        if after and not self._is_claimed(after[0], sentence, number):
            is_next = _AFTER.fullmatch(self._text, number.end, after[0][0].start) is not None
            if is_next or not before:
                return {one.name for one in after[0]}
        if before and not is_measure:
            return _chosen(before[-1], number, sentence, groups)
        for part in range(own - 1, -1, -1):
            if kind in TIMES and _FROM.search(self._text, edges[part + 1], number.start):
                return set()
            earlier, _ = inside(part)
            if earlier:
                end = earlier[-1][-1].end
                between = any(end <= one.start < number.start for one in sentence.numbers)
                # A measure is that of the next number alone.
                told = _chosen(earlier[-1], number, sentence, groups)
                return set() if is_measure and between else told
        for part in range(own + 1, len(edges) - 1):
            later_groups, claimed = inside(part)
            if claimed:
                return set()
            if later_groups:
                return {one.name for one in later_groups[0]}
        return set()

    def _is_claimed(self, group: list[Mention], sentence: Sentence, number: Number) -> bool:
        """Whether another number comes before a group that follows, or right after it."""
        return any(
            number.end <= one.start < group[0].start
            or _CLAIM.fullmatch(self._text, group[-1].end, max(one.start, group[-1].end))
            for one in sentence.numbers
            if one.start >= number.end
        )

    def _is_counted(self, group: list[Mention], sentence: Sentence, number: Number) -> bool:
        return any(
            one is not number
            and one.end <= group[0].start
            and _AFTER.fullmatch(self._text, one.end, group[0].start)
            for one in sentence.numbers
        )

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


def _opens_name(text: str, cut: re.Match[str]) -> bool:
    """Whether a bracket opens a remark without numbers, which belongs to what is before it."""
    if cut[0] != "(":
        return False
    end = text.find(")", cut.end(), cut.end() + 60)
    return end > 0 and not re.search(r"\d", _YEAR.sub("", text[cut.end() : end]))


def _groups(text: str, mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Mentions that are listed together: “North and South”."""
    groups: list[list[Mention]] = []
    for one in mentions:
        if groups and _LISTED.fullmatch(text, groups[-1][-1].end, one.start):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _chosen(
    group: list[Mention], number: Number, sentence: Sentence, groups: Sequence[list[Mention]]
) -> set[str]:
    """Of names that are listed, the one in the number's place if as many numbers follow."""
    if len(group) > 1:
        after = [one for one in groups if one[0].start > group[-1].end]
        until = after[0][0].start if after else sentence.end
        follow = [one for one in sentence.numbers if group[-1].end <= one.start < until]
        if len(follow) == len(group) and number in follow:
            return {group[follow.index(number)].name}
    return {one.name for one in group}
