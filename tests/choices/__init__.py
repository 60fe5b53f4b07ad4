"""Questions, and whether an answer needs a run: 50 that are answered in words, 50 that need a cell.

``scripts/choices`` asks a real model; ``tests/test_choices.py`` plays them through the server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec


class Question(msgspec.Struct, frozen=True):
    asked: str
    group: str
    expected: Literal["words", "run"]


def questions() -> list[Question]:
    text = Path(__file__).with_name("questions.json").read_text(encoding="utf-8")
    return msgspec.json.decode(text, type=list[Question])
