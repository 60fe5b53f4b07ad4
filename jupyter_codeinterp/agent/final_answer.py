"""Tells the hooks of the answer that ends a turn, and the model which numbers they did not find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..run.hooked import named
from ..run.turn import hooks
from ..run.turn.hooks import FinalAnswer, Notes
from ..run.turn.turn import Turn
from ..view.notebook_prompt import is_private
from ..wire.events import Event, FiguresFound, Note
from ..wire.messages import Message
from ..wire.ops import Output

NOT_FOUND = "[No output, cell or message has these figures of your last answer:"
MOST_NAMED = 20
MOST_NOTES = 5
"""Notes of one hook."""
MOST_TEXT = 40


async def after_answer(
    turn: Turn, step: int, texts: Mapping[int, str], question: str, messages: tuple[Message, ...]
) -> list[Event]:
    """What the hooks add to the answer: notes for the person, and origins of its numbers."""
    answer = FinalAnswer(
        step=step,
        question=question,
        texts=texts,
        cells=tuple(cell for cell in turn.notebook.snapshot.cells if not is_private(cell)),
        ran=_ran(turn),
        messages=messages,
        scrub=turn.scrub,
    )
    added: list[Event] = []
    for name, said in await hooks.after_answer(turn.hooks, answer):
        if isinstance(said, Notes):
            added += (Note(named(turn, name, text)) for text in said.texts[:MOST_NOTES])
        else:
            added.append(said)
    return added


def _ran(turn: Turn) -> dict[str, tuple[Output, ...]]:
    """Outputs of this turn's cells, the latest first, then of earlier turns' cells."""
    ran = dict(reversed(turn.notebook.ran.items()))
    cells = {cell.cell_id: cell for cell in turn.notebook.snapshot.cells}
    for cell_id in reversed(turn.ledger.touched):
        cell = cells.get(cell_id)
        if cell_id in ran or cell is None or cell.cell_type != "code" or is_private(cell):
            continue
        if turn.ledger.last_run(cell_id):
            ran[cell_id] = cell.outputs
    return ran


def not_found(events: Iterable[FiguresFound]) -> str:
    """Tells the model which numbers of its last answer were not found; "" if all were."""
    figures = [one.text for event in events for one in event.figures if one.origin is None]
    named = ", ".join(text[:MOST_TEXT] for text in dict.fromkeys(figures[:MOST_NAMED]))
    return f"{NOT_FOUND} {named}. Fine if derived; else correct it.]" if named else ""
