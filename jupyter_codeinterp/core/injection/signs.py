"""Recognizes words in data that read like instructions to a language model.

It knows a list of phrases, and no more. It reads words without case,
punctuation, invisible characters and look-alike letters, in time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from .phrases import WITHOUT_BLANKS, by_start

LONGEST = 100
"""Characters of an excerpt."""
PIECE = 50_000
"""Characters that are read in one go. Python's other threads wait meanwhile."""
OVERLAP = 4_000
"""Characters that a phrase may take, with invisible ones between its letters."""

_INVISIBLE = re.compile(
    "[\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Invisible copies of ASCII."""
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_ENTITY = re.compile(r"&#(?:(\d{1,6})|[xX]([0-9a-fA-F]{1,5}));?")
_BREAK = re.compile(r"\\[nrt]|(?<=[a-z])(?=[A-Z])")
"""Escapes of line ends, and humps in names such as ``ignoreAllInstructions``."""
_WORD = re.compile(r"[^\W_]+")
_ALIKE = str.maketrans("асеорхуіѕкνοιτυηκαρвнмтԁɡ", "aceopxyisknoitunkapbhmtdg")


_TOKEN = re.compile(
    r"<\\?\|(?:im_start|im_end|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id)"
    r"\|?>|\[/?INST\]|<\\?<\\?/?SYS>>|<\\?/?(?:system|instructions?|tool_call|function_calls?)>"
    r"|(?:^|\n)[ \t]{0,20}(?:#{1,6} {0,3})?(?:Human|Assistant) {0,3}:"
)
"""Signs that divide a model's own conversation."""
_BY_START = by_start()


def first_sign(text: str) -> str:
    """The first words that read like an instruction, as plain words; "" without any."""
    for start in range(0, max(len(text), 1), PIECE):
        piece = text[start : start + PIECE + OVERLAP]
        if start:
            # The piece before had what the first word is the end of.
            cut = _WORD.match(piece)
            piece = f" {piece[cut.end() if cut is not None else 0 :]}"
        sign = _sign(piece)
        if sign:
            return sign
    return ""


def _sign(text: str) -> str:
    token = _TOKEN.search(text)
    if token is not None:
        return " ".join(_WORD.findall(text[token.start() : token.start() + LONGEST]))
    plain = _plain(text)
    for words in dict.fromkeys((plain, plain.translate(_ALIKE))):
        start = _first_phrase(words)
        if start >= 0:
            return words[start : start + LONGEST].strip()
    return ""


def _first_phrase(words: str) -> int:
    """Where the first phrase begins; -1 without any."""
    place = 0
    for word in words.split(" "):
        if word in _BY_START and _pattern(word).match(words, place):
            return place
        place += len(word) + 1
    found = None if words.isascii() else WITHOUT_BLANKS.search(words)
    return -1 if found is None else found.start()


@cache
def _pattern(start: str) -> re.Pattern[str]:
    return re.compile(_BY_START[start])


def _plain(text: str) -> str:
    """The words of a text, in lower case, with a blank after each."""
    if "&" in text:
        text = _ENTITY.sub(
            lambda found: chr(int(found[1] or found[2], 10 if found[1] else 16)), text
        )
    if "\\u" in text:
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    if not text.isascii():
        text = _TAGS.sub(_visible, _INVISIBLE.sub("", text))
    words = " ".join(_WORD.findall(_BREAK.sub(" ", text)))
    if not words.isascii():
        # Words have no combining marks, which take long to put in order.
        words = unicodedata.normalize("NFKC", words)
    return f"{words.lower()} "


def _visible(tags: re.Match[str]) -> str:
    return " " + "".join(chr(ord(tag) - 0xE0000) for tag in tags[0])
