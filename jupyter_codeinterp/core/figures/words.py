"""Words of sentences and of table rows, and what they say of a figure."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

_WORD = re.compile(
    # Most characters of outputs begin no word: one look rules them out.
    r"(?=[^\W\d_])(?:[^\W\d_]{3,40}|[A-Z][A-Z\d]{1,5}\b|[QH][1-4]\b"
    # Symbols of statistics, and codes of one letter.
    r"|\b[A-Za-z][\d\u00b2]|\b[B-HJ-Zpntzr]\b)"
)
_ASCII_WORD = re.compile(_WORD.pattern, re.ASCII)
"""The same in text without other letters, in less time."""
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "the and for are was were has have had with from that this than "
        "then they their there which while into over under about most more less least "
        "only each all any per its our your not but out one two three "
        "is of in on at by to as be been can will would also "
        "both other when where dtype name int float object rows columns cell output result "
        "value values number ",
    )
)


def labels(text: str) -> frozenset[str]:
    """Words by their first letters, so that “regions” and “region” are the same."""
    words = _ASCII_WORD if text.isascii() else _WORD
    return frozenset(filter(None, map(_label, words.findall(text))))


@lru_cache(maxsize=5_000)
def _label(found: str) -> str:
    word = found.lower()
    if word in _COMMON:
        return ""
    return word[:5] if len(word) > 5 else word.removesuffix("s") if len(word) > 3 else word


_SUM = re.compile(
    r"\b(?:total|totals|sum|sums|together|combined|altogether|overall|in all|both|jointly)\b", re.I
)
_DIFFERENCE = re.compile(
    r"\b(?:differ\w*|more|less|fewer|higher|lower|larger|smaller|greater|older|younger|longer|"
    r"shorter|faster|slower|increas\w*|decreas\w*|ros?e|rise\w*|fell|fall\w*|grew|grow\w*|gain\w*|"
    r"los[ts]\w*|drop\w*|declin\w*|gap|chang\w*|up|down|above|below|ahead|behind|lead\w*|margin|"
    r"apart|minus|remain\w*|left|beat\w*|exceed\w*|range|spread|net|improv\w*|reduc\w*|save[sd]?)\b",
    re.I,
)
_RATIO = re.compile(
    r"\b(?:times|ratio|fold|per|twice|double|triple|factor|average|mean|each)\b|\u00d7|\dx\b",
    re.I,
)
_SHARE = re.compile(
    r"\b(?:share|proportion|fraction|percentage|part|accounts?|accounted|represents?|made up|"
    r"makes? up|comprise\w*|contribut\w*|rate|out of|portion|majority)\b"
    r"|(?:%|percent|per cent) of\b"
    r"|(?:%|percent|per cent)[ \w]{0,40}\b(?:are|were|is|have|had|of)\b",
    re.I,
)
_DOWN = re.compile(
    r"\b(?:fell|fall\w*|drop\w*|declin\w*|decreas\w*|los[ts]\w*|loss\w*|lower|down\w*|less|fewer|"
    r"negative\w*|minus|below|shr[aiu]nk\w*|reduc\w*|deficit|cut|differ\w*|gap|chang\w*|behind|"
    r"smaller|worse\w*|contract\w*|slid|dip\w*|cheaper|short\w*)\b",
    re.I,
)


_UP = re.compile(
    r"\b(?:ros?e|rise\w*|grew|grow\w*|gain\w*|increas\w*|more|higher|up|above|larger|greater|ahead|"
    r"improv\w*|exceed\w*|longer|older|faster)\b",
    re.I,
)


class Cues:
    """What a sentence says of its figures."""

    def __init__(self, sentence: str) -> None:
        self._text = sentence

    @cached_property
    def sum(self) -> bool:
        return bool(_SUM.search(self._text))

    @cached_property
    def difference(self) -> bool:
        return bool(_DIFFERENCE.search(self._text))

    @cached_property
    def ratio(self) -> bool:
        return bool(_RATIO.search(self._text))

    @cached_property
    def share(self) -> bool:
        return bool(_SHARE.search(self._text))

    @cached_property
    def up(self) -> bool:
        return bool(_UP.search(self._text))

    @cached_property
    def down(self) -> bool:
        return bool(_DOWN.search(self._text))
