"""A session's events: numbered, journaled, and followed by any number of windows.

The journal is the queue: a follower that is slow reads what it missed from there, so
nothing is lost and nothing grows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import takewhile
from typing import Union

import msgspec

from .events import Event, TextDelta, ThinkingDelta
from .ports import SessionStore

DELTA_INTERVAL = 0.05
"""Seconds between text events: at most 20 a second reach journal and windows."""
RECENT_EVENTS = 2_000
"""Events kept in memory for followers; a slower one reads the journal."""
PAGE = 500
"""Events read from the journal at once."""

Delta = Union[TextDelta, ThinkingDelta]


class Feed:
    def __init__(self, store: SessionStore, session_id: str, last_seq: int) -> None:
        self.last_seq = last_seq
        self._store = store
        self._session_id = session_id
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=RECENT_EVENTS)
        self._waiters: list[asyncio.Future[None]] = []
        self._held: Delta | None = None
        self._timer: asyncio.TimerHandle | None = None

    def publish(self, event: Event) -> None:
        """Number an event, journal it, wake the followers. Deltas are gathered first.

        Raises StoreError if it cannot be journaled; then nobody is told either.
        """
        if isinstance(event, (TextDelta, ThinkingDelta)):
            self._gather(event)
        else:
            self.flush()
            self._publish(event)

    def _gather(self, event: Delta) -> None:
        held = self._held
        if held is not None and (type(held), held.block) == (type(event), event.block):
            event = msgspec.structs.replace(event, text=held.text + event.text)
        else:
            self.flush()
        self._held = event
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELTA_INTERVAL, self.flush)

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._held is not None:
            event, self._held = self._held, None
            self._publish(event)

    def _publish(self, event: Event) -> None:
        self._store.append_events(self._session_id, [(self.last_seq + 1, event)])
        self.last_seq += 1
        self._recent.append((self.last_seq, msgspec.json.encode(event)))
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()

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
        return self._store.written_events(self._session_id, after, PAGE)
