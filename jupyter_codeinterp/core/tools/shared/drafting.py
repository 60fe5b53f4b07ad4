"""Work of the tools that change the notebook: open a draft, get a decision, carry it out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal

import msgspec

from ...approval import policy
from ...approval.decisions import Decision, new_nonce
from ...cells.cell_run import CellRun
from ...cells.draft import ACTIONS, DraftCell, Kind
from ...cells.expected import Contract
from ...document.ops import PRIVATE, CellView, RanCode, normalise
from ...messages import ToolUse
from ...model_view import outputs
from ...turn.notebook import Place
from ...turn.results import Result
from ...turn.turn import new_cell_id
from ...wire.events import Draft, DraftDecided, Event
from .arguments import so_far
from .base import Tool
from .step import Step, joined, title_of, title_so_far

# -------------------------------------------------------------------------------------------------
# Drafts that concern no cell: words that say what happens after the person's decision.

CUT_OFF = "The turn ended while this was done. It may have had effects."
DIFFERS = "The decision was about something else. Decide again."


def draft_of(
    call: ToolUse,
    kind: Literal["kernel", "notebook", "verify", "tool", "cells"],
    title: str,
    words: str,
    why: str,
) -> Draft:
    """A draft without a cell. ``words``: what will happen; ``why``: the reason to ask again, if
    any."""
    return Draft(
        draft_id=f"{kind}-{call.id}",
        call_id=call.id,
        kind=kind,
        cell_id="",
        title=title,
        source=words,
        nonce=new_nonce(),
        notices=(why,) if why else (),
        runs=False,
    )


def decided(draft: Draft, decision: Decision) -> DraftDecided:
    return DraftDecided(
        draft.call_id,
        draft.draft_id,
        decision.action,
        decision.by,
        reason=decision.reason,
        window=decision.window,
        said=decision.said,
        person=decision.person,
    )


SHOWN_AFTER = 0.05
"""Seconds before a draft shows. A source that is complete by then is drawn only once."""
PUT_FORWARD = "The code proposed another cell (set_next_input):"
RECORD = (
    "{id!r} is code that the person ran; the cell itself is not known here, so it stays. Write a "
    "new cell, or tell the person what to change."
)
NO_POSITION = (
    "There is no position {position!r}. Use start, end, before:ID or after:ID. Cells: {ids}."
)


class How(msgspec.Struct, frozen=True):
    """How to run a source. ``run``: whether it runs at all; ``timeout``: seconds, None for the
    turn's limit."""

    expects: Contract | None = None
    timeout: float | None = None
    run: bool = True


AS_USUAL = How()


class Drafting:
    """The drafts of one step."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.turn = step.turn
        self._began: dict[str, float] = {}
        """When the source of a call began to arrive, on the loop's clock."""

    def preview(
        self, call_id: str, tool: Tool, given: dict[str, object], source: str
    ) -> list[Event]:
        """Show the source so far, once ``SHOWN_AFTER`` has passed."""
        events: list[Event] = []
        now = asyncio.get_running_loop().time()
        if now - self._began.setdefault(call_id, now) < SHOWN_AFTER:
            return events
        if call_id not in self.step.runs:
            events = self._open(call_id, tool, given, source)
        if call_id in self.step.runs:
            self.step.runs[call_id].draft.write(source)
        return events

    def _open(self, call_id: str, tool: Tool, given: dict[str, object], source: str) -> list[Event]:
        """Show the draft, if its cell or position exists."""
        place = self._where(tool, given)
        if place is None or not self.turn.allowed.changes:
            return []
        kind, cell_id, old_source, spot = place
        given_title = given.get("title") or self.turn.titles.get(cell_id)
        title = tool.label or title_so_far(given_title, source)
        draft = DraftCell(self.turn, call_id, kind, cell_id, title, old_source)
        self.step.runs[call_id] = CellRun(draft, tool.name)
        if kind != "edit":
            draft.insert(self.turn.notebook.above(spot.after) if spot.after else ())
            draft.replace_empty(spot.instead)
        return [draft.opened()]

    def _where(self, tool: Tool, given: dict[str, object]) -> tuple[Kind, str, str, Place] | None:
        """Kind, cell, source as the model last saw it, and place; None if the cell or position does
        not exist."""
        notebook = self.turn.notebook
        if tool.draft == "edit":
            found = notebook.find(so_far(given, "cell_id") or "")
            seen = self.turn.context.source_seen(found.cell_id) if found is not None else None
            return None if seen is None or found is None else ("edit", found.cell_id, seen, Place())
        spot = notebook.at(so_far(given, "position") or "")
        kind: Kind = "markdown" if tool.draft == "markdown" else "insert"
        return None if spot is None else (kind, new_cell_id(), "", spot[0])

    async def write(
        self,
        call: ToolUse,
        source: str,
        how: How = AS_USUAL,
        *,
        position: str = "",
        cell_id: str = "",
    ) -> AsyncIterator[Event]:
        """Carry out a call that writes a new cell at ``position``, or ``cell_id``."""
        tool, runs = self.step.tool(call), self.step.runs
        spot = self.turn.notebook.at(position)
        if self._is_refused(call, tool):
            return
        if spot is None:
            ids = self.turn.notebook.known_ids()
            self.step.not_started(call, NO_POSITION.format(position=position, ids=ids))
            return
        self.step.say(call, spot[1])
        for event in self._open_now(call, tool, source):
            yield event
        draft = runs[call.id].draft
        kept = "" if call.input.get("title") else self.turn.titles.get(cell_id)
        draft.title = kept or self.step.title(call)
        draft.expects, draft.timeout, draft.only_edits = how.expects, how.timeout, not how.run
        if cell_id:
            cell = self.turn.notebook.snapshot.cell(cell_id)
            draft.is_code = cell is not None and cell.cell_type == "code"
        run = runs[call.id]
        async for event in run.run(call, source):
            yield event
        async for event in self._put_forward(call, run):
            yield event

    def _open_now(self, call: ToolUse, tool: Tool, source: str) -> list[Event]:
        """Open the draft of a call that had no preview."""
        known = call.id in self.step.runs
        return [] if known else self._open(call.id, tool, call.input, source)

    async def _put_forward(self, call: ToolUse, run: CellRun) -> AsyncIterator[Event]:
        """Handle drafts that the code proposed (set_next_input); they ask in every mode."""
        waiting = [(run.draft.cell_id, source) for source in run.next_inputs]
        number = 0
        while waiting:
            after, source = waiting.pop(0)
            number += 1
            part = ToolUse(f"{call.id}-next{number}", "run_cell", {})
            async for event in self.run_part(part, source, "", after, suspicious=True):
                yield event
            proposed = self.step.runs[part.id]
            waiting += [(proposed.draft.cell_id, text) for text in proposed.next_inputs]
            results = self.step.results
            self.step.take_results()
            results[call.id] = joined(results[call.id], results[part.id], PUT_FORWARD)

    async def run_part(
        self, part: ToolUse, source: str, title: str, after: str = "", *, suspicious: bool = False
    ) -> AsyncIterator[Event]:
        """Run a new cell with its own card, as a part of another call. ``suspicious`` asks in
        every mode."""
        step, notebook = self.step, self.turn.notebook
        draft = DraftCell(self.turn, part.id, "insert", new_cell_id(), title_of(title, source))
        run = step.runs[part.id] = CellRun(draft, part.name)
        for event in step.card(part.id, part.name):
            yield event
        yield draft.opened()
        draft.insert(notebook.above(after or notebook.place().after))
        async for event in run.run(part, normalise(source), suspicious=suspicious):
            yield event
        step.take_results()
        yield step.ended(part)

    async def delete(self, call: ToolUse, cell_id: str) -> AsyncIterator[Event]:
        seen = self.turn.context.source_seen(cell_id) or ""
        name = self.turn.titles.get(cell_id) or title_of("", seen)
        title = title_of(f"Delete: {name}", "")
        draft = DraftCell(self.turn, call.id, "delete", cell_id, title, seen)
        run = self.step.runs[call.id] = CellRun(draft, call.name)
        yield draft.opened()
        async for event in run.run(call, seen):
            yield event

    async def scratch(
        self, call: ToolUse, source: str, timeout: float | None
    ) -> AsyncIterator[Event]:
        if self._is_refused(call, self.step.tool(call)):
            return
        draft = DraftCell(self.turn, call.id, "scratch", "", self.step.title(call))
        draft.timeout = timeout
        run = self.step.runs[call.id] = CellRun(draft, call.name)
        yield draft.opened()
        async for event in run.run(call, source):
            yield event
        async for event in self._put_forward(call, run):
            yield event

    # --- whether it can be done ------------------------------------------------------

    def _is_refused(self, call: ToolUse, tool: Tool) -> bool:
        """Whether the mode forbids changes. The call then has its result."""
        if self.turn.allowed.changes:
            return False
        run = self.step.runs.get(call.id)
        if run is not None:
            run.draft.remove()
        mode = self.turn.mode
        words = policy.refusal(tool.action or ACTIONS[tool.draft or "insert"], mode)
        self.step.results[call.id] = self.turn.results.not_run(
            call, words, self.step.title(call), "", summary=policy.refused(mode)
        )
        return True

    async def to_change(self, call: ToolUse, *names: str) -> list[CellView]:
        """The cells with these names, if the model knows their current source; else none, and the
        call has its result."""
        if self._is_refused(call, self.step.tool(call)):
            return []
        cells: dict[str, CellView] = {}
        for name in names:
            found = self.turn.notebook.find(name)
            cell = await self.turn.notebook.look_at(found.cell_id) if found is not None else None
            if found is None or cell is None:
                ids = self.turn.notebook.known_ids()
                self.step.not_started(call, f"There is no cell {name!r}. Cells: {ids}.")
                return []
            self.step.say(call, found.note)
            stale = self._stale(cell)
            if stale is not None:
                self.step.results[call.id] = self._stale_result(call, stale)
                return []
            cells[cell.cell_id] = cell
        return list(cells.values())

    def _stale(self, cell: CellView) -> tuple[str, str] | None:
        """Why a cell cannot be changed (it is private, or the model does not know its source), and
        the source to show, if any. None if it can be changed."""
        turn = self.turn
        if PRIVATE in cell.tags:
            return f"The person keeps the cell {cell.cell_id!r} private. It cannot be changed.", ""
        if isinstance(cell, RanCode):
            return RECORD.format(id=cell.cell_id), ""
        seen = turn.context.source_seen(cell.cell_id)
        if seen == cell.source:
            return None
        why = "You have not read this cell" if seen is None else "The person changed this cell"
        if len(cell.source) > outputs.BUDGET:
            return f"{why}, and it is too long to show in full. Nothing was changed.", ""
        turn.context.seen(cell)
        return f"{why}. Nothing was changed. It reads:", cell.source

    def _stale_result(self, call: ToolUse, stale: tuple[str, str]) -> Result:
        words, source = stale
        quoted = self.turn.untrusted.shown(source) if source else ""
        run = self.step.runs.pop(call.id, None)
        title = run.draft.title if run is not None else ""
        title = title or self.step.title(call)
        return self.turn.results.make(
            call, "not_started", words, title=title, summary=words, quoted=quoted
        )
