"""The states of a cell from draft to result, as one table.

Nothing here waits, sends or writes; ``job.py`` does. A pair missing in the table changes nothing.
"""

from __future__ import annotations

from enum import Enum


class CellState(Enum):
    WRITING = "writing"
    """The model writes the draft."""
    CHECKING = "checking"
    """The draft is complete: hooks and the policy look at it."""
    WAITING = "waiting"
    """The person decides."""
    DECIDED = "decided"
    """The decision is made; the kernel is not idle yet, or the notebook has not answered."""
    PLACED = "placed"
    """The cell gets the decided source and shows [*]."""
    RUNNING = "running"
    """The kernel has the code, or gets it any moment."""
    SHOWN = "shown"
    """The run is over, and the outputs are on their way into the cell."""
    ENDED = "ended"
    """There is a result."""


class CellEvent(Enum):
    WRITTEN = "the source is complete"
    ASKED = "the person is asked"
    DECIDED = "the person or the policy has decided"
    BEGUN = "the kernel is idle and still the same"
    SENT = "the notebook has compared the cell"
    OUTDATED = "the cell or the kernel is not the one of the decision"
    FINISHED = "the kernel has ended the run"
    ENDED = "there is a result"


TABLE: dict[tuple[CellState, CellEvent], CellState] = {
    (CellState.WRITING, CellEvent.WRITTEN): CellState.CHECKING,
    (CellState.CHECKING, CellEvent.ASKED): CellState.WAITING,
    (CellState.CHECKING, CellEvent.DECIDED): CellState.DECIDED,
    (CellState.WAITING, CellEvent.DECIDED): CellState.DECIDED,
    (CellState.DECIDED, CellEvent.BEGUN): CellState.PLACED,
    (CellState.DECIDED, CellEvent.OUTDATED): CellState.CHECKING,
    (CellState.PLACED, CellEvent.SENT): CellState.RUNNING,
    (CellState.PLACED, CellEvent.OUTDATED): CellState.CHECKING,
    (CellState.RUNNING, CellEvent.OUTDATED): CellState.CHECKING,
    (CellState.RUNNING, CellEvent.FINISHED): CellState.SHOWN,
    **{(state, CellEvent.ENDED): CellState.ENDED for state in CellState},
}


def after(state: CellState, event: CellEvent) -> CellState:
    return TABLE.get((state, event), state)
