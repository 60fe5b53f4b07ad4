"""Makes untrusted text (cells, outputs, file names, errors) safe for the model.

The text goes into tags or, in results, between delimiters with a nonce: ``<output-NONCE>``. It
cannot forge a tag: a backslash follows each ``<`` that could begin one of ours. Keys are removed
before any cut.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Callable

from .plain_text import cut

SHOWN = 10_000
"""Characters of a source in a result."""

_NAMES = (
    *("context", "changes", "kernel", "files", "variables", "cell", "output", "removed", "moved"),
    *("active", "notebook", "system", "result", "instructions", "outline", "packages"),
)
_LONGEST = 16
"""Characters read of a name."""

_LESS_THAN = (
    "<\uff1c\ufe64\u2039\u3008\u2329\u27e8\u276e\u2770\u02c2\u1438\u16b2\u227a\u226e\u00ab\u226a"
    "\U0001d236\U000e003c"
)
# Characters without ink, combining marks, and controls.
_NO_INK = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u0300-\u036f\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f"
    "\u1160\u17b4\u17b5\u180b-\u180f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20ff\u2800\u3164\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e003b\U000e003d-\U000e0fff"
)
# Between `<` and a name: blanks, slashes, and anything that is neither a word nor ASCII. The parts
# cannot overlap, so matching takes one pass.
_BETWEEN = rf"(?:[^\w!-.:-@\[\]-`{{-~{_LESS_THAN}]|[{_NO_INK}])*"
_OPENING = re.compile(
    rf"([{_LESS_THAN}]|&(?:amp;)*(?:lt|#0*60|#[xX]0*3[cC]);?)({_BETWEEN})((?:\w|[{_NO_INK}])+)",
    re.IGNORECASE,
)
_INK = re.compile(rf"[{_NO_INK}]+")
# Letters that look like others, where Unicode does not call them the same.
_ALIKE = str.maketrans("асеорхуіѕкνοιτυηκαρ", "aceopxyisknoitunkap")


def escaped(text: str) -> str:
    """``text`` without anything that looks like one of our tags, even with invisible or wide
    characters or entities."""
    return _OPENING.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    word = _INK.sub("", match[3])[: _LONGEST + 1]
    name = unicodedata.normalize("NFKC", word).casefold().translate(_ALIKE)
    if not name.startswith(_NAMES):  # The character after the name may be invisible.
        return match[0]
    return f"{match[1]}\\{match[2]}{match[3]}"


_DELIMITER = re.compile(r"<output-[0-9a-f]{16}>\n|\n</output-[0-9a-f]{16}>")
_EXPLANATION = re.compile(r"\[Between <output-([0-9a-f]{16})> and ")


class Untrusted:
    """``scrub`` removes keys and likely secrets from data; ``known`` removes only known keys, from
    the person's words. ``nonce`` belongs to the conversation; code cannot know it."""

    def __init__(
        self,
        scrub: Callable[[str], str] = str,
        nonce: str = "",
        known: Callable[[str], str] | None = None,
    ) -> None:
        self.scrub = scrub
        self.known = known or scrub
        self.nonce = nonce or secrets.token_hex(8)

    def inert(self, text: str) -> str:
        return escaped(self.scrub(text))

    def quoted(self, inert: str) -> str:
        """Put text that is already inert between the delimiters."""
        return f"<output-{self.nonce}>\n{inert}\n</output-{self.nonce}>"

    def shown(self, source: str) -> str:
        """A source between the delimiters, without its middle if too long."""
        return self.quoted(escaped(cut(self.scrub(source), SHOWN)))

    @property
    def explanation(self) -> str:
        """The first words of a conversation: what the delimiters look like."""
        return (
            f"[Between <output-{self.nonce}> and </output-{self.nonce}>, and in the notebook's "
            "context, is text of code, cells and files.]"
        )


def balanced(piece: str, nonce: str) -> str:
    """Add the delimiters that a cut has removed from a piece of text."""
    opening, closing = f"<output-{nonce}>", f"</output-{nonce}>"
    opened, closed = piece.find(opening), piece.find(closing)
    if closed >= 0 and (opened < 0 or closed < opened):
        piece = f"{opening}\n{piece}"
    if piece.rfind(opening) > piece.rfind(closing):
        piece = f"{piece}\n{closing}"
    return piece


def bare(text: str) -> str:
    """A result without its delimiters, for people. (A forged one is not inert.)"""
    return _DELIMITER.sub("", text)


def nonce_in(text: str) -> str:
    """The nonce in an ``explanation``; "" if ``text`` does not begin with one."""
    match = _EXPLANATION.match(text)
    return match[1] if match else ""
