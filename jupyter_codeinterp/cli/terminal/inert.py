"""Text of others in a terminal. Models, cells, outputs, files and titles may say anything: what a
terminal would obey, or what turns text round, is shown as a sign of its own instead.
"""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"
"""Of letters and emoji; they hide nothing in prose."""
_KINDS = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def inert(text: str, *, code: bool = False) -> str:
    """Lines and tabs stay. In ``code`` nothing at all is hidden."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    kept = "\n\t" if code else f"\n\t{_JOINERS}"
    return "".join(one if one in kept else _shown(one) for one in text)


def line(text: str) -> str:
    """In one line."""
    return inert(" ".join(text.split()))


def _shown(character: str) -> str:
    number = ord(character)
    if unicodedata.category(character) not in _KINDS:
        return character
    if number < 0x20:
        return chr(0x2400 + number)
    return f"<U+{number:04X}>"
