"""Reads the programs. A file has one family: ``# setup`` is what the person ran before,
``# wrong:`` and ``# right:`` begin a cell of the agent, ``# asked:`` gives the person's words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
EVERYDAY = Path(__file__).parent / "everyday"
"""Right programs as people write them every day, and wrong ones that look the same. Rules were
tuned on all of them, so they count in no rate."""
FILES = ("sales.csv", "notes.md")
"""What lies beside the notebook."""
_PART = re.compile(r"^# (setup|wrong|right)(?:: (.*))?\n", re.MULTILINE)
_ASKED = re.compile(r"^# asked: (.*)\n")


@dataclass(frozen=True)
class Program:
    family: str
    name: str
    is_wrong: bool
    setup: str
    source: str
    asked: str

    @property
    def is_held(self) -> bool:
        """Whether it is of the half on which no rule was tuned."""
        text = f"{self.family}/{self.is_wrong}/{self.name}"
        return hashlib.sha256(text.encode()).digest()[0] % 2 == 1


def programs(folder: Path = FOLDER) -> list[Program]:
    return [program for path in sorted(folder.glob("*.txt")) for program in read(path)]


def read(path: Path) -> Iterator[Program]:
    _, *parts = _PART.split(path.read_text(encoding="utf-8"))
    setup = ""
    for kind, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if kind == "setup":
            setup = text
            continue
        asked = _ASKED.match(text)
        source = _ASKED.sub("", text).strip()
        yield Program(
            path.stem, name, kind == "wrong", setup, source, asked[1] if asked else "Go on"
        )
