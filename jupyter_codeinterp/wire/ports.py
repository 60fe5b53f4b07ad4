"""The core's ports: protocols that adapters implement.

All methods run on one event loop. Cancelling a task that awaits one of them is safe
unless the docstring says otherwise.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, Union

import msgspec

from ..base.sentences import Sentence
from .findings import Observation
from .messages import Message, Usage
from .ops import CellView, Op, Output, Receipt, Snapshot

# --- the model -----------------------------------------------------------------------


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model sees it. ``input_schema`` is JSON Schema, ``source`` last."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True):
    """``brief``: a short, fast answer without thinking. ``answer_only``: no tool may be called,
    though the history has calls."""

    model: str
    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    brief: bool = False
    answer_only: bool = False


class ModelText(msgspec.Struct, frozen=True, tag=True):
    """More text of block ``block`` (index in the message)."""

    block: int
    text: str


class ModelThinking(msgspec.Struct, frozen=True, tag=True):
    block: int
    text: str


class ModelToolInput(msgspec.Struct, frozen=True, tag=True):
    """An unfinished tool call, for display only. The first has an empty ``partial``.

    ``partial`` holds the properties so far; the last one may be an unfinished string.
    """

    block: int
    id: str
    name: str
    partial: dict[str, Any]


class ModelRead(msgspec.Struct, frozen=True, tag=True):
    """Tokens that the server reports before it answers. They cost even if the stream breaks."""

    usage: Usage


class ModelRetry(msgspec.Struct, frozen=True, tag=True):
    """The call failed before any output; the next attempt follows in ``delay`` seconds."""

    code: str
    message: str
    delay: float
    attempt: int


class ModelDone(msgspec.Struct, frozen=True, tag=True):
    """The end of the stream, always last. Store ``message`` and send it back.

    ``stop_reason`` as in the Messages API: end_turn, stop_sequence, tool_use, pause_turn,
    max_tokens, model_context_window_exceeded, refusal. ``invalid`` gives the JSON error of a
    tool call by its id; its ``input`` is then ``{}``. ``detail`` is the API's reason for a
    refusal, if any.
    """

    message: Message
    stop_reason: str
    usage: Usage
    invalid: dict[str, str] = {}
    detail: str = ""


ModelEvent = Union[ModelRead, ModelText, ModelThinking, ModelToolInput, ModelRetry, ModelDone]


ASSUMED_WINDOW = 128_000
"""Tokens of an unknown context; never shown. Small for current models, because a conversation that
exceeds it only continues with a summary."""

TAKEN = ("image/png", "image/jpeg")
"""Media types that every model API accepts."""

Prices = tuple[float, float, float, float]
"""US dollars per million tokens: input, output, cache write, cache read."""


class LongPrompts(msgspec.Struct, frozen=True):
    """Prices of a whole request that reads more than ``over`` tokens, cache included."""

    over: int
    prices: Prices


class ModelInfo(msgspec.Struct, frozen=True):
    """A model's properties; None where unknown.

    context_window  tokens
    prices_seen     the day (as 2026-11-23) of the vendor's price list; "" for other sources
    local           it runs on this machine at no cost
    images          False once it refused an image
    takes           media types of files that its API accepts; images only if the model does
    """

    id: str
    name: str
    context_window: Union[int, None] = None
    prices: Union[Prices, None] = None
    long_prompts: Union[LongPrompts, None] = None
    prices_seen: str = ""
    local: bool = False
    images: Union[bool, None] = None
    takes: tuple[str, ...] = TAKEN


class Model(Protocol):
    """A model that answers requests.

    ``stream`` yields events and ends with ``ModelDone``. It retries by itself before the first
    event and raises ``ModelError`` for a final failure; code ``broken_stream`` if the stream
    broke later (the caller repeats the step once).
    """

    always_ask: bool
    """Whether every mode asks before its code runs (a recording), until "Run all in this
    turn"."""

    async def info(self, model: str) -> ModelInfo: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]: ...


# --- the kernel ----------------------------------------------------------------------


class KernelInfo(msgspec.Struct, frozen=True):
    kernel_id: str
    start: int
    """How often the server has (re)started the kernel. An approval holds for one id and
    start."""
    language: str
    language_version: str
    sandboxed: bool = False
    """Whether the server has put the kernel's process into a sandbox."""


class KernelState(msgspec.Struct, frozen=True):
    """The state of a kernel. ``cells_run``: how many cells have run since its start; None if
    unknown. ``packages``: versions of packages that data work needs, "" for those that are not
    installed; empty if unknown. ``inputs``: checksums of what ran, by execution count."""

    dead: bool = False
    busy: bool = False
    cells_run: Union[int, None] = None
    packages: dict[str, str] = {}
    inputs: Union[tuple[int, ...], None] = None

    def lacks(self, source: str, count: int | None) -> bool:
        """Whether cells have run, and not this source as number ``count``."""
        if count is None or not self.inputs or not self.cells_run:
            return False
        sent = source.rstrip("\n").encode("utf-8", "replace")
        return self.inputs[count : count + 1] != (zlib.crc32(sent),)


class ExecutionStarted(msgspec.Struct, frozen=True):
    """The kernel has begun with our code (``execute_input``)."""

    execution_count: Union[int, None]


class OutputsChanged(msgspec.Struct, frozen=True):
    """The outputs from index ``start`` on. At most 10 a second; an immediate ``ExecutionDone``
    replaces the last one."""

    start: int
    outputs: tuple[Output, ...]


class DisplayUpdated(msgspec.Struct, frozen=True):
    """update_display_data for an output of another run."""

    display_id: str
    data: dict[str, Any]
    metadata: dict[str, Any]


IN_A_WIDGET = "[An Output widget has captured and shows:]\n"


class ExecutionDone(msgspec.Struct, frozen=True):
    """The end of a run, always last.

    ``status``: ok; error (the code raised; the last output is of type ``error``);
    timeout and interrupted (by us); dead (the kernel died or restarted; the last output says so as
    an ``error``). ``note`` names dropped output, a lost idle message or a restart. ``pages``: texts
    for a pager; ``elapsed``: seconds from sending to the end. ``report``: the kernel's report on
    the run, untrusted: see ``run/reported.py``. ``captured``: outputs of output widgets
    (``ipywidgets.Output``) that this run has changed; the cell does not have them. ``observed``:
    observations of a sandbox.
    """

    status: Literal["ok", "error", "timeout", "interrupted", "dead"]
    outputs: tuple[Output, ...]
    execution_count: Union[int, None]
    elapsed: float
    note: Sentence = msgspec.field(default_factory=Sentence)
    pages: tuple[str, ...] = ()
    report: dict[str, Any] = {}
    captured: tuple[Output, ...] = ()
    observed: tuple[Observation, ...] = ()

    @property
    def everything(self) -> tuple[Output, ...]:
        """For the model: the cell's outputs, a heading, and the outputs of widgets."""
        if not self.captured:
            return self.outputs
        line: Output = {"output_type": "stream", "name": "stdout", "text": IN_A_WIDGET}
        return (*self.outputs, line, *self.captured)


ExecutionEvent = Union[ExecutionStarted, OutputsChanged, DisplayUpdated, ExecutionDone]


class Slot(Protocol):
    """The right to make one run in an idle kernel."""

    info: KernelInfo

    @property
    def sent(self) -> bool:
        """Whether ``execute`` has sent its request. Before that it has no effects."""

    @property
    def begun(self) -> bool:
        """Whether the kernel has begun the run. Before that, it waits behind a cell of the person;
        after Stop, the server interrupts it as it begins."""

    def new_msg_id(self) -> str:
        """The id for the next ``execute``. Journal it before sending."""

    def execute(
        self,
        source: str,
        *,
        msg_id: str,
        timeout: float | None = None,
        looks_at: dict[str, Any] | None = None,
    ) -> AsyncGenerator[ExecutionEvent, None]:
        """Run exactly ``source``. ``looks_at`` (``Contract.asked``): additional contents of the
        kernel's report, if the kernel makes one. Cancelling the consumer (or closing the iterator)
        interrupts the kernel; ``stopped`` then returns the end."""

    def listen_on(self, hear: Callable[[tuple[Output, ...]], Awaitable[None]]) -> None:
        """After the run, call ``hear`` with all its outputs when a thread, a task or another cell
        changes them. At intervals; each call is awaited."""

    async def stopped(self) -> ExecutionDone | None:
        """How a cancelled run ended, within 0.8 s. None if it has not ended: the kernel ignores
        the interrupt, or the run has not ``begun``."""


class WaitingFile(msgspec.Struct, frozen=True):
    """A file or folder that a sandboxed kernel wrote into its overlay. ``path`` is from the
    notebook's folder, and untrusted. ``why`` it cannot be kept; "" if it can. ``stamp`` differs
    for each state of the file."""

    path: str
    kind: Literal["added", "changed", "deleted"]
    size: int
    folder: bool
    why: Sentence
    stamp: str


Paths = tuple[tuple[str, ...], tuple[tuple[str, Sentence], ...]]
"""Paths of copied or discarded files, and skipped paths with the reason."""


class Overlay(Protocol):
    """Files that a sandboxed kernel has written over the notebook's folder."""

    async def begin_turn(self, turn: str) -> None:
        """Note which files wait, within 3 s. Raises KernelError."""

    async def end_turn(self, turn: str) -> Sequence[str]:
        """The waiting files that changed since ``begin_turn``. Raises KernelError."""

    async def files(self) -> list[WaitingFile]:
        """The waiting files. Raises KernelError."""

    async def keep(self, stamps: Mapping[str, str]) -> Paths:
        """Copy files into the folder, each in the state of its stamp. Raises KernelError."""

    async def discard(self, stamps: Mapping[str, str]) -> Paths:
        """Drop changes to files, each in the state of its stamp. Raises KernelError."""

    async def head(self, path: str, most: int) -> bytes:
        """The first ``most`` bytes of a waiting file. Raises KernelError."""


class KernelControl(Protocol):
    """Restarts, interrupts and changes the kernel of one notebook. Raises KernelError."""

    async def name(self) -> str:
        """The kernelspec's display name; "" without a kernel."""

    async def specs(self) -> dict[str, str]:
        """Names and display names of the installed kernelspecs."""

    async def restart(self) -> None:
        """Return when the new process answers."""

    async def interrupt(self) -> bool:
        """Return whether the kernel is idle, within 5 s."""

    async def change(self, spec: str) -> None:
        """Give the notebook a new kernel of that spec, and shut down the old one."""


class Kernel(Protocol):
    """The kernel of one notebook. It may change or be absent."""

    control: KernelControl

    async def info(self) -> KernelInfo:
        """The kernel's identity. Raises KernelError ``no_kernel`` or ``kernel_dead``. Fast; does
        not wait for an idle kernel."""

    @property
    def kernel_id(self) -> str:
        """The kernel at the last request; "" if there was none."""

    async def overlay(self) -> Overlay | None:
        """None if the kernel writes into the folder itself. Raises KernelError."""

    def hold(self) -> AbstractAsyncContextManager[Slot]:
        """Wait until the kernel is idle, and keep our other sessions out. A busy kernel gets no
        request, because nobody could withdraw it."""

    async def state(self) -> KernelState:
        """The kernel's state within 1 s, unknown if it does not answer. Never fails."""

    async def variables(self, names: tuple[str, ...] = ()) -> list[dict[str, Any]] | None:
        """Types, shapes and columns of variables within 1 s; None where unavailable."""


# --- the document --------------------------------------------------------------------


class NotebookDocument(Protocol):
    """The notebook that a session works on."""

    @property
    def path(self) -> str: ...

    @property
    def acts(self) -> int:
        """A number that changes when the person runs, changes, moves or deletes cells after the
        last read of the whole notebook."""

    async def snapshot(self) -> Snapshot:
        """The whole notebook. Raises DocumentError ``not_open`` if nobody has it open."""

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        """The existing cells among these, in order; give at least one id. Raises DocumentError
        as ``snapshot``."""

    def apply(self, op: Op) -> Awaitable[Receipt]:
        """Number, journal and send the op, in the order of calls. Await the receipt now or
        later."""

    def apply_later(self, turn: int, op: Op) -> None:
        """Number and journal an op of an earlier turn without a wait for its receipt. It is applied
        now, or when the notebook opens. Raises StoreError."""

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        """Show more of a draft. Never waits, never fails."""

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        """Show outputs of a running cell. Never waits, never fails."""

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Pass on update_display_data. Never waits, never fails."""

    async def save(self) -> None:
        """Ask whoever has the notebook open to save it; they report a failure."""
