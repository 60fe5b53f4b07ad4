"""From a tool call to its result: ``preview`` shows a streaming call, ``run`` carries it out.

A failed tool is a result for the model with ``is_error``; an exception here is a bug or the end
of the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from typing import Any

import msgspec

from ..approval import policy
from ..cells.draft import part_id
from ..errors import DocumentError, KernelError
from ..messages import Text, ToolResult, ToolUse
from ..model_view.untrusted import bare
from ..ports import ModelToolInput
from ..turn.results import Result
from ..turn.turn import Turn
from ..wire.events import Event
from .registry import BUILT_IN, ToolRegistry
from .shared.arguments import so_far
from .shared.base import CellOutcome, CellRequest, Tool, ToolContext
from .shared.drafting import Drafting
from .shared.step import Step, joined

log = logging.getLogger(__name__)

AFTER_A_FAILURE = (
    "An earlier call of the same reply did not succeed, so this one was not started. Check "
    "that result first.",
    "Not started either.",
)
"""Results of the calls after a failure: the first one, and the others."""
RAN = "The tool ran a cell:"


class Tools:
    """The tool calls of one step. ``results``: the results of ended calls."""

    def __init__(self, turn: Turn, registry: ToolRegistry) -> None:
        self.turn = turn
        self._registry = registry
        self._step = Step(turn, registry)
        self._drafting = Drafting(self._step)
        self.results = self._step.results

    def preview(self, call: ModelToolInput) -> list[Event]:
        """Events that show an unfinished call. Runs nothing and does not wait."""
        events = self._step.card(call.id, call.name)
        tool, source = self._registry.get(call.name), so_far(call.partial, "source")
        if tool is not None and tool.draft is not None and source is not None:
            source = source.replace("\r\n", "\n").rstrip("\r")
            events += self._drafting.preview(call.id, tool, call.partial, source)
        return events

    # --- when the call is whole ------------------------------------------------------

    async def run(self, call: ToolUse, invalid: str | None) -> AsyncIterator[Event]:
        """Carry out a call: put its result into ``results`` and yield ``ToolDone`` last.

        ``invalid`` is the error in its JSON. After a failed change, later calls of the reply
        that change the notebook do not start: the model wrote them before it knew.
        """
        step = self._step
        for event in step.card(call.id, call.name):
            yield event
        try:
            if invalid is not None:
                raise ValueError(f"The input of this call is not valid JSON: {invalid}")
            arguments, notes = self._registry.parse(call.name, call.input)
            step.say(call, *notes)
            if step.failed and self._registry.changes(call.name):
                words, step.failure_told = AFTER_A_FAILURE[step.failure_told], True
                raise ValueError(words)
        except ValueError as error:
            step.not_started(call, str(error))
        else:
            tool = step.tool(call)
            work = tool.work(self._drafting, call, arguments) if tool.work else None
            async for event in work or self._run(call, tool, arguments):
                yield event
        step.take_results()
        yield step.ended(call)

    async def _run(
        self, call: ToolUse, tool: Tool, arguments: msgspec.Struct | dict[str, Any]
    ) -> AsyncIterator[Event]:
        """Run a tool that has a ``run``, and the cells that it requests, one by one."""
        asked: asyncio.Queue[CellRequest] = asyncio.Queue()
        changes = tool.effect == "changes"
        context = ToolContext(self.turn, asked.put_nowait if changes else None)
        running = asyncio.ensure_future(self._result_of(call, tool, context, arguments))
        parts: list[Result] = []
        try:
            while changes:
                asking = asyncio.ensure_future(asked.get())
                await asyncio.wait({running, asking}, return_when=asyncio.FIRST_COMPLETED)
                if not asking.done():
                    asking.cancel()
                    break
                request = asking.result()
                part = ToolUse(part_id(), "run_cell", {})
                async for event in self._run_part(part, request):
                    yield event
                parts.append(self.results[part.id])
            result = await running
        finally:
            running.cancel()
        for part_result in parts:
            result = joined(result, part_result, RAN)
        self.results[call.id] = result

    async def _run_part(self, part: ToolUse, request: CellRequest) -> AsyncIterator[Event]:
        if not self.turn.allowed.changes:
            words = policy.refusal("run_new", self.turn.mode)
            result = self.turn.results.not_run(
                part, words, request.title, "", summary=policy.refused(self.turn.mode)
            )
            self.results[part.id] = result
        else:
            work = self._drafting.run_part(part, request.source, request.title, request.after)
            async for event in work:
                yield event
            result = self.results[part.id]
        if not request.outcome.done():
            done = result.done
            request.outcome.set_result(CellOutcome(done.status, bare(result.text), done.cell_id))

    async def _result_of(
        self,
        call: ToolUse,
        tool: Tool,
        context: ToolContext,
        arguments: msgspec.Struct | dict[str, Any],
    ) -> Result:
        turn, title = self.turn, tool.label
        if tool.run is None:
            raise RuntimeError(f"{call.name} has nothing to run")
        try:
            seen = await tool.run(context, arguments)
        except (DocumentError, KernelError, LookupError) as error:
            return turn.results.make(call, "not_started", str(error), title=title)
        except Exception as error:
            if tool in BUILT_IN:
                raise
            # Another package's fault must not end the turn.
            log.exception("The tool %s failed", call.name)
            words = f"The tool failed ({type(error).__name__})."
            return turn.results.make(call, "not_started", words, title=title)
        if tool in BUILT_IN:
            quoted = seen.text if seen.is_delimited else turn.untrusted.quoted(seen.text)
            images, title = seen.images, seen.title or title
        else:
            quoted, images = turn.untrusted.shown(seen.text), ()
        return turn.results.make(call, "ok", title=title, images=images, quoted=quoted)

    def not_yet(self, call: ToolUse, words: str, quoted: str) -> ToolResult:
        """The result of a call whose draft waits, after the results of cells that it has run."""
        run = self._step.runs.get(call.id)
        if run is None or run.result is None:
            return self.turn.results.waiting(call, words, quoted)
        block = run.result.block
        text = Text("\n".join(part for part in ("", words, quoted) if part))
        return ToolResult(block.tool_use_id, (*block.content, text), block.is_error)

    # --- ends ------------------------------------------------------------------------

    def skip(self, calls: Iterable[ToolUse], words: str) -> list[Event]:
        """End calls that will not start."""
        events: list[Event] = []
        for call in calls:
            self._step.not_started(call, words)
            events += [*self._step.card(call.id, call.name), self._step.ended(call)]
        return events

    def discard(self) -> None:
        """Remove the drafts of a void step."""
        for run in self._step.runs.values():
            run.draft.remove()

    def stop(self, calls: Iterable[ToolUse], words: str) -> list[Event]:
        """Settle everything: each of ``calls`` gets a result, and every card ends, also those of
        unfinished calls. ``words`` is for calls that did not start."""
        events: list[Event] = []
        known = {call.id: call for call in calls}
        for call_id, run in self._step.runs.items():
            call = known.get(call_id, ToolUse(call_id, run.name, {}))
            events += run.stop(call, words)
        self._step.take_results()
        for call_id, name in self._step.shown.items():
            call = known.get(call_id, ToolUse(call_id, name, {}))
            if call_id not in self.results:
                self._step.not_started(call, words)
            events.append(self.results[call_id].done)
        self._step.shown.clear()
        for call in known.values():
            if call.id not in self.results:
                self._step.not_started(call, words)
        return events
