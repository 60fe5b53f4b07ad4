"""What a run in the sandbox did, seen from outside: the kernel has no say in it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from .network.book import Connection
from .network.gate import Gate
from .programs import programs
from .watching import FolderWatch, Touched


class Seen(NamedTuple):
    """``refused`` and ``connected`` are hosts with their ports. ``files``: in the notebook's
    folder; None where they cannot be followed."""

    refused: tuple[str, ...]
    connected: tuple[str, ...]
    started_programs: bool
    files: Touched | None


class Observer:
    """Watches one run from now until ``end``. ``first``: the pid of the sandbox's first process."""

    def __init__(self, first: int, gate: Gate | None, folder: Path) -> None:
        self._first = first
        self._gate = gate
        self._since = time.monotonic()
        self._programs = programs(first)
        self._files: FolderWatch | None = None
        try:
            self._files = FolderWatch(folder)
        except OSError:
            # Too many files, or Linux lets this user watch no more folders.
            self._files = None

    def end(self) -> Seen:
        files = self._files.end() if self._files is not None else None
        gate = self._gate
        return Seen(
            _hosts(gate.refused(self._since)) if gate is not None else (),
            _hosts(gate.made(self._since)) if gate is not None else (),
            programs(self._first).started(self._programs),
            files,
        )

    def close(self) -> None:
        """May be called again, and after ``end``."""
        if self._files is not None:
            self._files.close()


def _hosts(found: list[Connection]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.target for one in found))
