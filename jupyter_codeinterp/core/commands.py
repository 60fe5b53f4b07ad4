"""What a window may say to the server, and what the server says to a window.

A command may carry ``id``; the server then answers with a ``Reply`` of the same id. A
malformed command, one without leave or for an unknown session is answered with a
``Reply`` that has an ``error``; the socket and the session live on.
"""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

from .document.ops import CellView, Op, Output, Receipt
from .events import Event, Mode, Reference


class _Frame(msgspec.Struct, frozen=True, tag_field="type"):
    pass


# --- window → server: conversations --------------------------------------------------


class SendMessage(_Frame, frozen=True, tag="send_message"):
    """What the person says. Without ``session_id`` a new session for ``notebook`` is made.

    It starts a turn, or is queued while one is running. ``about`` names what waits for the
    person and was before them as they wrote: the ``call_id`` of a question, which it answers,
    or the ``nonce`` of a draft, which it rejects; ``source`` is then what stands in that
    draft's cell (None: as it was put forward). ``after``: the cell after which new ones are to
    go, "" for where they belong. ``references``: what the message names, at most 20; the model
    is told what it is when the message reaches it. ``rule_files``: whether ``AGENTS.md`` and
    ``.codeinterp/rules.md`` are read in a turn that begins. ``text`` may be "" where messages
    are queued: they are sent now. The reply's result is ``{"session_id": …, "did": …}``, where
    ``did`` is ``begin``, ``queue``, ``answer`` or ``reject``.
    """

    text: str
    notebook: str
    session_id: str = ""
    mode: Mode = "review"
    model: str = ""
    about: str = ""
    source: Union[str, None] = None
    after: str = ""
    references: tuple[Reference, ...] = ()
    rule_files: bool = True
    id: int = 0


class Branch(_Frame, frozen=True, tag="branch"):
    """Another message in the place of the one that began ``turn``: a new conversation about the
    same notebook, which begins with all turns before it. The old one stays as it is.

    ``undo``: what that turn and those after it changed in the notebook is put back first, where
    the person has not touched it since. The other fields as in ``SendMessage``; the reply's
    result is ``{"session_id": …}``, the new one's.
    """

    session_id: str
    turn: int
    text: str
    undo: bool = False
    mode: Mode = "review"
    model: str = ""
    references: tuple[Reference, ...] = ()
    rule_files: bool = True
    id: int = 0


class TakeBack(_Frame, frozen=True, tag="take_back"):
    """A queued message is not to reach the model."""

    session_id: str
    number: int
    id: int = 0


class Decide(_Frame, frozen=True, tag="decide"):
    """The person's word on one draft. ``source`` is all that is to run, byte for byte.

    ``run_all`` switches the rest of the turn to Auto. ``reason``: why it is rejected, in the
    person's words.
    """

    session_id: str
    draft_id: str
    nonce: str
    action: Literal["run", "reject"]
    source: str = ""
    run_all: bool = False
    reason: str = ""
    id: int = 0


class Answer(_Frame, frozen=True, tag="answer"):
    """The person's answer to ``ask_user``."""

    session_id: str
    call_id: str
    text: str
    id: int = 0


class Cancel(_Frame, frozen=True, tag="cancel"):
    """Stop the turn. Nothing happens if none is running."""

    session_id: str
    id: int = 0


class Retry(_Frame, frozen=True, tag="retry"):
    """Try again after a turn that ended in an error: the same message, the same history."""

    session_id: str
    id: int = 0


class SetMode(_Frame, frozen=True, tag="set_mode"):
    session_id: str
    mode: Mode
    id: int = 0


class SetModel(_Frame, frozen=True, tag="set_model"):
    session_id: str
    model: str
    id: int = 0


class NotMe(_Frame, frozen=True, tag="not_me"):
    """What the server has told of ``window`` (``DoneElsewhere``) was not this person.

    Every turn stops, every session in Auto goes back to Review, a key or an address that
    ``window`` has set is put back, and all windows but this one are closed for good: their
    pages must be loaded anew.
    """

    window: int
    id: int = 0


class UndoTurn(_Frame, frozen=True, tag="undo_turn"):
    """Put back cells that a turn changed, where the person has not touched them since.

    ``cells`` are ids; with none it is all that are neither put back nor kept yet. Variables
    stay as they are.
    """

    session_id: str
    turn: int
    cells: tuple[str, ...] = ()
    id: int = 0


class KeepChanges(_Frame, frozen=True, tag="keep_changes"):
    """The person has reviewed these changes of a turn and keeps them: undoing the turn
    leaves them out. Each can still be put back by its id."""

    session_id: str
    turn: int
    cells: tuple[str, ...]
    id: int = 0


class RemoveCell(_Frame, frozen=True, tag="remove_cell"):
    """Remove a failed cell of the agent that was left standing."""

    session_id: str
    cell_id: str
    id: int = 0


class Subscribe(_Frame, frozen=True, tag="subscribe"):
    """Send the session's events after ``after``, and go on with what happens."""

    session_id: str
    after: int = 0
    id: int = 0


class Unsubscribe(_Frame, frozen=True, tag="unsubscribe"):
    session_id: str
    id: int = 0


# --- window → server: the notebooks that it has open ---------------------------------


class OpenNotebook(_Frame, frozen=True, tag="open_notebook"):
    """This window has the notebook open, as it is now: said when it opens it, when it has
    read it anew, and when its socket was opened again.

    ``applied`` is the document's own marker, the highest op number that it holds for each
    session; ``saved`` is that marker in the file as this window last read or wrote it, and
    ``version`` names that file (its hash, or the time of its last change). ``edited`` says
    that there are changes of the person's own that the file lacks. ``reverted``: the person
    went back to the file on purpose. ``kernel_id`` is "" without a kernel.
    ``collaborative``: others edit the document through the server (real-time collaboration).
    ``announcement`` counts how often the window has said this of the notebook.
    """

    notebook: str
    applied: dict[str, int] = {}
    kernel_id: str = ""
    saved: dict[str, int] = {}
    version: str = ""
    edited: bool = False
    reverted: bool = False
    collaborative: bool = False
    announcement: int = 0
    id: int = 0


class FileState(_Frame, frozen=True, tag="file_state"):
    """How this window's copy of the notebook stands to its file, when that has changed.
    Fields as in ``OpenNotebook``."""

    notebook: str
    saved: dict[str, int]
    version: str
    edited: bool
    id: int = 0


class CloseNotebook(_Frame, frozen=True, tag="close_notebook"):
    """The person has closed it; what was not saved is given up."""

    notebook: str
    id: int = 0


class RenameNotebook(_Frame, frozen=True, tag="rename_notebook"):
    notebook: str
    to: str
    id: int = 0


class KernelOf(_Frame, frozen=True, tag="kernel_of"):
    """The notebook's kernel in this window is now ``kernel_id`` ("" for none)."""

    notebook: str
    kernel_id: str
    id: int = 0


class TakeLease(_Frame, frozen=True, tag="take_lease"):
    """Let this window be the one that the agent works in."""

    notebook: str
    id: int = 0


class OpReceipt(_Frame, frozen=True, tag="receipt"):
    notebook: str
    epoch: int
    session_id: str
    seq: int
    receipt: Receipt
    id: int = 0


class SnapshotTaken(_Frame, frozen=True, tag="snapshot"):
    """The answer to a ``ReadNotebook``. Cells tagged ``codeinterp-private`` come without
    source and outputs. Outputs are bounded: text to 20,000 characters an output.
    ``gone_to`` is the active cell where the person has gone to one (by a click, a key, a run)
    since the notebook was opened and since the agent's last work, else ""."""

    notebook: str
    epoch: int
    request_id: int
    cells: tuple[CellView, ...]
    active_cell_id: str = ""
    gone_to: str = ""
    id: int = 0


class DraftGone(_Frame, frozen=True, tag="draft_gone"):
    """The person deleted a draft's cell (or the cell that an edit was proposed for)."""

    notebook: str
    cell_id: str
    id: int = 0


Command = Union[
    SendMessage,
    Branch,
    TakeBack,
    Decide,
    Answer,
    Cancel,
    Retry,
    SetMode,
    SetModel,
    NotMe,
    UndoTurn,
    KeepChanges,
    RemoveCell,
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
]


# --- server → window -----------------------------------------------------------------


class BranchPoint(msgspec.Struct, frozen=True):
    """The turns before ``turn`` are those of ``session_id``, which itself began one of that
    number."""

    session_id: str
    turn: int


class SessionInfo(msgspec.Struct, frozen=True):
    """A session as lists show it. Times are seconds since the epoch.

    ``held`` names another server that works on it now: here it can only be read. Lists leave
    it out. ``branches`` are the points at which it left others, the last where it began; their
    turns rise.
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
    """The answer to the command ``id``: ``error`` is None when it was carried out."""

    id: int
    result: dict[str, Any] = {}
    error: Union[str, None] = None
    message: str = ""


class YouAre(_Frame, frozen=True, tag="you_are"):
    """The first frame: this window's number, 1, 2, … since the server started. A page that
    connects again keeps its number."""

    window: int


Doing = Literal["run", "run_all", "reject", "turn", "mode", "model", "key", "no_key"]


class DoneElsewhere(_Frame, frozen=True, tag="done_elsewhere"):
    """Another window has decided, or changed what may run or where keys go.

    what: ``run``, ``run_all`` (the rest of the turn runs without asking) or ``reject`` a
    draft called ``name``; ``turn`` a turn that runs without asking was started; ``mode``
    or ``model``: a session goes on with the one called ``name``; ``key`` the key and
    the address of the model were set (``name`` is its host) or, with ``no_key``, forgotten.
    """

    window: int
    what: Doing
    name: str = ""
    session_id: str = ""
    notebook: str = ""
    turn: int = 0


class SessionChanged(_Frame, frozen=True, tag="session"):
    """Sent on subscribing, and to every window when a session starts or stops running."""

    session: SessionInfo
    waiting: bool = False
    """A decision or an answer is waited for."""
    worked: tuple[str, ...] = ()
    """Cells that the agent has inserted or run last, the latest last; at most 20."""


class EventFrame(_Frame, frozen=True, tag="event"):
    session_id: str
    seq: int
    event: Event


class OpFrame(_Frame, frozen=True, tag="op"):
    """Apply in one transaction, with ``metadata.codeinterp.applied[session_id] = seq``."""

    notebook: str
    epoch: int
    session_id: str
    seq: int
    op: Op


class StreamFrame(_Frame, frozen=True, tag="stream"):
    """Code as it is written: put ``text`` at ``start`` of the draft. A hint: a frame that
    does not fit (the draft is not there or not ``start`` long) is dropped; an op follows."""

    notebook: str
    epoch: int
    draft_id: str
    cell_id: str
    kind: Literal["insert", "edit", "markdown"]
    start: int
    text: str


class OutputsFrame(_Frame, frozen=True, tag="outputs"):
    """Outputs of a running cell: ``outputs`` replace all from index ``start`` on.
    Dropped when the cell's run is another. A hint: ``finish_run`` brings all of them."""

    notebook: str
    epoch: int
    cell_id: str
    run_id: str
    start: int
    outputs: tuple[Output, ...]


class DisplayFrame(_Frame, frozen=True, tag="display"):
    """update_display_data: every output that was shown with this id gets the new data."""

    notebook: str
    epoch: int
    display_id: str
    data: dict[str, Any]
    metadata: dict[str, Any]


class ReadNotebook(_Frame, frozen=True, tag="read"):
    """Answer with a snapshot. With ``save`` the window saves the notebook as well.

    Nobody waits for the answer to ``request_id`` 0: it may be left out. With ``cell_ids`` it
    is about these cells.
    """

    notebook: str
    epoch: int
    request_id: int
    save: bool = False
    cell_ids: tuple[str, ...] = ()


class ReloadNotebook(_Frame, frozen=True, tag="reload"):
    """The agent has worked in the file since this window read it: read it anew, and say
    ``OpenNotebook`` again. With edits of the person's own it is not read, only said."""

    notebook: str


class Lease(_Frame, frozen=True, tag="lease"):
    """Whether this window is the one that the agent works in, from ``epoch`` on.

    It goes with the copy of the ``announcement`` with that number: a window that has said
    something else since waits for another.
    """

    notebook: str
    epoch: int
    held: bool
    announcement: int = 0


ServerFrame = Union[
    Reply,
    YouAre,
    DoneElsewhere,
    SessionChanged,
    EventFrame,
    OpFrame,
    StreamFrame,
    OutputsFrame,
    DisplayFrame,
    ReadNotebook,
    ReloadNotebook,
    Lease,
]
