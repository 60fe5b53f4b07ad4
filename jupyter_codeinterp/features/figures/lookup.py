"""Looks up the figures of an answer in outputs.

The answer says where a figure comes from: ``[7,412](#cell:ID)``. It is linked if an output of
that cell, run by this conversation, has an equal number, or one that rounds to it. Which row or
column the sentence means is not read; the page shows the lines that have the number.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from ...wire.events import Figure, Origin
from ...wire.ops import weight
from .answer import LinkedProse
from .labels import Labels
from .numbers import Number, has_decimal_commas, numbers, scan
from .outputs import MOST_TEXT, OutputCell, Outputs, Shown, excerpt, title_of

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
_SLACK = 1e-9


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
    read = LinkedProse(answer)
    commas = has_decimal_commas(read.text)
    given = {(one.value, one.percent) for one in scan(question[:LONGEST], commas)}
    stated = list(islice(numbers(read.text), MOST))
    if not stated:
        return ()
    outputs, ran = Outputs(cells), {cell.cell_id for cell in cells if cell.ran}
    words = " ; ".join(set(_SAID.findall(said[-MOST_SAID:])))
    known = sorted({abs(one.value) for one in scan(words)})
    spans = [read.span(number.start, number.end) for number in stated]
    several = Counter(link for *_, link in spans)
    labels: dict[str, Labels] = {}
    figures: list[Figure] = []
    for number, (start, end, link) in zip(stated, spans, strict=True):
        # The head of the answer's table, or the output's, may say millions.
        scales = {1.0, read.scale(number.start), _unscaled(number)}
        near = _near(number, scales, outputs)
        cell_id = link.cell_id if link is not None and link.cell_id in ran else ""
        places = [shown for shown in near if shown.cell_id == cell_id]
        if cell_id and not places and number.digits > 2:
            # In another unit: MW for kW.
            near += _near(number, (1e-6, 1e-3, 1e3, 1e6), outputs)
            places = [shown for shown in near if shown.cell_id == cell_id]
        if places and link is not None and link.title:
            if cell_id not in labels:
                labels[cell_id] = Labels([one for one in outputs.shown if one.cell_id == cell_id])
            places = labels[cell_id].fitting(link.title, places, of_line=several[link] > 1)
        is_given = (number.value, number.percent) in given
        is_known = near or is_given or _is_said(number, known)
        if not places and (is_known or number.digits < FEWEST_DIGITS):
            continue
        origins = [_origin(shown, scrub) for shown in places[:MOST_PLACES]]
        origin, also = (origins[0], tuple(origins[1:])) if origins else (None, ())
        before, after = (_units(answer[:place]) for place in (start, end))
        figures.append(Figure(answer[start:end], before, after, origin, also))
    return tuple(figures)


def _units(text: str) -> int:
    """The text's length as the page counts it, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def work(answer: str, cells: Sequence[OutputCell], said: str) -> int:
    """Roughly the characters that ``look_up`` reads."""
    shown = min(MOST_TEXT, sum(weight(cell.outputs) for cell in cells))
    compared = answer.count("](#") * shown // 10  # The title of each link, with each number.
    return len(answer) + shown + compared + min(MOST_SAID, len(said))


def _unscaled(number: Number) -> float:
    return abs(number.bare / number.value) if number.value else 1.0


def _near(number: Number, scales: Iterable[float], outputs: Outputs) -> list[Shown]:
    """Outputs' numbers that the figure may stand for at some scales, equal ones first."""
    value = abs(number.value)
    sizes = [(value * one, number.low * one, number.high * one, 1.0) for one in scales]
    for value, low, high, _ in tuple(sizes):
        # A fraction for a percentage, and the other way round.
        if number.percent:
            sizes.append((value, low, high, 0.01))
        elif abs(value) <= 1.5:
            sizes.append((value, low, high, 100.0))
    equal: list[Shown] = []
    rounded: list[Shown] = []
    for value, low, high, factor in sizes:
        slack = max(value, number.grain) * factor * _SLACK
        for shown in outputs.between(low * factor - slack, high * factor + slack):
            one = shown.number
            is_equal = abs(abs(one.value) - value * factor) <= slack
            # $26 is not 26.5 % rounded.
            is_alike = is_equal or one.percent <= number.percent
            if is_alike if factor == 1.0 else one.percent == (factor > 1.0):
                (equal if is_equal else rounded).append(shown)
    return [*equal, *rounded]


def _is_said(number: Number, known: Sequence[float]) -> bool:
    """Whether a number in messages or sources equals the figure or rounds to it."""
    for scale in (1.0, 0.01):
        slack = abs(number.value) * scale * _SLACK
        place = bisect_left(known, number.low * scale - slack)
        if number.value and place < len(known) and known[place] <= number.high * scale + slack:
            return True
    return False


def _origin(shown: Shown, scrub: Callable[[str], str]) -> Origin:
    one, lines = shown.number, shown.lines
    before, text, after = excerpt(lines[shown.line], one.start, one.end, scrub)
    title = scrub(title_of(lines, shown.line, one.start, one.end))[:100]
    return Origin(shown.cell_id, shown.output, before, text, after, title)
