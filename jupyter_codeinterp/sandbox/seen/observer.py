"""What a run in the sandbox did, seen from outside: the kernel has no say in it."""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from ..network.book import Connection
from ..network.gate import Gate
from .files import FolderWatch, Touched
from .programs import programs


class Seen(NamedTuple):
    """``refused`` and ``connected`` are hosts with their ports; ``lost``: there were others, too
    many to follow. ``files``: in the notebook's folder; None where they cannot be followed."""

    refused: tuple[str, ...]
    connected: tuple[str, ...]
    lost: bool
    started_programs: bool
    files: Touched | None


class Observer:
    """Watches one run from now until ``end``. ``first``: the pid of the sandbox's first process.
    ``files`` watches the notebook's folder, one run at a time; None with an overlay."""

    def __init__(self, first: int, gate: Gate | None, files: FolderWatch | None) -> None:
        self._first = first
        self._gate = gate
        self._files = files if files is not None and files.begin() else None
        self._since = time.monotonic()
        self._programs = programs(first)

    def end(self) -> Seen:
        gate = self._gate
        return Seen(
            _hosts(gate.refused(self._since)) if gate is not None else (),
            _hosts(gate.made(self._since)) if gate is not None else (),
            gate is not None and any(gate.has_lost(self._since)),
            programs(self._first).started(self._programs),
            _shown(self._files.touched()) if self._files is not None else None,
        )


def _shown(files: Touched) -> Touched:
    """With names that are text in any encoding."""

    def text(paths: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(os.fsencode(path).decode("utf-8", "replace") for path in paths)

    return files._replace(opened=text(files.opened), changed=text(files.changed))


def _hosts(found: list[Connection]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.target for one in found))
