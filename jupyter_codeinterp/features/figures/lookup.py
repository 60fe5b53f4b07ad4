"""Looks up the figures of an answer in outputs.

A figure is linked to an output's number that is equal or rounds to it, unless a label of that
number contradicts the sentence. Doubtful figures get no link.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from ...view.outputs import size
from ...wire.events import Figure, Origin
from .numbers import Number, has_decimal_commas, numbers, scan
from .outputs import MOST_TEXT, OutputCell, Outputs, Shown, excerpt
from .sentences import Sentences

# -------------------------------------------------------------------------------------------------
# The prose of an answer in Markdown: parts without figures become blanks, so that positions stay
# the same. One pass per line.

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
            lines[place] = _line(line)
    return "\n".join(lines)


def _line(line: str) -> str:
    marker = _MARKER.match(line)
    if marker is not None:
        line = " " * marker.end() + line[marker.end() :]
    if "`" in line:
        line = _CODE.sub(_code, line)
    return _HIDDEN.sub(lambda found: " " * len(found[0]), line)


def _code(found: re.Match[str]) -> str:
    """Inline code without its backticks if it may be a value; else blanks."""
    ticks = " " * len(found[1])
    words = found[2] if _VALUE.fullmatch(found[2]) else " " * len(found[2])
    return f"{ticks}{words}{ticks}"


LONGEST = 40_000
"""Characters read of an answer."""
MOST = 300
"""Figures read of an answer."""
MOST_SAID = 300_000
"""Characters read at the end of messages and sources."""
MOST_PLACES = 4
"""Places shown for a figure."""
FEWEST_DIGITS = 2
"""Significant digits that a figure needs to be marked if no output has it."""
_SAID = re.compile(r"(?<![\w.])\d[\d.,]{1,30}(?: ?(?:%|[kKMB]\b|thousand|million|billion))?")
_SCALES = frozenset(("M", "thousand", "million", "billion"))
"""Words of labels after which an output's numbers may be in thousands or millions."""
_SLACK = 1e-9
_LESS = re.compile(
    r"\b(?:f[ae]ll|drop|declin|decreas|down|los[ts]|lower|minus|negativ|below|shr[aiu]nk|less|fewer|reduc|cut"
    r"|behind|short|wors|slow|cheap|fiel|gefallen|gesunken|sank|sink|weniger|baiss|recul|diminu|moins)",
    re.IGNORECASE,
)
"""Words that let a number without a sign stand for a negative one."""


def look_up(
    answer: str,
    question: str,
    cells: Sequence[OutputCell],
    said: str = "",
    scrub: Callable[[str], str] = str,
) -> tuple[Figure, ...]:
    """The figures of ``answer`` with an origin, and those found nowhere (origin None). ``said``:
    the messages and the cells' sources. ``scrub`` removes API keys from the excerpts."""
    answer = answer[:LONGEST]
    plain = prose(answer)
    commas = has_decimal_commas(plain)
    given = {(one.value, one.percent) for one in scan(question[:LONGEST], commas)}
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
    found = {one: search.places(one) for one in stated}
    linked = {(one.value, one.percent): places for one, places in found.items() if places}
    words = " ; ".join(set(_SAID.findall(said[-MOST_SAID:])))
    known = sorted({abs(one.value) for one in scan(words)})
    figures: list[Figure] = []
    for number in stated:
        places = found[number] or [
            shown
            for shown in linked.get((number.value, number.percent), ())
            if search.agrees(number, shown) is not None
        ]
        if not places and (
            number.digits < FEWEST_DIGITS or search.has(number) or _is_said(number, known)
        ):
            continue
        origins = tuple(_origin(shown, scrub) for shown in places[:MOST_PLACES])
        # The page counts in UTF-16 units.
        before, text = answer[: number.start], answer[: number.end]
        start, end = (len(one.encode("utf-16", "surrogatepass")) // 2 - 1 for one in (before, text))
        origin = origins[0] if origins else None
        figures.append(Figure(number.text, start, end, origin, origins[1:]))
    return tuple(figures)


def work(answer: str, cells: Sequence[OutputCell], said: str) -> int:
    """Roughly the characters that ``look_up`` reads."""
    shown = min(MOST_TEXT, sum(size(cell.outputs) for cell in cells))
    return len(answer) + shown + min(MOST_SAID, len(said))


class _Search:
    def __init__(self, outputs: Outputs, sentences: Sentences) -> None:
        self._outputs = outputs
        self._sentences = sentences

    def has(self, number: Number) -> bool:
        """Whether any output has the number, with any labels and sign."""
        if number.text.rstrip("% \u00a0") in self._outputs.names.words:
            return True
        bare = abs(number.bare)
        near = self._outputs.between(bare * (1 - _SLACK), bare * (1 + _SLACK))
        return any(True for _ in chain(near, self._near(number)))

    def places(self, number: Number) -> list[Shown]:
        """The outputs' numbers that agree with the sentence, the one that agrees most first."""
        total = len(self._outputs.shown)
        fits = []
        for shown, is_equal in self._near(number):
            agrees = self.agrees(number, shown) if shown.ran else None
            # A number of few digits matches by chance among many numbers.
            chance = 10.0**number.digits * (2.0 if is_equal else 0.2)
            if agrees or (agrees == 0 and total <= max(chance, 2)):
                fits.append(((not agrees, not is_equal, -agrees), shown))
        return list(dict.fromkeys(shown for _, shown in sorted(fits, key=lambda one: one[0])))

    def _near(self, number: Number) -> Iterator[tuple[Shown, bool]]:
        """Outputs' numbers that the figure may stand for, and whether they are equal."""
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
                is_equal = abs(abs(one.value) - value * factor) <= slack
                # $26 is not 26.5 % rounded.
                is_alike = is_equal or one.percent <= number.percent
                if is_alike if factor == 1.0 else one.percent == (factor > 1.0):
                    yield shown, is_equal

    def agrees(self, number: Number, shown: Shown) -> int | None:
        """The count of the number's labels in the sentence; None if one contradicts it."""
        names, sentences, value = self._outputs.names, self._sentences, shown.value
        sentence = sentences.of(number)
        if (value.number.value < 0) != (number.value < 0) and (
            number.value < 0 or not _LESS.search(sentence.text)
        ):
            return None
        if value.id_of and not (
            number.whole and number.text.isdigit() and names.stems(value.id_of) & sentence.words
        ):
            return None
        known: set[str] = set()
        for kind, own in names.of(value.labels).items():
            about = sentences.about(number, kind)
            if about and (not about & own or (len(about) > 1 < len(own) and about - own)):
                return None
            if about:
                known.add(kind)
        # If the sentence has a name that no output has, only rows that it names can match.
        is_strange = sentences.has_stranger(number) and any(
            (label.is_entity or label.text.isupper()) and not known & names.of([label]).keys()
            for label in value.labels
        )
        if is_strange:
            return None
        return len(known) + sum(
            not sentence.words.isdisjoint(names.stems(label.text)) for label in value.labels
        )


def _is_said(number: Number, known: Sequence[float]) -> bool:
    """Whether a number in messages or sources equals the figure or rounds to it."""
    for scale in (1.0, 0.01):
        slack = abs(number.value) * scale * _SLACK
        place = bisect_left(known, number.low * scale - slack)
        if number.value and place < len(known) and known[place] <= number.high * scale + slack:
            return True
    return False


def _origin(shown: Shown, scrub: Callable[[str], str]) -> Origin:
    value = shown.value
    before, text, after = excerpt(value.row, value.start, value.end, scrub)
    labels = dict.fromkeys(
        label.text for label in value.labels if label.text not in (before + after)
    )
    return Origin(shown.cell_id, shown.output, before, text, after, scrub(", ".join(labels))[:100])
