"""Looks up the figures of an answer in outputs.

A figure is linked to a number that is equal or rounds to it, if no label of that number
contradicts the sentence. In doubt it stays plain: the event does not name it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec

from ..events import Figure, Origin
from ..model_view.outputs import size
from .masking import prose
from .names import stems
from .numbers import Number, numbers, scan
from .outputs import MOST_TEXT, Cell, Outputs, Shown
from .sentences import Sentences
from .texts import excerpt

LONGEST = 40_000
"""Characters of an answer that are read."""
MOST = 300
"""Figures of an answer."""
MOST_SAID = 300_000
"""Characters of messages and sources that are read, the last ones."""
FEWEST_DIGITS = 2
"""Significant digits of a number that is worth a mark where no output has it."""
_SAID = re.compile(r"(?<![\w.])\d[\d.,]{1,30}(?: ?(?:%|[kKMB]\b|thousand|million|billion))?")
_SCALES = frozenset(("M", "thousand", "million", "billion"))
"""Words of labels: the output may be in millions, and “112 M” may be 112 men."""
_SLACK = 1e-9
_LESS = re.compile(
    r"\b(?:fell|falls?|drop|declin|decreas|down|lost|loss|costs?\b|lower|minus|negativ|below|shr[aiu]nk|less|sank"
    r"|reduc|gefallen|sank|minus)",
    re.IGNORECASE,
)


def look_up(
    answer: str,
    question: str,
    cells: Sequence[Cell],
    said: str = "",
    scrub: Callable[[str], str] = str,
) -> tuple[Figure, ...]:
    """The figures of ``answer`` that are linked, or that nothing has. ``said`` are the messages
    and the cells' sources. ``scrub`` removes keys from the excerpts."""
    answer = answer[:LONGEST]
    plain = prose(answer)
    given = {(one.value, one.percent) for one in scan(question[:LONGEST])}
    every = list(islice(numbers(plain), MOST))
    stated = [
        one
        for one in every
        if (one.value, one.percent) not in given and not (one.whole and abs(one.value) < 10)
    ]
    if not stated:
        return ()
    outputs = Outputs(cells)
    search = _Search(outputs, Sentences(answer, plain, every, outputs.names))
    found = {one: search.find(one) for one in stated}
    linked = {(one.value, one.percent): shown for one, shown in found.items() if shown is not None}
    known: list[float] | None = None
    units = _units(answer)
    figures: list[Figure] = []
    for number in stated:
        shown = found[number] or linked.get((number.value, number.percent))
        if shown is not None and (found[number] or search.agrees(number, shown) is not None):
            origin = _origin(shown, scrub)
        elif number.digits < FEWEST_DIGITS or search.has(number):
            continue
        else:
            if known is None:
                words = " ; ".join(set(_SAID.findall(said[-MOST_SAID:])))
                known = sorted({abs(one.value) for one in scan(words)})
            if _is_said(number, known):
                continue
            origin = None
        figures.append(Figure(number.text, units(number.start), units(number.end), origin))
    return tuple(figures)


def work(answer: str, cells: Sequence[Cell], said: str) -> int:
    """Roughly the characters that ``look_up`` reads."""
    shown = min(MOST_TEXT, sum(size(cell.outputs) for cell in cells))
    return len(answer) + shown + min(MOST_SAID, len(said))


class _Fit(msgspec.Struct, frozen=True):
    """``agrees``: how many of its labels the sentence has."""

    shown: Shown
    is_equal: bool
    agrees: int


class _Search:
    def __init__(self, outputs: Outputs, sentences: Sentences) -> None:
        self._outputs = outputs
        self._sentences = sentences

    def has(self, number: Number) -> bool:
        """Whether any output has it, whatever its labels and its sign."""
        name = number.text.rstrip("% \u00a0")
        if name in self._outputs.names.words or any(True for _ in self._near(number)):
            return True
        if number.percent and name in ("90", "95", "99"):
            return True  # A level of confidence.
        for value in (abs(number.bare), number.other or -1.0):
            if any(True for _ in self._outputs.between(value * (1 - _SLACK), value * (1 + _SLACK))):
                return True
        return False

    def find(self, number: Number) -> Shown | None:
        """What the number comes from: the candidate that agrees most with the sentence."""
        near = [one for one in self._near(number) if one[0].ran and self._signs_fit(number, one[0])]
        fits = [
            _Fit(shown, is_equal, agrees)
            for shown, is_equal in near
            if (agrees := self.agrees(number, shown)) is not None
        ]
        fits.sort(key=lambda one: (one.agrees == 0, not one.is_equal, -one.agrees))
        # Few digits are found by chance among many numbers.
        total = len(self._outputs.shown)
        for one in fits:
            chance = 10.0**number.digits * (2.0 if one.is_equal else 0.2)
            if one.agrees or total <= max(chance, 2):
                return one.shown
        return None

    def _near(self, number: Number) -> Iterator[tuple[Shown, bool]]:
        """Numbers that it may stand for, and whether they are equal."""
        value = abs(number.value)
        scales = {1.0, self._sentences.scale(number)}
        if number.bare and not _SCALES.isdisjoint(self._outputs.names.words):
            scales.add(abs(number.bare / number.value))
        sizes = [(value * one, number.low * one, number.high * one, 1.0) for one in scales]
        for value, low, high, _ in tuple(sizes):
            # A fraction for a percentage, and the other way round.
            if number.percent:
                sizes.append((value, low, high, 0.01))
            elif abs(value) <= 1.5:
                sizes.append((value, low, high, 100.0))
        for value, low, high, factor in sizes:
            slack = max(value, number.grain) * factor * _SLACK
            for shown in self._outputs.between(low * factor - slack, high * factor + slack):
                one = shown.value.number
                if (factor == 100.0 and not one.percent) or (factor == 0.01 and one.percent):
                    continue
                yield shown, abs(abs(one.value) - value * factor) <= slack

    def _signs_fit(self, number: Number, shown: Shown) -> bool:
        if (shown.value.number.value < 0) == (number.value < 0):
            return True
        start = self._sentences.of(number).start
        before = self._sentences.text(max(start, number.start - 60), number.start)
        return number.value > 0 and _LESS.search(before) is not None

    def agrees(self, number: Number, shown: Shown) -> int | None:
        """How many labels of the number the sentence has; None if one contradicts it."""
        names, sentences, value = self._outputs.names, self._sentences, shown.value
        sentence = sentences.of(number)
        if value.id_of and not (
            number.whole and number.text.isdigit() and stems(value.id_of) & sentence.words
        ):
            return None
        agrees: set[str] = set()
        for kind, own in names.of(value.labels).items():
            about = own if kind == value.id_of else sentences.about(number, kind)
            if about and (not about & own or (len(about) > 1 < len(own) and about - own)):
                return None
            agrees |= {kind} if about else set()
        # A name that no output has contradicts the rows that the sentence does not name.
        is_strange = bool(sentence.strangers) and any(
            (label.text.isupper() or (label.is_entity and not names.is_measure(label.column)))
            and not label.text.isdigit()
            and not agrees & names.of([label]).keys()
            for label in value.labels
        )
        return None if is_strange else len(agrees)


def _is_said(number: Number, known: Sequence[float]) -> bool:
    for value in {abs(number.value), number.other or 0.0, abs(number.value) / 100}:
        slack = value * _SLACK
        place = bisect_left(known, value - slack)
        if value and place < len(known) and known[place] <= value + slack:
            return True
    return False


def _origin(shown: Shown, scrub: Callable[[str], str]) -> Origin:
    value = shown.value
    before, text, after = excerpt(value.row, value.start, value.end, scrub)
    labels = dict.fromkeys(
        label.text for label in value.labels if label.text not in (before + after)
    )
    return Origin(shown.cell_id, shown.output, before, text, after, scrub(", ".join(labels))[:100])


def _units(text: str) -> Callable[[int], int]:
    """From characters to UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda place: place
    wide = [place for place, character in enumerate(text) if character > "\uffff"]
    return lambda place: place + sum(one < place for one in wide[:10_000])
