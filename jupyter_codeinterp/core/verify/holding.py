"""How the figures of an answer move when the data changes a little.

A sum or a count becomes smaller when rows are left out, and tells nothing by that. So the run in
which all rows come twice shows which figures go with the number of rows: those are compared as for
the full number.
"""

from __future__ import annotations

import math
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

_ROUNDED = 0.02
"""How far from twice the value a rounded figure of twice the rows may be. A mean stays as it is."""
_Key = tuple[str, int]
"""A line's label, and how many lines with it come before."""

Outputs = Mapping[str, Sequence[Any]]
"""By cell id."""


class Ran(msgspec.Struct, frozen=True):
    """A run on changed data. ``share``: its rows, against 1 without a change."""

    outputs: Outputs
    share: float = 1.0


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
    came first in the others. ``flips`` counts the runs in which it has another sign. ``scaled``:
    it is a sum or a count; ``low`` and ``high`` are as for the full number of rows. ``parts`` are
    its share of its column in the unchanged data, the lowest and the highest one; () where it has
    none.
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
    scaled: bool = False
    parts: tuple[float, ...] = ()


class Holding(msgspec.Struct, frozen=True):
    """Runs on changed data. ``key`` names the answer, as the page does. ``state`` ``planned``:
    nothing has run. ``at`` is the number of runs that have ended, of ``runs``; one more, on the
    unchanged data, comes first. Before it ``runs`` is the most. ``seconds`` is an estimate, 0 if
    unknown. ``changed`` are files; ``variables`` exist in the person's kernel only, and are copied.
    ``failed`` describes runs in which a cell failed."""

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
    variables: tuple[str, ...] = ()


def places(figures: Sequence[Followed], outputs: Outputs) -> dict[Place, str]:
    """The places of the figures that these outputs show, with their texts in the answer."""
    found: dict[Place, str] = {}
    for figure in figures[:MOST_FIGURES]:
        shown = outputs.get(figure.cell_id, ())
        if not 0 <= figure.output < len(shown):
            continue
        text = text_of(shown[figure.output])
        for place, start, *_ in _numbers(text, figure.cell_id, figure.output):
            if figure.start <= start < figure.end or start == figure.start:
                found.setdefault(place, figure.text)
    return found


def moved(
    place: Place, text: str, base: Outputs, runs: Sequence[Ran], twice: Union[Outputs, None] = None
) -> Union[Moved, None]:
    """The figure over these runs; None if the run on the unchanged data does not show it.
    ``twice`` is the run in which all rows come twice."""
    shown = _Column(place, base)
    value = shown.value
    if value is None:
        return None
    powers = shown.powers(_Column(place, twice)) if twice is not None else {}
    scaled = bool(powers.get(shown.key))
    columns = [_Column(place, run.outputs, run.share, powers) for run in runs]
    values = [one.value for one in columns if one.value is not None]
    first, instead = -1, []
    if shown.leader == place.label:
        leaders = [one.leader for one in columns]
        first = sum(leader == place.label for leader in leaders)
        instead = [one for one in leaders if one not in ("", place.label)]
    parts = [part for one in (shown, *columns) if (part := one.part) is not None]
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
        scaled,
        (parts[0], min(parts), max(parts)) if scaled and shown.part is not None else (),
    )


class _Column:
    """The figure and those of the other rows in its column, each as for the full number of rows:
    ``powers`` tells how often its value goes with that number."""

    def __init__(
        self,
        place: Place,
        outputs: Outputs,
        share: float = 1.0,
        powers: Union[Mapping[_Key, int], None] = None,
    ) -> None:
        self.key: _Key = (place.label, place.line)
        self._label = place.label
        self.value: Union[float, None] = None
        self._rows: dict[str, float] = {}
        self._all: dict[_Key, float] = {}
        text = _text(place, outputs)
        for found, _, value, is_row in _numbers(text, place.cell_id, place.output):
            if found.nth != place.nth:
                continue
            key = (found.label, found.line)
            whole = value / share ** (powers or {}).get(key, 0)
            self._all[key] = whole
            if key == self.key:
                self.value = whole
            if is_row and found.line == 0:
                self._rows[found.label] = whole

    def powers(self, twice: _Column) -> dict[_Key, int]:
        """By row: 1 if twice the rows make twice the value, 2 if four times, as after a join."""
        found: dict[_Key, int] = {}
        for key, value in self._all.items():
            other = twice._all.get(key)
            for power in (1, 2, 3) if other is not None and value else ():
                if math.isclose(other or 0.0, value * 2**power, rel_tol=_ROUNDED):
                    found[key] = power
        return found

    @property
    def leader(self) -> str:
        """The label with the highest value; "" if there is no other row."""
        rows = self._rows
        return max(rows, key=lambda label: rows[label]) if len(rows) > 1 else ""

    @property
    def part(self) -> Union[float, None]:
        """The row's share of all rows, without a row that is their total."""
        rows = self._rows
        total = sum(rows.values())
        others = [
            value
            for value in rows.values()
            if len(rows) < 3 or not math.isclose(value, total - value, rel_tol=1e-6)
        ]
        if self._label not in rows or len(others) < 2 or min(others) < 0 or not sum(others):
            return None
        mine = rows[self._label]
        return mine / sum(others) if mine in others else None


def _text(place: Place, outputs: Outputs) -> str:
    shown = outputs.get(place.cell_id, ())
    return text_of(shown[place.output]) if place.output < len(shown) else ""


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
            yield Place(cell_id, output, named, nth_line, nth), begin + one.start, one.value, is_row
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
