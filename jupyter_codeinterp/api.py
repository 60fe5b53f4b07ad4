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

To check code, runs and answers, name a ``Hook`` in the group ``jupyter_codeinterp.hooks``::

    def no_production(cell: CellCode) -> Refusal | None:
        return Refusal("Use the copy.") if "prod.db" in cell.source else None

    def rows(cell: CellCode, outputs: CellOutputs) -> Notes:
        return Notes(("The audit log has it.",))

    def sources(answer: FinalAnswer) -> Notes | None:
        return None if "http" in answer.text else Notes(("The answer names no source.",))

    AUDIT = Hook("audit", before_run=no_production, after_run=rows, after_answer=sources)

A ``Finding`` is a fact with a place in the code, which a person can hide. ``before_run`` and
``after_run`` may also return or yield findings, and none when all is well::

    def old_file(cell: CellCode) -> Iterator[Finding]:
        if "sales_2019" in cell.source:
            words = Sentence("`sales_2019.csv` was replaced by `{name}`.", name="sales.csv")
            yield Finding("", words)

    OLD_FILES = Hook("Old files", before_run=old_file)

To add models, name a ``Provider`` in the group ``jupyter_codeinterp.providers``, with the entry
point named like the provider. Its ``connect`` returns a ``Connection``, whose ``stream`` yields
``ModelText``, ``ModelToolInput``, …, and ``ModelDone`` last::

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> Connection:
        return AcmeModels(credentials, settings.max_tokens)

    ACME = Provider("acme", "Acme", connect, "fast", key_variables=("ACME_KEY",))
"""

from __future__ import annotations

from .agent.tools.shared.base import Tool, ToolContext
from .base.errors import DocumentError, KernelError, ModelError
from .base.sentences import Sentence
from .run.approval.hooks import (
    AfterAnswer,
    AfterRun,
    BeforeRun,
    CellCode,
    CellOutputs,
    Change,
    Fact,
    FinalAnswer,
    Hook,
    Notes,
    Refusal,
)
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
    "AfterAnswer",
    "AfterRun",
    "BeforeRun",
    "CellCode",
    "CellOutputs",
    "CellView",
    "Change",
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
