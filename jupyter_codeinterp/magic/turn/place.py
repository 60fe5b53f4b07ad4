"""What the session works on: a notebook in memory, this process, and the files beside it."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from ...adapters.documents.memory import MemoryDocument
from ...adapters.kernels.in_process import InProcessKernel
from ...adapters.rule_file import HIDDEN, OPEN, read_file, within
from ...core.model_view.rule_files import RuleFile

MOST_FILES = 50
MOST_LOOKED_AT = 2_000


class ProcessPlace:
    """Fulfils the core's ``Workplace``."""

    def __init__(self, document: MemoryDocument, kernel: InProcessKernel) -> None:
        self.document = document
        self.kernel = kernel
        self.context = True
        """Whether the model is told of what there is now; else all is as it was told last."""
        self._told: list[tuple[str, int]] = []
        self._wishes: list[RuleFile] = []

    def begin_turn(self, turn: int) -> None:
        self.document.turn = turn

    def end_turn(self) -> None:
        self.document.turn = 0

    def nobody_comes(self) -> None:
        return None

    async def files(self, most: int = 50) -> list[tuple[str, int]]:
        if self.context:
            self._told = files(Path.cwd())
        return self._told

    async def read_file(self, name: str, most: int) -> None:
        """Nothing can be named in a cell."""
        return None

    async def rule_files(self) -> list[RuleFile]:
        """Of this folder alone: how far a person's own go up is not known here."""
        if self.context:
            self._wishes = rule_files(Path.cwd())
        return self._wishes

    async def look_around(self) -> None:
        return None


def rule_files(folder: Path) -> list[RuleFile]:
    found = [(name, within(folder, name)) for name in (OPEN, HIDDEN)]
    texts = [(name, read_file(path)) for name, path in found if path is not None]
    return [(name, text) for name, text in texts if text is not None]


def files(folder: Path) -> list[tuple[str, int]]:
    """Names and sizes (bytes) of what is not hidden there, folders with a slash."""
    found: list[tuple[str, int]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MOST_LOOKED_AT):
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    found.append((f"{entry.name}/", 0))
                else:
                    found.append((entry.name, entry.stat().st_size))
    except OSError:
        pass  # It is told what could be read.
    return sorted(found)[:MOST_FILES]
