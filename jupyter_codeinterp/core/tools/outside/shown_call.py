"""A call of an outside tool as people read it before they decide: nothing cut, nothing hidden."""

from __future__ import annotations

import json
from typing import Any

from ...visible import visible_line

LONGEST = 20_000
"""Characters of a call's arguments. A person cannot review more."""
LONGEST_TITLE = 60


def title(server: str, tool: str) -> str:
    text = visible_line(f"{tool} ({server})")
    return text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…"


def call(server: str, tool: str, arguments: dict[str, Any]) -> str:
    """Raises ValueError, with words for the model, if nobody could review it."""
    try:
        plain = json.dumps(arguments, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        raise ValueError("The arguments are no plain JSON.") from None
    if len(plain) > LONGEST:
        words = f"The arguments have {len(plain):,} characters; {LONGEST:,} are allowed."
        raise ValueError(words)
    place = f"Server: {visible_line(server)}\nTool: {visible_line(tool)}"
    return f"{place}\nArguments: {_visible(plain)}"


def _visible(text: str) -> str:
    """The same JSON with escapes for characters that cannot be seen."""
    if text.isascii():
        return text
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
