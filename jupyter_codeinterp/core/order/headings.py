"""Headings for parts of a notebook that its own comments name. Pure.

A comment that begins a cell becomes a heading only if it looks like one ("# --- Load the data ---",
"# 2. Clean"), or if the notebook has no heading and few of its cells begin with a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .ordering import Cell

LONGEST = 60
"""Characters of a heading."""
FEWEST_CELLS = 6
"""Code cells of a notebook without headings whose plain comments are read."""
_RULE = "-=*#~_"
_NUMBERED = re.compile(r"#[ \t]?((?:step|part|section)?[ \t]?\d{1,2}[.:)][ \t]+\S.{0,80})$", re.I)
_PLAIN = re.compile(r"#[ \t]([A-Z][^#]{2,80})$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$", re.MULTILINE)
_NO_TITLE = re.compile(
    r"[=(){}\[\];<>`]|://|^(?:todo|fixme|note|hack|xxx|noqa|type|pylint|coding|in \[|%)", re.I
)
"""Code that was commented out, and notes."""


def headings(cells: Sequence[Cell]) -> Iterator[tuple[str, str]]:
    """Code cells, and the words of a heading above each."""
    found = [m[1] for c in cells if c.cell_type == "markdown" for m in _HEADING.finditer(c.source)]
    known = {text.casefold() for text in found}
    code = [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    plain = [cell.cell_id for cell in code if _words(_PLAIN, cell.source)]
    is_bare = not found and len(code) >= FEWEST_CELLS and 1 < len(plain) <= len(code) / 2
    above = ""
    for cell in cells:
        words = _title(cell.source, is_bare) if cell.cell_type == "code" else ""
        if words and above != "markdown" and words.casefold() not in known:
            known.add(words.casefold())
            yield cell.cell_id, words
        above = cell.cell_type


def _title(source: str, is_bare: bool) -> str:
    words = _cleaned(_banner(_first(source)))
    for pattern in (_NUMBERED, _PLAIN) if is_bare else (_NUMBERED,):
        words = words or _words(pattern, source)
    return words


def _first(source: str) -> str:
    """The comment of one line that the cell begins with; a longer one is a text, not a title."""
    line, _, rest = source.lstrip("\n").partition("\n")
    below = rest.partition("\n")[0]
    is_more = below.startswith("#") and below.strip(f"{_RULE} \t")
    return "" if len(line) > 160 or is_more else line.rstrip()


def _banner(line: str) -> str:
    """The words in ``# --- Words ---`` or ``## Words``."""
    if line.startswith("##") and line.lstrip("#").startswith(" "):
        return line.lstrip("#")
    body = line[1:].strip() if line.startswith("#") else ""
    words = body.lstrip(_RULE)
    return words if len(body) - len(words) > 1 else ""


def _words(pattern: re.Pattern[str], source: str) -> str:
    match = pattern.match(_first(source))
    return _cleaned(match[1]) if match is not None else ""


def _cleaned(words: str) -> str:
    """Without lines and dots around it; "" if it is no title."""
    words = words.strip(f"{_RULE} \t:.")
    is_title = 3 <= len(words) <= LONGEST and any(map(str.isalpha, words))
    return words if is_title and _NO_TITLE.search(words) is None else ""
