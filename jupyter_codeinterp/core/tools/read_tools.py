"""The tools that only look: cells, outputs, variables. What they show is others' text."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import Any

from ..document.ops import CellView, Snapshot
from ..errors import DocumentError, KernelError
from ..messages import ToolUse
from ..model_view import outputs
from ..model_view.foreign import Foreign, escaped
from ..model_view.notebook_prompt import tag
from ..model_view.outputs import Seen
from ..model_view.plain_text import cut
from ..off_loop import off_loop
from ..turn.turn import UNREADABLE, Result, Turn
from .specs import InspectVariables, ReadNotebook, ReadOutput

READ_LIMIT = outputs.BUDGET
"""Characters of source and outputs in a result: those that any result may have."""
PRIVATE = "codeinterp-private"
"""The tag of cells whose content is never sent."""
_OUTPUTS = 2_000
"""Characters of a cell's outputs beside its source."""
_MOST_VARIABLES = 1_000


class ReadTools:
    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    async def look(
        self, call: ToolUse, arguments: ReadNotebook | ReadOutput | InspectVariables, title: str
    ) -> Result:
        turn = self.turn
        try:
            if isinstance(arguments, ReadNotebook):
                seen = await self._cells(await turn.look(), arguments)
            elif isinstance(arguments, ReadOutput):
                seen = await self._output(arguments)
            else:
                seen = await self._variables(arguments)
        except (DocumentError, KernelError, LookupError) as error:
            return turn.result(call, "not_started", str(error), title=title)
        quoted = turn.foreign.quoted(seen.text)
        return turn.result(call, "ok", title=title, images=seen.images, quoted=quoted)

    async def _cells(self, snapshot: Snapshot, arguments: ReadNotebook) -> Seen:
        cells = list(snapshot.cells)
        if arguments.cell_ids is not None:
            cells = [self._cell(snapshot, cell_id) for cell_id in arguments.cell_ids]
        with_outputs = bool(arguments.include_outputs)
        text, whole = await off_loop(
            partial(_cell_texts, cells, with_outputs, self.turn.foreign),
            sum(len(cell.source) + outputs.size(cell.outputs) for cell in cells),
            lambda: (UNREADABLE, ()),
        )
        for cell in whole:
            self.turn.context.seen(cell)
        return Seen(text)

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
        shown = cell.outputs if kept is None else kept
        read = partial(
            outputs.read,
            shown,
            arguments.start or 0,
            READ_LIMIT if arguments.length is None else arguments.length,
            images_left=turn.images_left,
            scale=turn.scale,
            scrub=turn.scrub,
        )
        return await off_loop(read, outputs.size(shown), lambda: Seen(UNREADABLE))

    async def _variables(self, arguments: InspectVariables) -> Seen:
        with suppress(DocumentError):  # A cell may have become private since the last look.
            await self.turn.look()
        found = await self.turn.variables(arguments.names or ())
        if found is None:
            raise LookupError(
                "Variables are not available: the kernel is busy, or its language is not known."
            )
        lines = [_line(entry) for entry in found[:_MOST_VARIABLES]]
        text = self.turn.scrub("\n".join(lines)) or "No variables."
        return Seen(outputs.excerpt(text, 0, READ_LIMIT))


def _line(entry: Any) -> str:
    """A variable as the kernel tells it: it may tell anything."""
    try:
        return json.dumps(entry, ensure_ascii=False)[:READ_LIMIT]
    except (RecursionError, TypeError, ValueError):
        return "(not readable)"


def _cell_texts(
    cells: list[CellView], with_outputs: bool, foreign: Foreign
) -> tuple[str, tuple[CellView, ...]]:
    """The cells in their tags, as many as there is room for, and those that are shown whole."""
    parts: list[str] = []
    whole: list[CellView] = []
    room = READ_LIMIT
    for cell in cells:
        text = _cell_text(cell, with_outputs, foreign, READ_LIMIT)
        if len(text) > room and parts:
            left = len(cells) - len(parts)
            parts.append(f"… {left} more cells left out; ask for them with cell_ids.")
            break
        if len(text) > room:
            text = _cell_text(cell, with_outputs, foreign, room - _OUTPUTS - 500)
        elif len(cell.source) <= READ_LIMIT:
            whole.append(cell)
        room -= len(text)
        parts.append(text)
    return "\n".join(parts) or "The notebook is empty.", tuple(whole)


def _cell_text(cell: CellView, with_outputs: bool, foreign: Foreign, most: int) -> str:
    count = cell.execution_count
    facts = {
        "id": cell.cell_id,
        "type": cell.cell_type,
        "count": "" if count is None else str(count),
    }
    if PRIVATE in cell.tags:
        return tag("cell", "", **facts, private="its content is not shown")
    source = foreign.scrub(cell.source)
    if len(source) > most:
        facts |= {"length": f"{len(source):,} characters", "shown": "part"}
    body = escaped(cut(source, most))
    if with_outputs and cell.outputs:
        seen = outputs.see(
            cell.outputs, images_left=None, budget=_OUTPUTS, scrub=foreign.scrub, most=20_000
        )
        body = f"{body}\n{tag('outputs', seen.text)}"
    return tag("cell", body, **facts)
