"""Recognizes words in data that read like instructions to a language model.

It knows a list of phrases, and no more. It reads words without case,
punctuation, invisible characters and look-alike letters, in time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterator
from functools import cache
from itertools import accumulate, islice

from .phrases import WITHOUT_BLANKS, by_start

MOST, LONGEST = 3, 160
"""Lines that are quoted, and characters of one."""
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
_UNQUOTED = re.compile(r"[^\w\s.,:;!?'/()%@$+*=-]")
"""What could end a quotation."""
_ALIKE = str.maketrans("асеорхуіѕкνοιτυηκαρвнмтԁɡ", "aceopxyisknoitunkapbhmtdg")


_TOKEN = re.compile(
    r"<\\?\|(?:im_start|im_end|system|assistant|user|endoftext|begin_of_text|start_header_id|eot_id)"
    r"\|?>|\[/?INST\]|<\\?<\\?/?SYS>>|<\\?/?(?:system|instructions?|tool_call|function_calls?)>"
    r"|(?:^|\n)[ \t]{0,20}(?:#{1,6} {0,3})?(?:Human|Assistant) {0,3}:"
)
"""Signs that divide a model's own conversation."""
_BY_START = by_start()


def signs(text: str, most: int = MOST, told: Container[str] = ()) -> list[str]:
    """The first lines that read like instructions, without brackets and quotation marks and
    without those ``told``; a long line from its phrase on."""
    found: dict[str, None] = {}
    for start in range(0, max(len(text), 1), PIECE):
        piece = text[start : start + PIECE + OVERLAP]
        if start:
            # The piece before had what the first word is the end of.
            cut = _WORD.match(piece)
            piece = f" {piece[cut.end() if cut is not None else 0 :]}"
        for line in _signs(piece):
            if line not in told:
                found[line] = None
            if len(found) == most:
                return list(found)
    return list(found)


def _signs(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if not line.isspace()]
    plain = [_plain(line).lstrip(" ") for line in lines]
    begins = list(accumulate(map(len, plain), initial=0))
    words = "".join(plain)
    spans = {span for one in {words, words.translate(_ALIKE)} for span in _phrases(one)}
    for number, line in enumerate(lines):
        if token := _TOKEN.search(line):
            spans.add((begins[number], begins[number] + len(_plain(line[: token.end()]))))
    until = 0
    for start, end in sorted(spans):
        if start < until:
            continue  # In a line that is quoted.
        first, last = bisect_right(begins, start) - 1, bisect_left(begins, end)
        until = begins[last]
        here = words[begins[first] : begins[last]]
        yield _quoted(" ".join(lines[first:last]), here, start - begins[first])


def _quoted(line: str, words: str, start: int) -> str:
    """The line; its plain words from ``start`` on where the line does not show the phrase."""
    line = " ".join(_UNQUOTED.sub("", line).split())
    if len(line) > LONGEST:
        before = islice(_WORD.finditer(line), words.count(" ", 0, start), None)
        begin = next((word.start() for word in before), 0)
        line = line[begin : begin + LONGEST]
    plain = _plain(line)
    shows = any(True for one in (plain, plain.translate(_ALIKE)) for _ in _phrases(one))
    return line if shows or _TOKEN.search(line) else words[start : start + LONGEST].strip()


def _phrases(words: str) -> Iterator[tuple[int, int]]:
    """Where phrases begin and end."""
    place = end = 0
    for word in words.split(" "):
        if place >= end and word in _BY_START and (found := _pattern(word).match(words, place)):
            end = found.end()
            yield place, end
        place += len(word) + 1
    if not words.isascii():
        yield from (found.span() for found in WITHOUT_BLANKS.finditer(words))


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
