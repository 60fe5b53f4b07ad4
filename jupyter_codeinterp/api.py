"""What other packages may import. All else may change with any release.

A package adds a tool by an entry point of the group ``jupyter_codeinterp.tools`` that names a
``Tool`` with ``effect="looks"``, a label and a ``run``::

    class Words(msgspec.Struct):
        cell_id: str

    async def count(context: ToolContext, words: Words) -> Seen:
        (cell,) = await context.cells([words.cell_id])
        return Seen(f"{len(cell.source.split())} words")

    COUNT_WORDS = Tool(
        "count_words", "Count words", "Count the words of a cell.", Words,
        {"cell_id": {"type": "string"}}, ("cell_id",), run=count,
    )

A check round each run by one of the group ``jupyter_codeinterp.hooks`` that names a ``Hook``::

    def no_production(cell: CellCode) -> Refusal | None:
        return Refusal("Use the copy.") if "prod.db" in cell.source else None

    def rows(cell: CellCode, outputs: CellOutputs) -> Notes:
        return Notes(("The audit log has it.",))

    AUDIT = Hook("audit", before_run=no_production, after_run=rows)
"""

from __future__ import annotations

from .core.document.ops import CellView
from .core.errors import DocumentError, KernelError
from .core.hooks.hook import CellCode, CellOutputs, Hook, Notes, Refusal
from .core.model_view.outputs import Seen
from .core.tools.base import Tool, ToolContext

__all__ = [
    "CellCode",
    "CellOutputs",
    "CellView",
    "DocumentError",
    "Hook",
    "KernelError",
    "Notes",
    "Refusal",
    "Seen",
    "Tool",
    "ToolContext",
]
