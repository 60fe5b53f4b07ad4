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
"""

from __future__ import annotations

from .core.document.ops import CellView
from .core.errors import DocumentError, KernelError
from .core.model_view.outputs import Seen
from .core.tools.base import Tool, ToolContext

__all__ = ["CellView", "DocumentError", "KernelError", "Seen", "Tool", "ToolContext"]
