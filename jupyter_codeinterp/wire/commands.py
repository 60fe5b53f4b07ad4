"""Commands that a window sends to the server, and frames that the server sends back.

The server answers a command that has an ``id`` with a ``Reply`` of the same id. A malformed or
forbidden command, or an unknown session, gets a ``Reply`` with an ``error``. The socket stays open.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from ..base.sentences import Sentence
from .events import Event, Mode, Reference
from .ops import CellView, Op, Output, Receipt

Permissions = tuple[tuple[str, str], ...]
"""(action, resource) pairs of jupyter_server's authorizer."""
LOOK = ("read", "contents")
CHANGE = ("write", "contents")
EXECUTE = ("execute", "kernels")
BOTH: Permissions = (EXECUTE, CHANGE)
NOT_ALLOWED = {
    LOOK: "You are not allowed to read notebooks on this server.",
    CHANGE: "You are not allowed to change notebooks on this server.",
    EXECUTE: "You are not allowed to run code on this server.",
}


class _Frame(msgspec.Struct, frozen=True, tag_field="type"):
    pass


class _Command(_Frame, frozen=True, kw_only=True):
    """The reply has the same ``id``; 0 asks for no reply."""

    id: int = 0


class _ToSession(_Command, frozen=True):
    session_id: str


class _AboutNotebook(_Command, frozen=True):
    notebook: str


# --- window → server: conversations --------------------------------------------------


class SendMessage(_Command, frozen=True, tag="send_message"):
    """A message of the person. Without ``session_id`` it opens a new session for ``notebook``.

    It starts a turn; while one runs, the server queues it. ``about``: the ``call_id`` of the
    question that was waiting when the person wrote; the message answers it. New cells go below the
    cell ``after``; "" lets the server choose. ``references``: at most 20.
    ``rule_files``: whether a new turn reads ``AGENTS.md`` and ``.codeinterp/rules.md``.
    ``with_key``: send ``text`` even if it looks like a key; else the server refuses it
    (``looks_like_key``). An empty ``text`` sends the queued messages. The reply's result is
    ``{"session_id": …, "did": …}``; ``did`` is ``begin``, ``queue`` or
    ``answer``.
    """

    text: str
    notebook: str
    session_id: str = ""
    mode: Mode = "review"
    model: str = ""
    about: str = ""
    after: str = ""
    references: tuple[Reference, ...] = ()
    rule_files: bool = True
    with_key: bool = False


class Branch(_ToSession, frozen=True, tag="branch"):
    """Send another message in place of the one that began ``turn``.

    This opens a new conversation that begins with the turns before it. The old one remains.
    ``undo`` first restores the cells that this and later turns changed, unless the person has
    touched them since. Other fields as in ``SendMessage``. The reply's result is
    ``{"session_id": …}`` of the new conversation.
    """

    turn: int
    text: str
    undo: bool = False
    mode: Mode = "review"
    model: str = ""
    references: tuple[Reference, ...] = ()
    rule_files: bool = True
    with_key: bool = False


class TakeBack(_ToSession, frozen=True, tag="take_back"):
    """Withdraw a queued message."""

    number: int


class Decide(_ToSession, frozen=True, tag="decide"):
    """The person's decision on one draft. Exactly ``source`` runs, byte for byte.

    ``run_all`` switches the rest of the turn to Auto. ``reason`` are the person's words with a
    rejection.
    """

    draft_id: str
    nonce: str
    action: Literal["run", "reject"]
    source: str = ""
    run_all: bool = False
    reason: str = ""


class Answer(_ToSession, frozen=True, tag="answer"):
    """The person's answer to ``ask_user``."""

    call_id: str
    text: str


class Cancel(_ToSession, frozen=True, tag="cancel"):
    """Stop the running turn, if any."""


class Retry(_ToSession, frozen=True, tag="retry"):
    """Repeat a turn that ended in an error, with the same message and history."""


class SetMode(_ToSession, frozen=True, tag="set_mode"):
    mode: Mode


class SetModel(_ToSession, frozen=True, tag="set_model"):
    model: str


class UndoTurn(_ToSession, frozen=True, tag="undo_turn"):
    """Restore cells that a turn changed, unless the person has edited them since.

    ``cells`` are ids; empty means all that are neither restored nor kept yet, and that the person
    has not run since. Variables keep their values.
    """

    turn: int
    cells: tuple[str, ...] = ()


class RedoTurn(_ToSession, frozen=True, tag="redo_turn"):
    """Redo an undone turn, except cells that the person has touched since.

    ``cells`` are ids; empty means all that can be redone.
    """

    turn: int
    cells: tuple[str, ...] = ()


class KeepChanges(_ToSession, frozen=True, tag="keep_changes"):
    """Keep these changes of a turn: undoing the turn skips them. The person can still restore
    each by its id."""

    turn: int
    cells: tuple[str, ...]


class KeepFiles(_ToSession, frozen=True, tag="keep_files"):
    """Copy files from a sandboxed kernel's overlay into the notebook's folder, or ``discard`` them.
    ``stamps`` has their paths, each with the stamp of the state that the person saw."""

    stamps: dict[str, str]
    discard: bool = False


class Subscribe(_ToSession, frozen=True, tag="subscribe"):
    """Send the session's events after number ``after``, then those to come."""

    after: int = 0


class Unsubscribe(_ToSession, frozen=True, tag="unsubscribe"):
    pass


# --- window → server: the notebooks that it has open ---------------------------------


class OpenNotebook(_AboutNotebook, frozen=True, tag="open_notebook"):
    """The state of a notebook in this window. Sent when the window opens or reloads it, or
    reconnects.

    ``applied`` is the document's own marker: the highest op number that it holds for each
    session. ``saved`` is that marker in the file as this window last read or wrote it;
    ``version`` is the file's hash or time of last change. ``edited``: the file lacks changes of
    the person. ``reverted``: the person went back to the file on purpose. ``kernel_id`` is ""
    without a kernel. ``collaborative``: others edit the document through the server (real-time
    collaboration). ``announcement`` counts these commands for the notebook.
    """

    applied: dict[str, int] = {}
    kernel_id: str = ""
    saved: dict[str, int] = {}
    version: str = ""
    edited: bool = False
    reverted: bool = False
    collaborative: bool = False
    announcement: int = 0


class FileState(_AboutNotebook, frozen=True, tag="file_state"):
    """A change in the difference between this window's copy and the file. Fields as in
    ``OpenNotebook``."""

    saved: dict[str, int]
    version: str
    edited: bool


class CloseNotebook(_AboutNotebook, frozen=True, tag="close_notebook"):
    """The person has closed the notebook and discards unsaved changes."""


class RenameNotebook(_AboutNotebook, frozen=True, tag="rename_notebook"):
    to: str


class KernelOf(_AboutNotebook, frozen=True, tag="kernel_of"):
    """The notebook's kernel in this window is now ``kernel_id`` ("" for none)."""

    kernel_id: str


class TakeLease(_AboutNotebook, frozen=True, tag="take_lease"):
    """Make this window the one that the agent works in."""


class OpReceipt(_AboutNotebook, frozen=True, tag="receipt"):
    epoch: int
    session_id: str
    seq: int
    receipt: Receipt


class SnapshotTaken(_AboutNotebook, frozen=True, tag="snapshot"):
    """The answer to a ``ReadNotebook``.

    Cells tagged ``codeinterp-private`` lack source and outputs. The window cuts the text of an
    output at 20,000 characters. ``gone_to``: the active cell if the person selected it since
    the notebook opened and since the agent's last work, else "". ``acted_in``: the cell where
    they last typed or ran something since then. ``too_large``: the notebook does not
    fit into a message, and ``cells`` is empty."""

    epoch: int
    request_id: int
    cells: tuple[CellView, ...]
    active_cell_id: str = ""
    gone_to: str = ""
    acted_in: str = ""
    too_large: bool = False


class DraftGone(_AboutNotebook, frozen=True, tag="draft_gone"):
    """The person deleted a draft's cell (or the cell that an edit was proposed for)."""

    cell_id: str


class PersonActed(_AboutNotebook, frozen=True, tag="person_acted"):
    """The person has run, changed, moved or deleted cells. The window with the lease sends it
    once between two reads of the whole notebook."""


class DraftRun(_AboutNotebook, frozen=True, tag="draft_run"):
    """The person runs a draft's cell by a notebook command. Sent when the page asks the kernel
    to run ``source``."""

    cell_id: str
    source: str


class BegunRun(msgspec.Struct, frozen=True):
    """A run by the person that the kernel has begun, with its execution count."""

    cell_id: str
    number: int
    source: str


class CodeCells(_AboutNotebook, frozen=True, tag="code_cells"):
    """The code cells of a notebook of a Python kernel, for ``StaleCells``.

    Sent by the window with the lease, and by all windows of a shared notebook, soon after an edit
    or a run. ``order``: the ids of all code cells; ``sources``: those that differ from the window's
    last report since its connection or lease. ``ran``: the person's runs since then.
    A private cell has no source, and its runs are left out.
    """

    kernel_id: str
    order: tuple[str, ...]
    sources: dict[str, str] = {}
    ran: tuple[BegunRun, ...] = ()


SessionCommand = Union[
    SendMessage,
    Branch,
    TakeBack,
    Decide,
    Answer,
    Cancel,
    Retry,
    SetMode,
    SetModel,
    UndoTurn,
    RedoTurn,
    KeepChanges,
    KeepFiles,
]
"""A command to a conversation, from any front; ``COMMANDS`` of ``session/server/service.py``
carries it out."""
Command = Union[
    SessionCommand,
    Subscribe,
    Unsubscribe,
    OpenNotebook,
    FileState,
    CloseNotebook,
    RenameNotebook,
    KernelOf,
    TakeLease,
    OpReceipt,
    SnapshotTaken,
    DraftGone,
    PersonActed,
    DraftRun,
    CodeCells,
]


# --- server → window -----------------------------------------------------------------


class BranchPoint(msgspec.Struct, frozen=True):
    """Where a branch left ``session_id``: both share the turns before ``turn``, and the
    original has a turn of that number."""

    session_id: str
    turn: int


class SessionInfo(msgspec.Struct, frozen=True):
    """A session as lists show it. Times are seconds since the epoch.

    ``held`` names another server that works on it now: here it is read-only. Lists omit ``held``.
    ``branches``: the points at which it left other sessions, by rising turn; it began at the last.
    """

    session_id: str
    notebook: str
    title: str
    model: str
    mode: Mode
    running: bool
    created: float
    changed: float
    last_seq: int = 0
    held: str = ""
    branches: tuple[BranchPoint, ...] = ()


class Reply(_Frame, frozen=True, tag="reply"):
    """The answer to the command ``id``; ``error`` is None on success."""

    id: int
    result: dict[str, Any] = {}
    error: Union[str, None] = None
    message: str = ""


class YouAre(_Frame, frozen=True, tag="you_are"):
    """The first frame: this window's unique number. A page that reconnects keeps it, unless the
    server has forgotten the window.
    """

    window: int


Doing = Literal["run", "run_all", "reject", "key"]


class DoneElsewhere(_Frame, frozen=True, tag="done_elsewhere"):
    """Another window decided on the draft ``name`` of ``notebook``, or set or deleted a key
    (``key``). After ``run_all`` the rest of the turn runs without asking."""

    window: int
    what: Doing
    name: str = ""
    notebook: str = ""


class SessionChanged(_Frame, frozen=True, tag="session"):
    """Sent on subscribing, and to every window when a session starts or stops running."""

    session: SessionInfo
    waiting: bool = False
    """Whether it waits for a decision or an answer."""
    worked: tuple[str, ...] = ()
    """At most 20 cells that the agent inserted or ran, the latest last."""
    stop_reason: str = ""
    """From the latest ``TurnEnded``; "" before that."""


class WaitingChanged(_Frame, frozen=True, tag="waiting"):
    """Sent to every window when a session begins or stops waiting for a person."""

    session_id: str
    waiting: bool


class EventFrame(_Frame, frozen=True, tag="event"):
    session_id: str
    seq: int
    event: Event


class _NotebookFrame(_Frame, frozen=True):
    """``epoch``: of the lease."""

    notebook: str
    epoch: int


class OpFrame(_NotebookFrame, frozen=True, tag="op"):
    """Apply in one transaction, with ``metadata.codeinterp.applied[session_id] = seq``."""

    session_id: str
    seq: int
    op: Op


class StreamFrame(_NotebookFrame, frozen=True, tag="stream"):
    """Code as the model writes it: put ``text`` at ``start`` of the draft. A hint: the window
    drops a frame if the draft is missing or not ``start`` long; an op follows."""

    draft_id: str
    cell_id: str
    kind: Literal["insert", "edit", "markdown"]
    start: int
    text: str


class OutputsFrame(_NotebookFrame, frozen=True, tag="outputs"):
    """Outputs of a running cell: ``outputs`` replace all from index ``start`` on. A hint: the
    window drops it if the cell has another run; ``finish_run`` has all outputs."""

    cell_id: str
    run_id: str
    start: int
    outputs: tuple[Output, ...]


class DisplayFrame(_NotebookFrame, frozen=True, tag="display"):
    """update_display_data: every output with this id gets the new data."""

    display_id: str
    data: dict[str, Any]
    metadata: dict[str, Any]


class ReadNotebook(_NotebookFrame, frozen=True, tag="read"):
    """Ask for a snapshot, of only ``cell_ids`` if given. With ``save`` the window also saves
    the notebook. An answer to ``request_id`` 0 is optional."""

    request_id: int
    save: bool = False
    cell_ids: tuple[str, ...] = ()


class ReloadNotebook(_Frame, frozen=True, tag="reload"):
    """The agent has changed the file since this window read it. Reload it, unless it has unsaved
    edits of the person, and send ``OpenNotebook``."""

    notebook: str


class Lease(_NotebookFrame, frozen=True, tag="lease"):
    """Whether the agent works in this window, from ``epoch`` on.

    It answers the ``OpenNotebook`` with this ``announcement``. A window that has sent a later
    one waits for another lease. ``shared``: the server works in the room of which the window is a
    view; nobody has a lease.
    """

    held: bool
    announcement: int = 0
    shared: bool = False


class StaleCell(msgspec.Struct, frozen=True):
    """A cell, and why it is stale."""

    cell_id: str
    reason: Sentence


class StaleCells(_Frame, frozen=True, tag="stale_cells"):
    """The cells whose inputs have changed since they ran, in the order of the notebook. Sent when
    the list changes."""

    notebook: str
    cells: tuple[StaleCell, ...]


ServerFrame = Union[
    Reply,
    YouAre,
    DoneElsewhere,
    SessionChanged,
    WaitingChanged,
    EventFrame,
    OpFrame,
    StreamFrame,
    OutputsFrame,
    DisplayFrame,
    ReadNotebook,
    ReloadNotebook,
    Lease,
    StaleCells,
]
