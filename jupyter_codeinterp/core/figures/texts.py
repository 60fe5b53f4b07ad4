"""The text of an output as a person sees it, and excerpts of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..model_view.html_text import strip_html
from ..model_view.plain_text import clean

MOST_HTML = 60_000
"""Characters that are read of the HTML of an output."""
MOST_OF_ONE = 16_000
"""Characters that are read of one output: more than a model gets at once."""

_BARE = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")


def text_of(output: Any) -> str:
    """An output's text as a person sees it. "" for pictures and tracebacks."""
    if not isinstance(output, dict):
        return ""
    kind = output.get("output_type")
    if kind == "stream":
        return _clean(_text(output.get("text")))
    if kind == "error":
        return _clean(_text(output.get("evalue"))[:MOST_OF_ONE])
    data = output.get("data")
    if not isinstance(data, dict) or any(str(media).startswith("image/") for media in data):
        return ""
    plain = _text(data.get("text/plain")).strip("\n")
    if plain and not (len(plain) < 200 and _BARE.fullmatch(plain)):
        return _clean(plain)
    texts = (_text(data.get(media)) for media in ("text/markdown", "text/latex"))
    return _clean(
        next(filter(None, texts), "") or strip_html(_text(data.get("text/html"))[:MOST_HTML])
    )


def _clean(text: str) -> str:
    head = text[: 4 * MOST_OF_ONE]
    has_controls = "\x1b" in head or "\r" in head or "\b" in head
    return clean(text[:MOST_OF_ONE]) if has_controls else text


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


Scrub = Callable[[str], str]


def excerpt(text: str, start: int, end: int, scrub: Scrub, room: int = 60) -> tuple[str, str, str]:
    """The value with what stands before and after it in its line. Words are kept whole, so that
    ``scrub`` finds every key."""
    before, after = text[max(0, start - room) : start], text[end : end + room]
    if start > room:
        cut = re.search(r"\s", before)
        before = "…" + before[cut.start() :] if cut is not None else "…"
    if end + room < len(text):
        cut_at = max(after.rfind(" "), after.rfind("\t"))
        after = after[: cut_at + 1] + "…" if cut_at >= 0 else "…"
    whole = f"{before}{text[start:end]}{after}"
    if scrub(whole) != whole:
        return "", scrub(text[start:end]), ""
    return before, text[start:end], after
