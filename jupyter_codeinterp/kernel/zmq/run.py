"""One execution, from the request to its end.

A run is complete when its reply and its ``idle`` have arrived. If the kernel aborts a request
that was queued behind a failed cell, the code has not run. It is sent again **under the same
msg_id**, so that the journal stays true.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from typing import Any, Literal

from ...base.errors import KernelError
from ...base.sentences import Sentence, as_it_is, together
from ...notebook.collector import OUTPUT_TYPES, Collector
from ...sandbox.network import book
from ...wire.findings import Observation
from ...wire.ports import (
    DisplayUpdated,
    ExecutionDone,
    ExecutionEvent,
    ExecutionStarted,
    OutputsChanged,
)
from ..inside.mark import LOOKS_AT, WATCH
from ..iopub import UNSURE, Mark
from ..wire import KernelMessage, execute_request
from .late import FLUSH, EndedRun, Hear
from .link import KernelLink
from .unusable import replace_unusable

FLUSH_RATE = 500_000
"""Characters a second sent for display: larger outputs are sent less often."""
FLOOD = 256_000_000
"""Characters of omitted text after which the code is interrupted."""
REPLY_TIMEOUT = 0.5
"""Seconds after an interrupted run's ``idle`` within which its reply must come. ipykernel sends
none if the interrupt came before the code's first instruction."""
INTERRUPT_TIMEOUT = 5.0
"""Seconds within which an interrupted run should end."""
ATTEMPTS = 20
IGNORED = Sentence("The kernel ignored the interrupt. The code may still be running.")
DROPPED = Sentence("Output truncated: the kernel dropped some of it.")
TOO_FAST = "({count:,} messages: the code printed too fast.)"
CUT = Sentence("Output is missing: the connection to the gateway was cut.")
UNHEARD = Sentence(
    "The connection to the gateway was cut while the code ran, and its result is lost. "
    "The code has ended; whether without an error is unknown."
)

Cause = Literal["timeout", "interrupted", "dead"]


class Run:
    """Iterate over ``events``; to give up, call ``stop``, then read ``done``."""

    def __init__(
        self,
        link: KernelLink,
        source: str,
        msg_id: str,
        timeout: float | None,
        looks_at: dict[str, Any] | None = None,
    ) -> None:
        self.done: ExecutionDone | None = None
        self.sent = False
        self._link = link
        self._source = source
        self._msg_id = msg_id
        self._timeout = timeout
        self._metadata: dict[str, Any] = {LOOKS_AT: looks_at} if looks_at else {}
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._collector = Collector()
        self._updates: dict[str, DisplayUpdated] = {}
        self._next_flush = 0.0
        self._sent_at = 0.0
        self._started_at: float | None = None
        self._announced = False
        self._count: int | None = None
        self._reply: dict[str, Any] | None = None
        self._replied_at = 0.0
        self._idle_at: float | None = None
        self._cause: Cause | None = None
        self._interrupted_at: float | None = None
        self._notes: list[Sentence] = []
        self._first: Mark | None = None
        self._dropped = 0
        """Messages that the kernel published during the run and that never arrived."""
        self._unwatched = False
        self._unheard = False
        self._cuts = 0
        self._lag = 0.0
        self._limit = Sentence()
        """The sandbox limit that made the code fail; "" for none."""
        self._ended: EndedRun | None = None

    @property
    def begun(self) -> bool:
        return self._started_at is not None

    async def events(
        self, is_same: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[ExecutionEvent, None]:
        """Wait for idle, send, follow. Raises ``kernel_changed`` if, after the wait, the kernel is
        no longer the same one (``is_same``)."""
        for _ in range(ATTEMPTS):
            await self._link.settle()
            if not await is_same():
                words = "The kernel was restarted or changed while the code was waiting for it."
                raise KernelError("kernel_changed", words)
            try:
                await self._send()
            except KernelError as error:
                if error.code != "unconnected":
                    raise
                continue  # Not sent. Somebody may have run a cell meanwhile.
            async for event in self._follow():
                yield event
            if not self._was_aborted():
                break
            self.sent = False  # The kernel has run nothing of it.
        if self._cause != "dead":
            asked = _payload(self._reply, "ask_exit")
            exits = any(not each.get("keepkernel") for each in asked)
            incomplete = self._reply is None or self._idle_at is None
            why = await replace_unusable(self._link, exits=exits, incomplete=incomplete)
            if why:
                self._cause = "dead"
                self._notes = [why, self._link.process.gone]
        yield self._finish()

    async def stop(self) -> None:
        """Interrupt our code only, and wait for its end."""
        self._unwatched = True
        if self._cause is None:
            self._cause = "interrupted"
            self._interrupt()
        async for _ in self._follow():
            pass
        self._finish()

    # --- incoming messages ---------------------------------------------------------------

    def handle(self, message: KernelMessage) -> None:
        kind, content = message.msg_type, message.content
        if kind in OUTPUT_TYPES or kind == "clear_output":
            self._place().add(kind, content, message.size)
        elif kind == "update_display_data" and content is not None:
            self._update_display(content, message.size)
        elif kind == "execute_input":
            self._started_at = self._loop.time()
            self._next_flush = self._started_at + FLUSH
            self._first = self._link.counter.mark()
            self._count = (content or {}).get("execution_count")
            if self._cause == "interrupted":
                # Stopped before it began, but too late to withdraw the request.
                self._interrupt()
        elif kind == "status" and (content or {}).get("execution_state") == "idle":
            self._idle_at = self._loop.time()
            if self._first is not None:
                # Where a connection was cut, one missing message is enough to say so.
                unsure = 0 if self._link.cuts > self._cuts else UNSURE
                self._dropped = self._link.counter.lost_since(self._first, unsure)
        self._wake.set()

    def listen_on(self, hear: Hear) -> None:
        """Report outputs that come after the end."""
        if self._ended is not None:
            self._ended.listen_on(hear)

    def lost(self) -> None:
        self._cause = "dead"
        self._notes.append(self._link.process.gone)
        self._wake.set()

    def _place(self) -> Collector:
        return self._link.widgets.capturing(self._msg_id) or self._collector

    def _update_display(self, content: dict[str, Any], size: int) -> None:
        place = self._place()
        if place.update(content, size) or self._collector.update(content, size):
            return
        self._link.ended.update(content, size)
        display_id = content.get("transient", {}).get("display_id", "")
        metadata = content.get("metadata", {})
        self._updates[display_id] = DisplayUpdated(display_id, content["data"], metadata)

    # --- sending and following -------------------------------------------------------

    async def _send(self) -> None:
        self._reply = None
        self._idle_at = None
        self._sent_at = self._sent_at or self._loop.time()
        wire = self._link.wire
        self._cuts = wire.cuts
        self._lag = wire.lag
        self._link.listeners[self._msg_id] = self
        request = execute_request(self._source, silent=False)
        wire.expect(self._msg_id).add_done_callback(self._on_reply)
        try:
            await wire.send(
                "shell",
                "execute_request",
                request,
                msg_id=self._msg_id,
                metadata=self._metadata,
                at_once=True,
            )
        except BaseException:
            self._link.listeners.pop(self._msg_id, None)
            raise
        self.sent = True

    def _on_reply(self, answer: asyncio.Future[KernelMessage]) -> None:
        self._wake.set()
        error = None if answer.cancelled() else answer.exception()
        self._unheard = isinstance(error, KernelError) and error.code == "unheard"
        if self._unheard:
            self._reply = {}
            self._replied_at = self._loop.time()
        elif not answer.cancelled() and error is None:
            # Only a giant traceback makes a reply too large to read.
            self._reply = answer.result().content or {"status": "error"}
            self._replied_at = self._loop.time()
            self._link.recognise(answer.result())

    async def _follow(self) -> AsyncGenerator[ExecutionEvent, None]:
        """Events until the run is over; can be called again to continue."""
        while True:
            if self._started_at is not None and not self._announced:
                self._announced = True
                yield ExecutionStarted(self._count)
            now = self._loop.time()
            if self._is_over(now):
                for update in self._display_updates():
                    yield update
                return
            if now >= self._next_flush:
                for event in self._flush(now):
                    yield event
            self._enforce_limits(now)
            await self._sleep(now)

    def _is_over(self, now: float) -> bool:
        if self._cause == "dead":
            return True
        if self._reply is not None and self._idle_at is not None:
            return True
        if any(now >= due for due in self._deadlines()):
            return True
        disobeyed = (
            self._interrupted_at is not None and now >= self._interrupted_at + INTERRUPT_TIMEOUT
        )
        # The reply shows that the kernel obeyed. Its ``idle`` may come late after a flood, or be
        # lost.
        return disobeyed and (self._reply is not None or not self._unwatched)

    def _deadlines(self) -> Iterator[float]:
        """Times at which to give up on the missing reply or ``idle``."""
        if self._reply is not None:
            yield self._replied_at + self._lag
        elif self._idle_at is not None:
            yield self._idle_at + (self._lag if self._interrupted_at is None else REPLY_TIMEOUT)

    def _enforce_limits(self, now: float) -> None:
        if self._cause is not None or self._started_at is None:
            return
        if self._timeout is not None and now >= self._started_at + self._timeout:
            self._cause = "timeout"
            self._interrupt()
        elif self._collector.left_out > FLOOD:
            self._cause = "interrupted"
            self._notes.append(Sentence("The code was interrupted because it kept printing."))
            self._interrupt()

    def _interrupt(self) -> None:
        ours_runs = self._started_at is not None and self._idle_at is None and self._reply is None
        if ours_runs and self._cause != "dead":
            self._interrupted_at = self._loop.time()
            self._link.spawn(self._link.interrupt())

    async def _sleep(self, now: float) -> None:
        """Sleep until a message arrives or a timer is due."""
        due = []
        if self._collector.pending or self._updates:
            due.append(self._next_flush)
        due.extend(self._deadlines())
        if self._interrupted_at is not None:
            due.append(self._interrupted_at + INTERRUPT_TIMEOUT)
        elif self._timeout is not None and self._started_at is not None:
            due.append(self._started_at + self._timeout)
        later = [time for time in due if time > now]
        alarm = self._loop.call_at(min(later), self._wake.set) if later else None
        try:
            await self._wake.wait()
        finally:
            self._wake.clear()
            if alarm is not None:
                alarm.cancel()

    def _flush(self, now: float) -> Iterator[ExecutionEvent]:
        size = self._collector.pending
        changed = self._collector.take()
        if changed is not None:
            self._next_flush = now + min(max(FLUSH, size / FLUSH_RATE), 1.0)
            yield OutputsChanged(*changed)
        if self._updates:
            self._next_flush = max(self._next_flush, now + FLUSH)
            yield from self._display_updates()

    def _display_updates(self) -> Iterator[DisplayUpdated]:
        """Changes outside this run's outputs since the last call."""
        updates, self._updates = self._updates, {}
        yield from updates.values()

    # --- the end ---------------------------------------------------------------------

    @property
    def _lost_both(self) -> bool:
        return self._reply is None and self._idle_at is None

    def _was_aborted(self) -> bool:
        return (self._reply or {}).get("status") in ("aborted", "abort")

    def _finish(self) -> ExecutionDone:
        captured = self._link.widgets.finish(self._msg_id)
        self._link.listeners.pop(self._msg_id, None)
        if self._link.process.is_ending and self._cause != "dead":
            self.lost()
        reply = self._reply or {}
        if self._cause == "dead":
            self._fail("DeadKernelError", " ".join(self._notes))
        elif self._lost_both:
            self._link.stuck = self._msg_id
            self._fail("InterruptIgnored", IGNORED)
        elif reply.get("status") == "error" and not self._collector.has_error:
            self._collector.add(
                "error", {"ename": "Error", "evalue": "", "traceback": [], **reply}, 0
            )
        if self._cause != "dead" and self._link.process.sandbox is not None:
            failed = reply.get("status") == "error"
            raised = f"{reply.get('ename')}: {reply.get('evalue')}" if failed else ""
            self._limit = as_it_is(self._link.process.sandbox.hit(raised, self._sent_at))
        self._collector.take()
        if self._cause != "dead":
            self._ended = EndedRun(self._collector, self._link.spawn)
            self._link.ended.keep(self._msg_id, self._ended)
        self.done = ExecutionDone(
            status=self._status(reply),
            outputs=self._collector.outputs,
            execution_count=self._count,
            elapsed=self._loop.time() - self._sent_at,
            note=together(*self._end_notes(), *self._notes, self._collector.note),
            pages=tuple(_texts(part.get("data") for part in _payload(reply, "page"))),
            report=next(iter(_payload(reply, WATCH)), {}),
            captured=captured,
            observed=tuple(_observed(self._link.process.sandbox, self._limit, self._sent_at)),
        )
        return self.done

    def _fail(self, name: str, words: str) -> None:
        """Add an error output to the cell. A kernel that does not reply sends none."""
        error = {"ename": name, "evalue": words, "traceback": [words]}
        self._collector.add("error", error, 0)

    def _status(self, reply: dict[str, Any]) -> Literal["ok", "error"] | Cause:
        if self._cause == "dead":
            return "dead"
        if self._cause is not None and self._interrupted_at is not None:
            return self._cause
        if self._was_aborted():
            return "interrupted"
        return "ok" if reply.get("status") == "ok" else "error"

    def _end_notes(self) -> Iterator[Sentence]:
        if self._cause == "dead":
            return
        if self._limit:
            yield self._limit
        found, lost = _connections(self._link.process.sandbox, self._sent_at)
        if refused := book.sentence([one for one in found if one.why], lost):
            yield as_it_is(refused)
        if self._was_aborted():
            yield Sentence("The kernel refused to run the code.")
        elif self._lost_both:
            yield IGNORED
        elif self._unheard:
            yield UNHEARD
        elif self._link.cuts > self._cuts and (self._dropped or self._idle_at is None):
            yield CUT
        elif self._idle_at is None:
            yield DROPPED
        elif self._dropped:
            yield DROPPED
            yield Sentence(TOO_FAST, count=self._dropped)


def _observed(sandbox: Any, limit: Sentence, since: float) -> Iterator[Observation]:
    """What a sandbox observed of the run; ``limit``: the one that made the code fail."""
    if limit:
        yield Observation("held", limit=limit)
    found, lost = _connections(sandbox, since)
    refused = book.hosts(one for one in found if one.why)
    made = book.hosts(one for one in found if not one.why)
    named = (Observation("refused", refused), Observation("connected", made))
    yield from (one for one in named if one.names)
    if lost:
        yield Observation("lost")


def _connections(sandbox: Any, since: float) -> tuple[list[book.ConnectionRecord], bool]:
    """The connections of a sandboxed kernel since then, and whether its list lacks some."""
    return sandbox.connections(since) if sandbox is not None else ([], False)


def _payload(reply: dict[str, Any] | None, source: str) -> list[dict[str, Any]]:
    """The payloads are untrusted: code in the kernel may put anything into the reply."""
    payload = (reply or {}).get("payload")
    parts = payload if isinstance(payload, list) else []
    return [part for part in parts if isinstance(part, dict) and part.get("source") == source]


def _texts(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        text = part.get("text", part.get("text/plain")) if isinstance(part, dict) else None
        if isinstance(text, str):
            yield text
