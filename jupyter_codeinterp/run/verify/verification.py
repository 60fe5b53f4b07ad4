"""The report of a verification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Literal, Protocol, Union

import msgspec

from ...base.sentences import Sentence, together

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
    text: Sentence = msgspec.field(default_factory=Sentence)
    seconds: float = 0.0


class Verification(msgspec.Struct, frozen=True):
    """A run of the whole notebook in a fresh kernel.

    ``words`` tell why it ended before the last cell; ``at`` is the number of cells that have
    ended. ``in_place``: it ran in the notebook's own folder. ``version`` rises with each change.
    """

    notebook: str
    state: Literal["running", "done", "cancelled", "failed"]
    cells: tuple[CellLine, ...]
    kernel: str = ""
    words: Sentence = msgspec.field(default_factory=Sentence)
    in_place: bool = False
    started: float = 0.0
    version: int = 1

    @property
    def good(self) -> bool:
        return self.state == "done" and all(line.status in GOOD for line in self.cells)


class FreshRuns(Protocol):
    """Runs the file of a session's notebook in fresh kernels."""

    async def cells(self) -> Sequence[CodeCell]:
        """The code cells. Raises CommandError if there is no notebook, or no code in it."""

    async def run(self, in_place: bool) -> Verification:
        """Run all cells. Cancelling this ends the kernel. Raises CommandError: ``in_folder``
        if ``in_place`` is false and the folder cannot be copied, ``busy`` or ``not_allowed``."""


def title_of(source: str) -> str:
    """The first line of the code that makes a useful title."""
    lines = (line.strip() for line in source[:2_000].split("\n"))
    first = next((line for line in lines if line), "")
    return first.lstrip("# ")[:80] or first[:80]


def counted(cells: Sequence[CellLine]) -> dict[Status, int]:
    """How many cells have each status."""
    found: dict[Status, int] = {}
    for line in cells:
        found[line.status] = found.get(line.status, 0) + 1
    return found


# -------------------------------------------------------------------------------------------------
# The report as bounded text for the model, one line per cell.

MOST_LINES = 60
LONGEST = 160
"""Characters of a cell's old output, new output or error."""
_ENDED = {
    "done": Sentence(),
    "cancelled": Sentence("It was cancelled."),
    "failed": Sentence("It could not continue."),
    "running": Sentence(),
}
_COUNTED = {
    "waiting": "{count} waiting",
    "running": "{count} running",
    "same": "{count} same",
    "new": "{count} new",
    "differs": "{count} differs",
    "failed": "{count} failed",
    "skipped": "{count} skipped",
}
_CELLS = "{count} cells: {parts}."


def summary(now: Verification) -> Sentence:
    counts = counted(now.cells)
    each = (Sentence(_COUNTED[status], count=count) for status, count in counts.items())
    cells = Sentence(_CELLS, count=len(now.cells), parts=together(*each, between=", "))
    return together(cells, _ENDED[now.state])


def lines(now: Verification, hidden: Set[str], clean: Callable[[str], str]) -> list[str]:
    """The report's lines. Cells in ``hidden`` show only their status. ``clean`` makes one line of a
    text, without keys. Equal cells in a row share a line."""
    told: list[str] = [now.words] if now.words else []
    told += _lines(now.cells, hidden, clean)
    left = len(told) - MOST_LINES
    return told if left <= 0 else [*told[:MOST_LINES], f"{left} more lines"]


def _lines(
    cells: tuple[CellLine, ...], hidden: Set[str], clean: Callable[[str], str]
) -> Iterator[str]:
    first = 0
    for place, line in enumerate(cells):
        following = cells[place + 1].status if place + 1 < len(cells) else ""
        if line.status in ("same", "new", "skipped"):
            if following == line.status:
                continue
            begin = cells[first]
            name = (
                f"Cell {line.number} ({line.cell_id})"
                if begin is line
                else f"Cells {begin.number} ({begin.cell_id}) to {line.number} ({line.cell_id})"
            )
            yield f"{name}: {line.status}"
        else:
            shown = "" if line.cell_id in hidden else _shown(line, clean)
            yield f"Cell {line.number} ({line.cell_id}): {line.status}{shown}"
        first = place + 1


def _shown(line: CellLine, clean: Callable[[str], str]) -> str:
    if line.status == "differs":
        return f"; it was {_cut(clean(line.old))!r} and is {_cut(clean(line.new))!r}"
    text = clean(line.text)
    # The last words of a traceback say what happened.
    return f"; {text[-LONGEST:]}" if text else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"
