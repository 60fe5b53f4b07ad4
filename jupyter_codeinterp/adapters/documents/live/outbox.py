"""Ops on their way to whoever works in a notebook, and the receipts that come back.

An op is kept until it is known to be in the notebook's file: a document that was read from
an older one gets it again. One that nobody could confirm counts as pending for the turn;
it stays in its place and is sent when there is somebody to apply it.

Of a session nothing is sent before all that is earlier has been answered. So a document
whose marker is at an op that has no answer yet has taken that op, and was not merely past it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from ....core.document.ops import Op, Receipt
from ....core.stores import StoredOps

RESEND_AFTER = 10.0
"""Seconds without a receipt after which an op is sent again."""
RESENDS = 2
"""How often an op is sent again before it counts as pending."""


class Parcel:
    """An op that has been numbered, and its receipt when there is one."""

    def __init__(self, session_id: str, seq: int, op: Op) -> None:
        self.session_id = session_id
        self.seq = seq
        self.op = op
        self.receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self.late: Receipt | None = None
        """What came after it had been given up as pending."""
        self.sent = False
        """Whether whoever holds the notebook now has been sent it."""
        self.resends = 0
        self.timer: asyncio.TimerHandle | None = None

    @property
    def status(self) -> str:
        """As in receipts; "" while there is none."""
        if self.late is not None:
            return self.late.status
        return self.receipt.result().status if self.receipt.done() else ""

    def lacking(self, applied: Mapping[str, int]) -> bool:
        """Whether a document that holds the ops ``applied`` must get this one. What has been
        refused is not done behind the turn's back later on."""
        if self.status in ("", "pending"):
            return True
        return self.status == "done" and self.seq > applied.get(self.session_id, 0)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Outbox:
    def __init__(
        self, send: Callable[[Parcel], bool], late: Callable[[Parcel, Receipt], None]
    ) -> None:
        """``send`` hands an op on; False when there is nobody. ``late`` is told of a receipt
        that comes after its op has been given up as pending."""
        self._send = send
        self._late = late
        self._parcels: dict[tuple[str, int], Parcel] = {}
        self._due: dict[tuple[str, int], Parcel] = {}
        """Of these the ones that the holder has not been sent or has not answered: few, where
        all may be thousands in a notebook that is not saved."""
        self._running: set[str] = set()
        """Sessions that have sent something since their last turn ended."""

    def __bool__(self) -> bool:
        """Whether an op waits for its receipt."""
        return any(not parcel.receipt.done() for parcel in self._due.values())

    @property
    def in_use(self) -> bool:
        """Whether a turn is running that has sent something."""
        return bool(self._running)

    def add(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        parcel = Parcel(session_id, seq, op)
        self._parcels[session_id, seq] = self._due[session_id, seq] = parcel
        self._running.add(session_id)
        self._go_on()
        return parcel.receipt

    def restore(self, session_id: str, ops: StoredOps) -> None:
        """Ops of the journal, which somebody may need."""
        for stored in ops:
            if stored.receipt is not None and stored.receipt.status in ("done", "pending"):
                self._restore(session_id, stored.seq, stored.op, stored.receipt)

    def _restore(self, session_id: str, seq: int, op: Op, receipt: Receipt) -> None:
        """It goes before later ones."""
        if (session_id, seq) in self._parcels:
            return
        parcel = Parcel(session_id, seq, op)
        parcel.receipt.set_result(receipt)
        parcels = list(self._parcels.values())
        later = (i for i, p in enumerate(parcels) if p.session_id == session_id and p.seq > seq)
        parcels.insert(next(later, len(parcels)), parcel)
        self._parcels = {(p.session_id, p.seq): p for p in parcels}

    def resend(self, applied: Mapping[str, int]) -> None:
        """To one who has just got the lease and holds the ops ``applied``: what its document
        lacks, in order."""
        self._due = {key: p for key, p in self._parcels.items() if p.lacking(applied)}
        for parcel in self._due.values():
            parcel.sent, parcel.resends = False, 0
        self._go_on()

    def _go_on(self) -> None:
        """Send what is due, as far as it may be sent."""
        unanswered: set[str] = set()
        for key, parcel in list(self._due.items()):
            if parcel.session_id in unanswered:
                continue
            if not parcel.sent:
                self._dispatch(parcel)
            if parcel.status in ("", "pending"):
                unanswered.add(parcel.session_id)
            elif parcel.sent:
                self._due.pop(key, None)

    def _dispatch(self, parcel: Parcel) -> None:
        parcel.stop_timer()
        # Before it is sent: a file writer's answer may come at once.
        parcel.sent = True
        if not self._send(parcel):
            parcel.sent = False
        elif not parcel.receipt.done():
            loop = asyncio.get_running_loop()
            parcel.timer = loop.call_later(RESEND_AFTER, self._overdue, parcel)

    def _overdue(self, parcel: Parcel) -> None:
        if parcel.resends < RESENDS:
            parcel.resends += 1
            self._dispatch(parcel)
        else:
            pending = Receipt("pending", reason="the notebook's window does not answer")
            for other in self._due.values():
                if other.session_id == parcel.session_id and not other.receipt.done():
                    self._settle(other, pending)

    def _settle(self, parcel: Parcel, receipt: Receipt) -> None:
        parcel.stop_timer()
        if not parcel.receipt.done():
            parcel.receipt.set_result(receipt)
        elif parcel.status == "pending" and receipt.status != "pending":
            parcel.late = receipt
            self._late(parcel, receipt)
        if receipt.status != "pending":
            self._go_on()

    def hold(self) -> None:
        """The window is gone: wait for the next one."""
        for parcel in self._due.values():
            parcel.stop_timer()

    def leave_pending(self, reason: str) -> None:
        """Nobody can confirm anything now: turns need not wait for it."""
        for parcel in self._due.values():
            self._settle(parcel, Receipt("pending", reason=reason))

    def receive(self, session_id: str, seq: int, receipt: Receipt) -> bool:
        """Whether there is such an op."""
        parcel = self._parcels.get((session_id, seq))
        if parcel is not None:
            self._settle(parcel, receipt)
        return parcel is not None

    def end_turn(self, session_id: str) -> None:
        """What has been refused need not be known any longer."""
        self._running.discard(session_id)
        self._drop(lambda p: p.session_id == session_id and p.status not in ("", "pending", "done"))

    def saved(self, saved: Mapping[str, int]) -> None:
        """The notebook's file holds these ops."""
        self._drop(lambda p: p.status == "done" and p.seq <= saved.get(p.session_id, 0))

    def reverted(self, applied: Mapping[str, int]) -> dict[str, int]:
        """The person has gone back to the file's state: what it lacks is not done again, but
        for a turn that is running. The highest number of each session that is given up."""
        given_up: dict[str, int] = {}
        for parcel in self._parcels.values():
            ended = parcel.session_id not in self._running
            if ended and parcel.status == "done" and parcel.lacking(applied):
                given_up[parcel.session_id] = parcel.seq
        self.saved(given_up)
        return given_up

    def give_up(self, reason: str, session_id: str = "") -> None:
        """Nothing (of that session) will be sent any more: what is open stays pending."""

        def concerned(parcel: Parcel) -> bool:
            return session_id in ("", parcel.session_id)

        self._running -= {session_id} if session_id else set(self._running)
        for parcel in filter(concerned, list(self._parcels.values())):
            self._settle(parcel, Receipt("pending", reason=reason))
        self._drop(concerned)

    def _drop(self, which: Callable[[Parcel], bool]) -> None:
        self._parcels = {key: p for key, p in self._parcels.items() if not which(p)}
        self._due = {key: p for key, p in self._due.items() if key in self._parcels}
