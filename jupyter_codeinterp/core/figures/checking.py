"""Looks up the figures of an answer in outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ..events import Figure, Origin
from ..model_view.outputs import size
from .finding import Claim, claims
from .in_variables import InVariable, Variables
from .matching import Found, find, find_derived
from .shown import MOST_TEXT, Cell, Outputs
from .texts import excerpt


class Checked(msgspec.Struct, frozen=True):
    """``partly`` as in ``AnswerChecked``."""

    figures: tuple[Figure, ...] = ()
    partly: bool = False


def check(
    answer: str, question: str, cells: Sequence[Cell], scrub: Callable[[str], str] = str
) -> Checked:
    """The figures of ``answer`` with their origins in the outputs of ``cells``, or in what their
    variables held. ``scrub`` removes keys from the excerpts."""
    stated, whole = claims(answer, question)
    if not stated:
        return Checked((), not whole)
    outputs = Outputs(cells)
    found = [find(claim, outputs) for claim in stated]
    variables = Variables(cells if None in found else ())
    held = [
        variables.find(claim) if one is None else None
        for claim, one in zip(stated, found, strict=True)
    ]
    for place, claim in enumerate(stated):
        is_known = found[place] is not None or held[place] is not None
        if claim.number is not None and not is_known:
            found[place] = find_derived(claim, _beside(place, stated, found), outputs)
    units = _units(answer)
    origins = (_origin(*both, scrub) for both in zip(found, held, strict=True))
    figures = tuple(
        Figure(claim.text, units(claim.start), units(claim.end), claim.kind, origin)
        for claim, origin in zip(stated, origins, strict=True)
        if origin is not None or _matters(claim)
    )
    return Checked(figures, outputs.partly or variables.partly or not whole)


def work(answer: str, cells: Sequence[Cell]) -> int:
    """Roughly the characters that ``check`` reads."""
    held = sum(len(one.text) for cell in cells for one in cell.after.variables)
    return len(answer) + min(MOST_TEXT, sum(size(cell.outputs) for cell in cells) + held)


def _beside(place: int, stated: Sequence[Claim], found: Sequence[Found | None]) -> list[Found]:
    """Origins of the other figures in the sentence."""
    start = stated[place].sentence.start
    near = zip(stated[max(0, place - 10) : place + 11], found[max(0, place - 10) :], strict=False)
    return [one for claim, one in near if one is not None and claim.sentence.start == start]


def _matters(claim: Claim) -> bool:
    """Whether to say that no output has it. A quoted word in lower case is often a term."""
    return claim.kind != "name" or not claim.text[:1].islower()


def _origin(
    found: Found | None, held: InVariable | None, scrub: Callable[[str], str]
) -> Origin | None:
    if held is not None:
        origin = _origin(held.found, None, scrub)
        named = {"output": -1, "variable": held.name, "count": held.count}
        return origin and msgspec.structs.replace(origin, **named)
    if found is None:
        return None
    text = found.text
    before, value, after = excerpt(text.text, found.start, found.end, scrub)
    start, end = text.base + found.start, text.base + found.end
    given = (text.cell_id, text.output, start, end, found.policy)
    return Origin(*given, before, value, after, found.formula[:100])


def _units(text: str) -> Callable[[int], int]:
    """From characters to UTF-16 units."""
    if text.isascii() or max(text) <= "\uffff":
        return lambda place: place
    wide = [place for place, character in enumerate(text) if character > "\uffff"]
    return lambda place: place + sum(one < place for one in wide[:10_000])
