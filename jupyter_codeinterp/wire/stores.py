"""Interfaces of the journal: the part that a session uses, and the whole.

Every method is one transaction and raises StoreError on failure. Synchronous on purpose: an
append takes 0.1 ms (SQLite, WAL). On a network drive a thread makes the appends; the error of one
is raised at the next append, or at ``settle``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Union

import msgspec

from .commands import SessionInfo
from .events import Event
from .messages import Message
from .ops import Op, Output, Receipt


class StoredOp(msgspec.Struct, frozen=True):
    """``turn`` is 0 outside a turn, and -N for an undo or redo of turn N. ``outputs`` is the
    digest of the outputs that a light op lacks (``journal/ledger.py``)."""

    seq: int
    turn: int
    op: Op
    receipt: Union[Receipt, None] = None
    outputs: str = ""


LEASE_TIME = 30.0
"""Seconds until a lease expires without renewal."""


class Holder(msgspec.Struct, frozen=True):
    """Another server that works on a session."""

    host: str
    pid: int


INHERITED = -(2**53)
"""A number below all ops. A branch numbers its own ops from 1 and inherited ones from 0 down; a
document has inherited ops under the original session's numbers."""

Sessions = list[SessionInfo]
NumberedEvents = list[tuple[int, Event]]
WrittenEvents = list[tuple[int, bytes]]
StoredOps = list[StoredOp]
OpsBySession = list[tuple[str, StoredOps]]
"""Named here because ``SessionStore.list`` hides the built-in within the class."""


class Beginning(msgspec.Struct, frozen=True):
    """The state that a branch inherits: events and ops with the branch's numbers, and the other
    session's first ``messages`` messages and the requests of its first ``steps`` steps. ``model``:
    the other session's model. ``replaced``: the message that the branch replaces."""

    events: NumberedEvents
    ops: StoredOps
    messages: int
    steps: int
    model: str
    replaced: str = ""


class SessionStore(Protocol):
    """The part of the journal that a session uses."""

    @property
    def appends_later(self) -> bool:
        """Whether an append returns before its commit, for which ``settle`` waits."""

    def update(self, info: SessionInfo) -> None: ...

    def list(self, notebook: str | None = None) -> Sessions:
        """Sessions, newest first."""

    # --- leases: which server works on which session ---------------------------------

    def take_lease(self, session_id: str) -> Holder | None:
        """Reserve the session for this server until it releases the lease, does not renew it for
        ``LEASE_TIME``, or exits. If another server has it, return that one and change nothing."""

    def renew_lease(self, session_id: str) -> bool:
        """Call well within ``LEASE_TIME``. False if the lease is lost."""

    def release_lease(self, session_id: str) -> None: ...

    def holder(self, session_id: str) -> Holder | None:
        """The other server that works on the session now."""

    # --- events, numbered from 1 in each session ---------------------------------------

    def last_seq(self, session_id: str) -> int:
        """The number of the last event; 0 before the first."""

    def append_events(self, session_id: str, events: NumberedEvents) -> None:
        """Append events. They survive the end of the process at once, a power cut after
        ``settle``."""

    async def settle(self, session_id: str = "") -> None:
        """Flush appended data to the disk (2 to 50 ms). On a network drive it also raises the
        error of an append of this session, because appends only wait for the drive here."""

    async def tidy(self) -> None:
        """Do slow periodic maintenance."""

    def events(self, session_id: str, after: int = 0) -> NumberedEvents: ...

    def written_events(self, session_id: str, after: int, most: int) -> WrittenEvents:
        """At most ``most`` events as the stored JSON."""

    # --- messages of the conversation, and requests to the model -----------------------

    def append_messages(
        self, session_id: str, messages: tuple[Message, ...], conversation: int
    ) -> None:
        """Append an assistant message with its tool results, or a user message."""

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        """The number of the newest conversation and its messages, in order."""

    def count_messages(self, session_id: str) -> int:
        """Number of messages of all conversations of the session."""

    def all_messages(self, session_id: str) -> tuple[Message, ...]:
        """Messages of all conversations of the session, in order."""

    def append_request(self, session_id: str, step: int, request: dict[str, Any]) -> None:
        """Store a step's request: model, system, names of tools, number of messages."""

    # --- ops on notebooks ---------------------------------------------------------------

    def append_op(self, session_id: str, op: StoredOp) -> None: ...

    def set_receipt(self, session_id: str, seq: int, receipt: Receipt) -> None: ...

    def last_op(self, session_id: str) -> int:
        """The number of the last op; 0 before the first."""

    def ops(self, session_id: str, after: int = 0) -> StoredOps:
        """Light ops in order."""

    def whole_ops(self, session_id: str, after: int = 0) -> StoredOps:
        """Ops with their outputs, for a document."""

    # --- outputs, each stored once under its digest. The journal may drop old ones ------

    async def keep_outputs(self, session_id: str, outputs: tuple[Output, ...]) -> str:
        """Write outputs in a worker thread. Returns their digest; "" for none."""

    def outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        """Outputs of an op or receipt of the session; None if the journal dropped them."""

    async def kept_outputs(self, session_id: str, digest: str) -> tuple[Output, ...] | None:
        """As ``outputs``, but read in a worker thread."""

    async def cell_outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
        """Outputs of a cell's last run in the session, for ``read_output``."""

    # --- findings that a person has hidden, by notebook ----------------------------------

    def set_silenced(self, notebook: str, key: str, silenced: bool) -> None: ...

    def silenced(self, notebook: str) -> frozenset[str]: ...


class Journal(SessionStore, Protocol):
    """The whole journal, with warnings about itself for the person."""

    def create(self, info: SessionInfo) -> None: ...

    def create_branch(self, info: SessionInfo, of: str, beginning: Beginning) -> None:
        """Copy the beginning of session ``of``, atomically. Both are then independent."""

    def get(self, session_id: str) -> SessionInfo | None: ...

    async def search(self, word: str, notebook: str | None = None) -> Sessions:
        """Sessions with ``word`` in title, messages or answers, ignoring case; newest first."""

    def delete(self, session_id: str) -> None: ...

    def rename_notebook(self, old: str, new: str) -> None: ...

    def request(self, session_id: str, step: int) -> dict[str, Any] | None:
        """A step's request with its messages."""

    # --- which ops the notebooks' files contain -----------------------------------------

    def set_saved(self, session_id: str, seq: int) -> None:
        """Record that the notebook's file has the session's ops up to ``seq``. Never lowers the
        number; ignores an unknown session."""

    def give_up_ops(self, notebook: str, session_id: str = "") -> None:
        """The notebook's file is gone: never apply past ops of its sessions (or of this one) to
        another file of that name."""

    def saved_ops(self, notebook: str) -> dict[str, int]:
        """The numbers from ``set_saved``, by session of that notebook."""

    def ops_above(self, notebook: str, seqs: Mapping[str, int]) -> OpsBySession:
        """Whole ops of these sessions of the notebook with higher numbers, in journal order,
        neighbours of one session grouped."""

    def unsaved_ops(self, notebook: str) -> OpsBySession:
        """Whole ops that the notebook's file may lack, in journal order, neighbours of one
        session grouped. Omits sessions that another server works on."""

    # --- costs of models in US dollars by UTC day (2026-11-23), over all servers ---------

    def spend(self, day: str, dollars: float) -> None: ...

    def spent(self, day: str) -> float: ...

    # --- the journal itself -------------------------------------------------------------

    @property
    def warning(self) -> str:
        """A current problem of the journal, for the person; "" if none."""

    def notices(self) -> dict[int, str]:
        """Unread notices about past problems, by number."""

    def dismiss(self, notice: int) -> None:
        """Mark a notice as read."""
