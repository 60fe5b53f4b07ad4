"""Makes hidden characters of untrusted text visible for a screen.

Models, cells, outputs, files and titles may contain anything. Characters that control a terminal,
reverse text, or are invisible are written as Python writes them: ``\\x1b``.
"""

from __future__ import annotations

import json
import re
import unicodedata

_JOINERS = "\u200c\u200d"
"""Characters that join letters or emoji; harmless in prose."""
_MARKS = re.compile(r"[^\w\s]{32,}")


def visible(text: str, *, code: bool = False) -> str:
    """Keep lines, tabs and, except in ``code``, joiners."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    kept = "\n\t" if code else f"\n\t{_JOINERS}"
    return "".join(char if char in kept else _visible(char) for char in text)


def is_text(text: str) -> bool:
    """Whether UTF-8 can encode the text. File names and JSON strings may contain surrogates."""
    return text.isascii() or text == as_text(text)


def as_text(text: str) -> str:
    """The text with ``?`` for surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def visible_line(text: str) -> str:
    """The visible text in one line."""
    return visible(" ".join(text.split()))


_GAP = re.compile("(?<= ) ")


def exact(text: str) -> str:
    """The text in one line; as JSON if a reader could mistake it for another text. Then each
    character that is not a plain ASCII letter, number or sign is written as its code."""
    is_plain = text == text.strip() and "  " not in text and not set(text) & {"\\", '"'}
    if text and is_plain and all(map(_is_plain, text)):
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    codes = "".join(char if _is_plain(char) else _code(char) for char in quoted)
    return _GAP.sub(r"\\u0020", codes)


def _code(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def _is_plain(char: str) -> bool:
    """Whether a character is visible and does not reverse text, in any alphabet."""
    if char.isascii():
        return char.isprintable()
    is_word = unicodedata.category(char)[0] in "LN" and "FILLER" not in unicodedata.name(char, "")
    return is_word and unicodedata.bidirectional(char) not in ("R", "AL", "AN")


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    form = "\\x{:02x}" if code < 0x100 else "\\u{:04x}" if code < 0x10000 else "\\U{:08x}"
    return form.format(code)


def has_heaped_marks(line: str) -> bool:
    """Whether the text has long runs of combining marks, which Python sorts in quadratic time."""
    return not line.isascii() and any(
        any(map(unicodedata.combining, run)) for run in _MARKS.findall(line)
    )
