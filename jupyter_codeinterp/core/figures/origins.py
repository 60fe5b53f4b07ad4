"""Looks up the numbers of an answer in outputs.

An output has a number if it shows it, a number that rounds to it, or the fraction of a percentage.
Numbers of few digits are found by chance among many others; they then get no origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec

from ..events import Figure, Origin, Policy
from ..model_view.outputs import size
from .masking import prose
from .numbers import Number, numbers
from .shown import MOST_TEXT, Cell, Outputs, Shown
from .texts import excerpt

LONGEST = 40_000
"""Characters of an answer that are read."""
MOST = 200
"""Figures of an answer."""
FEWEST_DIGITS = 2
FEWEST_IN_VARIABLE = 3
"""Digits of a number that only a variable has: nobody sees its value."""
_SLACK = 1e-9


def origins(
    answer: str, question: str, cells: Sequence[Cell], scrub: Callable[[str], str] = str
) -> tuple[Figure, ...]:
    """The figures of ``answer`` that come from the outputs of ``cells``, or from what their
    variables held. Leaves out numbers of the question. ``scrub`` removes keys from the excerpts."""
    given = {(one.value, one.percent) for one in numbers(question[:LONGEST])}
    stated = [
        one
        for one in islice(numbers(prose(answer[:LONGEST])), MOST)
        if one.digits >= FEWEST_DIGITS and (one.value, one.percent) not in given
    ]
    if not stated:
        return ()
    outputs = Outputs(cells)
    known = [cell for cell in cells if cell.ran and cell.after.variables]
    variables = Outputs(list(map(_values, known)))
    after = {cell.cell_id: cell.after for cell in known}
    units = _units(answer)
    figures: list[Figure] = []
    for number in stated:
        if (found := _find(number, outputs)) is not None:
            origin = _origin(*found, outputs, scrub)
        elif number.digits >= FEWEST_IN_VARIABLE and (found := _find(number, variables)):
            origin = _origin(*found, variables, scrub)
            held = after[origin.cell_id]
            name = held.variables[origin.output].name
            origin = msgspec.structs.replace(origin, output=-1, variable=name, count=held.count)
        else:
            continue
        figures.append(Figure(number.text, units(number.start), units(number.end), origin))
    return tuple(figures)


def work(answer: str, cells: Sequence[Cell]) -> int:
    """Roughly the characters that ``origins`` reads."""
    held = sum(len(one.text) for cell in cells for one in cell.after.variables)
    return len(answer) + min(MOST_TEXT, sum(size(cell.outputs) for cell in cells) + held)


def _values(cell: Cell) -> Cell:
    """The values of its variables as outputs, in their order."""
    texts = ({"output_type": "stream", "text": one.text} for one in cell.after.variables)
    return Cell(cell.cell_id, tuple(texts))


def _find(number: Number, outputs: Outputs) -> tuple[Policy, Shown] | None:
    """The first output that has the number; of cells that ran, if one of them has it."""
    best: tuple[bool, Policy, Shown] | None = None
    for policy, shown in _candidates(number, outputs):
        ran = outputs.texts[shown.place].ran
        count = outputs.from_run if ran else len(outputs.values)
        chance = (1.0 if policy == "equal" else 0.2) * 10.0**number.digits
        if count <= max(chance, 2) and (best is None or ran > best[0]):
            best = ran, policy, shown
    return best[1:] if best is not None else None


def _candidates(number: Number, outputs: Outputs) -> Iterator[tuple[Policy, Shown]]:
    """Numbers that could be this one, the nearest policy first."""
    near = list(_near(number, outputs, 1.0))
    slack = abs(number.value) * _SLACK
    equal = [one for one in near if abs(abs(one.value) - abs(number.value)) <= slack]
    yield from (("equal", one) for one in equal)
    yield from (("rounded", one) for one in near if one not in equal)
    if number.percent:
        yield from (("percentage", one) for one in _near(number, outputs, 0.01))


def _near(number: Number, outputs: Outputs, factor: float) -> Iterator[Shown]:
    grain, size_ = number.grain * factor, abs(number.value) * factor
    slack = max(size_, grain) * _SLACK
    for one in outputs.between(max(0.0, size_ - grain / 2 - slack), size_ + grain / 2 + slack):
        if (one.value < 0) == (number.value < 0):
            yield one


def _origin(policy: Policy, shown: Shown, outputs: Outputs, scrub: Callable[[str], str]) -> Origin:
    text = outputs.texts[shown.place]
    before, value, after = excerpt(text.text, shown.start, shown.end, scrub)
    start, end = text.base + shown.start, text.base + shown.end
    return Origin(text.cell_id, text.output, start, end, policy, before, value, after)


def _units(text: str) -> Callable[[int], int]:
    """From characters to UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda place: place
    wide = [place for place, character in enumerate(text) if character > "\uffff"]
    return lambda place: place + sum(one < place for one in wide[:10_000])
