"""What the journal's events say of a session: where it stands when it is taken up."""

from __future__ import annotations

from dataclasses import dataclass, field

from .events import (
    ChangesKept,
    Event,
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

LOST = "[The server was stopped during the previous turn; variables may be gone."
HAD_BEGUN = " Code in the cells {cells} had begun to run; it may have had effects."


@dataclass
class Past:
    """Fed with every event of a session, in order (``add``)."""

    turns: int = 0
    steps: int = 0
    asked: str = ""
    """The person's last message."""
    since: int = 0
    """The turn in which they sent it."""
    unheard: bool = False
    """Whether the model has not been asked since."""
    unfinished: bool = False
    ended: TurnEnded | None = None
    usage: UsageChanged | None = None
    reviewed: dict[int, dict[str, State]] = field(default_factory=dict)
    """What has become of the cells that a turn changed, by turn and cell id."""
    _cards: dict[str, ToolStarted] = field(default_factory=dict)
    """Calls of the last step that have no end."""
    _running: dict[str, str] = field(default_factory=dict)
    """Cells whose run has no end, by call id."""

    def add(self, event: Event) -> None:
        if isinstance(event, TurnStarted):
            self.turns, self.unfinished = event.turn, True
            self._running.clear()
            self._cards.clear()
            if event.text:
                self.asked, self.since, self.unheard = event.text, event.turn, True
        elif isinstance(event, StepStarted):
            self.steps, self.unheard = event.step, False
        elif isinstance(event, RunStarted):
            self._running[event.call_id] = event.cell_id
        elif isinstance(event, ToolStarted):
            self._cards[event.call_id] = event
        elif isinstance(event, StepDiscarded):
            self._cards.clear()
        elif isinstance(event, ToolDone):
            self._cards.pop(event.call_id, None)
            self._running.pop(event.call_id, None)
        elif isinstance(event, UsageChanged):
            self.usage = event
        elif isinstance(event, TurnUndone):
            cells = self.reviewed.setdefault(event.turn, {})
            cells.update(dict.fromkeys(event.restored, "undone"))
        elif isinstance(event, ChangesKept):
            cells = self.reviewed.setdefault(event.turn, {})
            cells.update(dict.fromkeys(event.cells, "kept"))
        elif isinstance(event, TurnEnded):
            self.ended, self.unfinished = event, False

    @property
    def lost(self) -> str:
        """What the model must know of a turn that was cut off, "" if none was."""
        if not self.unfinished:
            return ""
        cells = ", ".join(self._running.values())
        return LOST + (HAD_BEGUN.format(cells=cells) if cells else "") + "]"

    def ends(self) -> list[ToolDone]:
        """Ends for the cards that were cut off."""
        return [
            ToolDone(
                card.call_id,
                card.name,
                card.title,
                "interrupted" if card.call_id in self._running else "not_started",
                cell_id=self._running.get(card.call_id, ""),
                summary="The server was stopped.",
            )
            for card in self._cards.values()
        ]
