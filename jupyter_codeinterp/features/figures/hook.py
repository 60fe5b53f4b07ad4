"""Looks up the numbers in an answer in the outputs and messages of the conversation."""

from __future__ import annotations

from ...agent.final_answer import NOT_FOUND
from ...api import FinalAnswer
from ...base.off_loop import off_loop
from ...wire.events import Figure, FiguresFound
from ...wire.messages import Text, ToolResult
from .lookup import look_up, work
from .outputs import OutputCell


async def figures_found(answer: FinalAnswer) -> list[FiguresFound]:
    """The numbers in the answer's texts, by block."""
    cells, known = _cells(answer), _known(answer)
    found: list[FiguresFound] = []
    for block, text in answer.texts.items():
        figures = await off_loop(
            lambda text=text: look_up(text, answer.question, cells, known, answer.scrub),  # type: ignore[misc]
            work(text, cells, known),
            _none,
        )
        if figures:
            found.append(FiguresFound(answer.step, block, figures))
    return found


def _none() -> tuple[Figure, ...]:
    return ()


def _cells(answer: FinalAnswer) -> list[OutputCell]:
    """Cells that this conversation ran, the latest first, then all others."""
    others = (
        cell for cell in answer.cells if cell.cell_type == "code" and cell.cell_id not in answer.ran
    )
    return [
        *(OutputCell(cell_id, outputs) for cell_id, outputs in answer.ran.items()),
        *(OutputCell(cell.cell_id, cell.outputs, ran=False) for cell in others),
    ]


def _known(answer: FinalAnswer) -> str:
    """All text sent to the model, and the code of the cells."""
    texts = [cell.source for cell in answer.cells]
    for message in answer.messages:
        if message.role == "user":
            for part in message.content:
                blocks = part.content if isinstance(part, ToolResult) else (part,)
                known = (one.text for one in blocks if isinstance(one, Text))
                texts += [text for text in known if not text.startswith(NOT_FOUND)]
    return "\n".join(texts)
