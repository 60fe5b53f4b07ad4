"""Ops that were sent or wait for the notebook's holder, and their receipts.

An op is kept until the notebook's file holds it: a document read from an older file gets it
again. An op without a confirmation counts as pending for the turn. It keeps its place and is
sent to the next holder.

A session's op waits until all its earlier ops are answered. So if a document's marker names an
unanswered op, the document has applied that op and did not merely pass it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ...wire.ops import FinishRun, Op, Receipt
from ...wire.stores import StoredOps
from .protocols import Owner, WindowState

RESEND_AFTER = 10.0
"""Seconds without a receipt after which an op is sent again."""
RESENDS = 2
"""Number of resends before an op counts as pending."""
LATER = Receipt("pending", reason="no one waits for it")


class PendingOp:
    """A numbered op and its receipt."""

    def __init__(self, session_id: str, seq: int, op: Op) -> None:
        self.session_id = session_id
        self.seq = seq
        self.op = op
        self.receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.late: Receipt | None = None
        """A receipt that came after the op had been given up as pending."""
        self.sent = False
        """Whether the current holder has been sent it."""
        self.resends = 0
        self.timer: asyncio.TimerHandle | None = None

    @property
    def status(self) -> str:
        """As in receipts; "" while there is none."""
        if self.late is not None:
            return self.late.status
        return self.receipt.result().status if self.receipt.done() else ""

    def is_missing_in(self, applied: Mapping[str, int]) -> bool:
        """Whether a document that holds the ops ``applied`` must get this one. Refused ops are
        never retried later without the turn's knowledge."""
        if self.status in ("", "pending"):
            return True
        return self.status == "done" and self.seq > applied.get(self.session_id, 0)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Outbox:
    def __init__(
        self, send: Callable[[PendingOp], bool], late: Callable[[PendingOp, Receipt], None]
    ) -> None:
        """``send`` hands an op on; False if there is no holder. ``late`` gets a receipt that
        comes after its op was given up as pending."""
        self._send = send
        self._late = late
        self._ops: dict[tuple[str, int], PendingOp] = {}
        self._due: dict[tuple[str, int], PendingOp] = {}
        """The ops not yet sent or answered: few, while an unsaved notebook may have thousands of
        ops."""
        self._running: set[str] = set()
        """Sessions that have sent something since their last turn ended."""

    def __bool__(self) -> bool:
        """Whether an op waits for its receipt."""
        return any(not pending.receipt.done() for pending in self._due.values())

    @property
    def has_any(self) -> bool:
        """Whether there are ops that the notebook's file may lack."""
        return bool(self._ops)

    @property
    def sessions(self) -> frozenset[str]:
        """Sessions with ops that the notebook's file may lack."""
        return frozenset(session_id for session_id, _ in self._ops)

    @property
    def in_use(self) -> bool:
        """Whether a turn is running that has sent something."""
        return bool(self._running)

    def add(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        pending = PendingOp(session_id, seq, op)
        self._ops[session_id, seq] = self._due[session_id, seq] = pending
        self._running.add(session_id)
        self._go_on()
        return pending.receipt

    def add_later(self, session_id: str, seq: int, op: Op) -> None:
        """Add an op that nobody waits for. It goes to the holder, now or next, in place of earlier
        ones about the same run that were not sent: while the notebook is closed, a run's outputs
        may come for ever."""
        if isinstance(op, FinishRun):
            run_id = op.run_id
            self._drop(
                lambda p: (
                    p.session_id == session_id
                    and not p.sent
                    and p.status == "pending"
                    and p.receipt.result() == LATER
                    and isinstance(p.op, FinishRun)
                    and p.op.run_id == run_id
                )
            )
        pending = PendingOp(session_id, seq, op)
        pending.receipt.set_result(LATER)
        self._ops[session_id, seq] = self._due[session_id, seq] = pending
        self._go_on()

    def restore(self, session_id: str, ops: StoredOps) -> None:
        """Take back ops from the journal, in order, before the later ones of their session."""
        restored = deque[PendingOp]()
        for stored in ops:
            known = (session_id, stored.seq) in self._ops
            if known or stored.receipt is None or stored.receipt.status not in ("done", "pending"):
                continue
            pending = PendingOp(session_id, stored.seq, stored.op)
            pending.receipt.set_result(stored.receipt)
            restored.append(pending)
        if not restored:
            return
        merged: list[PendingOp] = []
        for pending in self._ops.values():
            while restored and pending.session_id == session_id and pending.seq > restored[0].seq:
                merged.append(restored.popleft())
            merged.append(pending)
        merged.extend(restored)
        self._ops = {(p.session_id, p.seq): p for p in merged}

    def resend(self, applied: Mapping[str, int]) -> None:
        """Send a new holder, whose copy holds ``applied``, the missing ops in order."""
        self._due = {key: p for key, p in self._ops.items() if p.is_missing_in(applied)}
        for pending in self._due.values():
            pending.sent, pending.resends = False, 0
        self._go_on()

    def _go_on(self) -> None:
        """Send due ops, up to the first unanswered one of each session."""
        unanswered: set[str] = set()
        for key, pending in list(self._due.items()):
            if pending.session_id in unanswered:
                continue
            if not pending.sent:
                self._dispatch(pending)
            if pending.status in ("", "pending"):
                unanswered.add(pending.session_id)
            elif pending.sent:
                self._due.pop(key, None)

    def _dispatch(self, pending: PendingOp) -> None:
        pending.stop_timer()
        # Before sending: a file writer may answer at once.
        pending.sent = True
        if not self._send(pending):
            pending.sent = False
        elif not pending.receipt.done():
            loop = asyncio.get_running_loop()
            pending.timer = loop.call_later(RESEND_AFTER, self._overdue, pending)

    def _overdue(self, pending: PendingOp) -> None:
        if pending.resends < RESENDS:
            pending.resends += 1
            self._dispatch(pending)
        else:
            silent = Receipt("pending", reason="the notebook's window does not answer")
            for other in self._due.values():
                if other.session_id == pending.session_id and not other.receipt.done():
                    self._settle(other, silent)

    def _settle(self, pending: PendingOp, receipt: Receipt) -> None:
        pending.stop_timer()
        if not pending.receipt.done():
            pending.receipt.set_result(receipt)
        elif pending.status == "pending" and receipt.status != "pending":
            pending.late = receipt
            self._late(pending, receipt)
        if receipt.status != "pending":
            self._go_on()

    def hold(self) -> None:
        """The window is gone: wait for the next one."""
        for pending in self._due.values():
            pending.stop_timer()

    def leave_pending(self, reason: str) -> None:
        """Nobody can confirm ops now: turns need not wait for them."""
        for pending in self._due.values():
            self._settle(pending, Receipt("pending", reason=reason))

    def receive(self, session_id: str, seq: int, receipt: Receipt) -> bool:
        """Return whether such an op exists."""
        pending = self._ops.get((session_id, seq))
        if pending is not None:
            self._settle(pending, receipt)
        return pending is not None

    def end_turn(self, session_id: str) -> None:
        """Drop the refused ops of the ended turn."""
        self._running.discard(session_id)
        self._drop(lambda p: p.session_id == session_id and p.status not in ("", "pending", "done"))

    def saved(self, saved: Mapping[str, int]) -> None:
        """Drop the ops that the notebook's file holds."""
        self._drop(lambda p: p.status == "done" and p.seq <= saved.get(p.session_id, 0))

    def reverted(self, applied: Mapping[str, int]) -> dict[str, int]:
        """The person reverted to the file: give up ops of ended turns that the file lacks. Return
        the highest number given up for each session."""
        given_up: dict[str, int] = {}
        for pending in self._ops.values():
            ended = pending.session_id not in self._running
            if ended and pending.status == "done" and pending.is_missing_in(applied):
                given_up[pending.session_id] = pending.seq
        self.saved(given_up)
        return given_up

    def give_up(self, reason: str, session_id: str = "") -> None:
        """Send nothing more (of that session): open ops stay pending."""

        def concerned(pending: PendingOp) -> bool:
            return session_id in ("", pending.session_id)

        self._running -= {session_id} if session_id else set(self._running)
        for pending in filter(concerned, list(self._ops.values())):
            self._settle(pending, Receipt("pending", reason=reason))
        self._drop(concerned)

    def _drop(self, which: Callable[[PendingOp], bool]) -> None:
        self._ops = {key: p for key, p in self._ops.items() if not which(p)}
        self._due = {key: p for key, p in self._due.items() if key in self._ops}


# -------------------------------------------------------------------------------------------------
# Which ops a notebook's file is known to hold.


class FileHolds:
    def __init__(self, outbox: Outbox, owner: Owner[Any] | None) -> None:
        self.ops: dict[str, int] = {}
        """The highest number of each session."""
        self._outbox = outbox
        self._owner = owner

    def add(self, saved: Mapping[str, int]) -> None:
        for session_id, seq in saved.items():
            self.ops[session_id] = max(seq, self.ops.get(session_id, 0))

    def saved(self, saved: Mapping[str, int]) -> None:
        """These ops are saved or given up: do not send them again."""
        self._outbox.saved(saved)
        self.add(saved)
        if saved and self._owner is not None:
            self._owner.saved(saved)

    def lacking_in(self, state: WindowState) -> bool:
        """Whether the copy lacks known saved ops."""
        return any(state.applied.get(key, 0) < seq for key, seq in self.ops.items())
