"""Work of the tools that change the notebook: open a draft, get a decision, carry it out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ...approval import policy
from ...approval.installs import requirements
from ...cells.cell_run import CellRun
from ...cells.draft import ACTIONS, DraftCell, Kind
from ...checks.shared.contract import Contract
from ...document.ops import PRIVATE, normalise
from ...events import Event
from ...messages import ToolUse
from ...model_view import outputs
from ...turn.placing import Place
from ...turn.results import Result
from ...turn.turn import new_cell_id
from .base import Tool
from .step import Step, joined, with_fact
from .titles import title_of, title_so_far

PUT_LOWER = "(The cell was placed after {after}, because it uses names defined there: {names}.)"
MOST_NAMES = 5
"""Names in ``PUT_LOWER``."""
SHOWN_AFTER = 0.05
"""Seconds. A source that is complete by then comes in one change of the notebook, drawn once."""
PUT_FORWARD = "The code proposed another cell (set_next_input):"


class Drafting:
    """The drafts of one step."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.turn = step.turn
        self._began: dict[str, float] = {}
        """When the source of a call began to come, on the loop's clock."""

    def preview(
        self, call_id: str, tool: Tool, given: dict[str, object], source: str
    ) -> list[Event]:
        """Show the source so far, unless it has only begun to come."""
        events: list[Event] = []
        now = asyncio.get_running_loop().time()
        if now - self._began.setdefault(call_id, now) < SHOWN_AFTER:
            return events
        if call_id not in self.step.runs:
            events = self._open(call_id, tool, given, source)
        if call_id in self.step.runs:
            self.step.runs[call_id].draft.write(source)
        return events

    def _open(
        self,
        call_id: str,
        tool: Tool,
        given: dict[str, object],
        source: str,
        *,
        whole: bool = False,
    ) -> list[Event]:
        """Show the draft, if the call is possible at all. ``whole``: the source is complete."""
        if not whole and self._may_install(tool, source):
            return []
        place = self._where(tool, given, source)
        if place is None or not self.turn.allowed.changes:
            return []
        kind, cell_id, old_source, spot = place
        title = tool.label or title_so_far(given.get("title"), source)
        draft = DraftCell(self.turn, call_id, kind, cell_id, title, old_source)
        self.step.runs[call_id] = CellRun(draft, tool.name)
        if kind != "edit":
            draft.insert(self.turn.notebook.above(spot.after) if spot.after else ())
            draft.replace_empty(spot.instead)
        return [draft.opened()]

    def _may_install(self, tool: Tool, source: str) -> bool:
        """Whether the beginning of a source may become a command that installs packages: until
        this is known, nobody knows whether the cell replaces the failed one."""
        first = source.lstrip()
        begins = not first or (first[0] in "%!" and "\n" not in first)
        return tool.draft == "insert" and begins and self._failed_cell() is not None

    def _where(
        self, tool: Tool, given: dict[str, object], source: str
    ) -> tuple[Kind, str, str, Place] | None:
        """Kind, cell, source as the model last saw it, and place; None for a stale id."""
        turn = self.turn
        if tool.draft == "edit":
            cell_id = given.get("cell_id")
            seen = turn.context.source_seen(cell_id) if isinstance(cell_id, str) else None
            return None if seen is None else ("edit", str(cell_id), seen, Place())
        after = given.get("after_cell_id")
        if isinstance(after, str) and after:
            if not turn.notebook.knows(after):
                return None
            spot = Place(after)
        else:
            failed = self._failed_cell() if tool.draft == "insert" else None
            if failed is None:
                spot = turn.notebook.place()
            elif requirements(source):
                # The failed cell stays, below what it needs.
                spot = Place(turn.notebook.before(failed[0]))
            else:
                return "edit", failed[0], failed[1], Place()
        kind: Kind = "markdown" if tool.draft == "markdown" else "insert"
        return kind, new_cell_id(), "", spot

    def _failed_cell(self) -> tuple[str, str] | None:
        """The cell that the agent ran last, if it failed: a new cell replaces it. Cells that
        install packages do not count."""
        ledger = self.turn.ledger
        for cell_id in reversed(ledger.touched):
            source = ledger.written(cell_id)
            if source is None or not requirements(source):
                failed = cell_id in ledger.failed_since(self.turn.since)
                return (cell_id, source) if failed and source is not None else None
        return None

    async def write(
        self,
        call: ToolUse,
        source: str,
        cell_id: str | None = None,
        expects: Contract | None = None,
    ) -> AsyncIterator[Event]:
        """Carry out a call that writes ``cell_id`` or a new cell."""
        tool, runs = self.step.tool(call), self.step.runs
        refused = self._refused(call, tool)
        stale = await self._stale(cell_id) if cell_id is not None else None
        if refused or stale:
            self.step.results[call.id] = refused or self._stale_result(call, stale or ("", ""))
            return
        for event in self._open_now(call, tool, source):
            yield event
        if cell_id is None and await self._is_taken(call):
            for event in self._open_now(call, tool, source):
                yield event
        run = runs.get(call.id)
        if run is None:
            self.step.not_started(call, self._no_cell(call.input.get("after_cell_id")))
            return
        moved = await self._below_needs(call, source, run)
        if moved is not None:
            run = moved[0]
            yield run.draft.opened()
        run.draft.title = self.step.title(call)
        run.draft.expects = expects
        if cell_id is not None:
            cell = self.turn.notebook.snapshot.cell(cell_id)
            run.draft.is_code = cell is not None and cell.cell_type == "code"
        async for event in run.run(call, source):
            yield event
        if moved is not None and run.result is not None:
            run.result = with_fact(run.result, moved[1])
        async for event in self._put_forward(call, run):
            yield event

    async def _below_needs(
        self, call: ToolUse, source: str, run: CellRun
    ) -> tuple[CellRun, str] | None:
        """Move a draft below the cells that define what it uses. Returns the new draft and a
        fact for the model; None if the place is fine."""
        notebook, draft = self.turn.notebook, run.draft
        if draft.kind != "insert":
            return None
        after = notebook.placed.get(draft.cell_id, ())
        lower = await notebook.lower(after[0], source) if after else None
        if lower is None:
            return None
        draft.remove()
        below = DraftCell(self.turn, call.id, "insert", new_cell_id(), draft.title)
        moved = self.step.runs[call.id] = CellRun(below, call.name)
        below.insert(notebook.above(lower.after))
        names = ", ".join(lower.needs[:MOST_NAMES])
        return moved, PUT_LOWER.format(after=" ".join(lower.after.split())[:100], names=names)

    def _open_now(self, call: ToolUse, tool: Tool, source: str) -> list[Event]:
        """Open the draft of a call that had no preview."""
        known = call.id in self.step.runs
        return [] if known else self._open(call.id, tool, call.input, source, whole=True)

    async def _is_taken(self, call: ToolUse) -> bool:
        """Whether the person has deleted, edited or run the failed cell to replace. The call
        then needs a new cell."""
        run = self.step.runs.get(call.id)
        if run is None or run.draft.kind != "edit":
            return False
        await self.turn.notebook.look_at(run.draft.cell_id)
        if run.draft.cell_id in self.turn.ledger.failed:
            return False
        del self.step.runs[call.id]
        return True

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
        refused = self._refused(call, self.step.tool(call))
        stale = await self._stale(cell_id)
        if refused or stale:
            self.step.results[call.id] = refused or self._stale_result(call, stale or ("", ""))
            return
        seen = self.turn.context.source_seen(cell_id) or ""
        title = title_of(f"Delete: {title_of('', seen)}", "")
        draft = DraftCell(self.turn, call.id, "delete", cell_id, title, seen)
        run = self.step.runs[call.id] = CellRun(draft, call.name)
        yield draft.opened()
        async for event in run.run(call, seen):
            yield event

    def _refused(self, call: ToolUse, tool: Tool) -> Result | None:
        """The refusal in a mode that changes nothing; else None."""
        if self.turn.allowed.changes:
            return None
        run = self.step.runs.get(call.id)
        if run is not None:
            run.draft.remove()
        mode = self.turn.mode
        words = policy.refusal(ACTIONS[tool.draft or "insert"], mode)
        return self.turn.results.not_run(
            call, words, self.step.title(call), "", summary=policy.refused(mode)
        )

    async def _stale(self, cell_id: str) -> tuple[str, str] | None:
        """Why a cell cannot change: it is missing, private, or not as the model knows it. With
        the current source to show, if any. None if it can change."""
        turn = self.turn
        cell = await turn.notebook.look_at(cell_id)
        if cell is None:
            return self._no_cell(cell_id), ""
        if PRIVATE in cell.tags:
            return f"The person keeps the cell {cell_id!r} private. It cannot be changed.", ""
        seen = turn.context.source_seen(cell_id)
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

    def _no_cell(self, cell_id: object) -> str:
        return f"There is no cell {cell_id!r}. Cells: {self.turn.notebook.known_ids()}."
