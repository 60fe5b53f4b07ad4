"""The tools at work: from a tool call (as it streams, then whole) to its result.

``preview`` shows a call while it is written; ``run`` carries it out. A failed tool is a
result for the model with ``is_error``; an exception here is a bug.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from . import outputs, policy
from .cellrun import CellRun, Kind
from .document import CellView, Snapshot
from .errors import DocumentError
from .events import Event, QuestionAnswered, QuestionAsked, ToolDone, ToolStarted
from .messages import Text, ToolResult, ToolUse
from .ports import ModelToolInput
from .toolspecs import (
    WRITING_TOOLS,
    AddMarkdown,
    AskUser,
    DeleteCell,
    EditCell,
    InspectVariables,
    ReadNotebook,
    ReadOutput,
    RunCell,
    parse,
    title_of,
)
from .turn import Result, Turn, new_cell_id

NAMES = {
    "read_notebook": "Read the notebook",
    "read_output": "Read an output",
    "inspect_variables": "Look at the variables",
    "ask_user": "Ask a question",
    "delete_cell": "Delete a cell",
    "add_markdown": "Write text",
}
READ_LIMIT = 10_000
"""Characters of a ``read_notebook`` or ``read_output`` result (design: one result's bound)."""


class Tools:
    """The tool calls of one step. ``results`` holds those that have come to an end."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.runs: dict[str, CellRun] = {}
        self.results: dict[str, Result] = {}
        self._shown: dict[str, str] = {}
        """Names of the calls that have a card."""

    # --- while the call is written ---------------------------------------------------

    def preview(self, call: ModelToolInput) -> list[Event]:
        """What to show of a call that is being written. Runs nothing, waits for nothing."""
        events: list[Event] = []
        if call.id not in self._shown:
            self._shown[call.id] = call.name
            events.append(ToolStarted(call.id, call.name, NAMES.get(call.name, "")))
        source = call.partial.get("source")
        if call.name not in WRITING_TOOLS or not isinstance(source, str):
            return events
        source = source.replace("\r\n", "\n").rstrip("\r")
        run = self.runs.get(call.id)
        if run is None:
            run = self._open(call.id, call.name, call.partial, source, events)
        if run is not None:
            run.write(source)
        return events

    def _open(
        self, call_id: str, name: str, given: dict[str, object], source: str, events: list[Event]
    ) -> CellRun | None:
        """Let the draft appear, if the call can be carried out at all."""
        place = self._where(name, given)
        if place is None:
            return None
        kind, cell_id, old_source, after = place
        action: policy.Action = "markdown" if kind == "markdown" else "run_new"
        if policy.decide(action, self.turn.mode, owned=True, suspicious=False) == "refuse":
            return None
        run = self.runs[call_id] = CellRun(self.turn, call_id, name)
        title = NAMES[name] if name == "add_markdown" else title_of(given.get("title"), source)
        events.append(run.open(kind, cell_id, title, old_source))
        if kind != "edit":
            run.insert(after)
        return run

    def _where(
        self, name: str, given: dict[str, object]
    ) -> tuple[Kind, str, str, tuple[str, ...]] | None:
        """Kind, cell, source that the model last saw, and anchors; None for a stale id."""
        turn = self.turn
        if name == "edit_cell":
            cell_id = given.get("cell_id")
            seen = turn.context.source_seen(cell_id) if isinstance(cell_id, str) else None
            return None if seen is None else ("edit", str(cell_id), seen, ())
        after = given.get("after_cell_id")
        if isinstance(after, str) and after:
            if not turn.knows(after):
                return None
            anchors = turn.above(after)
        else:
            failed = self._to_mend() if name == "run_cell" else None
            if failed is not None:
                return "edit", failed[0], failed[1], ()
            anchors = turn.place()
        kind: Kind = "markdown" if name == "add_markdown" else "insert"
        return kind, new_cell_id(), "", anchors

    def _to_mend(self) -> tuple[str, str] | None:
        """The agent's own cell that failed last in this turn: a new cell takes its place."""
        turn = self.turn
        if not turn.ledger.touched:
            return None
        cell_id = turn.ledger.touched[-1]
        source = turn.ledger.written(cell_id)
        if source is None or turn.ledger.failed.get(cell_id) != turn.number:
            return None
        return cell_id, source

    def unfinished(self, known: set[str]) -> list[Event]:
        """Ends for the cards of calls that were still being written (not in ``known``)."""
        events: list[Event] = []
        for call_id, name in self._shown.items():
            if call_id not in known:
                run = self.runs.get(call_id)
                title = run.title if run is not None else NAMES.get(name, name)
                events.append(ToolDone(call_id, name, title, "not_started", summary="Stopped."))
        return events

    # --- when the call is whole ------------------------------------------------------

    async def run(self, call: ToolUse, invalid: str | None) -> AsyncIterator[Event]:
        """Carry out a call; its result is then in ``results``, and told as ``ToolDone``."""
        turn = self.turn
        if call.id not in self._shown:
            self._shown[call.id] = call.name
            yield ToolStarted(call.id, call.name, NAMES.get(call.name, ""))
        try:
            if invalid is not None:
                raise ValueError(f"The input of this call is not valid JSON: {invalid}")
            arguments = parse(call.name, call.input)
        except ValueError as error:
            self._discard(call.id)
            self._end(call, turn.result(call, "not_started", str(error), title=self._title(call)))
        else:
            if isinstance(arguments, (RunCell, EditCell, AddMarkdown)):
                async for event in self._write(call, arguments):
                    yield event
            elif isinstance(arguments, DeleteCell):
                async for event in self._delete(call, arguments):
                    yield event
            elif isinstance(arguments, AskUser):
                async for event in self._ask(call, arguments):
                    yield event
            else:
                self._end(call, await self._read(call, arguments))
        yield self.results[call.id].done

    def _end(self, call: ToolUse, result: Result) -> None:
        self.results[call.id] = result

    def _discard(self, call_id: str) -> None:
        if call_id in self.runs:
            self.runs[call_id].discard()

    def _title(self, call: ToolUse) -> str:
        run = self.runs.get(call.id)
        return run.title if run is not None else NAMES.get(call.name, "Cell")

    async def _write(
        self, call: ToolUse, arguments: RunCell | EditCell | AddMarkdown
    ) -> AsyncIterator[Event]:
        run = self.runs.get(call.id)
        if isinstance(arguments, EditCell):
            problem = await self._stale(arguments.cell_id)
            if problem is not None:
                self._end(
                    call, self.turn.result(call, "not_started", problem, title=self._title(call))
                )
                return
        if run is None:
            events: list[Event] = []
            run = self._open(call.id, call.name, call.input, arguments.source, events)
            for event in events:
                yield event
        if run is None:
            self._end(call, self._cannot_open(call))
            return
        async for event in run.run(call, arguments.source):
            yield event
        if run.result is None:
            raise RuntimeError("a cell run ended without a result")
        result = run.result
        for source in run.next_inputs:
            proposed = CellRun(self.turn, f"{call.id}-next", "run_cell")
            async for event in self._proposed(proposed, run.cell_id, source):
                yield event
            if proposed.result is not None:
                yield proposed.result.done
                result = _joined(result, proposed.result)
        self._end(call, result)

    async def _proposed(self, run: CellRun, after: str, source: str) -> AsyncIterator[Event]:
        """A draft that code has put forward (set_next_input): asked for in every mode."""
        title = title_of("", source)
        yield ToolStarted(run.call_id, run.name, title)
        yield run.open("insert", new_cell_id(), title)
        run.insert(self.turn.above(after))
        async for event in run.run(ToolUse(run.call_id, run.name, {}), source, always_ask=True):
            yield event

    def _cannot_open(self, call: ToolUse) -> Result:
        """Why a call to write got no draft: Plan mode, or a cell that is not there."""
        turn = self.turn
        action: policy.Action = "markdown" if call.name == "add_markdown" else "run_new"
        if policy.decide(action, turn.mode, owned=True, suspicious=False) == "refuse":
            words = policy.refusal(action, turn.mode)
            return turn.result(call, "rejected", words, title=_given_title(call), is_error=True)
        wanted = call.input.get("cell_id", call.input.get("after_cell_id"))
        words = f"There is no cell {wanted!r}. Cells: {turn.known_ids()}."
        return turn.result(call, "not_started", words, title=_given_title(call))

    async def _stale(self, cell_id: str) -> str | None:
        """Why an edit cannot be made: the cell is not there, or not as the model knows it."""
        turn = self.turn
        if turn.mode == "plan":
            return policy.refusal("edit", "plan")
        cell = (await turn.look()).cell(cell_id)
        if cell is None:
            return f"There is no cell {cell_id!r}. Cells: {turn.known_ids()}."
        seen = turn.context.source_seen(cell_id)
        if seen == cell.source:
            return None
        turn.context.seen(cell)
        why = "You have not read this cell" if seen is None else "The person changed this cell"
        return f"{why}. Nothing was changed. It reads:\n{cell.source}"

    async def _delete(self, call: ToolUse, arguments: DeleteCell) -> AsyncIterator[Event]:
        turn = self.turn
        problem = await self._stale(arguments.cell_id)
        if problem is not None:
            self._end(call, turn.result(call, "not_started", problem, title=NAMES[call.name]))
            return
        run = self.runs[call.id] = CellRun(turn, call.id, call.name)
        seen = turn.context.source_seen(arguments.cell_id) or ""
        title = f"Delete: {title_of('', seen)}"
        yield run.open("delete", arguments.cell_id, title_of(title, seen), seen)
        async for event in run.run(call, seen):
            yield event
        if run.result is not None:
            self._end(call, run.result)

    async def _ask(self, call: ToolUse, arguments: AskUser) -> AsyncIterator[Event]:
        yield QuestionAsked(call.id, arguments.question, arguments.options or ())
        answer = await self.turn.decisions.question(call.id)
        yield QuestionAnswered(call.id, answer)
        self._end(
            call,
            self.turn.result(call, "ok", f"The person answered: {answer}", title=NAMES[call.name]),
        )

    async def _read(
        self, call: ToolUse, arguments: ReadNotebook | ReadOutput | InspectVariables
    ) -> Result:
        turn = self.turn
        title = NAMES[call.name]
        try:
            if isinstance(arguments, ReadNotebook):
                body = self._cells(await turn.look(), arguments)
            elif isinstance(arguments, ReadOutput):
                body = await self._output(arguments)
            else:
                body = await self._variables(arguments)
        except (DocumentError, LookupError) as error:
            return turn.result(call, "not_started", str(error), title=title)
        return turn.result(call, "ok", body, title=title)

    def _cells(self, snapshot: Snapshot, arguments: ReadNotebook) -> str:
        turn = self.turn
        cells = list(snapshot.cells)
        if arguments.cell_ids is not None:
            wanted = [(cell_id, snapshot.cell(cell_id)) for cell_id in arguments.cell_ids]
            missing = [cell_id for cell_id, cell in wanted if cell is None]
            if missing:
                raise LookupError(f"There is no cell {missing[0]!r}. Cells: {turn.known_ids()}.")
            cells = [cell for _, cell in wanted if cell is not None]
        parts: list[str] = []
        room = READ_LIMIT
        for cell in cells:
            text = _cell_text(cell, bool(arguments.include_outputs))
            if len(text) > room:
                left = len(cells) - len(parts)
                parts.append(f"… {left} more cells left out; ask for them with cell_ids.")
                break
            room -= len(text)
            parts.append(text)
            turn.context.seen(cell)
        return "\n".join(parts) or "The notebook is empty."

    async def _output(self, arguments: ReadOutput) -> str:
        turn = self.turn
        kept = turn.store.outputs(turn.session_id, arguments.cell_id)
        if kept is None:
            cell = (await turn.look()).cell(arguments.cell_id)
            if cell is None or "codeinterp-private" in cell.tags:
                raise LookupError(
                    f"There is no cell {arguments.cell_id!r}. Cells: {turn.known_ids()}."
                )
            kept = cell.outputs
        start = max(0, arguments.start or 0)
        length = max(1, min(arguments.length or READ_LIMIT, READ_LIMIT))
        return outputs.excerpt(outputs.full_text(kept), start, length)

    async def _variables(self, arguments: InspectVariables) -> str:
        found = await self.turn.kernel.variables(arguments.names or ())
        if found is None:
            raise LookupError(
                "Variables are not available: the kernel is busy, or its language is not known."
            )
        lines = [json.dumps(entry, ensure_ascii=False) for entry in found]
        text = "\n".join(lines) or "No variables."
        return outputs.excerpt(text, 0, READ_LIMIT)


def _given_title(call: ToolUse) -> str:
    source = call.input.get("source")
    return title_of(call.input.get("title"), source if isinstance(source, str) else "")


def _cell_text(cell: CellView, include_outputs: bool) -> str:
    if "codeinterp-private" in cell.tags:
        return f"[{cell.cell_id}] {cell.cell_type}, private: not shown"
    count = f" In[{cell.execution_count}]" if cell.execution_count is not None else ""
    text = f"[{cell.cell_id}] {cell.cell_type}{count}\n{cell.source}"
    if include_outputs and cell.outputs:
        seen = outputs.see(cell.outputs, images_left=0, budget=2_000)
        text += f"\n[{cell.cell_id}] output\n{seen.text}"
    return text


def _joined(first: Result, second: Result) -> Result:
    """One result for the model: the cell's, and that of the draft it has put forward."""
    added = Text(f"\nThe code put forward another cell (set_next_input):\n{second.text}")
    block = ToolResult(
        first.block.tool_use_id,
        (*first.block.content, added, *second.block.content[1:]),
        first.block.is_error,
    )
    return Result(block, first.done, first.error_signature)
