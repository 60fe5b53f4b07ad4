"""The session's workplace: a notebook in memory, this process, and the files of its folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ..kernel.in_process import InProcessKernel
from ..notebook.memory import MemoryDocument
from ..notebook.rule_file import HIDDEN, OPEN, read_file
from ..notebook.table_heads import heads
from ..run.turn.limits import MAX_FILES
from ..run.turn.workplace import Workplace
from ..view.rule_files import RuleFile

MOST_LOOKED_AT = 2_000


class ProcessWorkplace(Workplace):
    """Has no tools of MCP servers, which need a card for a decision, and no skills."""

    document: MemoryDocument

    def __init__(self, document: MemoryDocument, kernel: InProcessKernel) -> None:
        self.document = document
        self.kernel = kernel

    def begin_turn(self, turn: int) -> None:
        self.document.turn = turn

    def end_turn(self) -> None:
        self.document.turn = 0

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return files(Path.cwd())

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return await asyncio.to_thread(heads, Path.cwd(), "", names)

    async def rule_files(self) -> list[RuleFile]:
        """Instructions of this folder only. A parent folder may belong to somebody else."""
        texts = [(name, read_file(Path.cwd(), name)) for name in (OPEN, HIDDEN)]
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
    return sorted(found)[:MAX_FILES]
