"""Hands work from the agent's event loop to the thread that a magic blocks, and stops that work.

The thread sits in ``pump`` while the agent works beside it. SIGINT (Ctrl-C, a kernel's
interrupt) asks the agent to stop. It raises KeyboardInterrupt in the person's code and at a
prompt, never within our own code. A second SIGINT always raises it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
POLL = 0.2
"""Seconds until an interrupt is seen where locks cannot be interrupted (Windows)."""


class Ticket:
    """A piece of work that is either begun or dropped, never both."""

    def __init__(self) -> None:
        self.begun = False
        self._dropped = False
        self._lock = threading.Lock()

    def begin(self) -> bool:
        with self._lock:
            self.begun = not self._dropped
            return self.begun

    def drop(self) -> bool:
        """Return True if the work will not begin."""
        with self._lock:
            self._dropped = not self.begun
            return self._dropped


class MainThread:
    def __init__(self) -> None:
        self.interrupted = False
        """Whether the running or last code was interrupted."""
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._breakable = False
        self._silent = False
        """Whether an interrupt is our own and must not stop the agent."""
        self._current: Ticket | None = None
        self._unwanted: Ticket | None = None
        """``_current``: the running work; ``_unwanted``: the work to interrupt."""
        self._presses = 0
        self._thread = threading.get_ident()
        self._stop: Callable[[], None] = lambda: None

    # --- on any thread ---------------------------------------------------------------

    def post(self, work: Callable[[], None]) -> None:
        """Have the thread do something, in order."""
        self._queue.put(work)

    async def run(self, work: Callable[[], T], ticket: Ticket) -> T:
        """Do ``work`` on the thread and return its result. Call it on the agent's loop."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def carry_out() -> None:
            if not ticket.begin():
                return
            self._current = ticket
            try:
                value = work()
            except BaseException as error:
                failed = RuntimeError(f"the run failed ({type(error).__name__})")
                loop.call_soon_threadsafe(_fail, done, failed)
                raise
            finally:
                self._current = None
            loop.call_soon_threadsafe(_settle, done, value)

        self.post(carry_out)
        return await done

    def interrupt(self, ticket: Ticket) -> None:
        """Raise KeyboardInterrupt in this work's code, at most once."""
        self._unwanted = ticket
        if self._current is not ticket:
            return
        if not self._breakable or self.interrupted:
            return  # Work that has not begun checks this flag when it begins.
        self._silent = True
        if os.name == "posix":
            signal.pthread_kill(self._thread, signal.SIGINT)  # also ends a sleep
        else:
            signal.raise_signal(signal.SIGINT)

    # --- on the main thread ----------------------------------------------------------

    @contextlib.contextmanager
    def interruptible(self, stop: Callable[[], None]) -> Iterator[None]:
        """Have SIGINT call ``stop``, which runs in a signal handler: it must be quick."""
        before = signal.getsignal(signal.SIGINT)
        was = self._stop
        self._thread, self._stop, self._presses = threading.get_ident(), stop, 0
        signal.signal(signal.SIGINT, self._on_interrupt)
        try:
            yield
        finally:
            self._stop = was
            signal.signal(signal.SIGINT, before)

    @contextlib.contextmanager
    def breakable(self) -> Iterator[None]:
        """Allow interrupts in the middle of the code within."""
        self.interrupted, self._breakable = False, True
        try:
            unwanted = self._current is not None and self._current is self._unwanted
            if self._presses or unwanted:
                self.interrupted = True
                raise KeyboardInterrupt
            yield
        finally:
            self._breakable = self._silent = False

    def pump(self, until: Callable[[], bool]) -> None:
        """Do posted work until the condition holds. It is checked after each piece."""
        while not until():
            with contextlib.suppress(queue.Empty):
                self._queue.get(timeout=POLL)()

    def clear(self) -> None:
        """Forget what is left of an abandoned turn."""
        self._queue = queue.SimpleQueue()

    def _on_interrupt(self, number: int, frame: FrameType | None) -> None:
        if not self._silent:
            self._presses += 1
            self._stop()
        if self._breakable:
            self.interrupted = True
        if self._breakable or self._presses > 1:
            raise KeyboardInterrupt


def _settle(done: asyncio.Future[T], value: T) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: asyncio.Future[T], error: Exception) -> None:
    if not done.done():
        done.set_exception(error)
