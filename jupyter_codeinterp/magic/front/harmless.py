"""Makes the model's text safe to show: it loads nothing, runs nothing and hides nothing."""

from __future__ import annotations

import re

from ...base.visible import visible
from ...run.approval.plain_markdown import markdown_risks
from ...view.plain_text import CELL_LINK

_TICKS = re.compile(r"`+")


def _spaces(text: str) -> str:
    """Replace unusual spaces, which look alike, by the normal one."""
    return text if text.isascii() else re.sub(r"[^\S\n\t ]", " ", text)


def prose(text: str) -> str:
    """Replace links to cells, which do not work here, by their text."""
    return CELL_LINK.sub(r"\1", text)


def bundle(text: str) -> dict[str, str]:
    """A MIME bundle: rendered Markdown if it has no risks, and the source text."""
    text = _spaces(prose(text))
    shown = {"text/plain": visible(text)}
    if text == shown["text/plain"] and _is_plain(text):
        shown["text/markdown"] = text
    return shown


def _is_plain(text: str) -> bool:
    try:
        return not markdown_risks(text)
    except (ValueError, RecursionError):
        return False  # The parser failed.


def code_bundle(source: str) -> dict[str, str]:
    """A MIME bundle for code: highlighted if a Markdown renderer shows it safely."""
    seen = visible(source, code=True)
    longest = max(map(len, _TICKS.findall(seen)), default=0)
    fence = "`" * max(3, longest + 1)
    marked = f"{fence}python\n{seen}\n{fence}"
    if not _is_plain(marked):
        return {"text/plain": seen}
    return {"text/plain": seen, "text/markdown": marked}
