"""Looks up the figures of an answer in the outputs of a turn."""

from __future__ import annotations

import re

from ..events import AnswerChecked
from ..figures.checking import Checked, check, work
from ..figures.shown import Cell
from ..off_loop import off_loop
from ..turn.turn import Turn

_LINK = re.compile(r"\]\(#(?:cell:)?([\w-]{1,100})\)")


async def checked(
    turn: Turn, step: int, said: dict[int, str], question: str
) -> tuple[AnswerChecked, ...]:
    """What became of the figures in the texts of a step, by block. Nothing if no cell ran and
    the texts link none, or if the check failed: nobody has checked such a text."""
    cells = _cells(turn, "\n".join(said.values()))
    if not any(cell.ran for cell in cells):
        return ()
    found: list[AnswerChecked] = []
    for block, text in said.items():
        result = await off_loop(
            lambda text=text: check(text, question, cells, turn.scrub),  # type: ignore[misc]
            work(text, cells),
            _not_checked,
        )
        if result is not None and (result.figures or result.partly):
            found.append(AnswerChecked(step, block, result.figures, result.partly))
    return tuple(found)


def _not_checked() -> Checked | None:
    return None


def _cells(turn: Turn, text: str) -> list[Cell]:
    """Cells that ran, the latest first; then those that the text links; then all others."""
    notebook = turn.notebook
    linked = frozenset(_LINK.findall(text))
    known = {cell.cell_id: cell for cell in notebook.snapshot.cells if cell.cell_type == "code"}
    cells: list[Cell] = []
    for cell_id, outputs in reversed(notebook.ran.items()):
        source = turn.context.source_seen(cell_id)
        cell = known.pop(cell_id, None)
        cells.append(Cell(cell_id, source or (cell.source if cell else ""), outputs))
    others = [Cell(c.cell_id, c.source, c.outputs, c.cell_id in linked) for c in known.values()]
    return [*cells, *others]
