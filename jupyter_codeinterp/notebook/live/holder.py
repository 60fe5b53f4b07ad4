"""Who works in a notebook, as a state machine: states, events and one table.

Nothing here waits, sends or writes; ``hand_over.py`` does. A pair missing in the table changes
nothing. docs/adr/0004-hand-over.md explains the table.
"""

from __future__ import annotations

from enum import Enum


class State(Enum):
    NOBODY = "nobody"
    """Nobody works in it, and nothing waits."""
    WAITING = "waiting"
    """An op or a read waits, and a window may still come."""
    OPENING = "opening"
    """No window has come: the file writer reads the file."""
    FILE = "file"
    """The file writer works in the file, or in the room that windows share."""
    CLOSING = "closing"
    """A window has come: the file writer finishes its write."""
    CHECKING = "checking"
    """A window is here; it gets the lease once its copy is new enough."""
    WINDOW = "window"
    """A window has the lease."""
    BLOCKED = "blocked"
    """Nobody can work in it. Ops are answered as pending, with the reason."""


class Event(Enum):
    NEEDED = "an op or a read waits"
    WINDOW_CAME = "a window opens the notebook"
    LEASE_GIVEN = "a window gets the lease"
    HOLDER_LEFT = "the window with the lease goes"
    LAST_WINDOW_LEFT = "no window is left"
    NO_WINDOW_COMES = "no one expects a window"
    GRACE_OVER = "no window has come in time"
    UNSAVED_LEFT = "no window has come in time, and one left unsaved edits"
    FILE_OPENED = "the file can be used"
    FILE_FAILED = "the file cannot be read or written"
    FILE_CLOSED = "the file writer has finished"
    RETRIED = "an op or a read waits, some time after a failure"
    GAVE_UP = "the notebook is deleted, replaced or moved onto an open one"


SETTLED = (State.FILE, State.WINDOW, State.BLOCKED)
"""States in which nobody needs to wait for a holder."""

TABLE: dict[tuple[State, Event], State] = {
    (State.NOBODY, Event.NEEDED): State.WAITING,
    (State.NOBODY, Event.WINDOW_CAME): State.CHECKING,
    (State.WAITING, Event.WINDOW_CAME): State.CHECKING,
    (State.WAITING, Event.GRACE_OVER): State.OPENING,
    (State.WAITING, Event.UNSAVED_LEFT): State.BLOCKED,
    (State.OPENING, Event.WINDOW_CAME): State.CHECKING,
    (State.OPENING, Event.FILE_OPENED): State.FILE,
    (State.OPENING, Event.FILE_FAILED): State.BLOCKED,
    (State.FILE, Event.WINDOW_CAME): State.CLOSING,
    (State.FILE, Event.FILE_FAILED): State.BLOCKED,
    (State.CLOSING, Event.FILE_CLOSED): State.CHECKING,
    (State.CHECKING, Event.WINDOW_CAME): State.CHECKING,
    (State.CHECKING, Event.LEASE_GIVEN): State.WINDOW,
    (State.CHECKING, Event.LAST_WINDOW_LEFT): State.NOBODY,
    (State.WINDOW, Event.LEASE_GIVEN): State.WINDOW,
    (State.WINDOW, Event.HOLDER_LEFT): State.CHECKING,
    (State.BLOCKED, Event.WINDOW_CAME): State.CHECKING,
    (State.BLOCKED, Event.NO_WINDOW_COMES): State.NOBODY,
    (State.BLOCKED, Event.RETRIED): State.OPENING,
    **{(state, Event.GAVE_UP): State.BLOCKED for state in State},
}


def after(state: State, event: Event) -> State | None:
    """The next state; None if the event changes nothing."""
    return TABLE.get((state, event))
