"""The tools at work: from a tool call (as it streams, then whole) to its result.

``preview`` shows a call while it is written; ``run`` carries it out. A failed tool is a
result for the model with ``is_error``; an exception here is a bug, or the end of the turn.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable

import msgspec

from ..approval import policy
from ..cells.cell_run import CellRun
from ..cells.draft import DraftCell, Kind
from ..document.ops import PRIVATE
from ..errors import DocumentError, KernelError
from ..events import Event, QuestionAnswered, QuestionAsked, ToolStarted
from ..messages import Text, ToolResult, ToolUse
from ..model_view import outputs
from ..ports import ModelToolInput
from ..turn.placing import Place
from ..turn.results import Result
from ..turn.turn import Turn, new_cell_id
from .base import ToolContext
from .registry import BUILT_IN, ToolRegistry
from .specs import (
    WRITING_TOOLS,
    AddMarkdown,
    AskUser,
    DeleteCell,
    EditCell,
    RunCell,
    title_of,
    title_so_far,
)

log = logging.getLogger(__name__)

AFTER_A_FAILURE = (
    "An earlier call of the same reply did not succeed, so this one was not started. "
    "Look at what came of that one first."
)
PUT_LOWER = "(The cell stands after {after}, because it uses what is defined there: {names}.)"
MOST_NAMES = 5
"""That are named there."""


class Tools:
    """The tool calls of one step. ``results`` holds those that have come to an end."""

    def __init__(self, turn: Turn, registry: ToolRegistry) -> None:
        self.turn = turn
        self._registry = registry
        self.results: dict[str, Result] = {}
        self._runs: dict[str, CellRun] = {}
        self._shown: dict[str, str] = {}
        """Names of the calls that have a card which has not ended."""
        self._failed = False
        """Whether a call that changes the notebook has not succeeded."""

    # --- while the call is written ---------------------------------------------------

    def preview(self, call: ModelToolInput) -> list[Event]:
        """What to show of a call that is being written. Runs nothing, waits for nothing."""
        events = self._card(call.id, call.name)
        source = call.partial.get("source")
        if call.name in WRITING_TOOLS and isinstance(source, str):
            source = source.replace("\r\n", "\n").rstrip("\r")
            if call.id not in self._runs:
                events += self._open(call.id, call.name, call.partial, source)
            if call.id in self._runs:
                self._runs[call.id].draft.write(source)
        return events

    def _card(self, call_id: str, name: str) -> list[Event]:
        if call_id in self._shown:
            return []
        self._shown[call_id] = name
        return [ToolStarted(call_id, name, self._registry.label(name))]

    def _open(self, call_id: str, name: str, given: dict[str, object], source: str) -> list[Event]:
        """Let the draft appear, if the call can be carried out at all."""
        place = self._where(name, given)
        if place is None or not self.turn.allowed.changes:
            return []
        kind, cell_id, old_source, spot = place
        title = self._registry.label(name) or title_so_far(given.get("title"), source)
        draft = DraftCell(self.turn, call_id, kind, cell_id, title, old_source)
        self._runs[call_id] = CellRun(draft, name)
        if kind != "edit":
            draft.insert(self.turn.notebook.above(spot.after) if spot.after else ())
            draft.instead = self.turn.notebook.snapshot.cell(spot.instead)
        return [draft.opened()]

    def _where(self, name: str, given: dict[str, object]) -> tuple[Kind, str, str, Place] | None:
        """Kind, cell, source that the model last saw, and where; None for a stale id."""
        turn = self.turn
        if name == "edit_cell":
            cell_id = given.get("cell_id")
            seen = turn.context.source_seen(cell_id) if isinstance(cell_id, str) else None
            return None if seen is None else ("edit", str(cell_id), seen, Place())
        after = given.get("after_cell_id")
        if isinstance(after, str) and after:
            if not turn.notebook.knows(after):
                return None
            spot = Place(after)
        else:
            failed = self._to_mend() if name == "run_cell" else None
            if failed is not None:
                return "edit", failed[0], failed[1], Place()
            spot = turn.notebook.place()
        kind: Kind = "markdown" if name == "add_markdown" else "insert"
        return kind, new_cell_id(), "", spot

    def _to_mend(self) -> tuple[str, str] | None:
        """The agent's own cell that it ran last, if it failed: a new cell takes its place."""
        turn = self.turn
        if not turn.ledger.touched:
            return None
        cell_id = turn.ledger.touched[-1]
        source = turn.ledger.written(cell_id)
        if source is None or cell_id not in turn.ledger.failed_since(turn.since):
            return None
        return cell_id, source

    # --- when the call is whole ------------------------------------------------------

    async def run(self, call: ToolUse, invalid: str | None) -> AsyncIterator[Event]:
        """Carry out a call; its result is then in ``results``, and told as ``ToolDone``.

        ``invalid`` says what was wrong with its JSON. What changes the notebook is not
        begun once an earlier such call of the reply has not succeeded: it was written
        without knowing that.
        """
        for event in self._card(call.id, call.name):
            yield event
        try:
            if invalid is not None:
                raise ValueError(f"The input of this call is not valid JSON: {invalid}")
            arguments = self._registry.parse(call.name, call.input)
            if self._failed and self._registry.changes(call.name):
                raise ValueError(AFTER_A_FAILURE)
        except ValueError as error:
            self._not_started(call, str(error))
        else:
            async for event in self._carry_out(call, arguments):
                yield event
        self._take_results()
        yield self._ended(call)

    async def _carry_out(self, call: ToolUse, arguments: msgspec.Struct) -> AsyncIterator[Event]:
        if isinstance(arguments, (RunCell, EditCell, AddMarkdown)):
            work = self._write(call, arguments)
        elif isinstance(arguments, DeleteCell):
            work = self._delete(call, arguments)
        elif isinstance(arguments, AskUser):
            work = self._ask(call, arguments)
        else:
            self.results[call.id] = await self._look(call, arguments)
            return
        async for event in work:
            yield event

    async def _look(self, call: ToolUse, arguments: msgspec.Struct) -> Result:
        turn, title = self.turn, self._registry.label(call.name)
        tool = self._registry.get(call.name)
        if tool is None or tool.run is None:
            raise RuntimeError(f"{call.name} has nothing to run")
        try:
            seen = await tool.run(ToolContext(turn), arguments)
        except (DocumentError, KernelError, LookupError) as error:
            return turn.results.make(call, "not_started", str(error), title=title)
        except Exception as error:
            if tool in BUILT_IN:
                raise
            # Code of others: its faults are no reason to end the turn.
            log.exception("The tool %s failed", call.name)
            words = f"The tool failed ({type(error).__name__})."
            return turn.results.make(call, "not_started", words, title=title)
        if tool in BUILT_IN:
            quoted, images = turn.foreign.quoted(seen.text), seen.images
        else:
            quoted, images = turn.foreign.shown(seen.text), ()
        return turn.results.make(call, "ok", title=title, images=images, quoted=quoted)

    def _take_results(self) -> None:
        """Results of the runs that have come to one."""
        for call_id, run in self._runs.items():
            if run.result is not None:
                self.results.setdefault(call_id, run.result)

    def _ended(self, call: ToolUse) -> Event:
        done = self.results[call.id].done
        if self._registry.changes(call.name) and done.status != "ok":
            self._failed = True
        del self._shown[call.id]
        return done

    def _not_started(self, call: ToolUse, words: str) -> None:
        run = self._runs.get(call.id)
        title = run.draft.title if run is not None else self._title(call)
        if run is not None:
            run.draft.remove()
        self.results[call.id] = self.turn.results.make(call, "not_started", words, title=title)

    def _title(self, call: ToolUse) -> str:
        source = call.input.get("source")
        given = title_of(call.input.get("title"), source if isinstance(source, str) else "")
        return self._registry.label(call.name) or given

    # --- the tools that change the notebook ------------------------------------------

    async def _write(
        self, call: ToolUse, arguments: RunCell | EditCell | AddMarkdown
    ) -> AsyncIterator[Event]:
        refused = self._refused(call)
        stale = await self._stale(arguments.cell_id) if isinstance(arguments, EditCell) else None
        if refused or stale:
            self.results[call.id] = refused or self._stale_result(call, stale or ("", ""))
            return
        for event in self._open_now(call, arguments.source):
            yield event
        if isinstance(arguments, RunCell) and await self._mends_in_vain(call):
            for event in self._open_now(call, arguments.source):
                yield event
        run = self._runs.get(call.id)
        if run is None:
            after = call.input.get("after_cell_id")
            self._not_started(call, self._no_cell(after))
            return
        moved = await self._below_needs(call, arguments, run)
        if moved is not None:
            run = moved[0]
            yield run.draft.opened()
        run.draft.title = self._title(call)
        if isinstance(arguments, EditCell):
            cell = self.turn.notebook.snapshot.cell(arguments.cell_id)
            run.draft.is_code = cell is not None and cell.cell_type == "code"
        async for event in run.run(call, arguments.source):
            yield event
        if moved is not None and run.result is not None:
            run.result = _with_fact(run.result, moved[1])
        async for event in self._put_forward(call, run):
            yield event

    async def _below_needs(
        self, call: ToolUse, arguments: msgspec.Struct, run: CellRun
    ) -> tuple[CellRun, str] | None:
        """A new draft further down, if the first stands above what its code uses; and what the
        model is told of it."""
        notebook, draft = self.turn.notebook, run.draft
        if draft.kind != "insert" or not isinstance(arguments, RunCell):
            return None
        after = notebook.placed.get(draft.cell_id, ())
        lower = await notebook.lower(after[0], arguments.source) if after else None
        if lower is None:
            return None
        draft.remove()
        below = DraftCell(self.turn, call.id, "insert", new_cell_id(), draft.title)
        moved = self._runs[call.id] = CellRun(below, call.name)
        below.insert(notebook.above(lower.after))
        names = ", ".join(lower.needs[:MOST_NAMES])
        return moved, PUT_LOWER.format(after=" ".join(lower.after.split())[:100], names=names)

    def _open_now(self, call: ToolUse, source: str) -> list[Event]:
        """The draft of a call that was not shown while it was written."""
        known = call.id in self._runs
        return [] if known else self._open(call.id, call.name, call.input, source)

    async def _mends_in_vain(self, call: ToolUse) -> bool:
        """Whether the failed cell that was to be replaced is deleted or changed by now. It
        is the person's then, and the call needs a cell of its own."""
        run = self._runs.get(call.id)
        if run is None or run.draft.kind != "edit":
            return False
        cell = await self.turn.notebook.look_at(run.draft.cell_id)
        if cell is not None and cell.source == run.draft.old_source:
            return False
        self.turn.ledger.failed.pop(run.draft.cell_id, None)
        del self._runs[call.id]
        return True

    async def _put_forward(self, call: ToolUse, run: CellRun) -> AsyncIterator[Event]:
        """Drafts that the code has put forward (set_next_input): asked for in every mode."""
        waiting = [(run.draft.cell_id, source) for source in run.next_inputs]
        number = 0
        while waiting:
            after, source = waiting.pop(0)
            number += 1
            part = ToolUse(f"{call.id}-next{number}", "run_cell", {})
            title = title_of("", source)
            draft = DraftCell(self.turn, part.id, "insert", new_cell_id(), title)
            proposed = self._runs[part.id] = CellRun(draft, part.name)
            for event in self._card(part.id, part.name):
                yield event
            yield draft.opened()
            draft.insert(self.turn.notebook.above(after))
            async for event in proposed.run(part, source, suspicious=True):
                yield event
            waiting += [(draft.cell_id, text) for text in proposed.next_inputs]
            self._take_results()
            yield self._ended(part)
            self.results[call.id] = _joined(self.results[call.id], self.results[part.id])

    async def _delete(self, call: ToolUse, arguments: DeleteCell) -> AsyncIterator[Event]:
        refused = self._refused(call)
        stale = await self._stale(arguments.cell_id)
        if refused or stale:
            self.results[call.id] = refused or self._stale_result(call, stale or ("", ""))
            return
        seen = self.turn.context.source_seen(arguments.cell_id) or ""
        title = title_of(f"Delete: {title_of('', seen)}", "")
        draft = DraftCell(self.turn, call.id, "delete", arguments.cell_id, title, seen)
        run = self._runs[call.id] = CellRun(draft, call.name)
        yield draft.opened()
        async for event in run.run(call, seen):
            yield event

    def _refused(self, call: ToolUse) -> Result | None:
        """What a mode in which nothing changes says to a call that changes something."""
        if self.turn.allowed.changes:
            return None
        run = self._runs.get(call.id)
        if run is not None:
            run.draft.remove()
        actions: dict[str, policy.Action] = {
            "run_cell": "run_new",
            "edit_cell": "edit",
            "add_markdown": "markdown",
            "delete_cell": "delete",
        }
        mode = self.turn.mode
        words = policy.refusal(actions[call.name], mode)
        return self.turn.results.rejected(
            call, words, self._title(call), "", summary=policy.refused(mode)
        )

    async def _stale(self, cell_id: str) -> tuple[str, str] | None:
        """Why a cell cannot be changed, None if it can: it is not there, or not as the model
        knows it. With the source that stands there, if it is told now."""
        turn = self.turn
        cell = await turn.notebook.look_at(cell_id)
        if cell is None:
            return self._no_cell(cell_id), ""
        if PRIVATE in cell.tags:
            return f"The person keeps the cell {cell_id!r} private: it cannot be changed.", ""
        seen = turn.context.source_seen(cell_id)
        if seen == cell.source:
            return None
        why = "You have not read this cell" if seen is None else "The person changed this cell"
        if len(cell.source) > outputs.BUDGET:
            return f"{why}, and it is too long to be shown whole. Nothing was changed.", ""
        turn.context.seen(cell)
        return f"{why}. Nothing was changed. It reads:", cell.source

    def _stale_result(self, call: ToolUse, stale: tuple[str, str]) -> Result:
        words, source = stale
        quoted = self.turn.foreign.shown(source) if source else ""
        run = self._runs.pop(call.id, None)
        title = run.draft.title if run is not None else ""
        title = title or self._title(call)
        return self.turn.results.make(
            call, "not_started", words, title=title, summary=words, quoted=quoted
        )

    def _no_cell(self, cell_id: object) -> str:
        return f"There is no cell {cell_id!r}. Cells: {self.turn.notebook.known_ids()}."

    async def _ask(self, call: ToolUse, arguments: AskUser) -> AsyncIterator[Event]:
        yield QuestionAsked(call.id, arguments.question, arguments.options or ())
        answer = await self.turn.clock.attend(self.turn.decisions.question(call.id))
        yield QuestionAnswered(call.id, answer)
        words = f"The person answered: {answer}"
        self.results[call.id] = self.turn.results.make(
            call, "ok", words, title=self._registry.label(call.name)
        )

    # --- ends ------------------------------------------------------------------------

    def discard(self) -> None:
        """The step is void: its drafts go."""
        for run in self._runs.values():
            run.draft.remove()

    def stop(self, calls: Iterable[ToolUse], words: str) -> list[Event]:
        """Settle everything: afterwards each of ``calls`` has a result, and no card waits.

        ``words`` is for calls that were not begun. (Cards of calls that were still being
        written end as well.)
        """
        events: list[Event] = []
        known = {call.id: call for call in calls}
        for call_id, run in self._runs.items():
            call = known.get(call_id, ToolUse(call_id, run.name, {}))
            events += run.stop(call, words)
        self._take_results()
        for call_id, name in self._shown.items():
            call = known.get(call_id, ToolUse(call_id, name, {}))
            if call_id not in self.results:
                self._not_started(call, words)
            events.append(self.results[call_id].done)
        self._shown.clear()
        for call in known.values():
            if call.id not in self.results:
                self._not_started(call, words)
        return events


def _with_fact(result: Result, words: str) -> Result:
    """On the first line, with the other facts: what follows is what came out of it."""
    block = result.block
    first, *others = block.content
    if not isinstance(first, Text):
        return result
    facts, newline, rest = first.text.partition("\n")
    content = (Text(f"{facts} {words}{newline}{rest}"), *others)
    return msgspec.structs.replace(
        result, block=ToolResult(block.tool_use_id, content, block.is_error)
    )


def _joined(first: Result, second: Result) -> Result:
    """One result for the model: the cell's, and that of the draft it has put forward."""
    added = Text(f"\nThe code put forward another cell (set_next_input):\n{second.text}")
    block = ToolResult(
        first.block.tool_use_id,
        (*first.block.content, added, *second.block.content[1:]),
        first.block.is_error,
    )
    return Result(block, first.done, first.error_signature)
