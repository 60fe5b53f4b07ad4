"""The tool calls of one step: cards, drafts, results."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ...cells.cell_run import CellRun
from ...document.ops import CellView, called
from ...messages import Text, ToolUse
from ...turn.results import Result, noted
from ...turn.turn import Turn
from ...wire.events import Event, ToolStarted
from .base import Tool

# -------------------------------------------------------------------------------------------------
# The titles of tools' cards.

TITLE_LENGTH = 60
"""Characters of a card's title."""


def title_so_far(title: object, source: str) -> str:
    """The card's name while ``source`` is being written; "" until it is known."""
    given = isinstance(title, str) and bool(title.strip())
    whole_lines, _, _ = source.rpartition("\n")
    return title_of(title, whole_lines) if given or whole_lines.strip() else ""


def title_of(title: object, source: str) -> str:
    """The card's name: the title, else the first comment or line of the source."""
    text = title if isinstance(title, str) and title.strip() else ""
    if not text:
        lines = (line.strip() for line in source.splitlines())
        text = next((line for line in lines if line and not line.startswith("%%")), "")
        text = text.lstrip("#").strip() or "Cell"
    text = " ".join(text.split())
    return text if len(text) <= TITLE_LENGTH else text[: TITLE_LENGTH - 1] + "…"


def name_of(turn: Turn, cell: CellView) -> str:
    """What a card calls a cell that is there: its title, else its number and first line."""
    place = int(turn.notebook.stands(cell.cell_id).partition("/")[0] or 0)
    number = called(place, cell.execution_count)
    return turn.titles.get(cell.cell_id) or title_of(f"{number}: {title_of('', cell.source)}", "")


class Known(Protocol):
    """The part of the registry that a step uses."""

    def get(self, name: str) -> Tool | None: ...

    def label(self, name: str) -> str: ...

    def changes(self, name: str) -> bool: ...


class Step:
    def __init__(self, turn: Turn, registry: Known) -> None:
        self.turn = turn
        self.registry = registry
        self.results: dict[str, Result] = {}
        """Results of ended calls, by call id."""
        self.runs: dict[str, CellRun] = {}
        """Runs of calls with a draft, by call id."""
        self.shown: dict[str, str] = {}
        """Tool names of the calls with an open card."""
        self.failed = False
        """Whether a call that changes the notebook has failed."""
        self.failure_told = False
        """Whether a call was already refused because of that failure."""
        self._notes: dict[str, list[str]] = {}

    def say(self, call: ToolUse, *notes: str) -> None:
        """Add notes to the call's result on how its input was read."""
        self._notes.setdefault(call.id, []).extend(filter(None, notes))

    def card(self, call_id: str, name: str) -> list[Event]:
        if call_id in self.shown:
            return []
        self.shown[call_id] = name
        return [ToolStarted(call_id, name, self.registry.label(name))]

    def title(self, call: ToolUse) -> str:
        source = call.input.get("source")
        given = title_of(call.input.get("title"), source if isinstance(source, str) else "")
        return self.registry.label(call.name) or given

    def take_results(self) -> None:
        """Take the results of ended runs."""
        for call_id, run in self.runs.items():
            if run.result is not None:
                self.results.setdefault(call_id, run.result)

    def ended(self, call: ToolUse) -> Event:
        for note in self._notes.pop(call.id, ()):
            words = self.turn.untrusted.inert(note)
            self.results[call.id] = noted(self.results[call.id], f"({words})")
        done = self.results[call.id].done
        if self.registry.changes(call.name) and done.status != "ok":
            self.failed = True
        del self.shown[call.id]
        return done

    def not_started(self, call: ToolUse, words: str) -> None:
        run = self.runs.get(call.id)
        title = run.draft.title if run is not None else self.title(call)
        if run is not None:
            run.draft.remove()
        self.results[call.id] = self.turn.results.make(call, "not_started", words, title=title)

    def tool(self, call: ToolUse) -> Tool:
        tool = self.registry.get(call.name)
        if tool is None:
            raise RuntimeError(f"{call.name} is not a tool")
        return tool


def joined(first: Result, second: Result, words: str) -> Result:
    """The call's result, then ``words`` and the result of a cell that the call caused."""
    heading = Text(f"\n{words}\n" if words else "\n")
    content = (*first.block.content, heading, *second.block.content)
    return Result(msgspec.structs.replace(first.block, content=content), first.done)
