"""Numbers in the prose of an answer: how they are written and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_GROUPED = r"\d{1,3}(?:[,\u00a0\u2009\u202f'\u2019]\d{3})+(?:\.\d+)?"
_DOTTED = r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}\.\d{3},\d+"
_NUMBER = re.compile(
    rf"(?=[.\d])(?<![\w])(?P<number>{_GROUPED}(?![\d])|{_DOTTED}|\d+(?:[.,]\d+)?|(?<!\.)\.\d+)"
    r"(?P<exponent>[eE][+-]?\d{1,3})?"
)
_SUFFIX = re.compile(
    r"(?P<percent>[ \u00a0\u202f]?%|[ \u00a0]per ?cent\b)"
    r"|[ \u00a0]?(?P<scale>(?:thousand|million|billion|trillion|bn|mio|mn)\b|[kKMB](?![\w%]))"
)
_SCALES = {
    **{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6},
    **{"b": 1e9, "bn": 1e9, "billion": 1e9, "trillion": 1e12},
}
_UNIT = re.compile(r"[^\W\d_]{1,3}(?!\w)")
LARGEST_EXPONENT = 200
"""Larger numbers, and steps between them, do not fit into a float."""
MINUS = "-\u2212"
SIGNS = f"+{MINUS}"

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"(?<![\w.])(?:\d{4}[-/]\d{2}(?:[-/]\d{2})?|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}:\d{2}(?::\d{2})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?)(?!\w)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\b(?:cells?|steps?|fig(?:ure|\.)?s?|tables?|charts?|sections?|lines?|versions?|pages?)"
    r"[ \u00a0]?[#(\[]{0,2}$",
    re.IGNORECASE,
)
_NEAR = 12
"""Characters before a number that may make it a reference."""


class Number(msgspec.Struct, frozen=True):
    """``value`` includes the scale, but not the percent sign. ``grain`` is the step of the last
    digit that the text shows."""

    text: str
    start: int
    end: int
    value: float
    grain: float
    digits: int
    percent: bool
    signed: bool


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a text. Leaves out dates, years, references such as “cell 12”, and digits that
    belong to a word (Q3, 2nd, v1.2.3)."""
    text = _DATE.sub(lambda found: " " * len(found[0]), text)
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        following = text[end : end + 2]
        is_version = following[:1] == "." and following[1:].isdecimal()
        if is_version or _in_a_word(text, start) or _is_reference(text, start):
            continue
        read = _value(found["number"])
        if read is None:
            continue
        value, decimals, digits = read
        if found["exponent"]:
            exponent = int(found["exponent"][1:])
            if abs(exponent) > LARGEST_EXPONENT:
                continue
            value, decimals = value * 10.0**exponent, decimals - exponent
        suffix = _SUFFIX.match(text, end)
        if suffix is None and following[:1].isalpha() and not _UNIT.match(text, end):
            continue
        percent = suffix is not None and suffix["percent"] is not None
        scale = _SCALES[suffix["scale"].lower()] if suffix is not None and suffix["scale"] else 1.0
        is_bare = found[0].isdigit() and suffix is None
        if is_bare and len(found[0]) == 4 and 1500 <= value < 2200:
            continue  # A year.
        signed = _has_sign(text, start)
        if signed:
            start -= 1
            value = -value if text[start] in MINUS else value
        if suffix is not None and suffix[0].endswith("%"):
            end = suffix.end()
        # Few numbers are as small as 0.0008.
        digits = max(digits, decimals) if abs(value) < 1 else digits
        grain = float(10.0**-decimals) * scale
        yield Number(text[start:end], start, end, value * scale, grain, digits, percent, signed)


def _is_reference(text: str, start: int) -> bool:
    return _REFERENCE.search(text, max(0, start - _NEAR), start) is not None


def _in_a_word(text: str, start: int) -> bool:
    """Whether the digits continue something: `a-5`, `v.2`, `1.2.3`, `#7`, `/2024`."""
    before = text[max(0, start - 2) : start]
    if before.endswith(("#", "@", "/", "\\", ".", "_", "&")):
        return not before.endswith("/") or not before[:1].isdigit()
    return before.endswith("-") and before[:1].isalpha()


def _has_sign(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] not in SIGNS:
        return False
    return start == 1 or not (text[start - 2].isalnum() or text[start - 2] in ")%")


def _value(word: str) -> tuple[float, int, int] | None:
    """Value, decimals and significant digits."""
    if len(word) > 40:
        return None
    if re.fullmatch(_DOTTED, word):
        plain = word.replace(".", "").replace(",", ".")
    elif re.fullmatch(_GROUPED, word):
        plain = re.sub(r"[^\d.]", "", word)
    else:
        plain = word.replace(",", ".")
    whole, _, part = plain.partition(".")
    digits = len((whole + part).lstrip("0")) or 1
    return float(plain), len(part), digits
