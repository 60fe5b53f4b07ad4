"""Ctrl-C at every stage: the first one stops what goes on, the second one leaves at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from ..local.problems import INTERRUPTED

_SHOW_CURSOR = b"\x1b[?25h"


class Stopping:
    """One a process. Python's own handlers are used, not the event loop's: the second one must
    come through when the loop does not."""

    def __init__(self) -> None:
        self.stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] = lambda: None
        self._leave: Callable[[], None] = lambda: None
        self._deaf = False

    def listen(self) -> None:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._heard)

    @contextmanager
    def by(self, stop: Callable[[], None], leave: Callable[[], None]) -> Iterator[None]:
        """Within, in the event loop: ``stop`` stops what goes on; ``leave`` is all that is done
        before this process ends at once."""
        before = self._loop, self._stop, self._leave
        self._loop, self._stop, self._leave = asyncio.get_running_loop(), stop, leave
        try:
            if self.stopped:
                stop()
            yield
        finally:
            self._loop, self._stop, self._leave = before

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """While another program has the terminal: its Ctrl-C is not ours."""
        self._deaf = True
        try:
            yield
        finally:
            self._deaf = False

    def stop(self) -> None:
        """As the first Ctrl-C does."""
        self.stopped = True
        self._stop()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self._deaf and number == signal.SIGINT:
            return
        if self.stopped:
            with suppress(Exception):
                self._leave()
            with suppress(OSError):
                if sys.stdout.isatty():
                    os.write(sys.stdout.fileno(), _SHOW_CURSOR)
            os._exit(INTERRUPTED)
        self.stopped = True
        if self._loop is None:
            raise KeyboardInterrupt
        self._loop.call_soon_threadsafe(lambda: self._stop())
