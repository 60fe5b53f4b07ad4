"""Words of sentences and of table rows, and what they say of a figure."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(
    # A class of characters first lets ``re`` skip all others without a try at each.
    r"[^\W\d_](?:[^\W\d_]{2,39}|(?<=[A-Z])[A-Z\d]{1,5}\b|(?<=[QH])[1-4]\b"
    # Symbols of statistics, and codes of one letter.
    r"|(?<=\b[A-Za-z])[\d\u00b2]|(?<=\b[B-HJ-Zpntzr])\b)"
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
    return _labels(tuple(words.findall(text)))


@lru_cache(maxsize=250)
def _labels(words: tuple[str, ...]) -> frozenset[str]:
    """The lines of a table often have the same words."""
    return frozenset(filter(None, map(_label, words)))


@lru_cache(maxsize=5_000)
def _label(found: str) -> str:
    word = found.lower()
    if word in _COMMON:
        return ""
    return word[:5] if len(word) > 5 else word.removesuffix("s") if len(word) > 3 else word


_WORDS = {
    "sum": r"totals?|sums?|together|combined|altogether|overall|both|jointly",
    "difference": r"differ\w*|more|less|fewer|higher|lower|larger|smaller|greater|older|younger|"
    r"longer|shorter|faster|slower|increas\w*|decreas\w*|ros?e|rise\w*|fell|fall\w*|grew|grow\w*|"
    r"gain\w*|los[ts]\w*|drop\w*|declin\w*|gap|chang\w*|up|down|above|below|ahead|behind|lead\w*|"
    r"margin|apart|minus|remain\w*|left|beat\w*|exceed\w*|range|spread|net|improv\w*|reduc\w*|"
    r"save[sd]?",
    "ratio": r"times|ratio|fold|per|twice|double|triple|factor|average|mean|each|\w*\dx",
    "share": r"share|proportion|fraction|percentage|part|accounts?|accounted|represents?|"
    r"comprise\w*|contribut\w*|rate|portion|majority",
    "down": r"fell|fall\w*|drop\w*|declin\w*|decreas\w*|los[ts]\w*|loss\w*|lower|down\w*|less|"
    r"fewer|negative\w*|minus|below|shr[aiu]nk\w*|reduc\w*|deficit|cut|differ\w*|gap|chang\w*|"
    r"behind|smaller|worse\w*|contract\w*|slid|dip\w*|cheaper|short\w*",
    # What the phrases below have, but for the sign.
    "phrase": r"all|up|out|\w*per|\w*percent\w*",
    "up": r"ros?e|rise\w*|grew|grow\w*|gain\w*|increas\w*|more|higher|up|above|larger|greater|"
    r"ahead|improv\w*|exceed\w*|longer|older|faster",
}
_OF_WORDS = {cue: re.compile(words, re.I) for cue, words in _WORDS.items()}
_ALL_WORDS = re.compile(r"\w+")
_SUM = re.compile(r"\bin all\b", re.I)
_SHARE_OF = r"[ \w]{0,40}\b(?:are|were|is|have|had|of)\b"
_SHARE = re.compile(rf"\b(?:made up|makes? up|out of)\b|per ?cent{_SHARE_OF}", re.I)
_PERCENT = re.compile(rf"%(?i:{_SHARE_OF})")


@lru_cache(maxsize=1_000)
def _cues(word: str) -> frozenset[str]:
    """The cues that a word gives by itself. Texts repeat their words, and to look for all of a
    cue's words at each character takes long."""
    return frozenset(cue for cue, words in _OF_WORDS.items() if words.fullmatch(word))


class Cues:
    """What a sentence says of its figures."""

    def __init__(self, sentence: str) -> None:
        said = frozenset().union(*map(_cues, _ALL_WORDS.findall(sentence)))
        self.difference = "difference" in said
        self.up = "up" in said
        self.down = "down" in said
        self.ratio = "ratio" in said or "\u00d7" in sentence
        phrase = "phrase" in said
        self.sum = "sum" in said or (phrase and bool(_SUM.search(sentence)))
        self.share = (
            "share" in said
            or (phrase and bool(_SHARE.search(sentence)))
            or bool(_PERCENT.search(sentence))
        )
