"""Figures that two shown numbers give: a sum, difference, ratio or share.

The two are figures of the same sentence that have an origin, or numbers in lines or columns that
the sentence names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Literal

import msgspec

from .finding import Claim
from .shown import Outputs, Shown
from .words import labels

MOST_OPERANDS = 10
MOST_NAMED = 24
"""Numbers that a sentence may name in outputs."""
_SLACK = 1e-9

Kind = Literal["sum", "difference", "ratio", "share"]


class Derived(msgspec.Struct, frozen=True):
    first: Shown
    policy: Kind
    formula: str


def words_of_code(line: str) -> frozenset[str]:
    """Words of a line of code, parts of names included."""
    words = labels(line.replace("_", " ")[:400])
    return words | ({"top", "first", "larg"} if words & {"head", "nlarg", "limit"} else frozenset())


def find(claim: Claim, operands: Sequence[Shown], outputs: Outputs) -> Derived | None:
    number = claim.number
    if number is None or number.is_year:
        return None
    stated = list(dict.fromkeys(operands))[:MOST_OPERANDS]
    for one, other in permutations(stated if claim.digits > 1 else [], 2):
        if (found := _given_by(claim, one, other, outputs)) is not None:
            return found
    pairs = list(_named_pairs(claim, outputs))
    # Each pair is a chance to be right without being it.
    if len(pairs) > 0.4 * 10.0**claim.digits:
        return None
    for one, other in pairs:
        if (found := _given_by(claim, one, other, outputs)) is not None:
            return found
    return None


def _named_pairs(claim: Claim, outputs: Outputs) -> Iterator[tuple[Shown, Shown]]:
    """Numbers in the same column whose lines the sentence names differently, and numbers of one
    line."""
    words = claim.sentence.words
    named: list[tuple[Shown, frozenset[str], int, int]] = []
    both: list[bool] = []
    for line, (own, row) in enumerate(outputs.lines(words)):
        for column, one in enumerate(row):
            named.append((one, own, line, column))
            both.append(bool(outputs.head_labels(one) & words))
            if len(named) > MOST_NAMED:
                return
    if any(both):
        named = [one for one, exact in zip(named, both, strict=True) if exact]
    for first, second in permutations(named, 2):
        same_line = first[2] == second[2]
        if same_line or (first[1] != second[1] and first[3] == second[3]):
            yield first[0], second[0]


def _given_by(claim: Claim, one: Shown, other: Shown, outputs: Outputs) -> Derived | None:
    first, second = outputs.word(one), outputs.word(other)
    for kind, value, formula in _results(claim, one.value, other.value):
        if _fits(claim, value):
            return Derived(one, kind, formula.format(first, second))
    return None


def _results(claim: Claim, a: float, b: float) -> Iterator[tuple[Kind, float, str]]:
    number, cues = claim.number, claim.sentence.cues
    if number is None:
        return
    if number.percent:
        if cues.share and b and abs(a) <= abs(b):
            yield "share", a / b * 100, "{} ÷ {}"
        falls = cues.down and not cues.up
        if cues.difference and b and ((a < b) == falls or cues.down == cues.up):
            yield "ratio", (a - b) / b * 100, "({0} - {1}) ÷ {1}"
        if cues.difference and max(abs(a), abs(b)) <= 1:
            yield "difference", (a - b) * 100, "{} - {}"
    if cues.sum and not number.percent:
        yield "sum", a + b, "{} + {}"
    if cues.difference:
        yield "difference", a - b, "{} - {}"
    if (cues.ratio or number.unit in ("x", "\u00d7")) and b and not number.percent:
        yield "ratio", a / b, "{} ÷ {}"
    if cues.share and b and abs(a) <= abs(b) and not number.percent and abs(number.value) < 1:
        yield "share", a / b, "{} ÷ {}"


def _fits(claim: Claim, value: float) -> bool:
    number = claim.number
    if number is None or value == 0:
        return False
    if number.signed and (number.value < 0) != (value < 0):
        return False
    if not number.signed and value < 0 and not claim.sentence.cues.down:
        return False
    size, slack = abs(number.whole), max(abs(number.whole), claim.grain) * _SLACK
    low, high = size - claim.low * claim.grain - slack, size + claim.high * claim.grain + slack
    return low <= abs(value) <= high
