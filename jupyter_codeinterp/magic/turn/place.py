"""The session's workplace: a notebook in memory, this process, and the files of its folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ...adapters.documents.memory import MemoryDocument
from ...adapters.kernels.in_process import InProcessKernel
from ...adapters.rule_file import HIDDEN, OPEN, read_file
from ...adapters.table_heads import heads
from ...core.model_view.rule_files import RuleFile
from ...core.own_command import OwnCommand
from ...core.tools.shared.base import MoreTools

MOST_FILES = 50
MOST_LOOKED_AT = 2_000


class ProcessPlace:
    """Implements the core's ``Workplace``."""

    def __init__(self, document: MemoryDocument, kernel: InProcessKernel) -> None:
        self.document = document
        self.kernel = kernel
        self.new_notebooks = None
        self.fresh_runs = None
        self.watch = None
        self.context = True
        """Whether the model gets the current files; otherwise it keeps the last ones."""
        self._files: list[tuple[str, int]] = []
        self._instructions: list[RuleFile] = []

    def begin_turn(self, turn: int) -> None:
        self.document.turn = turn

    def end_turn(self) -> None:
        self.document.turn = 0

    def expect_no_window(self) -> None:
        return None

    async def files(self, most: int = 50) -> list[tuple[str, int]]:
        if self.context:
            self._files = files(Path.cwd())
        return self._files

    async def read_file(self, name: str, most: int) -> None:
        """Return None: a prompt in a cell cannot reference files."""
        return None

    def folder(self) -> str:
        return Path.cwd().as_posix()

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return await asyncio.to_thread(heads, Path.cwd(), "", names) if self.context else {}

    async def rule_files(self) -> list[RuleFile]:
        """Instructions of this folder only. A parent folder may belong to somebody else."""
        if self.context:
            self._instructions = rule_files(Path.cwd())
        return self._instructions

    async def own_commands(self) -> list[OwnCommand]:
        """Return none: a prompt in a cell cannot call them, and has no tool that reads skills."""
        return []

    async def more_tools(self, untrusted: object) -> MoreTools:
        """None: a prompt in a cell has no card for a decision on another program's tool."""
        return MoreTools()

    async def look_around(self) -> None:
        return None


def rule_files(folder: Path) -> list[RuleFile]:
    texts = [(name, read_file(folder, name)) for name in (OPEN, HIDDEN)]
    return [(name, text) for name, text in texts if text is not None]


def files(folder: Path) -> list[tuple[str, int]]:
    """Names and sizes in bytes of files that are not hidden; folders end with a slash."""
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
        pass  # Return the entries read so far.
    return sorted(found)[:MOST_FILES]
