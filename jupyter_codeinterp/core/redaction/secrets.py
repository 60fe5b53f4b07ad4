"""Known key values, kept out of everything that is sent to a model, journalled or logged.

Whole values are found, and parts of them: a text may have been cut in the middle of a key
before it came here. ``disguises`` says in which forms. This is on the way of every event
and result: a text without a key costs some 5 ms a megabyte, however many forms there are.
It protects from accidents, not from code that wants to tell a key: that can always write it
in a way that nobody has thought of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from .disguises import disguises, public_beginning

REMOVED = "[key removed]"
SHORTEST = 8
"""Characters. Anything shorter is no key, and would be found in ordinary words."""
LONGEST_PART = 16
"""Characters of a key in a row that are always taken for a part of it."""
SHORTEST_END = 4
"""Characters of a key's beginning or end that count where a text has been cut."""

_WORD = 8
_SHORT_WORD = 4
_FORMATS: dict[int, Literal["Q", "I"]] = {_WORD: "Q", _SHORT_WORD: "I"}
_PIECE = 65_536
_MOST_PLACES = 4
_SEAM = re.compile(r"\n?\[… [\d,]+ characters? left out[^\]\n]{0,200}\]\n?|…")
"""Where a text of ours has been cut."""
_BACKSLASH = ord("\\")
_HALF_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")

_Place = tuple[bytes, int, int]
"""A form, an offset in it, and how much of it in a row counts as a part."""


class Secrets:
    """Replaces known values and parts of them. A text is read word by word (8 bytes, or 4
    for short keys); any part that is long enough has one whole word of the text in it."""

    def __init__(self) -> None:
        self._exact: list[str] = []
        """Forms that are not ASCII: they are found as wholes only."""
        self._places: dict[int, dict[int, list[_Place]]] = {_WORD: {}, _SHORT_WORD: {}}
        self._words: dict[int, frozenset[int]] = {}
        self._reach = dict.fromkeys(_FORMATS, 0)
        """The longest of the parts, in bytes: nothing further off decides on a word."""
        self._starts: dict[str, list[str]] = {}
        """Beginnings of values by their last characters; what may stand before a cut."""
        self._ends: dict[str, list[str]] = {}

    def add(self, value: str) -> None:
        """Keep ``value`` out from now on. Space around it does not count."""
        value = value.strip()
        if len(value) < SHORTEST:
            return
        part = min(max(SHORTEST, -(-len(value) * 6 // 10)), LONGEST_PART)
        public = _words_of(public_beginning(value))
        for form in disguises(value):
            if form.isascii():
                self._learn(form.encode(), -(-part * len(form) // len(value)), public)
            elif form not in self._exact:
                self._exact.append(form)
        self._exact.sort(key=len, reverse=True)
        self._words = {size: frozenset(found) for size, found in self._places.items() if found}
        for length in range(SHORTEST_END, len(value)):
            start, end = value[:length], value[-length:]
            self._starts.setdefault(start[-SHORTEST_END:], []).insert(0, start)
            self._ends.setdefault(end[:SHORTEST_END], []).insert(0, end)

    def _learn(self, form: bytes, part: int, public: set[bytes]) -> None:
        # A part of 2 * size - 1 bytes has a whole word in it, wherever it begins.
        size = _WORD if part >= 2 * _WORD - 1 else _SHORT_WORD
        places = self._places[size]
        for offset in range(len(form) - size + 1):
            word = form[offset : offset + size]
            if word in public:
                continue
            self._reach[size] = max(self._reach[size], part)
            known = places.setdefault(memoryview(word).cast(_FORMATS[size])[0], [])
            if len(known) < _MOST_PLACES and all(place[0] != form for place in known):
                known.append((form, offset, min(part, len(form))))

    def scrub(self, text: str) -> str:
        for form in self._exact:
            text = text.replace(form, REMOVED)
        if not self._words:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        spans = [span for size in self._words for span in self._find(raw, size)]
        if spans:
            text = _without(raw, spans).decode("utf-8", "surrogatepass")
        return self._without_ends(text) if "…" in text else text

    def _find(self, raw: bytes, size: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        reach = self._reach[size]
        innocent: set[bytes] = set()
        """Surroundings of words in which no part is long enough. A text may be made of words
        of a key and have no part of it: digits over and over, say."""
        for place, word in self._known_words(raw, size):
            if spans and place < spans[-1][1]:
                continue
            around = raw[max(0, place - reach) : place + size + reach]
            if around in innocent and place >= reach:
                continue
            span = _longest(raw, place, size, self._places[size][word])
            if span is not None:
                spans.append(span)
            elif place >= reach:
                innocent.add(around)
        return spans

    def _known_words(self, raw: bytes, size: int) -> Iterator[tuple[int, int]]:
        """Where a word of a form stands, and which. Read in pieces: a number takes ten times
        the room of its character."""
        known = self._words[size]
        whole = len(raw) - len(raw) % size
        view = memoryview(raw)
        for start in range(0, whole, _PIECE):
            words = view[start : min(start + _PIECE, whole)].cast(_FORMATS[size]).tolist()
            if not known.isdisjoint(words):
                for index, word in enumerate(words):
                    if word in known:
                        yield start + index * size, word

    def _without_ends(self, text: str) -> str:
        """Without beginnings of keys before a cut, and ends of them behind one."""
        parts: list[str] = []
        place = 0
        for seam in _SEAM.finditer(text):
            before, marks = text[place : seam.start()], "\"'"
            kept = before.rstrip(marks)
            for start in self._starts.get(kept[-SHORTEST_END:], ()):
                if kept.endswith(start):
                    before = f"{kept[: -len(start)]}{REMOVED}{before[len(kept) :]}"
                    break
            parts += [before, seam.group()]
            place = seam.end()
            for end in self._ends.get(text[place : place + SHORTEST_END], ()):
                if text.startswith(end, place):
                    parts.append(REMOVED)
                    place += len(end)
                    break
        return "".join([*parts, text[place:]])


def _words_of(text: str) -> set[bytes]:
    """All words in the forms of a text that is no secret."""
    forms = [form.encode() for form in disguises(text) if form.isascii()] if text else []
    return {
        form[offset : offset + size]
        for form in forms
        for size in _FORMATS
        for offset in range(len(form) - size + 1)
    }


def _longest(raw: bytes, place: int, size: int, places: list[_Place]) -> tuple[int, int] | None:
    """The longest part of a form around a word that is in it, if it is long enough."""
    found: tuple[int, int] | None = None
    for form, offset, part in places:
        start, at = place, offset
        while start > 0 and at > 0 and raw[start - 1] == form[at - 1]:
            start, at = start - 1, at - 1
        end, at = place + size, offset + size
        while end < len(raw) and at < len(form) and raw[end] == form[at]:
            end, at = end + 1, at + 1
        if end - start >= part and (found is None or end - start > found[1] - found[0]):
            found = start, end
    return found


def _without(raw: bytes, spans: list[tuple[int, int]]) -> bytes:
    """``raw`` with the spans replaced. What was JSON stays JSON: no escape is cut in two."""
    parts: list[bytes] = []
    place = 0
    for start, end in sorted(spans):
        if end <= place:
            continue
        start = max(start, place)
        half = _HALF_ESCAPE.search(raw, max(place, start - 6), start)
        start = half.start() if half else start
        while start > place and raw[start - 1] == _BACKSLASH:
            start -= 1
        marks = end - start - len(raw[start:end].rstrip(b"\\"))
        if marks % 2 or raw[end : end + 1] == b"\\":
            end -= marks  # They belong to what follows.
        if end > start:
            parts += [raw[place:start], REMOVED.encode()]
            place = end
    return b"".join([*parts, raw[place:]])
