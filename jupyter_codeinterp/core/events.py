"""Everything that can happen in a session, in order. Fronts are drawn from these alone.

Each event gets a sequence number (1, 2, …) in its session's journal when it is published;
the number is the store's, not the event's. Times are seconds.
"""

from __future__ import annotations

from typing import Literal, Union

import msgspec

from .messages import Usage

Mode = Literal["review", "auto", "plan"]
StopReason = Literal["end_turn", "cancelled", "max_steps", "budget", "refusal", "error"]
Status = Literal[
    "ok", "error", "timeout", "interrupted", "rejected", "not_started", "not_confirmed"
]


class Reference(msgspec.Struct, frozen=True):
    """Something that a message names. ``name``: of a variable; the id of a cell; of a file
    beside the notebook; "" for the last error."""

    kind: Literal["variable", "cell", "file", "error"]
    name: str = ""


class _Event(msgspec.Struct, frozen=True, tag_field="type"):
    pass


# --- the turn ------------------------------------------------------------------------


class TurnStarted(_Event, frozen=True, tag="turn_started"):
    """``window`` is the number of the one that it was asked for in; 0: not known. ``queued``
    are the numbers of messages that had been queued, and are in ``text`` now. ``references``
    are what these messages name. ``messages`` is how many had been stored for the model before;
    None in older journals."""

    turn: int
    text: str
    mode: Mode
    model: str
    window: int = 0
    queued: tuple[int, ...] = ()
    references: tuple[Reference, ...] = ()
    messages: Union[int, None] = None


class MessageQueued(_Event, frozen=True, tag="message_queued"):
    """Said while a turn was running. ``number`` is 1, 2, … in its session."""

    number: int
    text: str
    window: int = 0
    references: tuple[Reference, ...] = ()


class MessageTakenBack(_Event, frozen=True, tag="message_taken_back"):
    """It will not reach the model."""

    number: int


class MessagesHeard(_Event, frozen=True, tag="messages_heard"):
    """What was queued goes to the model within the turn, with the results so far."""

    numbers: tuple[int, ...]
    text: str
    references: tuple[Reference, ...] = ()


class StepStarted(_Event, frozen=True, tag="step_started"):
    """One model call begins. What was sent is under ``sessions/{id}/sent/{step}``."""

    step: int


class Cost(msgspec.Struct, frozen=True):
    """US dollars, None where a price is not known. ``local``: all of it was answered on the
    server's own machine, where it costs nothing."""

    dollars: Union[float, None] = None
    local: bool = False

    def __str__(self) -> str:
        if self.local:
            return "local"
        return "cost unknown" if self.dollars is None else f"${self.dollars:.4f}"


class ModelUse(msgspec.Struct, frozen=True):
    """What one model has read and written in a session, and what that has cost, as ``Cost``.
    ``prices_seen`` is the day on which its prices were read at its vendor's, if they were."""

    model: str
    usage: Usage
    cost: Union[float, None] = None
    local: bool = False
    prices_seen: str = ""


class Cleared(msgspec.Struct, frozen=True):
    """A cell of the agent whose last run failed, and what became of it at the end of the turn:
    ``removed``, or, if it was there before, ``put_back`` to what it was."""

    cell_id: str
    how: Literal["removed", "put_back"]


class MadeFile(msgspec.Struct, frozen=True):
    """A file that is new, or other than before the turn. ``path`` is from the server's root,
    ``size`` in bytes. The name is of others; it is on one line and has no characters that are
    not seen."""

    path: str
    size: int
    is_new: bool


class TurnEnded(_Event, frozen=True, tag="turn_ended"):
    """``code`` and ``message`` say why, in words, unless the reason is ``end_turn``.

    ``added``, ``edited`` and ``removed`` are cell ids that the turn changed; ``failed``
    are cells of the agent that failed and were left standing (not at ``end_turn``), and
    ``cleared`` those that were not left standing (at ``end_turn`` only).
    ``retry`` is true where "Try again" makes sense. ``cost`` is None where no model was asked.
    ``files`` lie under the notebook's folder; ``files_left_out`` is the number of those beyond
    them.
    """

    turn: int
    stop_reason: StopReason
    code: str = ""
    message: str = ""
    added: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    retry: bool = False
    cost: Union[Cost, None] = None
    cleared: tuple[Cleared, ...] = ()
    files: tuple[MadeFile, ...] = ()
    files_left_out: int = 0


class Kept(msgspec.Struct, frozen=True):
    """A cell that an undo has left as it is, and why: ``changed`` by the person since;
    ``changed_later`` by a later turn; ``deleted`` by the person; ``locked`` by its metadata;
    ``unknown`` how it was before; ``unconfirmed`` by the notebook's window."""

    cell_id: str
    why: Literal["changed", "changed_later", "deleted", "locked", "unknown", "unconfirmed"]


class TurnUndone(_Event, frozen=True, tag="turn_undone"):
    """Cells that a turn had changed are as they were before it; ``kept`` are not. There may
    be several for one turn: cells are put back one by one, or all that are left."""

    turn: int
    restored: tuple[str, ...]
    kept: tuple[Kept, ...]


class ChangesKept(_Event, frozen=True, tag="changes_kept"):
    """The person has reviewed these changes of a turn and keeps them."""

    turn: int
    cells: tuple[str, ...]


class CellRemoved(_Event, frozen=True, tag="cell_removed"):
    """A failed cell that was left standing has been removed on request."""

    cell_id: str


# --- what the model says -------------------------------------------------------------


class TextDelta(_Event, frozen=True, tag="text_delta"):
    """A part of a text block; ``TextDone`` with the whole text follows (or the turn ends)."""

    block: int
    text: str


class TextDone(_Event, frozen=True, tag="text_done"):
    block: int
    text: str


class ThinkingDelta(_Event, frozen=True, tag="thinking_delta"):
    block: int
    text: str


class StepDiscarded(_Event, frozen=True, tag="step_discarded"):
    """The stream broke: text and cards of this step are void, and the step is repeated."""

    step: int
    reason: str


class Retrying(_Event, frozen=True, tag="retrying"):
    """The model could not be reached; tried again in ``delay`` seconds."""

    code: str
    message: str
    delay: float
    attempt: int


class UsageChanged(_Event, frozen=True, tag="usage"):
    """After a model call, also one that failed once something had come: sums for the session,
    and the share (0..1) of the context used.

    ``cost`` is US dollars, None where the price of any call is not known; ``local`` as in
    ``Cost``; ``turn`` is the turn's. ``context_known``: whether the share is of a size that
    somebody has named.
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
    """Generated code that waits for a decision.

    kind: ``insert`` a raw cell ``cell_id`` stands in the notebook; ``edit`` ``cell_id`` is
    to become ``source`` and is still ``old_source``; ``markdown`` a raw cell to become
    Markdown; ``delete`` the cell is to go. ``nonce`` is good for one decision.
    ``notices`` say what a reader may overlook: what else runs, invisible characters, why
    it asks again. ``can_run_all``: whether "Run all in this turn" may be offered.
    ``runs``: whether it is code; an accepted Markdown cell is only written.
    """

    draft_id: str
    call_id: str
    kind: Literal["insert", "edit", "markdown", "delete"]
    cell_id: str
    title: str
    source: str
    nonce: str
    old_source: str = ""
    notices: tuple[str, ...] = ()
    can_run_all: bool = False
    runs: bool = True


class ToolStarted(_Event, frozen=True, tag="tool_started"):
    """The model has begun to write a tool call: a card appears."""

    call_id: str
    name: str
    title: str = ""


class DraftOpened(_Event, frozen=True, tag="draft_opened"):
    """Code begins to stream. For ``insert`` and ``markdown`` a raw cell ``cell_id`` appears."""

    call_id: str
    draft_id: str
    kind: Literal["insert", "edit", "markdown", "delete"]
    cell_id: str
    title: str
    old_source: str = ""


class DraftWaiting(_Event, frozen=True, tag="draft_waiting"):
    """The draft is whole and waits for the person. Again, with a new nonce, if it must."""

    draft: Draft


class DraftDecided(_Event, frozen=True, tag="draft_decided"):
    """``source`` is what was decided on, None if it is that of the draft as it waited;
    ``edited`` if the person changed the model's. ``window`` is the number of the one that
    decided; 0: no window did, or it is not known. ``said`` are the person's words with a
    rejection."""

    call_id: str
    draft_id: str
    action: Literal["run", "reject"]
    by: Literal["person", "policy", "stop"]
    source: Union[str, None] = None
    edited: bool = False
    reason: str = ""
    window: int = 0
    said: str = ""


class KernelWaiting(_Event, frozen=True, tag="kernel_waiting"):
    """The kernel has been busy with something else for a moment; the run waits for it on the
    server."""

    call_id: str


class RunStarted(_Event, frozen=True, tag="run_started"):
    """In the journal before the request goes out. ``msg_id`` is of the execute_request;
    ``kernel_id`` is "" where it is not known, and so is ``language``, the kernel's own name
    of it."""

    call_id: str
    cell_id: str
    run_id: str
    msg_id: str
    kernel_id: str = ""
    language: str = ""


class ToolDone(_Event, frozen=True, tag="tool_done"):
    """The end of a card. ``detail`` is the text of the result as the model sees it (bounded).

    ``mended`` is true on the success of a cell that had failed before. ``notes`` are what
    hooks of other packages say of the run, a line each; they stand in ``detail`` as well.
    """

    call_id: str
    name: str
    title: str
    status: Status
    cell_id: str = ""
    execution_count: Union[int, None] = None
    elapsed: float = 0.0
    summary: str = ""
    detail: str = ""
    images: int = 0
    mended: bool = False
    notes: tuple[str, ...] = ()


class QuestionAsked(_Event, frozen=True, tag="question_asked"):
    call_id: str
    question: str
    options: tuple[str, ...] = ()


class QuestionAnswered(_Event, frozen=True, tag="question_answered"):
    call_id: str
    answer: str


# --- the session ---------------------------------------------------------------------


class Note(_Event, frozen=True, tag="note"):
    """A line in the conversation: the context was summarised, …

    ``kernel_died``: under a run of this turn, and all variables with it.
    """

    text: str
    level: Literal["info", "warning", "error"] = "info"
    kernel_died: bool = False


class ModeChanged(_Event, frozen=True, tag="mode_changed"):
    """``window`` as in ``DraftDecided``, here and below."""

    mode: Mode
    window: int = 0


class ModelChanged(_Event, frozen=True, tag="model_changed"):
    model: str
    window: int = 0


class TitleChanged(_Event, frozen=True, tag="title_changed"):
    title: str


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
    ChangesKept,
    CellRemoved,
    TextDelta,
    TextDone,
    ThinkingDelta,
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
