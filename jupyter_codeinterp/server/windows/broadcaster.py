"""Sends frames to the connected windows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Protocol
from weakref import WeakValueDictionary

from ...adapters.documents.live import Window
from ...core.commands import DoneElsewhere, ServerFrame, YouAre

DEPARTURE_TTL = 10.0
"""Maximum seconds from a page's announced departure to the end of its socket. Later, the page has
stayed after all."""


class FrontWindow(Window, Protocol):
    departed_at: float
    """Time of the page's announced departure, by the monotonic clock."""

    person: str
    """Their name, as Jupyter's identity provider has it."""

    @property
    def number(self) -> int: ...

    def leave(self) -> None:
        """Handle a closed socket, or the server's stop."""


class Broadcaster:
    def __init__(self) -> None:
        self._here: set[FrontWindow] = set()
        self._gone: WeakValueDictionary[int, FrontWindow] = WeakValueDictionary()
        """Windows without a socket that a notebook waits for, by number."""

    def __iter__(self) -> Iterator[FrontWindow]:
        return iter(self._here)

    def __len__(self) -> int:
        return len(self._here)

    def join(self, window: FrontWindow) -> None:
        self._here.add(window)
        self._gone.pop(window.number, None)
        window.send(YouAre(window.number))

    def leave(self, window: FrontWindow) -> bool:
        """Handle a closed socket. Returns whether the page announced its departure."""
        if window in self._here:
            self._here.discard(window)
            self._gone[window.number] = window
        window.leave()
        return time.monotonic() - window.departed_at < DEPARTURE_TTL

    def departing(self, number: int) -> FrontWindow | None:
        """Note a page's announced departure. Returns the window if its socket is closed."""
        for window in self._here:
            if window.number == number:
                window.departed_at = time.monotonic()
        return self._gone.get(number)

    def has(self, number: int) -> bool:
        return any(window.number == number for window in self._here)

    def person(self, number: int) -> str:
        """The name of who is in this window; "" if it has no socket."""
        return next((window.person for window in self._here if window.number == number), "")

    def send(self, frame: ServerFrame) -> None:
        for window in self._here:
            window.send(frame)

    def send_others(self, done: DoneElsewhere) -> None:
        """To all windows except the one that did it."""
        for window in self._here:
            if window.number != done.window:
                window.send(done)

    def close(self) -> None:
        for window in self._here:
            window.leave()
