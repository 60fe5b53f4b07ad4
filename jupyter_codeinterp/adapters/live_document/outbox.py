"""Ops on their way to the window that holds a notebook, and the receipts that come back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from ...core.document import Op, Receipt

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
        self.resends = 0
        self.timer: asyncio.TimerHandle | None = None

    def lacking(self, applied: Mapping[str, int]) -> bool:
        """Whether a document that holds the ops ``applied`` must get this one.

        An op that was refused, or was given up as pending, is not done behind the turn's
        back later on.
        """
        if not self.receipt.done():
            return True
        confirmed = self.receipt.result().status == "done"
        return confirmed and self.seq > applied.get(self.session_id, 0)

    def settle(self, receipt: Receipt) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if not self.receipt.done():
            self.receipt.set_result(receipt)


class Outbox:
    def __init__(self, send: Callable[[Parcel], bool]) -> None:
        """``send`` hands an op to the window; False when there is none."""
        self._send = send
        self._parcels: dict[tuple[str, int], Parcel] = {}

    def __bool__(self) -> bool:
        return bool(self._parcels)

    def add(self, session_id: str, seq: int, op: Op) -> asyncio.Future[Receipt]:
        parcel = self._parcels[session_id, seq] = Parcel(session_id, seq, op)
        self._dispatch(parcel)
        return parcel.receipt

    def resend(self, applied: Mapping[str, int]) -> None:
        """To a window that has just got the lease: what its document lacks, in order."""
        for parcel in self._parcels.values():
            if parcel.lacking(applied):
                parcel.resends = 0
                self._dispatch(parcel)

    def _dispatch(self, parcel: Parcel) -> None:
        if parcel.timer is not None:
            parcel.timer.cancel()
        if self._send(parcel) and not parcel.receipt.done():
            loop = asyncio.get_running_loop()
            parcel.timer = loop.call_later(RESEND_AFTER, self._overdue, parcel)

    def _overdue(self, parcel: Parcel) -> None:
        if parcel.resends < RESENDS:
            parcel.resends += 1
            self._dispatch(parcel)
        else:
            reason = "the notebook's window does not answer"
            parcel.settle(Receipt("pending", reason=reason))

    def hold(self) -> None:
        """The window is gone: wait for the next one."""
        for parcel in self._parcels.values():
            if parcel.timer is not None:
                parcel.timer.cancel()

    def receive(self, session_id: str, seq: int, receipt: Receipt) -> bool:
        """Whether there is such an op."""
        parcel = self._parcels.get((session_id, seq))
        if parcel is not None:
            parcel.settle(receipt)
        return parcel is not None

    def forget(self, session_id: str) -> None:
        """The session's turn is over: what has a receipt need not be sent again."""
        settled = [
            key
            for key, parcel in self._parcels.items()
            if parcel.session_id == session_id and parcel.receipt.done()
        ]
        for key in settled:
            del self._parcels[key]

    def give_up(self, reason: str, session_id: str = "") -> None:
        """Nothing (of that session) will be sent any more: what is open stays pending."""
        for key, parcel in list(self._parcels.items()):
            if session_id in ("", parcel.session_id):
                parcel.settle(Receipt("pending", reason=reason))
                del self._parcels[key]
