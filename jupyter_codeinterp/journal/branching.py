"""A branch of a conversation: the history that it takes over, and its branch points. Pure. A branch
begins before one of the person's messages. It takes over the events and ops up to there, with two
exceptions: later undos of earlier turns apply in every branch, and each conversation counts only
its own costs.
"""

from __future__ import annotations

import msgspec

from ..base.errors import CommandError
from ..wire.commands import BranchPoint, SessionInfo
from ..wire.events import (
    ChangesKept,
    Event,
    MessageQueued,
    NotebookMoved,
    TitleChanged,
    TurnRedone,
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from ..wire.messages import Usage
from ..wire.stores import Beginning, NumberedEvents, StoredOps
from .replay import Replay

_OF_ITS_OWN = (TitleChanged, NotebookMoved, UsageChanged)
"""Events that a branch does not take over: its ``SessionInfo`` has them, or it counts anew."""


def beginning(turn: int, events: NumberedEvents, ops: StoredOps) -> Beginning:
    """The history before a turn of an idle session. Raises CommandError ``unknown_turn``, also for
    turns of early versions, which did not count messages."""
    found = (
        (at, event)
        for at, (_, event) in enumerate(events)
        if isinstance(event, TurnStarted) and event.turn == turn and event.text
    )
    at, started = next(found, (0, None))
    if started is None:
        raise CommandError("unknown_turn", "No message of yours started this turn.")
    before, after = events[:at], events[at + 1 :]
    if started.messages is None:
        raise CommandError(
            "unknown_turn", "An earlier version began this turn. Send a new message."
        )
    then = Replay()
    for _, event in before:
        then.add(event)
    taken: NumberedEvents = [
        (seq, event)
        for seq, event in before
        if not isinstance(event, _OF_ITS_OWN)
        and not (isinstance(event, MessageQueued) and event.number in then.queued)
    ]
    taken += [(seq, _not_redoable(event)) for seq, event in after if _stays_true(event, turn)]
    used = then.usage
    if used is not None:
        free = UsageChanged(Usage(), used.context_share, 0.0, used.context_known, local=used.local)
        taken.append((events[-1][0] + 1, free))
    return Beginning(
        events=taken,
        ops=_ops_before(turn, ops),
        messages=started.messages,
        steps=then.steps,
        model=started.model,
    )


def _stays_true(event: Event, turn: int) -> bool:
    """Whether a later event is about a change of an earlier turn."""
    return isinstance(event, (TurnUndone, TurnRedone, ChangesKept)) and event.turn < turn


def _not_redoable(event: Event) -> Event:
    """The event without redo, because the branch lacks the undo's ops."""
    if isinstance(event, TurnUndone):
        return msgspec.structs.replace(event, redoable=())
    return event


def _ops_before(turn: int, ops: StoredOps) -> StoredOps:
    """The ops before that turn, renumbered so that the last one is 0."""
    first = next((i for i, stored in enumerate(ops) if stored.turn >= turn), len(ops))
    last = ops[first - 1].seq if first else 0
    return [msgspec.structs.replace(stored, seq=stored.seq - last) for stored in ops[:first]]


def points(info: SessionInfo, turn: int) -> tuple[BranchPoint, ...]:
    """The branch points of a new branch that leaves the session at this turn. A branch of a branch
    at the same turn is a sibling of both."""
    earlier = tuple(point for point in info.branches if point.turn < turn)
    same = next((point for point in info.branches if point.turn == turn), None)
    later = next((point for point in info.branches if point.turn > turn), None)
    began = later.session_id if later is not None else info.session_id
    return (*earlier, same or BranchPoint(began, turn))
