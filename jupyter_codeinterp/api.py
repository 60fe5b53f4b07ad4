"""The public API for other packages. Everything else may change with any release.

To add a tool, name a ``Tool`` with a label and a ``run`` in an entry point of the group
``jupyter_codeinterp.tools``. It looks at cells and variables (``ToolContext``). A ``run`` is
trusted code: it works in the server's process, in every mode and without a review, so it must
change nothing. ``jupyter codeinterp doctor`` names a refused tool::

    class Words(msgspec.Struct):
        cell_id: Annotated[str, msgspec.Meta(description="The cell to look at.")]

    async def count(context: ToolContext, words: Words) -> Seen:
        (cell,) = await context.cells([words.cell_id])
        return Seen(f"{len(cell.source.split())} words")

    COUNT_WORDS = Tool(
        "count_words", "Count words", "Count the words of a cell.", Words, run=count,
    )

To add models, name a ``Provider`` in the group ``jupyter_codeinterp.providers``, with the entry
point named like the provider. Its ``connect`` runs in a worker thread and returns a
``Connection``, whose ``stream`` yields ``ModelText``, ``ModelToolInput``, …, and ``ModelDone``
last::

    def connect(credentials: Credentials, settings: Settings) -> Connection:
        return AcmeModels(credentials, settings.max_tokens)

    ACME = Provider("acme", "Acme", connect, "fast", key_variables=("ACME_KEY",))

To check code, runs and answers, name a ``Hook`` in the group ``jupyter_codeinterp.hooks``::

    def no_production(code: CellCode) -> Refusal | None:
        return Refusal("Use the copy.") if "prod.db" in code.source else None

    async def sources(answer: FinalAnswer) -> Notes | None:
        named = any("http" in text for text in answer.texts.values())
        return None if named else Notes(("The answer names no source.",))

    AUDIT = Hook("audit", before_run=no_production, after_answer=sources)

``after_run`` returns or yields a ``Finding`` for each fact that a reader of the run would want to
know, with its place in the code.
"""

from __future__ import annotations

from .agent.tools.shared.base import Tool, ToolContext
from .base.errors import DocumentError, KernelError, ModelError
from .base.sentences import Sentence
from .run.turn.hooks import CellCode, CellOutputs, Fact, FinalAnswer, Hook, Notes, Refusal
from .view.outputs import Seen
from .view.redaction.private_names import Variable
from .wire.findings import Finding, Place
from .wire.messages import (
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
from .wire.ops import CellView
from .wire.ports import (
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
from .wire.providers import Connection, Credentials, Provider, Settings

__all__ = [
    "CellCode",
    "CellOutputs",
    "CellView",
    "Connection",
    "Credentials",
    "Document",
    "DocumentError",
    "Fact",
    "FinalAnswer",
    "Finding",
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
    "Place",
    "Provider",
    "Refusal",
    "Seen",
    "Sentence",
    "Settings",
    "Text",
    "Thinking",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolSpec",
    "ToolUse",
    "Usage",
    "Variable",
    "assistant",
    "tool_uses",
]
