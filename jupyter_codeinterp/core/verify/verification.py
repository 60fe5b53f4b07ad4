"""What a verification reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, Union

import msgspec

Status = Literal["waiting", "running", "same", "new", "differs", "failed", "skipped"]
GOOD: tuple[Status, ...] = ("same", "new")
MOST_TEXT = 600
"""Characters of each text that a line shows."""


class CodeCell(msgspec.Struct, frozen=True):
    """A code cell as the notebook has it. ``number`` is its place from 1 at the top."""

    cell_id: str
    number: int
    source: str
    count: Union[int, None] = None
    outputs: tuple[dict[str, object], ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def has_run(self) -> bool:
        return self.count is not None or bool(self.outputs)


class Difference(msgspec.Struct, frozen=True):
    """The first part of a cell's outputs that differs."""

    old: str
    new: str


class CellLine(msgspec.Struct, frozen=True):
    """One cell of the report.

    ``new`` as a status: the cell ran, and the notebook has no earlier output to compare with.
    ``text`` holds the last lines of a traceback, or why a cell was skipped.
    """

    cell_id: str
    number: int
    title: str
    status: Status = "waiting"
    old: str = ""
    new: str = ""
    text: str = ""
    seconds: float = 0.0


class Finding(msgspec.Struct, frozen=True):
    """What the code alone shows.

    out_of_order  the cell ran before one above it
    only_live     no cell defines these names; they may exist in the live kernel
    later         only cells below define these names
    """

    kind: Literal["out_of_order", "only_live", "later"]
    cell_id: str
    number: int
    names: tuple[str, ...] = ()


class Verification(msgspec.Struct, frozen=True):
    """A run of the whole notebook in a fresh kernel.

    ``words`` tell why it ended before the last cell; ``at`` is the number of cells that have
    ended. ``in_place``: it ran in the notebook's own folder. ``version`` rises with each change.
    """

    notebook: str
    state: Literal["running", "done", "cancelled", "failed"]
    cells: tuple[CellLine, ...]
    findings: tuple[Finding, ...] = ()
    kernel: str = ""
    words: str = ""
    in_place: bool = False
    started: float = 0.0
    version: int = 1

    @property
    def good(self) -> bool:
        return self.state == "done" and all(line.status in GOOD for line in self.cells)


class FreshRuns(Protocol):
    """Runs the notebook of a session, as its file has it, in fresh kernels."""

    async def cells(self) -> Sequence[CodeCell]:
        """Raises CommandError if there is no notebook, or no code in it."""

    async def run(self, in_place: bool) -> Verification:
        """Run it to its end. Cancelling this ends the kernel. Raises CommandError: ``in_folder``
        if ``in_place`` is false and the folder cannot be copied, ``busy`` or ``not_allowed``."""


def title_of(source: str) -> str:
    """The first line of the code that says something."""
    lines = (line.strip() for line in source[:2_000].split("\n"))
    first = next((line for line in lines if line), "")
    return first.lstrip("# ")[:80] or first[:80]


def counted(cells: Sequence[CellLine]) -> dict[str, int]:
    """How many cells have each status."""
    found: dict[str, int] = {}
    for line in cells:
        found[line.status] = found.get(line.status, 0) + 1
    return found
