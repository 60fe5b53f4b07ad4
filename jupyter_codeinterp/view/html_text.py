"""Converts HTML to plain text in linear time.

One pass from tag to tag that knows comments, quoted attributes and scripts. An unclosed element
takes the rest of the document, so nothing is searched twice.
"""

from __future__ import annotations

import html
import re
from collections import Counter

LIMIT = 100_000
"""Characters of HTML that are read."""

_BREAKS = re.compile(
    "address|article|aside|blockquote|br|caption|d[dlt]|div|fig(ure|caption)|footer|form|h[1-6r]|"
    "header|li|main|nav|[ou]l|p|pre|section|summary|table|tbody|tfoot|thead|tr"
)
_SILENT = frozenset(("audio", "canvas", "head", "noscript", "svg", "template", "title", "video"))
"""Elements whose content is left out, because it is no text for a reader."""
_RAW = {
    name: re.compile(f"</{name}(?![a-z])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "iframe", "noframes", "xmp")
}
"""Elements without tags inside, and patterns of their ends."""
_TAG = re.compile(r"</?([A-Za-z][^\s/>]*)|<[!?/]")
_STEP = re.compile(r"=\s*([\"'])|>")
"""A quoted value inside a tag, which may contain `>`, or the tag's end."""
_HUGE = re.compile(r"&#(?:\d{8,}|[xX][0-9a-fA-F]{8,});?")
"""Character references that are too large; Python refuses numbers with many digits."""


def strip_html(text: str, limit: int = LIMIT) -> str:
    """The text of HTML: one line per block or table row, cells separated by tabs."""
    reader = _HtmlReader(text[:limit])
    lines = (
        "\t".join(" ".join(cell.split()) for cell in line.split("\t")).strip()
        for line in "".join(reader.parts()).split("\n")
    )
    found = "\n".join(line for line in lines if line)
    return found if len(text) <= limit else f"{found}\n[the rest of the HTML was not read]"


class _HtmlReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._silent: Counter[str] = Counter()
        """Number of open elements that show nothing, by name."""
        self._parts: list[str] = []

    def parts(self) -> list[str]:
        text, end = self._text, len(self._text)
        while self._place < end:
            match = _TAG.search(text, self._place)
            self._say(text[self._place : match.start() if match else end])
            if match is None:
                break
            name = (match[1] or "").lower()
            self._place = self._after_tag(match) if name else self._after_markup(match.start())
            if name:
                self._tag(name, match.group().startswith("</"))
        return self._parts

    def _say(self, raw: str) -> None:
        if raw and not self._silent.total():
            self._parts.append(_decoded(raw).replace("\n", " "))

    def _after_tag(self, match: re.Match[str]) -> int:
        """The offset behind the `>` of a tag, or the end of the text."""
        place = match.end()
        while (step := _STEP.search(self._text, place)) is not None:
            if step[1] is None:
                return step.end()
            closing = self._text.find(step[1], step.end())
            if closing < 0:
                break
            place = closing + 1
        return len(self._text)

    def _after_markup(self, start: int) -> int:
        """The offset behind a comment or declaration, or behind a `<` that begins neither."""
        comment = self._text.startswith("<!--", start)
        found = self._text.find("-->" if comment else ">", start + 2)
        if found < 0:
            return len(self._text)
        return found + (3 if comment else 1)

    def _tag(self, name: str, closing: bool) -> None:
        if not closing and name in _RAW:
            ending = _RAW[name].search(self._text, self._place)
            self._place = ending.start() if ending else len(self._text)
        elif name in _SILENT:
            self._silent[name] = max(0, self._silent[name] + (-1 if closing else 1))
        elif not self._silent.total():
            if closing and name in ("td", "th"):
                self._parts.append("\t")
            elif _BREAKS.fullmatch(name):
                self._parts.append("\n")


def _decoded(raw: str) -> str:
    return html.unescape(_HUGE.sub("\ufffd", raw)) if "&" in raw else raw
