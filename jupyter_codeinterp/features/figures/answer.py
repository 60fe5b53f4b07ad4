"""An answer in Markdown: its prose, and its links to cells."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter

import msgspec

from .numbers import scan

_FENCE = re.compile(r"\s{0,12}(?:[-*+]\s+|\d{1,3}[.)]\s+|>\s?)?(`{3,}|~{3,})")
_MARKER = re.compile(
    r"(?:[ \t>]{0,20}(?:[-*+][ \t]+)?\d{1,9}[.)]"
    r"| {0,3}#{1,6}[ \t]+\d{1,3}(?:\.\d{1,3}){0,3}[.):]?)(?=[ \t])"
)
"""The number of a list item or heading, and what comes before it."""
_CODE = re.compile(r"(`{1,3})([^`\n]{1,200})\1(?!`)")
_VALUE = re.compile(r"[^=()\[\]{}_/\\<>'\"]*")
"""Code that may be a value: no call, index, path or assignment."""
_HIDDEN = re.compile(
    r"\]\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,500})?(?:[ \t]+\"[^\"\n]{0,300}\")?\)"
    r"|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*\S{1,500}"
    r"|<[A-Za-z/!?][^<>\n]{0,500}>"
    r"|\b[a-z]{2,10}://[^\s<>)]{1,500}"
    r"|\b(?:In|Out)[ \t]?\[[ \t]?\d{1,6}[ \t]?\]",
    re.IGNORECASE,
)

_LINK = re.compile(
    r"\[([^\[\]\n]{1,500})\]\(#(?:cell:)?([\w-]{1,100})(?:[ \t]+\"([^\"\n]{0,300})\")?\)"
)
_UNIT = re.compile(r"[(\[](?:[^()]{0,9}\W)?([kM]|[mb]n|[mb]illion|thousand)s?\b[^()]{0,12}[)\]]")
"""A scale in the head of a column."""
MOST_ROWS = 60
"""Rows of a table for which its head is read."""


class Link(msgspec.Struct, frozen=True):
    """Where the words of a link to a cell are, and its title: the row and column, say."""

    start: int
    end: int
    cell_id: str
    title: str


class LinkedProse:
    """``text``: the prose without the marks of links to cells, so that “[7.4](#cell:c1) %” reads
    as “7.4 %”."""

    def __init__(self, markdown: str) -> None:
        self.links: list[Link] = []
        self._moved: list[tuple[int, int]] = []
        kept, length, end = [], 0, 0
        for found in [*_LINK.finditer(markdown), None]:
            parts = [(end, found.start()), found.span(1)] if found else [(end, len(markdown))]
            for start, stop in parts:
                self._moved.append((length, start - length))
                kept.append(markdown[start:stop])
                length += stop - start
            if found is not None:
                end = found.end()
                self.links.append(Link(*found.span(1), found[2], found[3] or ""))
        self.text = prose("".join(kept))

    def scale(self, place: int) -> float:
        """What the head of a table says of the column: 1e6 for “Population (M)”."""
        start = self.text.rfind("\n", 0, place) + 1
        column = self.text.count("|", start, place)
        rows = self.text[:start].split("\n")[-MOST_ROWS:-1]
        while len(rows) > 1 and "|" in (row := rows.pop()):
            if not row.strip("|-: \t\r"):
                titles = rows[-1].split("|")
                unit = _UNIT.search(titles[column]) if column < len(titles) else None
                return next(scan(f"1 {unit[1]}")).value if unit is not None else 1.0
        return 1.0

    def span(self, start: int, end: int) -> tuple[int, int, Link | None]:
        """Where a number of ``text`` is in the Markdown, and the link that has it. A sign or unit
        outside of the link is left out."""
        first, last = (self._place(place) for place in (start, end - 1))
        link = next((one for one in self.links if one.start <= last and first < one.end), None)
        if link is None:
            return first, last + 1, None
        return max(first, link.start), min(last + 1, link.end), link

    def _place(self, place: int) -> int:
        return place + self._moved[bisect_right(self._moved, place, key=itemgetter(0)) - 1][1]


def prose(text: str) -> str:
    """``text`` with blanks for code, link targets, HTML tags, addresses, list numbers and
    references such as “In [5]”, so that positions stay the same."""
    lines = text.split("\n")
    fence = ""
    for place, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence:
            if found is not None and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
            lines[place] = " " * len(line)
        elif found is not None:
            fence = found[1]
            lines[place] = " " * len(line)
        else:
            lines[place] = _line(line)
    return "\n".join(lines)


def _line(line: str) -> str:
    marker = _MARKER.match(line)
    if marker is not None:
        line = " " * marker.end() + line[marker.end() :]
    if "`" in line:
        line = _CODE.sub(_code, line)
    return _HIDDEN.sub(lambda found: " " * len(found[0]), line)


def _code(found: re.Match[str]) -> str:
    """Inline code without its backticks if it may be a value; else blanks."""
    ticks = " " * len(found[1])
    words = found[2] if _VALUE.fullmatch(found[2]) else " " * len(found[2])
    return f"{ticks}{words}{ticks}"
