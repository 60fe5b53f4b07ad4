"""Removes known keys from everything sent to a model, journaled or logged.

It finds whole values and parts, because a cut may have split a key; the forms are below.
Every event and result is checked: a megabyte without a key takes about 5 ms for any number of
forms. This prevents accidents. Code that wants to leak a key can always encode it in a new way.
"""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote, quote_plus

# -------------------------------------------------------------------------------------------------
# The forms a key may have in a text: plain, quoted, encoded, reversed, split up.

_PUBLIC = re.compile(r"sk-ant-[a-z]{3,8}\d\d-")
"""The common beginning of all keys of the Messages API."""


def public_beginning(value: str) -> str:
    """The beginning of a key that is no secret, "" if none is known."""
    match = _PUBLIC.match(value)
    return match.group() if match else ""


def encodings(value: str) -> set[str]:
    """All forms of ``value`` to search for; none if it cannot be encoded."""
    forms = set(_forms(value))
    # As JSON writes them: the journal and the output of many programs are JSON.
    forms |= {json.dumps(form)[1:-1] for form in forms}
    return forms


def _forms(value: str) -> Iterator[str]:
    data = value.encode("utf-8", "replace")
    yield from (value, value[::-1], value.upper(), value.lower(), value.swapcase())
    yield from (quote(value, safe=""), quote_plus(value), html.escape(value), repr(value)[1:-1])
    yield repr(data)[2:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield codecs.encode(value, "rot13")
    yield from _in_groups(data, 3, 8, 6, base64.b64encode)
    yield from _in_groups(data, 3, 8, 6, base64.urlsafe_b64encode)
    yield from _in_groups(data, 5, 8, 5, base64.b32encode)
    for separator in ("", " ", ":", "-", ", ", "\n"):
        digits = separator.join(f"{byte:02x}" for byte in data)
        yield from (digits, digits.upper())
    for form in (r"\x{:02x}", r"\u{:04x}", "%{:02x}", "%{:02X}", "&#{};", "&#x{:x};", r"\{:03o}"):
        yield "".join(form.format(byte) for byte in data)
    yield ", ".join(f"0x{byte:02x}" for byte in data)
    for separator in (", ", ",", " ", "\n"):
        yield separator.join(map(str, data))
    for separator in (" ", "\n", ",", ", ", "-", "_", ".", "', '", '", "', "\u200b"):
        yield separator.join(value)


def _in_groups(
    data: bytes, size: int, bits_in: int, bits_out: int, encode: object
) -> Iterator[str]:
    """``data`` as it is encoded behind 0 to ``size`` - 1 other bytes, without the digits
    that depend on what stands before and after it."""
    for before in range(size):
        encoded = encode(b"\0" * before + data).decode()  # type: ignore[operator]
        first = -(-before * bits_in // bits_out)
        yield encoded[first : (before + len(data)) * bits_in // bits_out]


REMOVED = "[key removed]"
SHORTEST = 8
"""Characters. A shorter value would match ordinary words."""
LONGEST_PART = 16
"""Consecutive characters of a key that always count as a part of it."""
DENSE = 256
"""Bytes at each end of a form where any part is found. Between them the index of a long key has
gaps to stay small: there a part needs 80 bytes."""
_GAP = 64
SHORTEST_END = 4
"""Characters of a key's beginning or end that count next to a cut."""

_COMMON = frozenset(
    (
        *("apikey", "yourapikey", "dummykey", "fakekey", "testkey", "secretkey", "nokeyrequired"),
        *("notneeded", "notused", "noneneeded", "sknokeyrequired", "password1", "password123"),
        *("12345678", "123456789", "1234567890", "0123456789", "changeme1", "changeme123"),
    )
)
_WORD = 8
_SHORT_WORD = 4
_FORMATS: dict[int, Literal["Q", "I"]] = {_WORD: "Q", _SHORT_WORD: "I"}
_PIECE = 65_536
_MOST_PLACES = 4
_SEAM = re.compile(r"\n?\[… [\d,]+ characters? left out[^\]\n]{0,200}\]\n?|…")
"""The mark of a cut."""
_BACKSLASH = ord("\\")
_HALF_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")

_Place = tuple[bytes, int, int]
"""A form, an offset in it, and how much of it in a row counts as a part."""


class Secrets:
    """Replaces known values and their parts. It reads a text word by word (8 bytes, or 4 for
    short keys): any part that is long enough contains a whole word of the text."""

    def __init__(self) -> None:
        self._exact: list[str] = []
        """Forms that are not ASCII: found only as a whole."""
        self._places: dict[int, dict[int, list[_Place]]] = {_WORD: {}, _SHORT_WORD: {}}
        self._forms: set[str] = set()
        self._values: Counter[str] = Counter()
        """How often each value was added without being forgotten."""
        self._reach = dict.fromkeys(_FORMATS, 0)
        """The longest part in bytes: text further from a word is irrelevant."""
        self._starts: dict[str, list[str]] = {}
        """Beginnings of values by their last characters, as they may end before a cut."""
        self._ends: dict[str, list[str]] = {}

    def add(self, value: str) -> None:
        """Remove ``value`` from texts until it is forgotten as often as it was added. Ignores
        space around it."""
        value = value.strip()
        if len(value) >= SHORTEST and not _is_common(value):
            self._values[value] += 1
            if self._values[value] == 1:
                self._index(value)

    def forget(self, value: str) -> None:
        """Undo one ``add``."""
        value = value.strip()
        if self._values[value] > 1:
            self._values[value] -= 1
        elif self._values.pop(value, 0):
            # Words may be shared with other values, so index those anew.
            values, anew = self._values, Secrets()
            for other in values:
                anew._index(other)
            vars(self).update(vars(anew), _values=values)

    def _index(self, value: str) -> None:
        part = _part(value)
        public = _words_of(public_beginning(value))
        for form in encodings(value):
            if form in self._forms:
                continue
            self._forms.add(form)
            if form.isascii():
                self._learn(form.encode(), -(-part * len(form) // len(value)), public)
            else:
                self._exact.append(form)
        self._exact.sort(key=len, reverse=True)
        for start, end in _ends_of(value):
            self._starts.setdefault(start[-SHORTEST_END:], []).insert(0, start)
            self._ends.setdefault(end[:SHORTEST_END], []).insert(0, end)

    def _learn(self, form: bytes, part: int, public: set[bytes]) -> None:
        # Any part of 2 * size - 1 bytes contains a whole word.
        size = _WORD if part >= 2 * _WORD - 1 else _SHORT_WORD
        places, found = self._places[size], min(part, len(form))
        self._reach[size] = max(self._reach[size], part)
        for offset, number in _numbers(form, size):
            if public and form[offset : offset + size] in public:
                continue
            place = form, offset, found
            known = places.setdefault(number, [place])
            if len(known) < _MOST_PLACES and known[-1][0] is not form:
                known.append(place)

    def scrub(self, text: str) -> str:
        for form in self._exact:
            text = text.replace(form, REMOVED)
        sizes = [size for size, places in self._places.items() if places]
        if not sizes:
            return text
        raw = text.encode("utf-8", "surrogatepass")
        spans = [span for size in sizes for span in self._find(raw, size)]
        if spans:
            text = _without(raw, spans).decode("utf-8", "surrogatepass")
        return self._without_ends(text) if "…" in text else text

    def _find(self, raw: bytes, size: int) -> list[tuple[int, int]]:
        spans: list[tuple[int, int]] = []
        reach = self._reach[size]
        innocent: set[bytes] = set()
        """Surroundings of words without a long enough part. Text may repeat words of a key but
        contain no part of it: digits over and over, say."""
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
        """Positions of known words. Reads in pieces, because a number takes ten times the memory
        of its characters."""
        known = self._places[size].keys()
        whole = len(raw) - len(raw) % size
        view = memoryview(raw)
        for start in range(0, whole, _PIECE):
            words = view[start : min(start + _PIECE, whole)].cast(_FORMATS[size]).tolist()
            if not known.isdisjoint(words):
                for index, word in enumerate(words):
                    if word in known:
                        yield start + index * size, word

    def _without_ends(self, text: str) -> str:
        """Remove beginnings of keys before a cut, and ends of keys after one."""
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


def _is_common(value: str) -> bool:
    """Whether it is a dummy key, as people use where any key will do, or an ordinary word."""
    plain = value.lower().replace("-", "").replace("_", "").replace(" ", "")
    word = plain.isascii() and plain.isalpha() and value in (plain, plain.upper(), plain.title())
    return (word and len(value) < LONGEST_PART) or len(set(value)) < 4 or plain in _COMMON


def _numbers(form: bytes, size: int) -> Iterator[tuple[int, int]]:
    """Offsets and words of a form, as numbers; only some of a long form."""
    count, view = len(form) - size + 1, memoryview(form)
    rows = [
        view[shift : shift + (len(form) - shift) // size * size].cast(_FORMATS[size])
        for shift in range(min(size, max(count, 0)))
    ]
    for offset in _offsets(count, size):
        yield offset, rows[offset % size][offset // size]


def _offsets(count: int, size: int) -> Iterator[int]:
    if count <= 2 * DENSE:
        yield from range(count)
        return
    yield from range(DENSE)
    for start in range(DENSE, count - DENSE, _GAP):
        yield from range(start, min(start + size, count - DENSE))
    yield from range(count - DENSE, count)


def _part(value: str) -> int:
    """Consecutive characters that count as a part of it."""
    return min(max(SHORTEST, -(-len(value) * 6 // 10)), LONGEST_PART)


def _ends_of(value: str) -> Iterator[tuple[str, str]]:
    """Beginnings and ends too short to count as parts, the shortest first."""
    longest = len(public_beginning(value)) + _part(value) + 2 * _WORD
    for length in range(SHORTEST_END, min(len(value), longest)):
        yield value[:length], value[-length:]


def _words_of(text: str) -> set[bytes]:
    """All words in the forms of a public text."""
    forms = [form.encode() for form in encodings(text) if form.isascii()] if text else []
    return {
        form[offset : offset + size]
        for form in forms
        for size in _FORMATS
        for offset in range(len(form) - size + 1)
    }


def _longest(raw: bytes, place: int, size: int, places: list[_Place]) -> tuple[int, int] | None:
    """The longest part of a form around a word, if it is long enough."""
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
    """Replace the spans of ``raw``. JSON stays valid: this never splits an escape."""
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
            end -= marks  # They escape the following character.
        if end > start:
            parts += [raw[place:start], REMOVED.encode()]
            place = end
    return b"".join([*parts, raw[place:]])
