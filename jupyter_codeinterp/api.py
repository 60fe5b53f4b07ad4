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

Models of another provider by one of the group ``jupyter_codeinterp.providers``, called as the
provider is, that names a ``Provider``. Its ``connect`` makes an object with the methods of
``Connection``; ``stream`` yields ``ModelText``, ``ModelToolInput``, …, and ``ModelDone`` last::

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> Connection:
        return AcmeModels(credentials, settings.max_tokens)

    ACME = Provider("acme", "Acme", connect, "fast", key_variables=("ACME_KEY",))
"""

from __future__ import annotations

from .core.document.ops import CellView
from .core.errors import DocumentError, KernelError, ModelError
from .core.hooks.hook import AfterRun, BeforeRun, CellCode, CellOutputs, Hook, Notes, Refusal
from .core.messages import (
    Document,
    Image,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
    tool_uses,
)
from .core.model_view.outputs import Seen
from .core.ports import (
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
    ToolSpec,
)
from .core.providers import Connection, Credentials, Provider, Settings
from .core.tools.base import Tool, ToolContext

__all__ = [
    "AfterRun",
    "BeforeRun",
    "CellCode",
    "CellOutputs",
    "CellView",
    "Connection",
    "Credentials",
    "Document",
    "DocumentError",
    "Hook",
    "Image",
    "KernelError",
    "Message",
    "ModelDone",
    "ModelError",
    "ModelEvent",
    "ModelInfo",
    "ModelRequest",
    "ModelRetry",
    "ModelText",
    "ModelThinking",
    "ModelToolInput",
    "Notes",
    "Provider",
    "Refusal",
    "Seen",
    "Settings",
    "Text",
    "Thinking",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "ToolUse",
    "Usage",
    "assistant",
    "tool_uses",
]
