"""A session's events: numbered, journaled, and followed by any number of windows.

The journal is the queue: a slow follower reads from it, so nothing is lost and no buffer grows.
Only while the journal fails, shown events (the end of a turn, say) wait in memory.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import takewhile
from typing import Union

import msgspec

from ..base.errors import StoreError
from ..wire.events import (
    DraftDecided,
    DraftWaiting,
    Event,
    TextDelta,
    ThinkingDelta,
    TurnEnded,
    event_json,
)
from .sqlite.store import SqliteStore

# -------------------------------------------------------------------------------------------------
# Journal writes that failed and are repeated later, in order.
#
# A full disk or a locked journal stops a turn. It must not lose what the person or the model has
# already seen.

Write = Callable[[], object]

TAKEN, GONE = "repeated", "unknown_session"
"""Codes of writes that can never succeed: another server has taken over the session, or the
journal no longer has it."""


class DeferredWrites:
    def __init__(self, failed: Callable[[StoreError], None]) -> None:
        """``failed`` is called for each write that is deferred or given up."""
        self._failed = failed
        self._waiting: deque[Write] = deque()
        self.given_up = ""
        """``TAKEN`` or ``GONE`` after the final failure: no more writes."""

    def __bool__(self) -> bool:
        """Whether writes wait."""
        return bool(self._waiting)

    def do(self, write: Write) -> None:
        """Write after all waiting writes, now or later. Raises nothing."""
        if self.given_up:
            return
        self._waiting.append(write)
        try:
            self.catch_up()
        except StoreError as error:
            self._failed(error)

    def catch_up(self) -> None:
        """Write what waits. Raises StoreError at the first failure; that write keeps waiting."""
        while self._waiting:
            try:
                self._waiting[0]()
            except StoreError as error:
                if error.code in (TAKEN, GONE):
                    self.give_up(error.code)
                raise
            self._waiting.popleft()

    def give_up(self, why: str = TAKEN) -> None:
        self.given_up = why
        self._waiting.clear()


DELTA_INTERVAL = 0.05
"""Seconds between text events: the first of a text shows at once, later ones at most 20 times a
second."""
RECENT_EVENTS = 2_000
"""Events kept in memory for followers; a slower one reads the journal."""
PAGE = 500
"""Events read from the journal at once."""

Delta = Union[TextDelta, ThinkingDelta]


class EventLog:
    def __init__(self, store: SqliteStore, session_id: str, deferred: DeferredWrites) -> None:
        self.last_seq = self._journaled = store.last_seq(session_id)
        self._store = store
        self._session_id = session_id
        self._deferred = deferred
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=RECENT_EVENTS)
        self._waiting: dict[int, bytes] = {}
        """The complete event of a waiting draft, by number."""
        self._shown = asyncio.Event()
        """Set at the next event, and replaced then."""
        self.followers = 0
        self._held: Delta | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._begun: tuple[type[Delta], int] | None = None
        """The text being streamed (type and block), whose first words were shown at once."""

    def publish(self, event: Event) -> None:
        """Number an event, journal it, wake the followers.

        Raises StoreError if the journal fails; then no follower gets it.
        """
        self.flush()
        self._deferred.catch_up()
        self._journal(self.last_seq + 1, event)
        self._notify(event)

    def show(self, event: Event) -> None:
        """Show what has already happened, even if the journal fails; then write it later.
        Text deltas are collected first."""
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
            self._notify(event)

    def _journal(self, seq: int, event: Event) -> None:
        self._store.append_events(self._session_id, [(seq, event)])
        self._journaled = seq

    def _notify(self, event: Event) -> None:
        self.last_seq += 1
        data = event_json(event)
        self._recent.append((self.last_seq, data))
        if isinstance(event, DraftWaiting):
            self._waiting[self.last_seq] = data
        elif isinstance(event, (DraftDecided, TurnEnded)):
            self._waiting.clear()
        self._wake()

    def _wake(self) -> None:
        self._shown.set()
        self._shown = asyncio.Event()

    def catch_up(self, deferred: DeferredWrites) -> None:
        """Send followers what another server has journaled. Failed writes now wait in
        ``deferred``."""
        self._deferred = deferred
        self.last_seq = self._journaled = self._store.last_seq(self._session_id)
        self._recent.clear()  # Followers read the journal.
        self._wake()

    async def follow(self, after: int) -> AsyncIterator[tuple[int, bytes]]:
        """Events after number ``after`` as JSON, then those to come, without end. A number that is
        still to come counts as the last one."""
        self.followers += 1
        try:
            async for numbered in self._follow(min(max(after, 0), self.last_seq)):
                yield numbered
        finally:
            self.followers -= 1

    def journaled(self, after: int) -> Iterator[tuple[int, bytes]]:
        """The journal's events after number ``after`` as JSON, to its end."""
        while events := self._page(after):
            yield from events
            after = events[-1][0]

    async def _follow(self, after: int) -> AsyncIterator[tuple[int, bytes]]:
        while True:
            newest = self.last_seq
            events = self._since(after)
            for seq, event in events:
                yield seq, event
                after = seq
            if len(events) == PAGE:
                continue
            # The journal's numbers have gaps where parts of a text were merged.
            after = max(after, newest)
            if after >= self.last_seq:
                await self._shown.wait()

    def _since(self, after: int) -> list[tuple[int, bytes]]:
        """At most a page of later events."""
        if self._recent and self._recent[0][0] <= after + 1:
            newest_first = takewhile(lambda numbered: numbered[0] > after, reversed(self._recent))
            return list(newest_first)[: -PAGE - 1 : -1]
        events = self._page(after)
        shown_only = [(seq, event) for seq, event in self._recent if seq > self._journaled]
        return [*events, *shown_only][:PAGE] if shown_only else events

    def _page(self, after: int) -> list[tuple[int, bytes]]:
        """A page of the journal, without API keys; only a waiting draft is complete."""
        written = self._store.written_events(self._session_id, after, PAGE)
        return [(seq, self._waiting.get(seq, event)) for seq, event in written]
