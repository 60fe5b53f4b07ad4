"""A model that says what the test wrote, and a notebook in memory: both real ports."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, TypeVar, Union

import msgspec

from jupyter_codeinterp.agent.tools.registry import built_in_tools
from jupyter_codeinterp.base.errors import DocumentError, ModelError
from jupyter_codeinterp.extensions import Extensions
from jupyter_codeinterp.journal.sqlite.store import SqliteStore
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.run.approval.plain_markdown import markdown_risks
from jupyter_codeinterp.run.turn.files import FolderScan
from jupyter_codeinterp.run.turn.hooks import Hook
from jupyter_codeinterp.run.turn.limits import Rules
from jupyter_codeinterp.run.turn.workplace import MoreTools, Workplace
from jupyter_codeinterp.session.session import Services, Session
from jupyter_codeinterp.view.skills import Skill
from jupyter_codeinterp.view.untrusted import Untrusted, bare
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import (
    Draft,
    DraftWaiting,
    Event,
    Mode,
    TurnEnded,
    TurnStarted,
    read_event,
)
from jupyter_codeinterp.wire.messages import (
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
)
from jupyter_codeinterp.wire.ops import (
    CellView,
    Notebook,
    Op,
    Output,
    Receipt,
    Snapshot,
    run_id_of,
)
from jupyter_codeinterp.wire.ports import (
    Kernel,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from jupyter_codeinterp.wire.stores import StoredOp
from tests.kernels import until

E = TypeVar("E")


class Stream(msgspec.Struct, frozen=True):
    """A reply with a fault: ``first`` comes before it, and it breaks with ``error`` after
    ``pieces`` pieces."""

    message: Message = Message("assistant", ())
    first: tuple[ModelEvent, ...] = ()
    pieces: int | None = None
    error: Union[ModelError, None] = None


Turn = Union[Message, ModelDone, ModelError, Stream, Callable[[ModelRequest], Message]]


def say(text: str) -> Message:
    return assistant(Text(text))


def call(name: str, /, **arguments: Any) -> Message:
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


def fix(source: str, **arguments: Any) -> Callable[[ModelRequest], Message]:
    return lambda request: call("edit_cell", **arguments, cell_id=last_cell(request), source=source)


class ScriptedModel:
    """Answers with the script's turns, in order, streamed a few letters at a time."""

    def __init__(self, script: Sequence[Turn], context_window: int = 200_000) -> None:
        self.script = list(script)
        self.requests: list[ModelRequest] = []
        self.replies: list[ModelDone | None] = []
        """What each request was answered with; None if the stream was given up or broke."""
        self.context_window = context_window
        self.always_ask = False
        self.prices: tuple[float, float, float, float] | None = (3.0, 15.0, 3.75, 0.3)
        self.hold: asyncio.Event | None = None
        """When set, every stream waits for it after its first piece."""
        self.pause = 0.0
        """Seconds after each piece. Code that comes at once is not shown while it comes."""
        self.letters = 3
        """Of a text or a string, in each piece."""

    async def info(self, model: str) -> ModelInfo:
        return ModelInfo(model, model, self.context_window, self.prices)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        self.replies.append(None)
        turn = self.script.pop(0)
        if isinstance(turn, ModelError):
            raise turn
        if callable(turn):
            turn = turn(request)
        fault = turn if isinstance(turn, Stream) else Stream()
        for early in fault.first:
            yield early
        message = turn if isinstance(turn, Message) else turn.message
        for piece in islice(_pieces(message, self.letters), fault.pieces):
            yield piece
            await asyncio.sleep(self.pause)
            if self.hold is not None:
                await self.hold.wait()
        if fault.error is not None:
            raise fault.error
        done = turn if isinstance(turn, ModelDone) else _done(message)
        self.replies[-1] = done
        yield done


def _done(message: Message) -> ModelDone:
    calls = any(isinstance(block, ToolUse) for block in message.content)
    usage = Usage(input_tokens=100, output_tokens=10)
    return ModelDone(message, "tool_use" if calls else "end_turn", usage)


def _pieces(message: Message, letters: int) -> Iterator[ModelEvent]:
    for index, block in enumerate(message.content):
        if isinstance(block, Text):
            for start in range(0, len(block.text), letters):
                yield ModelText(index, block.text[start : start + letters])
        elif isinstance(block, Thinking):
            yield ModelThinking(index, block.thinking)
        elif isinstance(block, ToolUse):
            shown: dict[str, Any] = {}
            yield ModelToolInput(index, block.id, block.name, {})
            for name, value in block.input.items():
                if isinstance(value, str):
                    for end in range(letters, len(value) + letters, letters):
                        partial = {**shown, name: value[:end]}
                        yield ModelToolInput(index, block.id, block.name, partial)
                shown[name] = value
            yield ModelToolInput(index, block.id, block.name, shown)


class MemoryDocument:
    """The reference document: a notebook in memory that answers at once."""

    def __init__(self, store: SqliteStore, session_id: str, notebook: Notebook) -> None:
        self.path = "memory.ipynb"
        self.notebook = notebook
        self.active_cell_id = ""
        self.gone_to = ""
        self.acted_in = ""
        self.acts = 0
        self.streamed: dict[str, str] = {}
        self.shown: list[tuple[str, tuple[Output, ...]]] = []
        self.displays: list[tuple[str, dict[str, Any]]] = []
        self.typed: dict[str, str] = {}
        """What a person has typed into cells."""
        self.before_op: Callable[[Op], None] | None = None
        """Called before an op is applied: a person who acts at just that moment."""
        self.turn = 0
        self.ops: list[Op] = []
        self.is_open = True
        self.answers = True
        """Whether ops are applied when they come; a frozen window does that later."""
        self.saves = 0
        self.looks = 0
        """How often the whole notebook was read."""
        self._waiting: list[tuple[int, Op, asyncio.Future[Receipt]]] = []
        self._store = store
        self._session_id = session_id
        ops = store.ops(session_id)
        self._seq = ops[-1].seq if ops else 0

    async def snapshot(self) -> Snapshot:
        if not self.is_open:
            raise DocumentError("not_open", "The notebook is not open in any window.")
        self.looks += 1
        cells = tuple(map(view, self.notebook["cells"]))
        return Snapshot(self.path, cells, self.active_cell_id, self.gone_to, self.acted_in)

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        if not self.is_open:
            raise DocumentError("not_open", "The notebook is not open in any window.")
        shown = map(view, self.notebook["cells"])
        return tuple(cell for cell in shown if cell.cell_id in cell_ids)

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        self._seq += 1
        self._store.append_op(self._session_id, StoredOp(self._seq, self.turn, op))
        self.ops.append(op)
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.append((self._seq, op, future))
        if self.answers:
            self.answer()
        return future

    def apply_later(self, turn: int, op: Op) -> None:
        now, self.turn = self.turn, turn
        self.apply(op)
        self.turn = now

    def answer(self) -> None:
        """Apply what has come, and answer from now on."""
        self.answers = True
        waiting, self._waiting = self._waiting, []
        for seq, op, future in waiting:
            if self.before_op is not None:
                self.before_op(op)
            self.notebook, receipt = apply(self.notebook, op)
            self._store.set_receipt(self._session_id, seq, receipt)
            future.set_result(receipt)

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        shown = self.streamed.get(cell_id, "")
        if len(shown.encode("utf-16-le")) // 2 == start:
            self.streamed[cell_id] = shown + text

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        self.shown.append((cell_id, outputs))

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self.displays.append((display_id, data))

    async def save(self) -> None:
        if not self.is_open:
            raise DocumentError("not_open", "The notebook is not open in any window.")
        self.saves += 1

    # what a person does

    def cell(self, cell_id: str) -> dict[str, Any] | None:
        return next((c for c in self.notebook["cells"] if c["id"] == cell_id), None)

    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.notebook["cells"]]

    def edit(self, cell_id: str, source: str) -> None:
        cell = self.cell(cell_id)
        assert cell is not None
        cell["source"] = self.typed[cell_id] = source
        self.acts += 1

    def begin_by_hand(self, cell_id: str) -> None:
        """Run a cell, as a page shows it: its outputs go, and it shows no run of the agent."""
        cell = self.cell(cell_id)
        assert cell is not None and cell["cell_type"] == "code"
        cell |= {"outputs": [], "execution_count": None}
        cell["metadata"].get("codeinterp", {}).pop("run_id", None)
        self.acts += 1

    def end_by_hand(self, cell_id: str, outputs: list[Output], count: int = 99) -> None:
        cell = self.cell(cell_id)
        assert cell is not None
        cell |= {"outputs": outputs, "execution_count": count}
        self.acts += 1

    def delete(self, cell_id: str) -> None:
        self.acts += 1
        self.notebook["cells"] = [c for c in self.notebook["cells"] if c["id"] != cell_id]


class MemoryPlace(Workplace):
    document: MemoryDocument

    def __init__(
        self, document: MemoryDocument, kernel: Kernel, beside: dict[str, bytes] | None = None
    ) -> None:
        self.document = document
        self.kernel = kernel
        self.instructions: list[tuple[str, str]] = []
        self.listed_skills: list[Skill] = []
        self.more: Callable[[Untrusted], MoreTools] = lambda untrusted: MoreTools()
        self.beside = {} if beside is None else beside
        """Files that lie beside the notebook, besides the two that always do."""

    def begin_turn(self, turn: int) -> None:
        self.document.turn = turn

    around: FolderScan | None = None
    """What lies under the notebook's folder."""

    async def look_around(self) -> FolderScan | None:
        return self.around

    async def files(self, most: int = 50) -> list[tuple[str, int]]:
        lie = [(name, len(data)) for name, data in self.beside.items()]
        return [("data.csv", 120), ("helper.py", 40), *lie]

    async def read_file(self, name: str, most: int) -> bytes | None:
        data = self.beside.get(name, b"a,b")
        return data if len(data) <= most else None

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return {name: "2 rows; columns a, b" for name in names if name == "data.csv"}

    async def rule_files(self) -> list[tuple[str, str]]:
        return self.instructions

    async def skills(self) -> list[Skill]:
        return self.listed_skills

    async def more_tools(self, untrusted: Untrusted) -> MoreTools:
        return self.more(untrusted)


def view(cell: dict[str, Any]) -> CellView:
    tags = tuple(cell["metadata"].get("tags", ()))
    hidden = "codeinterp-private" in tags
    return CellView(
        cell["id"],
        cell["cell_type"],
        "" if hidden else cell["source"],
        () if hidden else tuple(cell.get("outputs", ())),
        cell.get("execution_count"),
        tags,
        run_id=run_id_of(cell),
    )


class Bench:
    """A session on a notebook in memory, and what a test asks of it."""

    def __init__(
        self,
        store: SqliteStore,
        kernel: Kernel,
        script: Sequence[Turn],
        notebook: Notebook,
        rules: Rules | None = None,
        context_window: int = 200_000,
        hooks: Sequence[Hook] | None = None,
    ) -> None:
        self.model: Any = ScriptedModel(script, context_window)
        self.hooks = Extensions().hooks if hooks is None else hooks
        self.info = SessionInfo(
            uuid.uuid4().hex, "memory.ipynb", "", "scripted", "review", False, 0, 0
        )
        self.store = store
        self.kernel = kernel
        self.rules = rules or Rules(markdown_risks=markdown_risks)
        self.beside: dict[str, bytes] = {}
        """Files beside the notebook, besides the two that always lie there."""
        store.create(self.info)
        self.document = MemoryDocument(store, self.info.session_id, notebook)
        self.session = self._session()

    async def _model(self, name: str) -> Any:
        return self.model

    def _session(self) -> Session:
        place = MemoryPlace(self.document, self.kernel, self.beside)
        info = self.store.get(self.info.session_id)
        assert info is not None
        return Session(
            info,
            Services(
                self.store,
                self.rules,
                self._model,
                built_in_tools(),
                self.hooks,
            ),
            place,
        )

    def restart_server(self) -> None:
        """The server has died without a word; a new one takes the session up."""
        typed = self.document.typed
        self.document = MemoryDocument(self.store, self.info.session_id, self.document.notebook)
        self.document.typed = typed
        self.session = self._session()

    # --- what happened ---------------------------------------------------------------

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.store.events(self.info.session_id)]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def sequence(self) -> list[str]:
        """What a person sees happen, without what is a matter of chance (whether a kernel
        that has just started is idle yet) and of accounting."""
        left_out = ("KernelWaiting", "UsageChanged", "TitleChanged")
        names = [type(event).__name__ for event in self.events]
        return [name for name in names if name not in left_out]

    async def event(self, kind: type[E], number: int = 1) -> E:
        """The ``number``-th event of a kind, waited for."""

        async def wait() -> E:
            seen = 0
            async for _, data in self.session.event_log.follow(0):
                event = read_event(data)
                seen += isinstance(event, kind)
                if isinstance(event, kind) and seen == number:
                    return event
            raise AssertionError("an event log does not end")

        return await asyncio.wait_for(wait(), 30)

    async def draft(self, number: int = 1) -> Draft:
        return (await self.event(DraftWaiting, number)).draft

    async def ended(self, number: int = 1) -> TurnEnded:
        """The end of a turn, with nothing of it left to do."""
        ended = await self.event(TurnEnded, number)
        await until(lambda: not self.session.running)
        return ended

    @property
    def results(self) -> list[str]:
        """The texts of the results that the model has been sent, in order, without the
        delimiters around what others say."""
        return [bare(text) for text in self.sent_results]

    @property
    def sent_results(self) -> list[str]:
        """The same, byte for byte."""
        messages = self.store.messages(self.info.session_id)[1]
        return [
            "".join(part.text for part in block.content if isinstance(part, Text))
            for message in messages
            for block in message.content
            if isinstance(block, ToolResult)
        ]

    # --- what a person does ------------------------------------------------------------

    def send(self, text: str = "Go", mode: Mode = "review") -> None:
        self.session.send(text, mode, "")

    async def turn(self, text: str = "Go", mode: Mode = "auto") -> TurnEnded:
        self.send(text, mode)
        return await self.ended(len(self.of(TurnStarted)))

    def decide(
        self,
        draft: Draft,
        action: Literal["run", "reject"] = "run",
        source: str | None = None,
        run_all: bool = False,
    ) -> None:
        source = draft.source if source is None else source
        self.session.decisions.decide(draft.draft_id, draft.nonce, action, source, run_all)
