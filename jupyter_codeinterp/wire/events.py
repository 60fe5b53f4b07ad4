"""Everything that can happen in a session. Fronts draw themselves from these events alone.

Publishing an event gives it the next number (1, 2, …) in its session's journal. The store keeps
the number, not the event. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Union

import msgspec

from ..base.sentences import Sentence, from_journal, in_english, to_journal
from .findings import Finding, Observation
from .messages import Usage

Mode = Literal["review", "auto", "plan"]
StopReason = Literal["end_turn", "cancelled", "max_steps", "budget", "refusal", "error"]
Status = Literal[
    "ok",
    "error",
    "timeout",
    "interrupted",
    "rejected",
    "not_run",
    "not_started",
    "not_confirmed",
]
"""``rejected``: by a person; ``not_run``: forbidden by a mode or a policy."""


class Reference(msgspec.Struct, frozen=True):
    """A reference in a message. ``name`` is a variable, a column (``df['net price']``), a cell's
    id, a file beside the notebook, "" for the last error, or the name of a skill, to which the
    server adds the words that follow it in the message. Older journals also have ``command``."""

    kind: Literal["variable", "column", "cell", "file", "error", "command", "skill"]
    name: str = ""


CALLED = ("skill", "command")
"""Kinds of references to a skill."""


class _Event(msgspec.Struct, frozen=True, tag_field="type"):
    """``window``: the unique number of the window or other client that caused the event; 0 for the
    server or unknown."""


# --- the turn ------------------------------------------------------------------------


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """``text`` includes the queued messages with the numbers ``queued``; ``references`` are its
    references. ``messages``: number of messages stored before; None in older journals."""

    turn: int
    text: str
    mode: Mode
    model: str
    window: int = 0
    queued: tuple[int, ...] = ()
    references: tuple[Reference, ...] = ()
    messages: Union[int, None] = None


class MessageQueued(_Event, frozen=True, tag="message_queued"):
    """A message sent while a turn runs. ``number`` is 1, 2, … in its session."""

    number: int
    text: str
    window: int = 0
    references: tuple[Reference, ...] = ()


class MessageTakenBack(_Event, frozen=True, tag="message_taken_back"):
    """Somebody withdrew a queued message."""

    number: int
    window: int = 0


class MessagesHeard(_Event, frozen=True, tag="messages_heard"):
    """The model gets queued messages within the turn, with the results so far."""

    numbers: tuple[int, ...]
    text: str
    references: tuple[Reference, ...] = ()


class StepStarted(_Event, frozen=True, tag="step_started"):
    """One model call begins. ``sessions/{id}/sent/{step}`` has its request."""

    step: int


class Cost(msgspec.Struct, frozen=True):
    """US dollars, None where a price is unknown. ``local``: models on the server's own machine
    did all of it, at no cost."""

    dollars: Union[float, None] = None
    local: bool = False

    def __str__(self) -> str:
        if self.local:
            return "local"
        return "cost unknown" if self.dollars is None else f"${self.dollars:.4f}"


class ModelUse(msgspec.Struct, frozen=True):
    """Tokens and cost of one model in a session; ``cost`` and ``local`` as in ``Cost``.
    ``prices_seen`` is the day of the vendor's price list, "" without one."""

    model: str
    usage: Usage
    cost: Union[float, None] = None
    local: bool = False
    prices_seen: str = ""


class Cleared(msgspec.Struct, frozen=True):
    """A failed cell that the end of the turn ``removed``, or ``put_back`` if the cell existed
    before the turn."""

    cell_id: str
    how: Literal["removed", "put_back"]


class MadeFile(msgspec.Struct, frozen=True):
    """A file that is new or changed since the turn began. ``path`` is from the server's root,
    ``size`` in bytes. The name is untrusted: it is one line without invisible characters."""

    path: str
    size: int
    is_new: bool


class TurnEnded(_Event, frozen=True, tag="turn_ended"):
    """``code`` and ``message`` say why, unless the reason is ``end_turn``.

    ``added``, ``edited`` (or moved), ``removed`` and ``run_again`` (with unchanged source) are ids
    of cells that the turn changed; the last run of those in ``failed_again`` failed. ``failed``:
    failed cells that remain (not at ``end_turn``); ``cleared``: those removed or put back (at
    ``end_turn`` only). ``window`` stopped the turn. ``retry``: whether "Try again" makes sense.
    ``cost`` is None without a model call. ``variables``: it ran code, which may have changed
    variables. ``files`` are under the notebook's folder, and ``files_left_out`` counts others.
    ``overlay``: the sandboxed kernel writes into an overlay; ``waiting_files`` counts the files
    that the turn changed there, and ``waiting`` has some of their paths from the notebook's folder.
    """

    turn: int
    stop_reason: StopReason
    code: str = ""
    message: Sentence = msgspec.field(default_factory=Sentence)
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    retry: bool = False
    cost: Union[Cost, None] = None
    cleared: tuple[Cleared, ...] = ()
    files: tuple[MadeFile, ...] = ()
    files_left_out: int = 0
    window: int = 0
    waiting_files: int = 0
    variables: bool = False
    overlay: bool = False
    run_again: tuple[str, ...] = ()
    failed_again: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        return (*self.added, *self.edited, *self.removed, *self.run_again)


class Kept(msgspec.Struct, frozen=True):
    """A cell that an undo skipped, and why: ``changed`` or ``deleted`` by the person since;
    ``changed_later`` by a later turn; ``locked`` by its metadata; its earlier state is
    ``unknown``; ``unconfirmed`` by the notebook's window."""

    cell_id: str
    why: Literal["changed", "changed_later", "deleted", "locked", "unknown", "unconfirmed"]


class FileLeft(msgspec.Struct, frozen=True):
    """A file that stays as it is, and why. The path is from the notebook's folder."""

    path: str
    why: Sentence


class _Restored(_Event, frozen=True):
    turn: int
    restored: tuple[str, ...]
    kept: tuple[Kept, ...]
    without_outputs: tuple[str, ...] = ()
    window: int = 0


class TurnUndone(_Restored, frozen=True, tag="turn_undone"):
    """An undo has ``restored`` cells to their state before the turn and skipped those in
    ``kept``. The journal no longer had the outputs of cells in ``without_outputs``. A turn may
    have several of these events. A redo can restore the changes to cells in ``redoable``."""

    redoable: tuple[str, ...] = ()


class TurnRedone(_Restored, frozen=True, tag="turn_redone"):
    """A redo has ``restored`` cells to their state before the undo, and skipped those in ``kept``.
    Fields as in ``TurnUndone``."""


class ChangesKept(_Event, frozen=True, tag="changes_kept"):
    """The person keeps these changes of a turn."""

    turn: int
    cells: tuple[str, ...]
    window: int = 0


class FilesKept(_Event, frozen=True, tag="files_kept"):
    """The person has copied ``files`` from a sandboxed kernel's overlay into the notebook's folder,
    or ``discarded`` them. ``left`` stay as they are; ``more`` counts those not named."""

    files: tuple[str, ...]
    left: tuple[FileLeft, ...] = ()
    more: int = 0
    window: int = 0
    discarded: bool = False


# --- what the model says -------------------------------------------------------------


class TextDelta(_Event, frozen=True, tag="text_delta"):
    """A part of a text block. ``TextDone`` with the whole text follows, or the turn ends."""

    block: int
    text: str


class TextDone(_Event, frozen=True, tag="text_done"):
    block: int
    text: str


class ThinkingDelta(_Event, frozen=True, tag="thinking_delta"):
    block: int
    text: str


class Origin(msgspec.Struct, frozen=True):
    """The origin of a number in an answer. ``output``: index of the cell's output. ``before``,
    ``value`` and ``after``: a short, untrusted excerpt of its line; ``labels``: the
    title of its column; no text has keys. In older journals ``labels`` also has the row's, and an
    ``output`` of -1 is a variable."""

    cell_id: str
    output: int
    before: str = ""
    value: str = ""
    after: str = ""
    labels: str = ""


class Figure(msgspec.Struct, frozen=True):
    """A number in an answer. ``start`` and ``end`` count UTF-16 units of the answer's Markdown.
    ``origin`` is None if no output, cell or message of the conversation has the number. ``also``:
    other places in outputs that have it."""

    text: str
    start: int
    end: int
    origin: Union[Origin, None]
    also: tuple[Origin, ...] = ()


class FiguresFound(_Event, frozen=True, tag="figures_found"):
    """The numbers of a text block that were found in an output, and those that were found nowhere.
    Other numbers are not listed."""

    step: int
    block: int
    figures: tuple[Figure, ...]


class StepDiscarded(_Event, frozen=True, tag="step_discarded"):
    """The stream broke. Text and cards of this step are void; the step repeats."""

    step: int
    reason: Sentence


class Retrying(_Event, frozen=True, tag="retrying"):
    """A model call failed; the next attempt follows in ``delay`` seconds."""

    code: str
    message: Sentence
    delay: float
    attempt: int


class UsageChanged(_Event, frozen=True, tag="usage"):
    """Sums for the session after a model call, including one that failed midway.

    ``context_share`` (0..1) is the part of the context in use; ``context_known``: whether the
    size of the context is known rather than assumed. ``cost`` and ``local`` as in ``Cost``;
    ``turn`` is the turn's cost.
    """

    usage: Usage
    context_share: float
    cost: Union[float, None] = None
    context_known: bool = True
    local: bool = False
    turn: Union[Cost, None] = None
    models: tuple[ModelUse, ...] = ()


# --- cards: tool calls, drafts, runs -------------------------------------------------


class Draft(msgspec.Struct, frozen=True):
    """A proposed change that waits for a decision.

    kind: ``insert``, the notebook has a raw cell ``cell_id``; ``edit``, replace ``old_source``
    of the cell with ``source``; ``markdown``, a raw cell that becomes Markdown; ``delete``,
    remove the cell; ``kernel``, no cell: ``source`` says in words what happens to the kernel;
    ``verify``, no cell: ``source`` says that the whole notebook runs in a fresh kernel;
    ``tool``, no cell: ``source`` says which tool of an MCP server is called, and with which
    arguments; ``move`` or ``rerun``, the cell ``cell_id`` as it is; ``scratch``, no cell: the code
    ``source`` runs once; ``cells``: ``source`` says what happens to several cells, with their
    sources.
    ``nonce`` is valid for one decision. ``notices`` say what a reader may overlook: other code that
    runs, invisible characters, why it asks again. ``can_run_all``: whether to offer "Run all in
    this turn". ``runs``: whether it is code. ``always``: whether it asks in every mode. ``words``:
    a ``source`` in words, for people; the decision is about ``source``.
    """

    draft_id: str
    call_id: str
    kind: Literal[
        "insert",
        "edit",
        "markdown",
        "delete",
        "kernel",
        "verify",
        "tool",
        "scratch",
        "move",
        "rerun",
        "cells",
    ]
    cell_id: str
    title: Sentence
    source: str
    nonce: str
    old_source: str = ""
    notices: tuple[Sentence, ...] = ()
    can_run_all: bool = False
    runs: bool = True
    always: bool = False
    words: Sentence = msgspec.field(default_factory=Sentence)

    @property
    def editable(self) -> bool:
        """Whether it has code or text that a person can change first."""
        return self.kind in ("insert", "edit", "markdown", "scratch", "rerun", "move")


class ToolStarted(_Event, frozen=True, tag="tool_started"):
    """The model begins to write a tool call: a card appears."""

    call_id: str
    name: str
    title: Sentence = msgspec.field(default_factory=Sentence)


class DraftOpened(_Event, frozen=True, tag="draft_opened"):
    """Code begins to stream. For ``insert`` and ``markdown`` a raw cell ``cell_id`` appears."""

    call_id: str
    draft_id: str
    kind: Literal["insert", "edit", "markdown", "delete", "scratch", "move", "rerun"]
    cell_id: str
    title: Sentence
    old_source: str = ""


class DraftWaiting(_Event, frozen=True, tag="draft_waiting"):
    """The complete draft waits for the person; each time it asks again, with a new nonce."""

    draft: Draft


class DraftDecided(_Event, frozen=True, tag="draft_decided"):
    """``by`` is ``nobody`` if a program rejects the draft because it has nobody to ask.
    ``source`` is None if it equals the waiting draft's. ``edited``: the person changed the
    model's source. ``said``: the person's words with a rejection. ``person``: the name of who
    decided, if several people share the notebook."""

    call_id: str
    draft_id: str
    action: Literal["run", "reject"]
    by: Literal["person", "policy", "nobody", "stop"]
    source: Union[str, None] = None
    edited: bool = False
    reason: Sentence = msgspec.field(default_factory=Sentence)
    window: int = 0
    said: str = ""
    person: str = ""


class KernelWaiting(_Event, frozen=True, tag="kernel_waiting"):
    """The run waits on the server while the kernel is busy with something else."""

    call_id: str


class RunStarted(_Event, frozen=True, tag="run_started"):
    """Journaled before the request goes out. ``msg_id`` is of the execute_request. ``kernel_id``
    and ``language``, the kernel's own name for it, are "" where unknown."""

    call_id: str
    cell_id: str
    run_id: str
    msg_id: str
    kernel_id: str = ""
    language: str = ""


class ToolDone(_Event, frozen=True, tag="tool_done"):
    """The end of a card. ``detail`` is the bounded text of the result as the model sees it.

    ``fixed``: a cell that had failed before has succeeded. ``findings``: results of the checks for
    the person; ``detail`` includes them. ``sandbox``: the sandbox's report of the run.
    """

    call_id: str
    name: str
    title: Sentence
    status: Status
    cell_id: str = ""
    execution_count: Union[int, None] = None
    elapsed: float = 0.0
    summary: Sentence = msgspec.field(default_factory=Sentence)
    detail: str = ""
    fixed: bool = False
    findings: tuple[Finding, ...] = ()
    sandbox: tuple[Observation, ...] = ()


class QuestionAsked(_Event, frozen=True, tag="question_asked"):
    call_id: str
    question: str
    options: tuple[str, ...] = ()


class QuestionAnswered(_Event, frozen=True, tag="question_answered"):
    call_id: str
    answer: str
    window: int = 0


# --- the session ---------------------------------------------------------------------


class Note(_Event, frozen=True, tag="note"):
    """A line in the conversation. ``kernel_died``: the kernel died under a run of this turn,
    with all variables."""

    text: Sentence
    level: Literal["info", "warning", "error"] = "info"
    kernel_died: bool = False


class ModeChanged(_Event, frozen=True, tag="mode_changed"):
    mode: Mode
    window: int = 0


class ModelChanged(_Event, frozen=True, tag="model_changed"):
    model: str
    window: int = 0


class TitleChanged(_Event, frozen=True, tag="title_changed"):
    """``by`` gave the name: a person, or the server from the first question or its answer."""

    title: str
    window: int = 0
    by: Literal["person", "question", "answer"] = "person"


class NotebookMoved(_Event, frozen=True, tag="notebook_moved"):
    notebook: str


Event = Union[
    TurnStarted,
    MessageQueued,
    MessageTakenBack,
    MessagesHeard,
    StepStarted,
    TurnEnded,
    TurnUndone,
    TurnRedone,
    ChangesKept,
    FilesKept,
    TextDelta,
    TextDone,
    ThinkingDelta,
    FiguresFound,
    StepDiscarded,
    Retrying,
    UsageChanged,
    ToolStarted,
    DraftOpened,
    DraftWaiting,
    DraftDecided,
    KernelWaiting,
    RunStarted,
    ToolDone,
    QuestionAsked,
    QuestionAnswered,
    Note,
    ModeChanged,
    ModelChanged,
    TitleChanged,
    NotebookMoved,
]


_decoder = msgspec.json.Decoder(Event, dec_hook=from_journal)
_encoder = msgspec.json.Encoder(enc_hook=to_journal)


def read_event(data: bytes | str) -> Any:
    """An ``Event``. Raises msgspec.MsgspecError."""
    return _decoder.decode(data)


def event_json(event: Event) -> bytes:
    """As journals have it, with the templates of its sentences."""
    return _encoder.encode(event)


def with_strings(data: bytes, words: Callable[[object], str] = in_english) -> bytes:
    """The JSON of an event for a client, where each sentence is a string by ``words``."""
    if b'{"template":' not in data:  # A match is no part of a string, which escapes quotes.
        return data
    return msgspec.json.encode(read_event(data), enc_hook=words)
