"""A model that says what the test wrote, and a notebook in memory: both real ports."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Literal, Union

from jupyter_codeinterp.core.commands import SessionInfo
from jupyter_codeinterp.core.document import (
    CellView,
    Notebook,
    Op,
    Output,
    Receipt,
    Snapshot,
    apply,
)
from jupyter_codeinterp.core.errors import ModelError
from jupyter_codeinterp.core.events import Event, Mode
from jupyter_codeinterp.core.messages import Message, Text, ToolResult, ToolUse, Usage, assistant
from jupyter_codeinterp.core.ports import (
    Kernel,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelToolInput,
    SessionStore,
    StoredOp,
)
from jupyter_codeinterp.core.session import Rules, Session

Turn = Union[Message, ModelDone, ModelError, Callable[[ModelRequest], Message]]


def say(text: str) -> Message:
    return assistant(Text(text))


def call(name: str, **arguments: Any) -> Message:
    return assistant(ToolUse(f"toolu_{uuid.uuid4().hex[:8]}", name, arguments))


def run(source: str, **arguments: Any) -> Message:
    return call("run_cell", **arguments, source=source)


def last_cell(request: ModelRequest) -> str:
    """The id of the cell of the last result that names one."""
    for message in reversed(request.messages):
        for block in reversed(message.content):
            if isinstance(block, ToolResult):
                for part in block.content:
                    if isinstance(part, Text) and "cell_id=" in part.text:
                        return part.text.split("cell_id=")[1].split()[0]
    raise AssertionError("no result names a cell")


def mend(source: str, **arguments: Any) -> Callable[[ModelRequest], Message]:
    return lambda request: call("edit_cell", **arguments, cell_id=last_cell(request), source=source)


class ScriptedModel:
    """Answers with the script's turns, in order, streamed letter by letter (in threes)."""

    label = ""
    always_ask = False

    def __init__(self, script: Sequence[Turn], context_window: int = 200_000) -> None:
        self.script = list(script)
        self.requests: list[ModelRequest] = []
        self.context_window = context_window
        self.hold: asyncio.Event | None = None
        """When set, every stream waits for it after its first piece."""

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, model, self.context_window, (3.0, 15.0, 3.75, 0.3))

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        turn = self.script.pop(0)
        if isinstance(turn, ModelError):
            yield ModelText(0, "Half a sen")
            raise turn
        if callable(turn):
            turn = turn(request)
        message = turn.message if isinstance(turn, ModelDone) else turn
        for index, block in enumerate(message.content):
            if isinstance(block, Text):
                for start in range(0, len(block.text), 3):
                    yield ModelText(index, block.text[start : start + 3])
                    await self._pause()
            elif isinstance(block, ToolUse):
                async for event in self._call(index, block):
                    yield event
        if isinstance(turn, ModelDone):
            yield turn
            return
        calls = any(isinstance(block, ToolUse) for block in message.content)
        usage = Usage(input_tokens=100, output_tokens=10)
        yield ModelDone(message, "tool_use" if calls else "end_turn", usage)

    async def _call(self, index: int, block: ToolUse) -> AsyncIterator[ModelEvent]:
        shown: dict[str, Any] = {}
        yield ModelToolInput(index, block.id, block.name, {})
        for name, value in block.input.items():
            if isinstance(value, str):
                for end in range(3, len(value) + 3, 3):
                    yield ModelToolInput(index, block.id, block.name, {**shown, name: value[:end]})
                    await self._pause()
            shown[name] = value
        yield ModelToolInput(index, block.id, block.name, shown)

    async def _pause(self) -> None:
        await asyncio.sleep(0)
        if self.hold is not None:
            await self.hold.wait()


class MemoryDocument:
    """The reference document: a notebook in memory that answers at once."""

    def __init__(self, store: SessionStore, session_id: str, notebook: Notebook) -> None:
        self.path = "memory.ipynb"
        self.notebook = notebook
        self.active_cell_id = ""
        self.streamed: dict[str, str] = {}
        self.shown: list[tuple[str, tuple[Output, ...]]] = []
        self.displays: list[tuple[str, dict[str, Any]]] = []
        self.before_op: Callable[[Op], None] | None = None
        """Called before an op is applied: a person who acts at just that moment."""
        self.turn = 0
        self._store = store
        self._session_id = session_id
        self._seq = 0

    async def snapshot(self) -> Snapshot:
        return Snapshot(self.path, tuple(map(view, self.notebook["cells"])), self.active_cell_id)

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        self._seq += 1
        self._store.append_op(self._session_id, StoredOp(self._seq, self.turn, op))
        if self.before_op is not None:
            self.before_op(op)
        self.notebook, receipt = apply(self.notebook, op)
        self._store.set_receipt(self._session_id, self._seq, receipt)
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        future.set_result(receipt)
        return future

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        self.streamed[cell_id] = self.streamed.get(cell_id, "")[:start] + text

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        self.shown.append((cell_id, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self.displays.append((display_id, data))

    async def save(self) -> None:
        return None

    # what a person does

    def cell(self, cell_id: str) -> dict[str, Any] | None:
        return next((c for c in self.notebook["cells"] if c["id"] == cell_id), None)

    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.notebook["cells"]]

    def edit(self, cell_id: str, source: str) -> None:
        cell = self.cell(cell_id)
        assert cell is not None
        cell["source"] = source

    def delete(self, cell_id: str) -> None:
        self.notebook["cells"] = [c for c in self.notebook["cells"] if c["id"] != cell_id]


class MemoryPlace:
    def __init__(self, document: MemoryDocument, kernel: Kernel) -> None:
        self.document = document
        self.kernel = kernel

    def begin_turn(self, turn: int) -> None:
        self.document.turn = turn

    def end_turn(self) -> None:
        return None

    async def files(self) -> list[tuple[str, int]]:
        return [("data.csv", 120), ("helper.py", 40)]


def view(cell: dict[str, Any]) -> CellView:
    return CellView(
        cell["id"],
        cell["cell_type"],
        cell["source"],
        tuple(cell.get("outputs", ())),
        cell.get("execution_count"),
        tuple(cell["metadata"].get("tags", ())),
    )


class Bench:
    """A session on a notebook in memory, and what a test asks of it."""

    def __init__(
        self,
        store: SessionStore,
        kernel: Kernel,
        script: Sequence[Turn],
        notebook: Notebook,
        rules: Rules | None = None,
        context_window: int = 200_000,
    ) -> None:
        self.model = ScriptedModel(script, context_window)
        info = SessionInfo(uuid.uuid4().hex, "memory.ipynb", "", "scripted", "review", False, 0, 0)
        store.create(info)
        self.store = store
        self.document = MemoryDocument(store, info.session_id, notebook)
        place = MemoryPlace(self.document, kernel)
        self.session = Session(
            info, store, lambda name: self.model, place, rules or Rules(), lambda session: None
        )

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.store.events(self.session.info.session_id)]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    async def event(self, kind: type[Any], number: int = 1) -> Any:
        """The ``number``-th event of a kind, waited for."""

        async def wait() -> Any:
            seen = 0
            async for _, event in self.session.feed.follow(0):
                seen += isinstance(event, kind)
                if seen == number:
                    return event

        return await asyncio.wait_for(wait(), 30)

    def send(self, text: str = "Go", mode: Mode = "review") -> None:
        self.session.send(text, mode, "")

    def decide(
        self,
        draft: Any,
        action: Literal["run", "reject"] = "run",
        source: str | None = None,
        run_all: bool = False,
    ) -> None:
        source = draft.source if source is None else source
        self.session.decide(draft.draft_id, draft.nonce, action, source, run_all)
