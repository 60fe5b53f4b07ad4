"""Looks up the figures of an answer in the outputs of a turn, and in what its variables held."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..events import AnswerChecked, Figure
from ..figures.checking import Checked, check, work
from ..figures.held import After
from ..figures.shown import Cell
from ..off_loop import off_loop
from ..turn.turn import Turn

_LINK = re.compile(r"\]\(#(?:cell:)?([\w-]{1,100})\)")

CHECK = "[Check of your answer:"
MOST_TOLD = 5
"""Figures that a message to the model names."""


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


def correction(turn: Turn, found: Sequence[AnswerChecked]) -> str:
    """What to tell the model of figures that no output has; "" if there is nothing to tell. Only
    numbers count, of two digits at least or with a percent sign, and no years."""
    if not turn.notebook.ran or turn.always_ask:
        return ""
    figures = (one for event in found if not event.partly for one in event.figures)
    missing = list(dict.fromkeys(one.text for one in figures if _is_missing(one)))
    if not missing:
        return ""
    named = missing[:MOST_TOLD]
    more = f" and {len(missing) - len(named)} more" if len(missing) > len(named) else ""
    verb, it = ("is", "it") if len(missing) == 1 else ("are", "them")
    return (
        f"{CHECK} {', '.join(named)}{more} {verb} in no output. Run a cell that shows {it} or "
        "correct the sentence.]"
    )


def in_words(told: str) -> str:
    """The same for the person."""
    return f"{_what(told)}. Asked the model to check."


def not_corrected(told: str, why: str) -> str:
    """What the person sees if the model could not be asked. ``told`` is "" if it was about
    something else than figures."""
    reason = f": {why.rstrip('.')}." if why else "."
    state = f"The answer is not checked: {_what(told)}. " if told else ""
    return f"{state}The model couldn't be asked again{reason}"


def _what(told: str) -> str:
    return told.removeprefix(CHECK).strip().partition(". ")[0]


def _is_missing(figure: Figure) -> bool:
    digits = re.sub(r"\D", "", figure.text)
    is_year = figure.text.isdigit() and len(digits) == 4 and "1500" <= digits < "2200"
    return (
        figure.origin is None
        and figure.kind == "number"
        and (len(digits) > 1 or "%" in figure.text)
        and not is_year
    )


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
        text = source or (cell.source if cell else "")
        after = turn.held.after(cell_id, turn.private.__contains__)
        cells.append(Cell(cell_id, text, outputs, after=after))
    for cell in known.values():
        after = turn.held.after(cell.cell_id, turn.private.__contains__)
        # It may have run again since, by hand.
        is_last = after.count is not None and after.count == cell.execution_count
        is_linked = cell.cell_id in linked
        held = after if is_last else After()
        cells.append(Cell(cell.cell_id, cell.source, cell.outputs, is_linked, held))
    return cells
