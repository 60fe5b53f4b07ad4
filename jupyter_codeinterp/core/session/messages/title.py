"""Names a conversation: by its question, until a person renames it."""

from __future__ import annotations

TITLE_LENGTH = 60
"""Characters of an automatic title."""


def from_question(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"
