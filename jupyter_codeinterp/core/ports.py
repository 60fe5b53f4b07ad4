"""What the core needs of the world, as protocols. Adapters fulfil them; the core knows roles.

All methods run on one event loop. Cancelling a task that awaits one of them is safe
unless the docstring says otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, Union

import msgspec

from .document.ops import CellView, Op, Output, Receipt, Snapshot
from .messages import Message, Usage

# --- the model -----------------------------------------------------------------------


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model is told of it. ``input_schema`` is JSON Schema, ``source`` last."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True):
    """``brief``: a few words are wanted, and soon: no thinking before, no long answer."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    brief: bool = False


class ModelText(msgspec.Struct, frozen=True):
    """More text of block ``block`` (index in the message)."""

    block: int
    text: str


class ModelThinking(msgspec.Struct, frozen=True):
    block: int
    text: str


class ModelToolInput(msgspec.Struct, frozen=True):
    """A tool call as far as it has come. First with an empty ``partial``, when it starts.

    ``partial`` holds the properties seen so far; the last one may be an unfinished string.
    Only for showing: nothing is run from it.
    """

    block: int
    id: str
    name: str
    partial: dict[str, Any]


class ModelRead(msgspec.Struct, frozen=True):
    """What the server says it has read, where it says so before it answers: it is paid for even
    if the end does not come."""

    usage: Usage


class ModelRetry(msgspec.Struct, frozen=True):
    """The call failed and is tried again after ``delay`` seconds; nothing had come of it."""

    code: str
    message: str
    delay: float
    attempt: int


class ModelDone(msgspec.Struct, frozen=True):
    """The end of the stream, always last. ``message`` is what to store and send back.

    ``stop_reason`` as in the Messages API: end_turn, stop_sequence, tool_use, pause_turn,
    max_tokens, model_context_window_exceeded, refusal. ``invalid`` maps the id of a tool
    call whose JSON could not be parsed to what was wrong (its ``input`` is then ``{}``).
    ``detail`` is the reason of a refusal, where the API gave one.
    """

    message: Message
    stop_reason: str
    usage: Usage
    invalid: dict[str, str] = {}
    detail: str = ""


ModelEvent = Union[ModelRead, ModelText, ModelThinking, ModelToolInput, ModelRetry, ModelDone]


ASSUMED_WINDOW = 128_000
"""Tokens, where nobody says how many a model takes. Small for what is sold today: a conversation
that is cut off too early goes on with a summary. It is reckoned with, and never shown."""

TAKEN = ("image/png", "image/jpeg")
"""Media types that every wire carries."""

Prices = tuple[float, float, float, float]
"""US dollars a million tokens: input, output, cache write, cache read."""


class LongPrompts(msgspec.Struct, frozen=True):
    """What all of a request costs that reads more than ``over`` tokens, those of the cache
    included."""

    over: int
    prices: Prices


class ModelInfo(msgspec.Struct, frozen=True):
    """What is known of a model; None where it is not known.

    context_window  tokens that it takes
    prices          US dollars a million tokens: input, output, cache write, cache read
    prices_seen     the day (as 2026-11-23) of their vendor's list; "" where others say them
    local           it runs on this machine, and its answers cost nothing
    images, tools   whether it takes images, and calls tools
    takes           media types of files that its wire carries; images only if it takes them
    """

    id: str
    name: str
    context_window: Union[int, None] = None
    prices: Union[Prices, None] = None
    long_prompts: Union[LongPrompts, None] = None
    prices_seen: str = ""
    local: bool = False
    images: Union[bool, None] = None
    tools: Union[bool, None] = None
    takes: tuple[str, ...] = TAKEN


class Model(Protocol):
    """A model that answers requests.

    ``stream`` yields events and ends with ``ModelDone``. It raises ``ModelError`` when the
    call failed for good; code ``broken_stream`` if the stream broke after it had begun
    (the caller repeats the step once). Retries before the first event are its own affair.
    """

    always_ask: bool
    """True for a model whose code is reviewed in every mode (a recording), until the person lets
    all of a turn run."""

    async def info(self, model: str) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...


# --- the kernel ----------------------------------------------------------------------


class KernelInfo(msgspec.Struct, frozen=True):
    kernel_id: str
    start: int
    """How often the kernel has been (re)started, counted by the server: an approval is
    good for one kernel id and one start."""
    language: str
    language_version: str
    file_extension: str = ""


class ExecutionStarted(msgspec.Struct, frozen=True):
    """The kernel has begun with our code (``execute_input`` was seen)."""

    execution_count: Union[int, None]


class OutputsChanged(msgspec.Struct, frozen=True):
    """From index ``start`` on, the outputs are now ``outputs``. At most 10 a second, and
    nothing that ``ExecutionDone`` comes at once to tell."""

    start: int
    outputs: tuple[Output, ...]


class DisplayUpdated(msgspec.Struct, frozen=True):
    """update_display_data for an output that is not among this run's."""

    display_id: str
    data: dict[str, Any]
    metadata: dict[str, Any]


class ExecutionDone(msgspec.Struct, frozen=True):
    """The end of a run, always last.

    ``status``: ok; error (the code raised; the last output is of type ``error``);
    timeout and interrupted (by us); dead (the kernel died or was restarted).
    ``note`` says what a reader must know besides: output dropped, idle lost, restarted.
    ``next_inputs`` are ``set_next_input`` payloads. ``pages`` are texts that a pager shows.
    ``elapsed`` is seconds from sending to the end.
    """

    status: Literal["ok", "error", "timeout", "interrupted", "dead"]
    outputs: tuple[Output, ...]
    execution_count: Union[int, None]
    elapsed: float
    note: str = ""
    next_inputs: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()


ExecutionEvent = Union[ExecutionStarted, OutputsChanged, DisplayUpdated, ExecutionDone]


class Slot(Protocol):
    """The right to run one thing in a kernel that is idle."""

    info: KernelInfo

    @property
    def sent(self) -> bool:
        """Whether the request of ``execute`` has gone out: only then may it have effects."""

    @property
    def begun(self) -> bool:
        """Whether the kernel has begun with it. What was sent and has not begun waits there
        behind a cell of the person's; once stopped, it is interrupted when it begins."""

    def new_msg_id(self) -> str:
        """The id that the next ``execute`` will use, to be journaled before it is sent."""

    def execute(
        self,
        source: str,
        *,
        msg_id: str,
        timeout: float | None = None,
        unless: asyncio.Future[ExternalRun] | None = None,
    ) -> AsyncIterator[ExecutionEvent]:
        """Run exactly ``source``, or raise KernelError ``run_elsewhere`` if ``unless`` is
        done just before it would be sent. When the consumer is cancelled (or closes the iterator)
        while the code runs, the kernel is interrupted, and the events that came since are
        in ``stopped``."""

    async def stopped(self) -> ExecutionDone | None:
        """After a cancelled ``execute``: how the run ended, at most 0.8 s later (None if
        it has not by then: the kernel does not obey, or has not ``begun``)."""


class ExternalRun(Protocol):
    """A run that another client of the kernel has begun."""

    @property
    def msg_id(self) -> str:
        """Of their request."""

    async def ended(self) -> ExecutionDone:
        """Wait for its end: ok, error or dead. Cancelling interrupts nothing."""


class Kernel(Protocol):
    """The kernel of one notebook, as it is from time to time (it may change or be absent)."""

    async def info(self) -> KernelInfo:
        """Raises KernelError ``no_kernel`` or ``kernel_dead``. Fast; never waits for idle."""

    @property
    def kernel_id(self) -> str:
        """Of the kernel as it was when it was last asked for; "" if there was none."""

    def expect(self) -> None:
        """Somebody will want to run code soon: what can be found out for it without waiting is
        found out meanwhile. Changes nothing of what ``hold`` waits for."""

    def hold(self) -> AbstractAsyncContextManager[Slot]:
        """Wait until the kernel is idle and keep every other session of ours out.
        Nothing is sent to a kernel that is busy: it could not be taken back."""

    async def external_run(self, source: str) -> ExternalRun:
        """Wait, for ever if need be, until another client begins to run exactly ``source``
        in the kernel that the notebook has by then. A run goes to one who waits for it, the
        first. Raises no KernelError."""

    async def variables(self, names: tuple[str, ...] = ()) -> list[dict[str, Any]] | None:
        """Types, shapes and columns of variables within 1 s; None where not available."""


# --- the document --------------------------------------------------------------------


class Document(Protocol):
    """The notebook that a session works on."""

    @property
    def path(self) -> str: ...

    async def snapshot(self) -> Snapshot:
        """Raises DocumentError ``not_open`` when nothing holds the notebook."""

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        """Those of these cells that there are, in order; at least one id is given. Raises
        DocumentError as ``snapshot``."""

    def apply(self, op: Op) -> Awaitable[Receipt]:
        """Number the op, journal it, send it. The receipt may be awaited later; ops are
        applied in the order of these calls."""

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        """Show more of a draft as it is written. Never waits, never fails."""

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        """Show outputs of a running cell. Never waits, never fails."""

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Pass on update_display_data. Never waits, never fails."""

    async def save(self) -> None:
        """Ask whoever holds the notebook to save it. A failed save is theirs to tell."""
