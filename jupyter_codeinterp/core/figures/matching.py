"""Where a figure comes from: the policies by which an output may show it.

A figure of few digits is found by chance among many numbers. It then counts only if a word of
its sentence is in the number's line or at the head of its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Union

import msgspec

from ..events import Policy
from . import derived
from .derived import Derived
from .finding import Claim
from .numbers import SIGNS, Date
from .shown import Outputs, Shown, Text, alike

_SLACK = 1e-9
_BY_CHANCE = {"equal": 1.0, "separators": 1.0}
"""How many numbers for each that the figure's digits can write. Others: a fifth."""
_THOUSANDS = frozenset(
    re.findall(r"\w+", "ms s g kg mg m km mm kB MB GB TB W kW MW kWh MWh GWh Hz kHz MHz GHz")
)


class Found(msgspec.Struct, frozen=True):
    """``start`` and ``end`` are in the text's part."""

    text: Text
    start: int
    end: int
    policy: Policy
    formula: str = ""
    value: float = 0.0
    shown: Union[Shown, None] = None


def find(claim: Claim, outputs: Outputs) -> Found | None:
    """The origin of a figure by itself; see ``find_derived`` for those of two numbers."""
    if claim.kind == "name":
        return _name(claim.text, outputs)
    if claim.date is not None:
        return _date(claim.date, outputs)
    return _number(claim, outputs) or _literal(claim, outputs) or _code(claim, outputs)


def find_derived(claim: Claim, known: Sequence[Found], outputs: Outputs) -> Found | None:
    """A sum, difference, ratio or share, if the sentence says so. ``known`` are the origins of
    the other figures of the sentence."""
    operands = [one.shown for one in known if one.shown is not None]
    result = derived.find(claim, operands, outputs)
    return _of(result, outputs) if result is not None else None


def _of(result: Derived, outputs: Outputs) -> Found:
    one = result.first
    text = outputs.texts[one.place]
    return Found(text, one.start, one.end, result.policy, result.formula)


# --- numbers -------------------------------------------------------------------------


def _number(claim: Claim, outputs: Outputs) -> Found | None:
    best: tuple[tuple[bool, bool, int], Found] | None = None
    for rank, (policy, shown) in enumerate(_candidates(claim, outputs)):
        text = outputs.texts[shown.place]
        labelled = bool(outputs.labels(shown) & claim.sentence.words)
        count = outputs.from_run if text.ran else len(outputs.shown)
        chance = _BY_CHANCE.get(policy, 0.2) * 10.0**claim.digits
        if count > max(chance, 2) and not labelled:
            continue
        weight = (text.ran, labelled, -rank)
        if best is None or weight > best[0]:
            found = Found(text, shown.start, shown.end, policy, "", shown.value, shown)
            best = (weight, found)
    return best[1] if best is not None else None


def _literal(claim: Claim, outputs: Outputs) -> Found | None:
    """A number with a decimal comma, which outputs seldom have."""
    if not re.fullmatch(r"-?\d+,\d{1,2}", claim.text):
        return None
    for place, text in enumerate(outputs.texts):
        if (start := _whole(outputs.lower(place), claim.text)) >= 0:
            return Found(text, start, start + len(claim.text), "equal")
    return None


def _candidates(claim: Claim, outputs: Outputs) -> Iterator[tuple[Policy, Shown]]:
    """Numbers that could be the figure, the nearest policy first."""
    number = claim.number
    if number is None:
        return
    yield from _near(claim, outputs, 1.0, "unit" if number.scale != 1 else "rounded")
    if number.percent or number.unit == "pp":
        yield from _near(claim, outputs, 0.01, "percentage")
    else:
        for policy, one in _near(claim, outputs, 100.0, "percentage"):
            if outputs.has_percent(one):
                yield policy, one
    if number.unit in _THOUSANDS and claim.digits >= 2:
        for factor in (1e3, 1e-3):
            yield from _near(claim, outputs, factor, "unit")
    if number.scale != 1:  # “3.2 million” of a column in thousands or millions.
        yield from _near(claim, outputs, 1 / number.scale, "unit")


def _near(
    claim: Claim, outputs: Outputs, factor: float, policy: Policy
) -> Iterator[tuple[Policy, Shown]]:
    number = claim.number
    if number is None:
        return
    grain, size = claim.grain * factor, abs(number.whole) * factor
    slack = max(size, grain) * _SLACK
    low, high = size - claim.low * grain - slack, size + claim.high * grain + slack
    for one in outputs.between(max(0.0, low), high):
        if not _same_sign(claim, one.value):
            continue
        same = abs(abs(one.value) - size) <= slack
        if policy == "rounded" and same:
            word = outputs.word(one).lstrip(SIGNS)
            said = claim.text.lstrip(SIGNS)
            yield ("equal" if word == said or "," not in word + said else "separators"), one
        elif policy == "percentage" and same and outputs.has_percent(one) and number.percent:
            yield "equal", one
        elif number.is_year and not same:
            continue
        else:
            yield policy, one


def _same_sign(claim: Claim, value: float) -> bool:
    number = claim.number
    if number is None or value == 0:
        return True
    if number.signed:
        return (number.value < 0) == (value < 0)
    return value > 0 or claim.sentence.cues.down


def _code(claim: Claim, outputs: Outputs) -> Found | None:
    """A number that the cells' code sets, as in `window = 30`: the line has a word of the
    sentence."""
    number = claim.number
    if number is None or number.percent:
        return None
    for text, one in outputs.code_numbers(number.whole):
        if text.ran:
            start = text.text.rfind("\n", 0, one.start) + 1
            end = text.text.find("\n", one.end)
            line = text.text[start : end if end >= 0 else len(text.text)][:400]
            if "print(" not in line and derived.words_of_code(line) & claim.sentence.words:
                return Found(text, one.start, one.end, "code")
    return None


# --- dates and names -----------------------------------------------------------------


def _date(date: Date, outputs: Outputs) -> Found | None:
    for text, one in outputs.dates_on({parts[1:3] for parts in date.parts}):
        if _same_date(date.parts, one):
            return Found(text, one.start, one.end, "date")
    return None


def _same_date(asked: tuple[tuple[Union[int, None], ...], ...], read: Date) -> bool:
    """Whether all that the answer says is so in the output."""
    return any(
        all(one is None or one == other for one, other in zip(ours, theirs, strict=True))
        for ours in asked
        for theirs in read.parts
    )


def _name(name: str, outputs: Outputs) -> Found | None:
    wanted = alike(" ".join(name.strip(" .,:;!?").lower().split()))
    for place, text in enumerate(outputs.texts):
        start = _whole(outputs.alike(place), wanted)
        if start >= 0 and len(outputs.alike(place)) == len(text.text):
            return Found(text, start, start + len(wanted), "name")
    for text in outputs.code:
        start = _whole(alike(text.text.lower()), wanted)
        if start >= 0 and text.ran:
            return Found(text, start, start + len(wanted), "code")
    return None


def _whole(text: str, word: str) -> int:
    """Where the text has the word by itself; -1 if it does not."""
    start = text.find(word) if word else -1
    for _ in range(50):
        if start < 0:
            break
        end = start + len(word)
        if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
            return start
        start = text.find(word, start + 1)
    return -1
