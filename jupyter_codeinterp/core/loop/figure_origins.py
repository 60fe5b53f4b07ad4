"""Looks up the numbers in an answer in the outputs and messages of the conversation."""

from __future__ import annotations

from collections.abc import Iterable

from ..figures.lookup import look_up, work
from ..figures.outputs import Cell
from ..messages import Message, Text, ToolResult
from ..model_view.notebook_prompt import is_private
from ..off_loop import off_loop
from ..turn.turn import Turn
from ..wire.events import Figure, FiguresFound

NOT_FOUND = "[No output, cell or message has these figures of your last answer:"
MOST_NAMED = 20
MOST_TEXT = 40


async def figures_found(
    turn: Turn, step: int, said: dict[int, str], question: str, messages: tuple[Message, ...]
) -> tuple[FiguresFound, ...]:
    """The numbers in a step's texts, by block. ``messages`` are those of the conversation."""
    cells, known = _cells(turn), _known(turn, messages)
    found: list[FiguresFound] = []
    for block, text in said.items():
        figures = await off_loop(
            lambda text=text: look_up(text, question, cells, known, turn.scrub),  # type: ignore[misc]
            work(text, cells, known),
            _none,
        )
        if figures:
            found.append(FiguresFound(step, block, figures))
    return tuple(found)


def not_found(events: Iterable[FiguresFound]) -> str:
    """Tells the model which numbers of its last answer were not found; "" if all were."""
    figures = [one.text for event in events for one in event.figures if one.origin is None]
    named = ", ".join(text[:MOST_TEXT] for text in dict.fromkeys(figures[:MOST_NAMED]))
    return f"{NOT_FOUND} {named}. Fine if derived; else correct it.]" if named else ""


def _none() -> tuple[Figure, ...]:
    return ()


def _cells(turn: Turn) -> list[Cell]:
    """Cells that this conversation ran, the latest first, then all others but private ones."""
    notebook, ledger = turn.notebook, turn.ledger
    shown = {
        cell.cell_id: cell.outputs
        for cell in notebook.snapshot.cells
        if cell.cell_type == "code" and not is_private(cell)
    }
    ran = dict(reversed(notebook.ran.items()))
    shown = {cell_id: outputs for cell_id, outputs in shown.items() if cell_id not in ran}
    earlier = {
        id_: shown.pop(id_)
        for id_ in reversed(ledger.touched)
        if id_ in shown and ledger.last_run(id_)
    }
    return [
        *(Cell(cell_id, outputs) for cell_id, outputs in (ran | earlier).items()),
        *(Cell(cell_id, outputs, ran=False) for cell_id, outputs in shown.items()),
    ]


def _known(turn: Turn, messages: tuple[Message, ...]) -> str:
    """All text sent to the model, and the code of the cells."""
    texts = [cell.source for cell in turn.notebook.snapshot.cells if not is_private(cell)]
    for message in messages:
        if message.role == "user":
            for part in message.content:
                blocks = part.content if isinstance(part, ToolResult) else (part,)
                known = (one.text for one in blocks if isinstance(one, Text))
                texts += [text for text in known if not text.startswith(NOT_FOUND)]
    return "\n".join(texts)
