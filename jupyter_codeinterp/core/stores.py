"""The journal as the core needs it: a role for each that uses it, and all of them together.

Every method is one transaction and raises StoreError if it fails. Synchronous on purpose: an
append takes 0.1 ms (SQLite, WAL).
"""

from __future__ import annotations

from typing import Any, Protocol, Union

import msgspec

from .commands import SessionInfo
from .document.ops import Op, Output, Receipt
from .events import Event
from .messages import Message


class StoredOp(msgspec.Struct, frozen=True):
    """``turn`` is 0 for an op outside of a turn (an undo)."""

    seq: int
    turn: int
    op: Op
    receipt: Union[Receipt, None] = None


LEASE_TIME = 30.0
"""Seconds that a server keeps a session without renewing it."""


class Holder(msgspec.Struct, frozen=True):
    """Another server that works on a session."""

    host: str
    pid: int


INHERITED = -(2**53)
"""After this number are all ops, also those that a branch has taken over: its own are numbered
from 1, and those before from 0 down. A document knows them by the numbers of the session that
did them."""

Sessions = list[SessionInfo]
NumberedEvents = list[tuple[int, Event]]
WrittenEvents = list[tuple[int, bytes]]
StoredOps = list[StoredOp]
OpsBySession = list[tuple[str, StoredOps]]
"""Named here because ``SessionTable.list`` hides the built-in within the class."""


class Beginning(msgspec.Struct, frozen=True):
    """What a branch takes over: these events and ops, as they are numbered in it, and of the
    other session the first ``messages`` messages and what was sent in the first ``steps``
    steps. ``model`` answered there."""

    events: NumberedEvents
    ops: StoredOps
    messages: int
    steps: int
    model: str


class SessionTable(Protocol):
    """Which sessions there are."""

    def create(self, info: SessionInfo) -> None: ...

    def create_branch(self, info: SessionInfo, of: str, beginning: Beginning) -> None:
        """A session that begins as the session ``of`` did, whole or not at all. From then on
        neither needs the other."""

    def update(self, info: SessionInfo) -> None: ...

    def get(self, session_id: str) -> SessionInfo | None: ...

    def list(self, notebook: str | None = None) -> Sessions:
        """Newest first."""

    async def search(self, word: str, notebook: str | None = None) -> Sessions:
        """Those whose title, person's messages or model's answers hold ``word``, upper and
        lower case being one; newest first."""

    def delete(self, session_id: str) -> None: ...

    def rename_notebook(self, old: str, new: str) -> None: ...


class LeaseStore(Protocol):
    """Which server works on which session."""

    def take_lease(self, session_id: str) -> Holder | None:
        """From now on this server works on the session, and no other: until it gives the
        lease back, or has not renewed it for ``LEASE_TIME``, or is gone. If another has it,
        that one, and nothing happens."""

    def renew_lease(self, session_id: str) -> bool:
        """To be called well within ``LEASE_TIME``. False if it is lost."""

    def release_lease(self, session_id: str) -> None: ...

    def holder(self, session_id: str) -> Holder | None:
        """The other server that works on the session now."""


class EventStore(Protocol):
    """What happened, numbered from 1 in each session."""

    def last_seq(self, session_id: str) -> int:
        """The number of the session's last event, 0 before the first."""

    def append_events(self, session_id: str, events: NumberedEvents) -> None:
        """Survives the end of the process at once, a power cut after ``settle``."""

    async def settle(self) -> None:
        """What has been appended is on the disk when this returns (2 to 50 ms)."""

    async def tidy(self) -> None:
        """Do what must be done now and then and takes its time."""

    def events(self, session_id: str, after: int = 0) -> NumberedEvents: ...

    def written_events(self, session_id: str, after: int, most: int) -> WrittenEvents:
        """The same as JSON, as it was written; at most so many."""


class MessageStore(Protocol):
    """What was said to the model, and what was sent."""

    def append_messages(
        self, session_id: str, messages: tuple[Message, ...], conversation: int
    ) -> None:
        """An assistant message together with its tool results, or a user message."""

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        """The number of the newest conversation and its messages, in order."""

    def count_messages(self, session_id: str) -> int:
        """Of all conversations of the session."""

    def all_messages(self, session_id: str) -> tuple[Message, ...]:
        """Of all conversations of the session, in order."""

    def append_request(self, session_id: str, step: int, request: dict[str, Any]) -> None:
        """What was sent in a step: model, system, names of tools, number of messages."""

    def request(self, session_id: str, step: int) -> dict[str, Any] | None:
        """The request of a step, its messages filled in."""


class OpStore(Protocol):
    """What was done to notebooks, and what their files have of it."""

    def append_op(self, session_id: str, op: StoredOp) -> None: ...

    def set_receipt(self, session_id: str, seq: int, receipt: Receipt) -> None: ...

    def ops(self, session_id: str, after: int = 0) -> StoredOps: ...

    def set_saved(self, session_id: str, seq: int) -> None:
        """The notebook's saved file is known to have the session's ops up to number ``seq``.
        What is known of higher ones stays; an unknown session is nothing."""

    def give_up_ops(self, notebook: str, session_id: str = "") -> None:
        """The notebook's file is gone: no op so far of its sessions (of that one alone) is
        ever to be done in another file of that name."""

    def saved_ops(self, notebook: str) -> dict[str, int]:
        """What ``set_saved`` has been told of the sessions of that notebook."""

    def unsaved_ops(self, notebook: str) -> OpsBySession:
        """The ops of that notebook's sessions that the saved file is not known to have, in the
        order in which they were journaled; a session's next to each other are together.
        Sessions that another server works on are left out."""


class OutputStore(Protocol):
    """What the model may read again."""

    def put_outputs(self, session_id: str, cell_id: str, outputs: tuple[Output, ...]) -> None:
        """The outputs of a cell's last run, for ``read_output``. The journal may cut what is
        very large, with a note in its place, and drop what is old."""

    def outputs(self, session_id: str, cell_id: str) -> tuple[Output, ...] | None: ...


class SpendingStore(Protocol):
    """What models have cost, by day (as 2026-11-23) of UTC, in US dollars: of all servers that
    have the same journal."""

    def spend(self, day: str, dollars: float) -> None: ...

    def spent(self, day: str) -> float: ...


class SessionStore(
    SessionTable, LeaseStore, EventStore, MessageStore, OpStore, OutputStore, Protocol
):
    """The whole of it."""


class Journal(SessionStore, Protocol):
    """The same for those who tell the person of it."""

    @property
    def warning(self) -> str:
        """What the person should know of the journal now; "" if nothing."""

    def notices(self) -> dict[int, str]:
        """What the person should know of its past until they have read it, by number."""

    def dismiss(self, notice: int) -> None:
        """A notice has been read."""
