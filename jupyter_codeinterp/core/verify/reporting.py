"""What the model reads of a verification: a line a cell, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from .verification import CellLine, Verification, counted

MOST_LINES = 60
LONGEST = 160
"""Characters of what one cell showed before, shows now, or failed with."""
_ENDED = {
    "done": "",
    "cancelled": " It was cancelled.",
    "failed": " It could not go on.",
    "running": "",
}


def summary(now: Verification) -> str:
    counts = counted(now.cells)
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    return f"{len(now.cells)} cells: {parts}.{_ENDED[now.state]}"


def lines(now: Verification, hidden: Set[str], clean: Callable[[str], str]) -> list[str]:
    """Of cells in ``hidden`` the status alone. ``clean`` makes one line of a text, without keys.
    Cells in a row that are the same share a line."""
    told = [now.words] if now.words else []
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
