"""The prose of an answer in Markdown: whatever holds no figures becomes blanks.

The result has the length of the text, so positions stay the same. One pass a line.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"\s{0,12}(?:[-*+]\s+|\d{1,3}[.)]\s+|>\s?)?(`{3,}|~{3,})")
_MARKER = re.compile(
    r"(?:[ \t>]{0,20}(?:[-*+][ \t]+)?\d{1,9}[.)]"
    r"| {0,3}#{1,6}[ \t]+\d{1,3}(?:\.\d{1,3}){0,3}[.):]?)(?=[ \t])"
)
"""The number of a list's line or of a heading, and what comes before it."""
_CODE = re.compile(r"(`{1,3})([^`\n]{1,200})\1(?!`)")
_VALUE = re.compile(r"[^=()\[\]{}_/\\<>'\"]*")
"""Code that may be a value: no call, index, path or assignment."""
_HIDDEN = re.compile(
    r"\]\([^()\s]{0,500}(?:\([^()\s]{0,100}\)[^()\s]{0,500})?\)"  # a link's target
    r"|^ {0,3}\[[^\]\n]{1,100}\]:[ \t]*\S{1,500}"
    r"|<[A-Za-z/!?][^<>\n]{0,500}>"
    r"|\b[a-z]{2,10}://[^\s<>)]{1,500}"
    r"|\b(?:In|Out)[ \t]?\[[ \t]?\d{1,6}[ \t]?\]",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """``text`` with blanks for code, link targets, HTML tags, addresses, list numbers and
    references such as “In [5]”."""
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
    """Inline code stays if it may be a value, without its ticks."""
    ticks = " " * len(found[1])
    words = found[2] if _VALUE.fullmatch(found[2]) else " " * len(found[2])
    return f"{ticks}{words}{ticks}"
