"""Converts HTML to plain text in linear time.

An unclosed element, comment or tag takes the rest of the document, so nothing is searched twice.
"""

from __future__ import annotations

import html
import re

LIMIT = 100_000
"""Characters of HTML that are read."""

_SILENT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(audio|canvas|head|iframe|noscript|script|style|svg|template|textarea|title|video)\b"
    r".*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
"""Comments, and elements whose content is no text for a reader."""
_CELL_END = re.compile(r"</t[dh]\s*>", re.IGNORECASE)
_BREAK = re.compile(
    r"</?(?:address|article|aside|blockquote|br|caption|d[dlt]|div|fig(?:ure|caption)|footer|form|"
    r"h[1-6r]|header|li|main|nav|[ou]l|p|pre|section|summary|table|tbody|tfoot|thead|tr)\b"
    r"[^>]*(?:>|\Z)",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[A-Za-z/!?][^>]*(?:>|\Z)")
_HUGE = re.compile(r"&#(?:\d{8,}|[xX][0-9a-fA-F]{8,});?")
"""Character references that are too large; Python refuses numbers with many digits."""


def strip_html(text: str, limit: int = LIMIT) -> str:
    """The text of HTML: one line per block or table row, cells separated by tabs."""
    shown = _SILENT.sub("", text[:limit]).replace("\n", " ")
    shown = _TAG.sub("", _BREAK.sub("\n", _CELL_END.sub("\t", shown)))
    shown = html.unescape(_HUGE.sub("\ufffd", shown))
    lines = (
        "\t".join(" ".join(cell.split()) for cell in line.split("\t")).strip()
        for line in shown.split("\n")
    )
    found = "\n".join(line for line in lines if line)
    return found if len(text) <= limit else f"{found}\n[the rest of the HTML was not read]"
