"""Numbers in text: how answers and outputs write them, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_SPACES = "\u00a0\u2009\u202f"
_GROUPED = rf"\d{{1,3}}(?:[,{_SPACES}'\u2019]\d{{3}})+(?:\.\d+)?"
_DOTTED = rf"\d{{1,3}}(?:[.{_SPACES}]\d{{3}}){{2,}}(?:,\d+)?|\d{{1,3}}(?:[.{_SPACES}]\d{{3}})+,\d+"
_NUMBER = re.compile(
    rf"(?=[.\d])(?<!\w)(?P<number>{_DOTTED}|{_GROUPED}(?!\d)|\d+(?:[.,]\d+)?|(?<!\.)\.\d+)"
    r"(?:(?P<exponent>[eE][+-]?\d{1,3})"
    r"|[ \u00a0]?[x\u00d7\u00b7] ?10\^(?P<power>[-\u2212]?\d{1,3}))?"
)
EITHER = re.compile(r"\d{1,3}[.,]\d{3}")
"""Thousands or decimals, depending on the language."""
_COMMAS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d+,\d{1,2}(?![\d,]|, ?\d)")
_SPACED = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?!\d)")
_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+\.\d|(?<![\d.,])\d+\.\d{1,2}(?![\d.])")
_CONTINENTAL = re.compile(r"\b(?:der|die|das|und|ist|sind|les?|est|sont|el|los|las)\b")
_SUFFIX = re.compile(
    r"(?P<percent>[ \u00a0\u202f]?%|[ \u00a0](?:per ?cent(?:age points?)?|Prozent)\b)"
    r"|[ \u00a0]?(?P<scale>(?:thousand|million|billion|trillion|Mio|Mrd|Million(?:en)?"
    r"|Milliarden?|Tausend|Tsd|bn|mio|mn|tn|MM)\b|[kKMB](?![\w%]))"
)
_SCALES = {
    **{"k": 1e3, "thousand": 1e3, "tausend": 1e3, "tsd": 1e3, "b": 1e9, "mrd": 1e9},
    **{"bn": 1e9, "billion": 1e9, "milliarde": 1e9, "milliarden": 1e9},
    **{"trillion": 1e12, "tn": 1e12},
    **dict.fromkeys(("m", "mm", "mn", "mio", "million", "millionen"), 1e6),
}
_RANGE = re.compile(
    r"[ \u00a0]?(?:[-\u2013]|to|and|bis|und)[ \u00a0]?\d{1,3}(?:[.,]\d+)?[ \u00a0]?%"
)
"""The rest of a range in percent, after its first number."""
_UNIT = re.compile(r"[^\W\d_]{1,3}(?!\w)")
LARGEST_EXPONENT = 200
"""Numbers with larger exponents, and their grain, may not fit into a float."""
MINUS = "-\u2212"
SIGNS = f"+{MINUS}"

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"(?<![\w.])(?:\d{4}[-/\u2013]\d{2}(?:[-/]\d{2}(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?)?"
    r"|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{1,2}:\d{2}(?::\d{2})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?)(?!\w|[.,]\d)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\b(?:cells?|steps?|fig(?:ure|\.)?s?|tables?|charts?|sections?|lines?|versions?|pages?"
    r"|python|pandas|numpy|polars)[ \u00a0]?[#(\[]{0,2}$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:over|above|(?:more|greater) than|at least|exceed(?:s|ed|ing)?|über|nearly|almost"
    r"|under|below|(?:less|fewer) than|up to|fast|knapp|about|around|roughly|approximately"
    r"|approx\.|ca\.|some|rund|etwa)|[~\u2248])[ \u00a0]?[$€£]?$",
    re.IGNORECASE,
)
_NEAR = 16
"""Characters read before a number to tell what it is."""


class Number(msgspec.Struct, frozen=True):
    """``value`` includes the scale, but not the percent sign. ``grain`` is the step of the last
    digit that the text shows; ``low`` to ``high`` are the sizes that the text may stand for, as
    “about 18,400” does for 18,432. ``digits`` are the significant ones."""

    text: str
    start: int
    end: int
    value: float
    grain: float
    bare: float
    """The value without the scale, for tables in millions."""
    low: float
    high: float
    digits: int
    percent: bool
    whole: bool


def numbers(text: str) -> Iterator[Number]:
    """The figures of an answer. Leaves out dates, years and references such as “cell 12”."""
    commas = has_decimal_commas(text)
    if commas:
        text = _SPACED.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
    for one in scan(text, commas):
        start = one.start
        is_year = len(one.text) == 4 and one.text.isdigit() and 1500 <= one.value < 2200
        if not (is_year and one.whole) and not _REFERENCE.search(
            text, max(0, start - _NEAR), start
        ):
            yield one


def has_decimal_commas(text: str) -> bool:
    """Whether the text writes 7.412,5 for 7412.5, by its numbers or its language."""
    if _POINTS.search(text) is not None:
        return False
    return _COMMAS.search(text) is not None or len(_CONTINENTAL.findall(text)) > 1


def scan(text: str, commas: bool = False) -> Iterator[Number]:
    """All numbers except dates and digits that belong to a word (Q3, 2nd, v1.2.3)."""
    text = _DATE.sub(lambda found: " " * len(found[0]), text)
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        following = text[end : end + 2]
        is_version = following[:1] == "." and following[1:].isdecimal()
        if is_version or _in_a_word(text, start) or len(found["number"]) > 40:
            continue
        value, decimals = _value(found["number"], commas)
        power = (found["exponent"] or "e")[1:] or found["power"]
        if power:
            exponent = int(power.replace("\u2212", "-"))
            if abs(exponent) > LARGEST_EXPONENT:
                continue
            value, decimals = value * 10.0**exponent, decimals - exponent
        suffix = _SUFFIX.match(text, end)
        if suffix is None and following[:1].isalpha() and not _UNIT.match(text, end):
            continue
        percent = suffix is not None and suffix["percent"] is not None
        scale = _SCALES[suffix["scale"].lower()] if suffix is not None and suffix["scale"] else 1.0
        whole = "." not in found[0] and decimals == 0 and suffix is None and not power
        percent = percent or (suffix is None and _RANGE.match(text, end) is not None)
        digits, zeros = _digits(found["number"], decimals)
        grain = float(10.0**-decimals) * scale
        is_about = _ABOUT.search(text, max(0, start - _NEAR), start) is not None
        # 14,400 may be rounded, and 400 if the text says so.
        coarse = grain * float(10.0**zeros) if is_about or digits > 2 else grain
        low = value * scale - coarse / 2
        high = value * scale + (coarse if is_about and zeros else coarse / 2)
        if _has_sign(text, start):
            start -= 1
            value = -value if text[start] in MINUS else value
        if suffix is not None and suffix[0].endswith("%"):
            end = suffix.end()
        bare, value, word = value, value * scale, text[start:end]
        yield Number(word, start, end, value, grain, bare, low, high, digits, percent, whole)


def _digits(word: str, decimals: int) -> tuple[int, int]:
    """The counts of significant digits and of zeros at the end of a whole number."""
    bare = re.sub(r"\D", "", word).lstrip("0")
    if decimals > 0:
        return len(bare) or 1, 0
    kept = bare.rstrip("0")
    return len(kept) or 1, len(bare) - len(kept) if kept else 0


def _in_a_word(text: str, start: int) -> bool:
    """Whether the digits continue something: `a-5`, `v.2`, `1.2.3`, `#7`, `/2024`."""
    before = text[max(0, start - 2) : start]
    if before.endswith(("#", "@", "/", "\\", ".", "_", "&", "^")):
        return not before.endswith("/") or not before[:1].isdigit()
    return before.endswith("-") and before[:1].isalpha()


def _has_sign(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] not in SIGNS:
        return False
    return start == 1 or not (text[start - 2].isalnum() or text[start - 2] in ")%")


def _value(word: str, commas: bool) -> tuple[float, int]:
    """The value and its number of decimals. ``commas``: read an ambiguous comma as decimal."""
    if re.fullmatch(_DOTTED, word) or (commas and word[0] != "0" and EITHER.fullmatch(word)):
        plain = re.sub(rf"[.{_SPACES}]", "", word).replace(",", ".")
    elif word[0] != "0" and re.fullmatch(_GROUPED, word):
        plain = re.sub(r"[^\d.]", "", word)
    else:
        plain = word.replace(",", ".")
    return float(plain), len(plain.partition(".")[2])
