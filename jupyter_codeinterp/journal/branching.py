"""A branch of a conversation: the history that it takes over, and its branch points. Pure. A branch
begins before one of the person's messages. It takes over the events and ops up to there, with two
exceptions: later undos of earlier turns apply in every branch, and each conversation counts only
its own costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ..base.errors import CommandError
from ..wire.commands import BranchPoint, SessionInfo
from ..wire.events import (
    CellRemoved,
    ChangesKept,
    Event,
    MessageQueued,
    MessagesHeard,
    MessageTakenBack,
    NotebookMoved,
    StepStarted,
    TitleChanged,
    TurnRedone,
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from ..wire.messages import Message, Text, Usage
from ..wire.stores import Beginning, NumberedEvents, StoredOps

_OF_ITS_OWN = (TitleChanged, NotebookMoved, UsageChanged)
"""Events that a branch does not take over: its ``SessionInfo`` has them, or it counts anew."""


def beginning(
    turn: int, events: NumberedEvents, ops: StoredOps, said: Callable[[], Sequence[Message]]
) -> Beginning:
    """The history before a turn of an idle session. ``said`` loads all its messages, for old
    journals that lack ``TurnStarted.messages``. Raises CommandError ``unknown_turn``."""
    at = next((i for i, (_, event) in enumerate(events) if _begins(event, turn)), None)
    if at is None:
        raise CommandError("unknown_turn", "No message of yours started this turn.")
    before, after = events[:at], events[at + 1 :]
    started = events[at][1]
    assert isinstance(started, TurnStarted)
    told = [event for _, event in before]
    waiting = _still_queued(told)
    taken: NumberedEvents = [
        (seq, event)
        for seq, event in before
        if not isinstance(event, _OF_ITS_OWN)
        and not (isinstance(event, MessageQueued) and event.number in waiting)
    ]
    taken += [(seq, _not_redoable(event)) for seq, event in after if _stays_true(event, turn)]
    used = next((event for event in reversed(told) if isinstance(event, UsageChanged)), None)
    if used is not None:
        free = UsageChanged(Usage(), used.context_share, 0.0, used.context_known, local=used.local)
        taken.append((events[-1][0] + 1, free))
    messages = started.messages
    return Beginning(
        events=taken,
        ops=_ops_before(turn, ops),
        messages=_found(started.text, told, said()) if messages is None else messages,
        steps=max((event.step for event in told if isinstance(event, StepStarted)), default=0),
        model=started.model,
        replaced=started.text,
    )


SHORTEST_START = 24
"""Characters at the beginning of two titles that make them look the same in a narrow list."""


def title_of(of: SessionInfo, turn: int, text: str, replaced: str) -> str:
    """A branch's title, with the first words in which its message differs from the replaced one.
    "": make the title from the message."""
    new, old = text.split(), replaced.split()
    if new == old:
        return of.title
    same = 0
    while same < min(len(new), len(old)) and new[same] == old[same]:
        same += 1
    start, rest = " ".join(new[:same]), " ".join(new[same:])
    if turn == 1 and (len(start) < SHORTEST_START or not rest):
        return ""
    start = of.title if turn > 1 else start
    rest = rest or " ".join(new)
    if len(start) > SHORTEST_START:
        start = start[: SHORTEST_START - 1].rstrip() + "…"
    return f"{start} {rest}" if start.endswith("…") else f"{start}: {rest}"


def _begins(event: Event, turn: int) -> bool:
    return isinstance(event, TurnStarted) and event.turn == turn and event.text != ""


def _stays_true(event: Event, turn: int) -> bool:
    """Whether a later event is about a change of an earlier turn."""
    if isinstance(event, (TurnUndone, TurnRedone, ChangesKept)):
        return event.turn < turn
    return isinstance(event, CellRemoved)


def _not_redoable(event: Event) -> Event:
    """The event without redo, because the branch lacks the undo's ops."""
    if isinstance(event, (TurnUndone, TurnRedone)):
        return msgspec.structs.replace(event, redoable=())
    if isinstance(event, CellRemoved):
        return msgspec.structs.replace(event, redoable=False)
    return event


def _still_queued(events: Iterable[Event]) -> set[int]:
    """The numbers of messages that are still queued after these events."""
    waiting: set[int] = set()
    for event in events:
        if isinstance(event, MessageQueued):
            waiting.add(event.number)
        elif isinstance(event, MessageTakenBack):
            waiting.discard(event.number)
        elif isinstance(event, MessagesHeard):
            waiting -= set(event.numbers)
        elif isinstance(event, TurnStarted):
            waiting -= set(event.queued)
    return waiting


def _ops_before(turn: int, ops: StoredOps) -> StoredOps:
    """The ops before that turn, renumbered so that the last one is 0."""
    first = next((i for i, stored in enumerate(ops) if stored.turn >= turn), len(ops))
    last = ops[first - 1].seq if first else 0
    return [msgspec.structs.replace(stored, seq=stored.seq - last) for stored in ops[:first]]


def _found(text: str, before: Iterable[Event], said: Sequence[Message]) -> int:
    """How many messages come before the one with ``text``. If the person sent this text before,
    as many matching messages are skipped."""
    earlier = [e.text for e in before if isinstance(e, (TurnStarted, MessagesHeard))]
    ending = [i for i, message in enumerate(said) if _ends_with(message, text)]
    if not ending:
        return len(said)
    return ending[min(earlier.count(text), len(ending) - 1)]


def _ends_with(message: Message, text: str) -> bool:
    last = message.content[-1] if message.role == "user" and message.content else None
    return isinstance(last, Text) and last.text == text


def points(info: SessionInfo, turn: int) -> tuple[BranchPoint, ...]:
    """The branch points of a new branch that leaves the session at this turn. A branch of a branch
    at the same turn is a sibling of both."""
    earlier = tuple(point for point in info.branches if point.turn < turn)
    same = next((point for point in info.branches if point.turn == turn), None)
    later = next((point for point in info.branches if point.turn > turn), None)
    began = later.session_id if later is not None else info.session_id
    return (*earlier, same or BranchPoint(began, turn))
