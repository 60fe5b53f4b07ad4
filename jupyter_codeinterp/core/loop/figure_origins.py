"""Looks up the figures of an answer in the notebook's outputs, and in what variables held."""

from __future__ import annotations

import re

from ..events import Figure, FiguresFound
from ..figures.held import After
from ..figures.origins import origins, work
from ..figures.shown import Cell
from ..off_loop import off_loop
from ..turn.turn import Turn

_LINK = re.compile(r"\]\(#(?:cell:)?([\w-]{1,100})\)")


async def figures_found(
    turn: Turn, step: int, said: dict[int, str], question: str
) -> tuple[FiguresFound, ...]:
    """The figures in the texts of a step, by block. Nothing if no cell ran and the texts link
    none."""
    cells = _cells(turn, "\n".join(said.values()))
    if not any(cell.ran for cell in cells):
        return ()
    found: list[FiguresFound] = []
    for block, text in said.items():
        figures = await off_loop(
            lambda text=text: origins(text, question, cells, turn.scrub),  # type: ignore[misc]
            work(text, cells),
            _none,
        )
        if figures:
            found.append(FiguresFound(step, block, figures))
    return tuple(found)


def _none() -> tuple[Figure, ...]:
    return ()


def _cells(turn: Turn, text: str) -> list[Cell]:
    """Cells that ran, the latest first; then those that the text links; then all others."""
    notebook = turn.notebook
    linked = frozenset(_LINK.findall(text))
    known = {cell.cell_id: cell for cell in notebook.snapshot.cells if cell.cell_type == "code"}
    cells: list[Cell] = []
    for cell_id, outputs in reversed(notebook.ran.items()):
        known.pop(cell_id, None)
        after = turn.held.after(cell_id, turn.private.__contains__)
        cells.append(Cell(cell_id, outputs, after=after))
    for cell in known.values():
        after = turn.held.after(cell.cell_id, turn.private.__contains__)
        # It may have run again since, by hand.
        is_last = after.count is not None and after.count == cell.execution_count
        is_linked = cell.cell_id in linked
        held = after if is_last else After()
        cells.append(Cell(cell.cell_id, cell.outputs, is_linked, held))
    return cells
