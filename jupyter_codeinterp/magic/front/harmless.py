"""Text of the model on its way to a screen: it loads nothing, runs nothing and hides nothing."""

from __future__ import annotations

import re
import unicodedata

from ...adapters.plain_markdown import markdown_risks

_CELL_LINK = re.compile(r"\[([^\[\]\n]*)\]\(#cell:[^()\s]*\)")
_TICKS = re.compile(r"`+")


def visible(text: str) -> str:
    """With what cannot be seen written out: escape sequences, controls, marks that turn text
    round."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char in "\n\t" or char.isprintable():
        return char
    if unicodedata.category(char) == "Zs":
        return " "
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else "\ufffd"


def _spaces(text: str) -> str:
    """With one kind of them: models write several that look alike."""
    return text if text.isascii() else re.sub(r"[^\S\n\t ]", " ", text)


def prose(text: str) -> str:
    """Without links to cells, which there are none of here."""
    return _CELL_LINK.sub(r"\1", text)


def bundle(text: str) -> dict[str, str]:
    """Markdown as a front end may show it: as Markdown if it is plain, else as it was written."""
    text = _spaces(prose(text))
    shown = {"text/plain": visible(text)}
    if text == shown["text/plain"] and _is_plain(text):
        shown["text/markdown"] = text
    return shown


def _is_plain(text: str) -> bool:
    try:
        return not markdown_risks(text)
    except (ValueError, RecursionError):
        return False  # A parser has given up.


def code_bundle(source: str) -> dict[str, str]:
    """Code in colours where a renderer of Markdown can be trusted with it."""
    seen = visible(source)
    longest = max(map(len, _TICKS.findall(seen)), default=0)
    fence = "`" * max(3, longest + 1)
    marked = f"{fence}python\n{seen}\n{fence}"
    if not _is_plain(marked):
        return {"text/plain": seen}
    return {"text/plain": seen, "text/markdown": marked}
