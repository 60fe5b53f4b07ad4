"""A session's events: numbered, journaled, and followed by any number of windows.

The journal is the queue: a follower that is slow reads what it missed from there, so
nothing is lost and nothing grows. Only while the journal cannot be written, what is shown
all the same (the end of a turn, for one) waits in memory to be journaled later.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import takewhile
from typing import Union

import msgspec

from ..events import Event, TextDelta, ThinkingDelta
from ..stores import EventStore
from .deferred_writes import TAKEN, DeferredWrites

DELTA_INTERVAL = 0.05
"""Seconds between text events: the first of a text is shown at once, then at most 20 a second
reach journal and windows."""
RECENT_EVENTS = 2_000
"""Events kept in memory for followers; a slower one reads the journal."""
PAGE = 500
"""Events read from the journal at once."""

Delta = Union[TextDelta, ThinkingDelta]


class EventLog:
    def __init__(
        self, store: EventStore, session_id: str, last_seq: int, deferred: DeferredWrites
    ) -> None:
        self.last_seq = last_seq
        self._store = store
        self._session_id = session_id
        self._deferred = deferred
        self._journaled = last_seq
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=RECENT_EVENTS)
        self._waiters: list[asyncio.Future[None]] = []
        self._held: Delta | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._begun: tuple[type[Delta], int] | None = None
        """Of which text the first words have been shown: they do not wait."""

    def publish(self, event: Event) -> None:
        """Number an event, journal it, wake the followers.

        Raises StoreError if it cannot be journaled; then nobody is told either.
        """
        self.flush()
        self._deferred.catch_up()
        self._journal(self.last_seq + 1, event)
        self._tell(event)

    def show(self, event: Event) -> None:
        """The same for what has happened already: what cannot be journaled now is shown all
        the same, and journaled later. Deltas are gathered first."""
        if isinstance(event, (TextDelta, ThinkingDelta)):
            self._gather(event)
        else:
            self.flush()
            self._begun = None
            self._show(event)

    def _gather(self, event: Delta) -> None:
        text = (type(event), event.block)
        held = self._held
        if text != self._begun:
            self.flush()
            self._begun = text
            self._show(event)
            return
        if held is not None:
            event = msgspec.structs.replace(event, text=held.text + event.text)
        self._held = event
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELTA_INTERVAL, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held is not None:
            event, self._held = self._held, None
            self._show(event)

    def _show(self, event: Event) -> None:
        seq = self.last_seq + 1
        self._deferred.do(lambda: self._journal(seq, event))
        if self._deferred.given_up != TAKEN:
            self._tell(event)

    def _journal(self, seq: int, event: Event) -> None:
        self._store.append_events(self._session_id, [(seq, event)])
        self._journaled = seq

    def _tell(self, event: Event) -> None:
        self.last_seq += 1
        self._recent.append((self.last_seq, msgspec.json.encode(event)))
        self._wake()

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

    def catch_up(self, deferred: DeferredWrites) -> None:
        """Tell the followers here what another server has journaled since. From now on, what
        cannot be journaled waits in ``deferred``."""
        self._deferred = deferred
        self.last_seq = self._journaled = self._store.last_seq(self._session_id)
        self._recent.clear()  # They read it there.
        self._wake()

    async def follow(self, after: int) -> AsyncIterator[tuple[int, bytes]]:
        """Events after number ``after`` as JSON, then those to come, for ever."""
        while True:
            newest = self.last_seq
            events = self._since(after)
            for seq, event in events:
                yield seq, event
                after = seq
            if len(events) == PAGE:
                continue
            # Numbers have holes in the journal, where parts of a text were put together.
            after = max(after, newest)
            if after >= self.last_seq:
                waiter = asyncio.get_running_loop().create_future()
                self._waiters.append(waiter)
                await waiter

    def _since(self, after: int) -> list[tuple[int, bytes]]:
        """The next ones, at most a page."""
        if self._recent and self._recent[0][0] <= after + 1:
            newest_first = takewhile(lambda numbered: numbered[0] > after, reversed(self._recent))
            return list(newest_first)[: -PAGE - 1 : -1]
        events = self._store.written_events(self._session_id, after, PAGE)
        shown_only = [(seq, event) for seq, event in self._recent if seq > self._journaled]
        return [*events, *shown_only][:PAGE] if shown_only else events
