"""How the figures of an answer move when the data changes a little."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Union

import msgspec

from ..figures.numbers import numbers
from ..figures.texts import text_of

MOST_FIGURES = 40
MOST_LINES = 2_000
_WORDS = 80
"""Characters of a label."""
_AFTER = " %|,;"
"""What may follow the last number of a row."""

Outputs = Mapping[str, Sequence[Any]]
"""By cell id."""


class Followed(msgspec.Struct, frozen=True):
    """A figure of an answer: ``text`` there, and its place in a cell's output."""

    text: str
    cell_id: str
    output: int
    start: int
    end: int


class Place(msgspec.Struct, frozen=True):
    """Where an output shows a number: the ``nth`` one in the line with this label, which is the
    ``line``-th with it."""

    cell_id: str
    output: int
    label: str
    line: int
    nth: int


class Moved(msgspec.Struct, frozen=True):
    """One figure over all runs.

    ``runs`` are those that show it. ``first`` counts the runs in which its row has the highest
    value of the column; -1 if it has not in the unchanged data. ``instead`` are the rows that
    came first in the others. ``flips`` counts the runs in which it has another sign.
    """

    text: str
    cell_id: str
    label: str
    base: float
    low: float
    high: float
    runs: int
    first: int = -1
    instead: tuple[str, ...] = ()
    flips: int = 0


class Holding(msgspec.Struct, frozen=True):
    """Runs on changed data. ``key`` names the answer, as the page does. ``state`` ``planned``:
    nothing has run. ``at`` is the number of runs that have ended, of ``runs``; one more, on the
    unchanged data, comes first. ``seconds`` is an estimate, 0 if unknown. ``failed`` describes
    runs in which a cell failed."""

    notebook: str
    key: str
    state: Literal["planned", "running", "done", "cancelled", "failed"]
    runs: int
    cells: int
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    at: int = 0
    failed: tuple[str, ...] = ()
    figures: tuple[Moved, ...] = ()
    left_out: int = 0
    words: str = ""
    version: int = 1


def places(figures: Sequence[Followed], outputs: Outputs) -> dict[Place, str]:
    """The places of the figures that these outputs show, with their texts in the answer."""
    found: dict[Place, str] = {}
    for figure in figures[:MOST_FIGURES]:
        shown = outputs.get(figure.cell_id, ())
        if not 0 <= figure.output < len(shown):
            continue
        text = text_of(shown[figure.output])[0]
        for place, start, *_ in _numbers(text, figure.cell_id, figure.output):
            if figure.start <= start < figure.end or start == figure.start:
                found.setdefault(place, figure.text)
    return found


def moved(place: Place, text: str, base: Outputs, runs: Sequence[Outputs]) -> Union[Moved, None]:
    """The figure over these runs; None if the run on the unchanged data does not show it."""
    value = _value(place, base)
    if value is None:
        return None
    values = [found for run in runs if (found := _value(place, run)) is not None]
    leads = _leader(place, base)
    first, instead = -1, []
    if leads == place.label:
        leaders = [_leader(place, run) for run in runs]
        first = sum(leader == place.label for leader in leaders)
        instead = [one for one in leaders if one not in ("", place.label)]
    return Moved(
        text,
        place.cell_id,
        place.label,
        value,
        min(values, default=value),
        max(values, default=value),
        len(values),
        first,
        tuple(dict.fromkeys(instead)),
        sum(found * value < 0 for found in values),
    )


def _value(place: Place, outputs: Outputs) -> Union[float, None]:
    for found, _, value, _ in _numbers(_text(place, outputs), place.cell_id, place.output):
        if found == place:
            return value
    return None


def _leader(place: Place, outputs: Outputs) -> str:
    """The label with the highest value in the place's column; "" if there is no other row."""
    column = {
        found.label: value
        for found, _, value, is_row in _numbers(_text(place, outputs), place.cell_id, place.output)
        if is_row and found.nth == place.nth and found.line == 0
    }
    return max(column, key=lambda label: column[label]) if len(column) > 1 else ""


def _text(place: Place, outputs: Outputs) -> str:
    shown = outputs.get(place.cell_id, ())
    return text_of(shown[place.output])[0] if place.output < len(shown) else ""


def _numbers(text: str, cell_id: str, output: int) -> Iterator[tuple[Place, int, float, bool]]:
    """All numbers with their places, where they begin, their values, and whether the line may be
    a row of a table: a label, then numbers. A sentence or a heading goes on after its numbers."""
    seen: dict[str, int] = {}
    begin = 0
    for line in text.split("\n")[:MOST_LINES]:
        found = list(numbers(line))
        label = _label(line, [(one.start, one.end) for one in found])
        is_row = bool(found and label) and not line[found[-1].end :].strip(_AFTER)
        is_row = is_row and not all(_is_year(line[one.start : one.end]) for one in found)
        nth_line = seen[label] = seen.get(label, -1) + 1
        for nth, one in enumerate(found):
            named = label or f"#{nth_line}"
            yield Place(cell_id, output, named, nth_line, nth), begin + one.start, one.whole, is_row
        begin += len(line) + 1


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdigit() and text[:2] in ("19", "20")


def _label(line: str, taken: Sequence[tuple[int, int]]) -> str:
    """The words of a line, without its numbers."""
    kept, at = [], 0
    for start, end in taken:
        kept.append(line[at:start])
        at = end
    words = " ".join("".join([*kept, line[at:]]).split()).strip(" :=|,;")
    return words[:_WORDS]
