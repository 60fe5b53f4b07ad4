"""The tools that only look: cells, outputs, variables."""

from __future__ import annotations

import json

from . import outputs
from .document import CellView, Snapshot
from .errors import DocumentError, KernelError
from .messages import ToolUse
from .outputs import Seen
from .toolspecs import InspectVariables, ReadNotebook, ReadOutput
from .turn import Result, Turn

READ_LIMIT = outputs.BUDGET
"""Characters of source and outputs in a result: those that any result may have."""
PRIVATE = "codeinterp-private"
"""The tag of cells whose content is never sent."""


class Looking:
    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    async def look(
        self, call: ToolUse, arguments: ReadNotebook | ReadOutput | InspectVariables, title: str
    ) -> Result:
        turn = self.turn
        try:
            if isinstance(arguments, ReadNotebook):
                seen = Seen(self._cells(await turn.look(), arguments))
            elif isinstance(arguments, ReadOutput):
                seen = await self._output(arguments)
            else:
                seen = Seen(await self._variables(arguments))
        except (DocumentError, KernelError, LookupError) as error:
            return turn.result(call, "not_started", str(error), title=title)
        return turn.result(call, "ok", seen.text, title=title, images=seen.images)

    def _cells(self, snapshot: Snapshot, arguments: ReadNotebook) -> str:
        cells = list(snapshot.cells)
        if arguments.cell_ids is not None:
            cells = [self._cell(snapshot, cell_id) for cell_id in arguments.cell_ids]
        parts: list[str] = []
        room = READ_LIMIT
        for cell in cells:
            text = _cell_text(cell, bool(arguments.include_outputs))
            if len(text) > room and parts:
                left = len(cells) - len(parts)
                parts.append(f"… {left} more cells left out; ask for them with cell_ids.")
                break
            if len(text) > room:
                text = f"{text[:room]}\n… {len(text) - room:,} characters left out."
            else:
                self.turn.context.seen(cell)
            room -= len(text)
            parts.append(text)
        return "\n".join(parts) or "The notebook is empty."

    def _cell(self, snapshot: Snapshot, cell_id: str) -> CellView:
        cell = snapshot.cell(cell_id)
        if cell is None:
            raise LookupError(f"There is no cell {cell_id!r}. Cells: {self.turn.known_ids()}.")
        return cell

    async def _output(self, arguments: ReadOutput) -> Seen:
        turn = self.turn
        cell = self._cell(await turn.look(), arguments.cell_id)
        if PRIVATE in cell.tags:
            raise LookupError(f"The person keeps the cell {cell.cell_id!r} private.")
        kept = turn.store.outputs(turn.session_id, cell.cell_id)
        return outputs.read(
            cell.outputs if kept is None else kept,
            arguments.start or 0,
            READ_LIMIT if arguments.length is None else arguments.length,
            images_left=turn.images_left,
            scale=turn.scale,
        )

    async def _variables(self, arguments: InspectVariables) -> str:
        found = await self.turn.kernel.variables(arguments.names or ())
        if found is None:
            raise LookupError(
                "Variables are not available: the kernel is busy, or its language is not known."
            )
        lines = [json.dumps(entry, ensure_ascii=False) for entry in found]
        return outputs.excerpt("\n".join(lines) or "No variables.", 0, READ_LIMIT)


def _cell_text(cell: CellView, include_outputs: bool) -> str:
    if PRIVATE in cell.tags:
        return f"[{cell.cell_id}] {cell.cell_type}, private: not shown"
    count = f" In[{cell.execution_count}]" if cell.execution_count is not None else ""
    text = f"[{cell.cell_id}] {cell.cell_type}{count}\n{cell.source}"
    if include_outputs and cell.outputs:
        seen = outputs.see(cell.outputs, images_left=None, budget=2_000)
        text += f"\n[{cell.cell_id}] output\n{seen.text}"
    return text
