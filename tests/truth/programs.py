"""Reads the programs. A file has one family: ``# setup`` is what the person ran before,
``# wrong:`` and ``# right:`` begin a cell of the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDERS = [Path(__file__).parent / name for name in ("programs", "everyday")]
"""Programs of the families of errors, and programs as people write them every day."""
_PART = re.compile(r"^# (setup|wrong|right)(?:: (.*))?\n", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    family: str
    name: str
    is_wrong: bool
    setup: str
    source: str


def programs() -> list[Program]:
    paths = [path for folder in FOLDERS for path in sorted(folder.glob("*.txt"))]
    return [program for path in paths for program in read(path)]


def read(path: Path) -> Iterator[Program]:
    _, *parts = _PART.split(path.read_text(encoding="utf-8"))
    setup = ""
    for kind, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if kind == "setup":
            setup = text
        else:
            yield Program(path.stem, name, kind == "wrong", setup, text.strip())
