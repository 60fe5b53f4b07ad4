"""What a tool is: what the model is told of it, what people read on its card, what it does.

Those that change the notebook or ask the person stream into it, wait and are decided on; the
loop carries them out itself. Those that only look have a ``run`` of their own, and are all that
others may add (see ``registry``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from ..document.ops import PRIVATE, CellView, Snapshot
from ..errors import DocumentError
from ..model_view.foreign import Foreign
from ..model_view.outputs import Seen
from ..ports import ToolSpec
from ..redaction.private_names import Variables
from ..turn.turn import Turn

Effect = Literal["looks", "changes", "asks"]


class ToolContext:
    """What a tool that looks may use of the turn. ``turn`` itself is for our own tools: what it
    offers changes with them, the rest of this class does not."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn

    @property
    def foreign(self) -> Foreign:
        """Escapes and cuts text that is neither the model's nor ours, without known keys."""
        return self.turn.foreign

    async def cells(self, cell_ids: Sequence[str] | None = None) -> list[CellView]:
        """As they are now, all or these; private ones without source and outputs. Raises
        DocumentError, and LookupError with words for the model."""
        snapshot = await self.turn.notebook.look()
        if cell_ids is None:
            return [_veiled(cell) for cell in snapshot.cells]
        return [_veiled(self._one_of(snapshot, cell_id)) for cell_id in cell_ids]

    def _one_of(self, snapshot: Snapshot, cell_id: str) -> CellView:
        cell = snapshot.cell(cell_id)
        if cell is None:
            raise LookupError(
                f"There is no cell {cell_id!r}. Cells: {self.turn.notebook.known_ids()}."
            )
        return cell

    async def variables(self, names: Sequence[str] = ()) -> Variables:
        """Of the kernel, without running code; all without ``names``. None while it is busy.
        Values of private ones are left out."""
        with suppress(DocumentError):  # A cell may have become private since the last look.
            await self.turn.notebook.look()
        return await self.turn.variables(tuple(names))


def _veiled(cell: CellView) -> CellView:
    if PRIVATE not in cell.tags:
        return cell
    return msgspec.structs.replace(cell, source="", outputs=())


Run = Callable[[ToolContext, Any], Awaitable[Seen]]


@dataclass(frozen=True)
class Tool:
    name: str
    """As the Messages API takes it: letters, digits, ``_`` and ``-``, at most 64."""
    label: str
    """On the card, while and after it runs; "" where the call's own title stands there."""
    description: str
    """For the model."""
    arguments: type[msgspec.Struct]
    """The input as a value: unknown properties are ignored, wrong types refused in words."""
    properties: dict[str, Any] = field(default_factory=dict)
    """The JSON schema of each property of the input."""
    required: tuple[str, ...] = ()
    effect: Effect = "looks"
    run: Run | None = None
    """Of a tool that looks: what the model is shown. What it returns counts as text of others:
    it is cut at 10,000 characters, escaped, and without known keys; images only of our own.
    DocumentError, KernelError and LookupError become words for the model."""

    @property
    def spec(self) -> ToolSpec:
        schema = {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
        }
        return ToolSpec(self.name, self.description, schema)
