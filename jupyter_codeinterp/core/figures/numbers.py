"""Numbers and dates in texts: how they are written and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Union

import msgspec

_GROUPED = r"\d{1,3}(?:[,\u00a0\u2009\u202f'\u2019]\d{3})+(?:\.\d+)?"
_DOTTED = r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}\.\d{3},\d+"
NUMBER = re.compile(
    rf"(?=[.\d])(?<![\w])(?P<number>{_GROUPED}(?![\d])|{_DOTTED}|\d+(?:[.,]\d+)?|(?<!\.)\.\d+)"
    r"(?P<exponent>[eE][+-]?\d{1,3})?"
)
_SUFFIX = re.compile(
    r"(?P<percent>[ \u00a0\u202f]?%|[ \u00a0]per ?cent\b|[ \u00a0]percentage points?\b)"
    r"|(?P<scale>[ \u00a0]?(?:thousand|million|billion|trillion|bn|mio|mn)\b|[kKMB](?![\w%]))"
    r"|(?P<unit>[ \u00a0]?(?:km|cm|mm|nm|m|kg|mg|g|t|ms|s|min|h|kB|MB|GB|TB|kWh|MWh|GWh|W|kW|MW"
    r"|°C|°F|°|€|\$|£|EUR|USD|GBP|CHF|Hz|kHz|MHz|GHz|px|bytes?|pp|x|\u00d7)(?![\w]))"
)
SCALES = {
    **{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6},
    **{"b": 1e9, "bn": 1e9, "billion": 1e9, "trillion": 1e12},
}
LARGEST_EXPONENT = 200
"""Larger numbers, and steps between them, do not fit into a float."""
MINUS = "-\u2212"
SIGNS = f"+{MINUS}"

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            *("january jan", "february feb", "march mar", "april apr", "may", "june jun"),
            *("july jul", "august aug", "september sep sept", "october oct"),
            *("november nov", "december dec"),
        ),
        1,
    )
    for name in names.split()
}
_MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_MONTH = rf"(?P<month>{_MONTH_NAMES})\.?"
# A class of characters first lets ``re`` skip all others without a try at each. What must not
# stand before follows it. The letter is in both cases, because ignoring the case takes long.
_INITIAL = r"(?-i:[JFMASONDjfmasond\u017f])(?<![\w.].)"
_ENDINGS = "|".join(f"(?<={name[0]}){name[1:]}" for name in _MONTH_NAMES.split("|"))
_MONTH_FIRST = rf"(?P<month>{_INITIAL}(?:{_ENDINGS}))\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAY_FIRST = r"(?P<day>\d(?<![\w.].)\d?)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d\d)"
_ANY_YEAR = rf"(?:,?[ \u00a0]{_YEAR}|(?!,?[ \u00a0]\d{{3,}}))"
ISO = re.compile(
    r"(?P<year>[12](?<![\w.,-].)(?:(?<=1)[5-9]|(?<=2)[01])\d\d)"
    r"[-/](?P<month>\d{2})(?:[-/](?P<day>\d{2}))?"
    r"(?!\d|[-/]\d)"
)
_WITH_MONTH = tuple(
    re.compile(rf"{pattern}(?!\w)", re.IGNORECASE)
    for pattern in (
        rf"{_DAY_FIRST}[ \u00a0](?:of )?{_MONTH}{_ANY_YEAR}",
        rf"{_MONTH_FIRST}[ \u00a0]{_DAY}{_ANY_YEAR}",
        rf"{_MONTH_FIRST},?[ \u00a0]{_YEAR}",
    )
)
_WITH_NUMBERS = tuple(
    re.compile(rf"(?<![\w.]){pattern}(?!\w)")
    for pattern in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>(?:1[5-9]|2[01])\d\d)",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>(?:1[5-9]|2[01])\d\d)",
    )
)
_YEARS = tuple(re.compile(rf"{before}(?:1[5-9]|2[01])\d\d(?!\w)") for before in (r"\.", "/"))
"""What the patterns with numbers end in, which is found much sooner."""
_SHORTEST_MONTHS = tuple(name for name in _MONTHS if len(name) == 3)
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?![\w:])"
)


class Number(msgspec.Struct, frozen=True):
    """``value`` is without scale and percent sign; ``decimals`` are those that the text shows.
    ``grain`` is the step of the last shown digit, scale included. ``unit`` is "" for a bare
    number. ``bare``: digits only, so that it may be a year."""

    start: int
    end: int
    value: float
    decimals: int
    digits: int
    scale: float = 1.0
    percent: bool = False
    unit: str = ""
    signed: bool = False
    bare: bool = False

    @property
    def grain(self) -> float:
        return float(10.0**-self.decimals) * self.scale

    @property
    def whole(self) -> float:
        return self.value * self.scale

    @property
    def is_year(self) -> bool:
        return self.bare and self.digits == 4 and 1500 <= self.value < 2200


class Date(msgspec.Struct, frozen=True):
    """``parts`` are the possible readings as year, month, day, hour, minute, second; None where
    the text does not say."""

    start: int
    end: int
    parts: tuple[tuple[Union[int, None], ...], ...]


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a text with sign, scale and unit. Digits that belong to a word (Q3, 2nd,
    v1.2.3) are none."""
    for found in NUMBER.finditer(text):
        start, end = found.span()
        following = text[end : end + 2]
        if (following[:1] == "." and following[1:].isdecimal()) or _in_a_word(text, start):
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
        if suffix is None and following[:1].isalpha():
            continue
        signed = _has_sign(text, start)
        percent = suffix is not None and suffix["percent"] is not None
        scale = suffix["scale"] if suffix is not None else None
        unit = suffix["unit"] if suffix is not None else None
        yield Number(
            start - signed,
            suffix.end() if suffix is not None and percent and suffix[0].endswith("%") else end,
            -value if signed and text[start - 1] in MINUS else value,
            decimals,
            digits,
            SCALES[scale.strip().lower()] if scale else 1.0,
            percent,
            (unit or scale or "").strip() or ("%" if percent else _currency(text, start)),
            signed,
            found["number"].isdigit() and not found["exponent"],
        )


def _in_a_word(text: str, start: int) -> bool:
    """Whether the digits go on something: `a-5`, `v.2`, `1.2.3`, `#7`, `/2024`."""
    before = text[max(0, start - 2) : start]
    if before.endswith(("#", "@", "/", "\\", ".", "_", "&")):
        return not before.endswith("/") or not before[:1].isdigit()
    return before.endswith("-") and before[:1].isalpha()


def _has_sign(text: str, start: int) -> bool:
    if start == 0 or text[start - 1] not in SIGNS:
        return False
    return start == 1 or not (text[start - 2].isalnum() or text[start - 2] in ")%")


def _currency(text: str, start: int) -> str:
    before = text[start - 1 : start] if start else ""
    return before if before and before in "$€£¥" else ""


def _value(word: str) -> Union[tuple[float, int, int], None]:
    """Value, decimals and significant digits."""
    if len(word) > 40:
        return None
    if word.isdigit():
        plain = word
    elif re.fullmatch(_DOTTED, word):
        plain = word.replace(".", "").replace(",", ".")
    elif re.fullmatch(_GROUPED, word):
        plain = re.sub(r"[^\d.]", "", word)
    else:
        plain = word.replace(",", ".")
    whole, _, part = plain.partition(".")
    digits = len((whole + part).lstrip("0")) or 1
    return float(plain), len(part), digits


def dates(text: str, most: int = 200) -> Iterator[Date]:
    """Dates with at least two of year, month and day, and times of day. They do not overlap."""
    taken = bytearray(len(text))
    count = 0
    for pattern in (ISO, *_written(text), *((_CLOCK,) if ":" in text else ())):
        for found in pattern.finditer(text):
            readings = _readings(pattern, found)
            start, end = found.span()
            if readings and not (taken[start] or taken[end - 1]):
                taken[start:end] = b"\1" * (end - start)
                count += 1
                yield Date(start, end, readings)
            if count >= most:
                return


def _written(text: str) -> tuple[re.Pattern[str], ...]:
    """The patterns that can match: most outputs name no month, and reading them takes long."""
    lower = text.lower()
    by_name = _WITH_MONTH if any(month in lower for month in _SHORTEST_MONTHS) else ()
    pairs = zip(_WITH_NUMBERS, _YEARS, strict=True)
    return (*by_name, *(pattern for pattern, year in pairs if year.search(text)))


_Readings = tuple[tuple[Union[int, None], ...], ...]


def _readings(pattern: re.Pattern[str], found: re.Match[str]) -> _Readings:
    if pattern is ISO:
        year, month, day = found.groups()
        parts = (int(year), int(month), int(day) if day else None, None, None, None)
        right = 1 <= parts[1] <= 12 and (parts[2] is None or 1 <= parts[2] <= 31)
        return (parts,) if right else ()
    if pattern is _CLOCK:
        hour, minute, second = found.groups()
        return ((None, None, None, int(hour), int(minute), int(second) if second else None),)
    return _days(found.groupdict())


def _days(groups: dict[str, str | None]) -> _Readings:
    if groups.get("a"):
        one, other, year = int(groups["a"] or 0), int(groups["b"] or 0), int(groups["year"] or 0)
        found = [(year, month, day) for month, day in ((one, other), (other, one))]
    else:
        month = groups.get("month") or ""
        number = _MONTHS.get(month.lower()) or (int(month) if month.isdigit() else None)
        year_, day_ = groups.get("year"), groups.get("day")
        found = [(int(year_) if year_ else None, number, int(day_) if day_ else None)]  # type: ignore[list-item]
    right = [
        (*date, None, None, None)
        for date in dict.fromkeys(found)
        if (date[1] is None or 1 <= date[1] <= 12) and (date[2] is None or 1 <= date[2] <= 31)
    ]
    return tuple(right)
