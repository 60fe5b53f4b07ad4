"""Handles Ctrl-C: the first one stops the work, the second one exits at once."""

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
    """Installs signal handlers, once per process. Not the event loop's: the second Ctrl-C must
    work even if the loop hangs."""

    def __init__(self) -> None:
        self.stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], object] = lambda: None
        self._leave: Callable[[], None] = lambda: None
        self._ignored = False

    def listen(self) -> None:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._on_signal)

    @contextmanager
    def by(self, stop: Callable[[], object], leave: Callable[[], None]) -> Iterator[None]:
        """Within the context: Ctrl-C calls ``stop`` in the event loop, and ``leave`` before an
        immediate exit."""
        before = self._loop, self._stop, self._leave
        self._loop, self._stop, self._leave = asyncio.get_running_loop(), stop, leave
        try:
            if self.stopped:
                stop()
            yield
        finally:
            self._loop, self._stop, self._leave = before

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """Ignore Ctrl-C while another program uses the terminal."""
        self._ignored = True
        try:
            yield
        finally:
            self._ignored = False

    def again(self) -> None:
        """Forget the first Ctrl-C: the work goes on with another turn."""
        self.stopped = False

    def stop(self) -> None:
        """Do the same as the first Ctrl-C."""
        self.stopped = True
        self._stop()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._ignored and number == signal.SIGINT:
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
