"""The state of a session, rebuilt from the journal's events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..base.sentences import Sentence
from ..wire.events import (
    ChangesKept,
    Cost,
    DraftDecided,
    DraftWaiting,
    Event,
    FiguresFound,
    MessageQueued,
    MessagesHeard,
    MessageTakenBack,
    Reference,
    RunStarted,
    StepDiscarded,
    StepStarted,
    ToolDone,
    ToolStarted,
    TurnEnded,
    TurnRedone,
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from ..wire.ops import BeginRun, FinishRun
from ..wire.stores import StoredOp
from .changes import State

# -------------------------------------------------------------------------------------------------
# Runs that a killed server left open. Pure.


def ends_of_runs(ops: Iterable[StoredOp]) -> tuple[FinishRun, ...]:
    """The end of each run in a turn's ``ops`` that the notebook may still show as running. An
    unconfirmed end is posted again with its outputs; ``cut_off`` because the notebook may have it
    already, and the person may have run the cell since."""
    ends: dict[str, FinishRun] = {}
    for stored in ops:
        op = stored.op
        if isinstance(op, BeginRun):
            ends[op.run_id] = FinishRun(op.cell_id, op.run_id, (), None, cut_off=True)
        elif isinstance(op, FinishRun):
            if stored.receipt is None:
                ends[op.run_id] = msgspec.structs.replace(op, cut_off=True)
            else:
                ends.pop(op.run_id, None)
    return tuple(ends.values())


_TITLE_CELLS = frozenset({"run_cell", "edit_cell", "add_markdown"})
"""Tools whose title is that of the cell's content."""
LOST = (
    "[The server was stopped during the previous turn. Variables may be gone. This "
    "conversation lacks its last step; the notebook keeps its changes. A draft that waited for a "
    "decision is gone."
)
HAD_BEGUN = " Code in the cells {cells} had started to run and may have had effects."
APPROVED = " The last call for the kernel had been approved and may have had effects."
CUT_OFF = Sentence("The server was stopped while this ran. It may have had effects.")
NOT_BEGUN = Sentence("The server was stopped before this started.")


@dataclass
class Replay:
    """A session's state; ``add`` takes every event in order."""

    turns: int = 0
    steps: int = 0
    asked: str = ""
    """The person's last message."""
    since: int = 0
    """The turn of the person's last message."""
    undelivered: str = ""
    """The person's words since the last model call."""
    undelivered_references: tuple[Reference, ...] = ()
    queued: dict[int, MessageQueued] = field(default_factory=dict)
    """Messages that have neither begun a turn nor reached the model, in order."""
    said: int = 0
    """The number of the last queued message."""
    unfinished: bool = False
    ended: TurnEnded | None = None
    usage: UsageChanged | None = None
    cost: Cost | None = None
    """The last turn's cost."""
    reviewed: dict[int, dict[str, State]] = field(default_factory=dict)
    """The review states of changed cells, by turn and cell id."""
    redoable: dict[int, dict[str, None]] = field(default_factory=dict)
    """Undone cells that a redo can bring back, by turn, until a later turn changes them."""
    figures: list[FiguresFound] = field(default_factory=list)
    """Where the figures of the last turn's answers were found."""
    titles: dict[str, Sentence] = field(default_factory=dict)
    """Titles of the cells that the agent ran or wrote, by id."""
    _cards: dict[str, tuple[int, ToolStarted]] = field(default_factory=dict)
    """Unfinished calls of the last turn, with their steps."""
    _running: dict[str, str] = field(default_factory=dict)
    """Cells whose run result has not reached the model, by call id; "" for an approved call
    without a cell."""
    _without_cell: set[str] = field(default_factory=set)
    """Ids of calls without a cell."""

    def add(self, event: Event) -> None:
        if isinstance(event, TurnEnded):
            self.ended, self.unfinished = event, False
            for redoable in self.redoable.values():
                _discard(redoable, event.changed)
        elif isinstance(event, UsageChanged):
            self.usage, self.cost = event, event.turn
        elif isinstance(event, FiguresFound):
            self.figures.append(event)
        elif isinstance(event, (TurnUndone, TurnRedone, ChangesKept)):
            self._add_review(event)
        elif isinstance(event, (TurnStarted, MessageQueued, MessageTakenBack, MessagesHeard)):
            self._add_message(event)
        else:
            self._add_call(event)

    def _add_message(
        self, event: TurnStarted | MessageQueued | MessageTakenBack | MessagesHeard
    ) -> None:
        if isinstance(event, TurnStarted):
            self.turns, self.unfinished, self.cost = event.turn, True, None
            self._cards.clear()
            self.figures.clear()
            self._left_queue(event.queued)
            if event.text:
                self.asked, self.since, self.undelivered = event.text, event.turn, event.text
            self.undelivered_references = event.references
        elif isinstance(event, MessageQueued):
            self.queued[event.number], self.said = event, event.number
        elif isinstance(event, MessageTakenBack):
            self._left_queue((event.number,))
        else:
            self._left_queue(event.numbers)
            self.asked, self.undelivered = f"{self.asked}\n\n{event.text}", event.text
            self.undelivered_references = event.references

    def _add_call(self, event: Event) -> None:
        """Steps of the model, and its calls of tools."""
        if isinstance(event, StepStarted):
            self.steps, self.undelivered = event.step, ""
            self.undelivered_references = ()
            # The results of finished calls have reached the model.
            self._running = {c: cell for c, cell in self._running.items() if c in self._cards}
        elif isinstance(event, StepDiscarded):
            kept = {c: card for c, card in self._cards.items() if card[0] != event.step}
            self._cards = kept
        elif isinstance(event, ToolStarted):
            self._cards[event.call_id] = (self.steps, event)
        elif isinstance(event, DraftWaiting) and not event.draft.cell_id:
            self._without_cell.add(event.draft.call_id)
            self._running.pop(event.draft.call_id, None)  # It asks again.
        elif isinstance(event, DraftDecided) and event.call_id in self._without_cell:
            if event.action == "run":
                self._running[event.call_id] = ""
        elif isinstance(event, RunStarted):
            self._running[event.call_id] = event.cell_id
        elif isinstance(event, ToolDone):
            self._cards.pop(event.call_id, None)
            if event.cell_id and event.status == "ok" and event.name in _TITLE_CELLS:
                self.titles[event.cell_id] = event.title
            if event.summary != CUT_OFF:
                self._running.pop(event.call_id, None)

    def _add_review(self, event: TurnUndone | TurnRedone | ChangesKept) -> None:
        reviewed = self.reviewed.setdefault(event.turn, {})
        redoable = self.redoable.setdefault(event.turn, {})
        if isinstance(event, TurnUndone):
            reviewed.update(dict.fromkeys(event.restored, "undone"))
            _discard(redoable, event.restored)
            redoable.update(dict.fromkeys(event.redoable))
        elif isinstance(event, TurnRedone):
            _discard(reviewed, event.restored)
            _discard(redoable, event.restored)
        else:
            reviewed.update(dict.fromkeys(event.cells, "kept"))

    def _left_queue(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            self.queued.pop(number, None)

    @property
    def lost(self) -> str:
        """A note for the model on an interrupted turn; "" if none was interrupted."""
        stopped = self.ended is not None and self.ended.code == "server_stopped"
        if not (self.unfinished or stopped):
            return ""
        cells = ", ".join(filter(None, self._running.values()))
        had_begun = HAD_BEGUN.format(cells=cells) if cells else ""
        approved = APPROVED if "" in self._running.values() else ""
        return f"{LOST}{had_begun}{approved}]"

    def ends(self) -> list[ToolDone]:
        """The missing ends of calls that the server's stop interrupted."""
        return [self._end_of(card) for _, card in self._cards.values()]

    def _end_of(self, card: ToolStarted) -> ToolDone:
        cell_id = self._running.get(card.call_id)
        status, words = ("not_started", NOT_BEGUN) if cell_id is None else ("interrupted", CUT_OFF)
        return ToolDone(
            card.call_id,
            card.name,
            card.title,
            status,  # type: ignore[arg-type]
            cell_id=cell_id or "",
            summary=words,
            detail=f"status={status} cell_id={cell_id}\n{words}" if cell_id else str(words),
        )


def _discard(cells: dict[str, Any], gone: Iterable[str]) -> None:
    for cell_id in gone:
        cells.pop(cell_id, None)
