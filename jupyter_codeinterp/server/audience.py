"""The windows that are connected, and what each of them hears of what the others do.

A window that loses its socket may come back: it is told then what it has missed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from ..adapters.documents.live import Window
from ..core.commands import DoneElsewhere, ServerFrame, YouAre

MAX_TOLD = 200
"""Doings of other windows that are kept for a window that is about to connect again."""
MAX_GONE = 100
"""Windows without a socket that are remembered; each may connect again."""
WORD_HOLDS = 10.0
"""Seconds from a page's word that it goes to the end of its socket. If that holds for longer,
the page has stayed after all."""


class FrontWindow(Window, Protocol):
    goes: float
    """When its page said that it goes, by the monotonic clock."""

    @property
    def number(self) -> int: ...

    def leave(self) -> None:
        """The window's socket is gone, or the server is stopping."""

    def shut(self) -> None:
        """Another window has closed it for good."""


class Audience:
    def __init__(self) -> None:
        self._here: set[FrontWindow] = set()
        self._told: deque[tuple[int, DoneElsewhere]] = deque(maxlen=MAX_TOLD)
        """What windows have done, numbered from 1."""
        self._gone: dict[int, tuple[FrontWindow, int]] = {}
        """By number: windows whose sockets were lost, the latest last, and the last of these
        doings that had been told then."""
        self._undo: list[tuple[int, Callable[[], None]]] = []
        """How to take back what a window has set for the whole server; the latest last."""

    def __iter__(self) -> Iterator[FrontWindow]:
        return iter(self._here)

    def __len__(self) -> int:
        return len(self._here)

    def join(self, window: FrontWindow) -> None:
        """Tell a window who it is, and what others have done since it was here last."""
        self._here.add(window)
        window.send(YouAre(window.number))
        _, heard = self._gone.pop(window.number, (window, self._last_told))
        for number, done in self._told:
            if number > heard and done.window != window.number:
                window.send(done)

    def leave(self, window: FrontWindow) -> bool:
        """The window's socket is gone: whether its page has said before that it goes."""
        if window in self._here:
            self._here.discard(window)
            self._gone[window.number] = window, self._last_told
            while len(self._gone) > MAX_GONE:
                del self._gone[next(iter(self._gone))]
        window.leave()
        return time.monotonic() - window.goes < WORD_HOLDS

    def goes(self, number: int) -> FrontWindow | None:
        """The page of a window has said that it goes; the window if its socket is gone."""
        for window in self._here:
            if window.number == number:
                window.goes = time.monotonic()
        return self._gone[number][0] if number in self._gone else None

    @property
    def _last_told(self) -> int:
        return self._told[-1][0] if self._told else 0

    def send(self, frame: ServerFrame) -> None:
        """To all who are here."""
        for window in self._here:
            window.send(frame)

    def tell_others(self, done: DoneElsewhere, undo: Callable[[], None] | None = None) -> None:
        """What one window has done is told to all others, also to those that connect again.
        ``undo`` takes it back where no session can."""
        self._told.append((self._last_told + 1, done))
        if undo is not None:
            self._undo.append((done.window, undo))
        for window in self._here:
            if window.number != done.window:
                window.send(done)

    def only(self, window: FrontWindow, doer: int) -> None:
        """Shut all others, and take back what ``doer`` has set for the whole server."""
        for other in [other for other in self._here if other.number != window.number]:
            other.shut()
        for number, undo in reversed(self._undo):
            if number == doer:
                undo()
        self._undo.clear()

    def close(self) -> None:
        """The server is stopping."""
        for window in self._here:
            window.leave()
