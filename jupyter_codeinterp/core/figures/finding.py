"""The figures that an answer states: numbers, dates and quoted names, each with its sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, Union

import msgspec

from .masking import prose
from .numbers import Date, Number, dates, numbers
from .words import Cues, labels

LONGEST = 40_000
"""Characters of an answer that are read."""
MOST = 200
"""Figures of an answer."""
MOST_NAMES = 30

_NAME = re.compile(
    r"[“\"«]([^“”\"«»\n]{2,60})[”\"»]|(?<!\w)[\u2018']([^\u2018\u2019'\n]{2,60})[\u2019'](?!\w)"
)
_REFERENCE = re.compile(
    r"(?:\b(?:cells?|steps?|fig(?:ure|\.)?s?|tables?|charts?|plots?|sections?|chapters?|lines?|"
    r"examples?|options?|appendix|python|pandas|numpy|version|pages?|notes?|eq(?:uation|\.)?|"
    r"level|part|item|point|question)[ \u00a0]?[#(\[]{0,2}|\bp ?[<>≤≥] ?)$",
    re.I,
)
"""What stands before a number that names something and is no claim, in so many characters:"""
_NEAR = 12
_FEW = re.compile(r"\b(?:top|first|last|bottom) $")
_NAMED = re.compile(
    r" ?(?:confidence|CI\b|interval|percentile|quantile|significance|level\b|decimals?\b|digits?\b)"
    r"|[ -](?:new )?(?:cells?|charts?|plots?|steps?|panels?|subplots?|bullet)\b",
    re.I,
)
"""What stands after one."""
_SENTENCE = re.compile(r"(?<=[.!?])[*_\"”)]{0,3}\s+(?=[^\sa-z])")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_INEXACT = re.compile(
    r"(?:\b(?:(?P<above>over|more than|at least|above|exceed\w*|upwards of)"
    r"|(?P<below>under|less than|nearly|almost|below|up to)"
    r"|about|around|roughly|approximately|approx\.?|some|circa|ca\.?|close to|or so)|[~≈±])"
    r"\s?[$€£]?$",
    re.I,
)
"""What stands before a number that is not exact, in at most so many characters:"""
_FAR = 24


class Sentence:
    """A sentence, the row of a table or the item of a list."""

    def __init__(self, start: int, end: int, text: str, head: str) -> None:
        """``head`` is that of its table or list."""
        self.start = start
        self.end = end
        self._whole = f"{head} {text}"

    @cached_property
    def words(self) -> frozenset[str]:
        """Those that may label a figure."""
        return labels(self._whole[:2_000])

    @cached_property
    def cues(self) -> Cues:
        return Cues(self._whole[:2_000])


class Claim(msgspec.Struct, frozen=True):
    """A figure as the answer states it. ``grain`` of a number is the step within which an output
    may differ before rounding; ``low`` and ``high`` are how far it may, in grains."""

    text: str
    start: int
    end: int
    kind: Literal["number", "date", "name"]
    sentence: Sentence
    number: Union[Number, None] = None
    date: Union[Date, None] = None
    grain: float = 0.0
    low: float = 0.5
    high: float = 0.5
    digits: int = 0


def claims(answer: str, question: str) -> tuple[list[Claim], bool]:
    """The figures in order, and whether the whole answer was read. Leaves out what the question
    gave."""
    text = prose(answer[:LONGEST])
    sentences = list(_sentences(text))
    given = _Given(question[:LONGEST])
    found: list[Claim] = []
    place = 0
    spots = sorted(_spots(text), key=lambda spot: (spot[0], -spot[1]))
    end = -1
    for start, stop, what in spots:
        if start < end:
            continue
        end = stop
        while place + 1 < len(sentences) and sentences[place + 1].start <= start:
            place += 1
        claim = _claim(text, start, stop, what, sentences[place])
        if not given.has(claim, text):
            found.append(claim)
        if len(found) > MOST:
            return found[:MOST], False
    return found, len(answer) <= LONGEST


_What = Union[Number, Date, str]


def _spots(text: str) -> Iterator[tuple[int, int, _What]]:
    for date in dates(text):
        yield date.start, date.end, date
    for number, name in enumerate(_NAME.finditer(text)):
        words = (name[1] or name[2]).strip()
        if number < MOST_NAMES and re.search(r"[^\W\d_]", words) and len(words.split()) <= 6:
            yield name.start(), name.end(), words
    for one in numbers(text):
        before = max(0, one.start - _NEAR), one.start
        names = one.digits <= 3 and _REFERENCE.search(text, *before)
        few = one.bare and one.digits <= 2 and _FEW.search(text, *before)
        if not (names or few or _NAMED.match(text, one.end, one.end + 16)):
            yield one.start, one.end, one


def _claim(text: str, start: int, end: int, what: _What, sentence: Sentence) -> Claim:
    if isinstance(what, str):
        at = text.find(what, start)
        return Claim(what, at, at + len(what), "name", sentence)
    if isinstance(what, Date):
        return Claim(text[start:end], start, end, "date", sentence, date=what)
    inexact = _INEXACT.search(text[max(0, start - _FAR) : start])
    grain, low, high = what.grain, 0.5, 0.5
    # Few numbers are as small as 0.0008.
    digits = max(what.digits, what.decimals) if abs(what.value) < 1 else what.digits
    if inexact is not None:
        above, below = inexact["above"], inexact["below"]
        zeros = _zeros(text[what.start : what.end]) if not what.decimals else 0
        if digits - zeros >= 2 or (above or below):
            grain, digits = grain * 10**zeros, max(1, digits - zeros)
        low, high = (0.0, 1.0) if above else (1.0, 0.0) if below else (0.5, 0.5)
        low, high = max(low, 0.5 * (not above)), max(high, 0.5 * (not below))
    return Claim(
        text[start:end], start, end, "number", sentence, what, None, grain, low, high, digits
    )


def _zeros(word: str) -> int:
    plain = re.sub(r"\D", "", word)
    return len(plain) - len(plain.rstrip("0")) if plain.strip("0") else 0


def _sentences(text: str) -> Iterator[Sentence]:
    """The sentences, in order. A row of a table is one, with the words of the table's head; an
    item of a list has those of the line before the list."""
    place = 0
    head = ""
    above = ""
    for line in text.split("\n"):
        is_row, is_item = line.lstrip().startswith("|"), bool(_LIST_ITEM.match(line))
        if is_row and not above.lstrip().startswith("|"):
            head = f"{head if head.rstrip().endswith(':') else ''} {line}"
        elif not (is_row or is_item) and line.strip():
            head = ""
        starts = [0, *(found.end() for found in _SENTENCE.finditer(line))] if not is_row else [0]
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            yield Sentence(place + start, place + end, line[start:end][:2_000], head[:1_000])
        if line.strip():
            above = line
            if not (is_row or is_item):
                leads = line.rstrip().endswith((":", "**")) or line.startswith("#")
                head = line[-300:] if leads else ""
        place += len(line) + 1


class _Given:
    """What the question has said already."""

    def __init__(self, question: str) -> None:
        self._text = question
        self._lower = question.lower()
        self._numbers: dict[float, list[Number]] = {}
        for one, _ in zip(numbers(question), range(200), strict=False):
            self._numbers.setdefault(one.whole, []).append(one)
        self._dates = {part for date in dates(question) for part in date.parts}

    def has(self, claim: Claim, text: str) -> bool:
        if claim.kind == "name":
            return claim.text.lower() in self._lower
        if claim.date is not None:
            return any(part in self._dates for part in claim.date.parts)
        number = claim.number
        if number is None:
            return False
        return any(
            one.percent == number.percent and (one.is_year or self._same_phrase(one, number, text))
            for one in self._numbers.get(number.whole, [])
        )

    def _same_phrase(self, asked: Number, said: Number, text: str) -> bool:
        """Whether the same word stands before or after both, as in “above 1,000”."""
        ours, theirs = _neighbours(text, said), _neighbours(self._text, asked)
        return any(one and one == other for one, other in zip(ours, theirs, strict=True))


_BEFORE = re.compile(r"([^\W\d_]{2,20})[^\w.!?\n]{1,4}$")
_AFTER = re.compile(r"[^\w.!?\n]{1,4}([^\W\d_]{2,20})")
_EMPTY = frozenset(
    re.findall(r"\w+", "is are was were the be of to it and or that has have had in exactly")
)


def _neighbours(text: str, number: Number) -> Sequence[str]:
    before = _BEFORE.search(text[max(0, number.start - 26) : number.start])
    after = _AFTER.match(text[number.end : number.end + 26])
    words = [found[1].lower().removesuffix("s") if found else "" for found in (before, after)]
    return ["" if word in _EMPTY else word for word in words]
