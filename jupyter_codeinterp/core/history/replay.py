"""What the journal's events say of a session: where it stands when it is taken up."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..events import (
    ChangesKept,
    Cost,
    Event,
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
    TurnStarted,
    TurnUndone,
    UsageChanged,
)
from .review import State

LOST = (
    "[The server was stopped during the previous turn; variables may be gone. What you did in "
    "its last step is not in this conversation; what it left in the notebook is."
)
HAD_BEGUN = " Code in the cells {cells} had begun to run; it may have had effects."
CUT_OFF = "The server was stopped while this ran: it may have had effects."
NOT_BEGUN = "The server was stopped before this began."


@dataclass
class Replay:
    """Fed with every event of a session, in order (``add``)."""

    turns: int = 0
    steps: int = 0
    asked: str = ""
    """The person's last message."""
    since: int = 0
    """The turn in which they sent it."""
    unheard: str = ""
    """What they have said since the model was asked last."""
    unheard_references: tuple[Reference, ...] = ()
    """What that names."""
    queued: dict[int, MessageQueued] = field(default_factory=dict)
    """What they have said that neither began a turn nor reached the model yet, in order."""
    said: int = 0
    """The number of the last message that was queued."""
    unfinished: bool = False
    ended: TurnEnded | None = None
    usage: UsageChanged | None = None
    cost: Cost | None = None
    """Of the last turn."""
    reviewed: dict[int, dict[str, State]] = field(default_factory=dict)
    """What has become of the cells that a turn changed, by turn and cell id."""
    _cards: dict[str, ToolStarted] = field(default_factory=dict)
    """Calls of the last step that have no end."""
    _running: dict[str, str] = field(default_factory=dict)
    """Cells whose run has no end that the model has been told, by call id."""

    def add(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self.turns, self.unfinished, self.cost = event.turn, True, None
            self._cards.clear()
            self._left_queue(event.queued)
            if event.text:
                self.asked, self.since, self.unheard = event.text, event.turn, event.text
            self.unheard_references = event.references
        elif isinstance(event, MessageQueued):
            self.queued[event.number], self.said = event, event.number
        elif isinstance(event, MessageTakenBack):
            self._left_queue((event.number,))
        elif isinstance(event, MessagesHeard):
            self._left_queue(event.numbers)
            self.asked, self.unheard = f"{self.asked}\n\n{event.text}", event.text
            self.unheard_references = event.references
        elif isinstance(event, StepStarted):
            self.steps, self.unheard = event.step, ""
            self.unheard_references = ()
            self._running.clear()  # The model has been told of them.
        elif isinstance(event, RunStarted):
            self._running[event.call_id] = event.cell_id
        elif isinstance(event, ToolStarted):
            self._cards[event.call_id] = event
        elif isinstance(event, StepDiscarded):
            self._cards.clear()
        elif isinstance(event, ToolDone):
            self._cards.pop(event.call_id, None)
            if event.summary != CUT_OFF:
                self._running.pop(event.call_id, None)
        elif isinstance(event, UsageChanged):
            self.usage, self.cost = event, event.turn
        elif isinstance(event, TurnUndone):
            cells = self.reviewed.setdefault(event.turn, {})
            cells.update(dict.fromkeys(event.restored, "undone"))
        elif isinstance(event, ChangesKept):
            cells = self.reviewed.setdefault(event.turn, {})
            cells.update(dict.fromkeys(event.cells, "kept"))
        elif isinstance(event, TurnEnded):
            self.ended, self.unfinished = event, False

    def _left_queue(self, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            self.queued.pop(number, None)

    @property
    def lost(self) -> str:
        """What the model must know of a turn that was cut off, "" if none was."""
        stopped = self.ended is not None and self.ended.code == "server_stopped"
        if not (self.unfinished or stopped):
            return ""
        cells = ", ".join(self._running.values())
        return LOST + (HAD_BEGUN.format(cells=cells) if cells else "") + "]"

    def ends(self) -> list[ToolDone]:
        """Ends for the cards that were cut off."""
        return [self._end_of(card) for card in self._cards.values()]

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
            detail=f"status={status} cell_id={cell_id}\n{words}" if cell_id else words,
        )
