"""The tool calls of one step of the model: their cards, drafts and results.

A call works in a task of its own. While its draft waits, the person may write about it. The call
then gets the result "not run yet", and the model is asked again. The call keeps working; its
outcome follows as a message. Only one draft waits at a time. New code replaces it, unless the
person has already decided on it.

A failed tool is a result for the model with ``is_error``; an exception here is a bug or the end
of the turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from ....base.sentences import Sentence, as_it_is
from ....run.approval import policy
from ....run.approval.decisions import Decision, new_nonce
from ....run.job import ACTIONS, CellJob, Kind
from ....run.turn.notebook import NewCellPlace
from ....run.turn.results import NONE, OUTCOME, Result, noted
from ....run.turn.turn import Turn, new_cell_id
from ....wire.events import Draft, DraftDecided, DraftWaiting, ToolStarted
from ....wire.messages import AnyBlock, Image, Text, ToolResult, ToolUse
from ....wire.ports import ModelToolInput
from .arguments import so_far
from .base import Tool, Work
from .titles import title_of, title_so_far

NOT_YET = (
    "Not run yet: the draft waits for the person's decision. They have written a message about "
    "it, which follows. Answer it in words, and the draft goes on waiting: you will learn its "
    "outcome. Or write other code with run_cell or edit_cell, which replaces the draft."
)
THEIR_VERSION = "They have edited the draft. It now reads:"
REPLACED = Sentence("A newer draft replaced this one.")
NOT_STARTED = Sentence(
    "The person wrote about an earlier call of the same reply, so this one was not started."
)
DECIDED = Sentence(
    "The person decided on the waiting draft before you had finished this reply, so this was not "
    "started. The outcome of the draft follows."
)
NOT_REACHED = Sentence("The turn ended before this was started. Nothing reached the kernel.")
AFTER_A_FAILURE = Sentence(
    "An earlier call of the same reply did not succeed, so this one was not started. Check "
    "that result first."
)
ALSO_AFTER_A_FAILURE = Sentence("Not started either.")
NOT_AFTER = Sentence("Not started: an earlier call did not succeed.")
CUT_OFF = Sentence("The turn ended while this was done. It may have had effects.")
DIFFERS = Sentence("The decision was about something else. Decide again.")
SHOWN_AFTER = 0.05
"""Seconds before a draft shows. A source that is complete by then is drawn only once."""

log = logging.getLogger(__name__)


class Registry(Protocol):
    """The known tools, as ``ToolRegistry`` has them."""

    def get(self, name: str) -> Tool | None: ...

    def is_built_in(self, tool: Tool) -> bool: ...

    def work(self, tool: Tool) -> Work: ...

    def label(self, name: str) -> str: ...

    def changes(self, name: str) -> bool: ...

    def parse(
        self, name: str, given: dict[str, Any]
    ) -> tuple[msgspec.Struct | dict[str, Any], tuple[str, ...]]: ...


class Calls:
    def __init__(self, turn: Turn, registry: Registry, discussed: Calls | None = None) -> None:
        self.turn = turn
        self.discussed = discussed
        """An earlier step, one of whose calls has a result though its draft still waits."""
        self.results: dict[str, Result] = {}
        """Results of ended calls, by call id."""
        self.jobs: dict[str, CellJob] = {}
        """Calls with a draft, by call id."""
        self.registry = registry
        self._cards: dict[str, str] = {}
        """Tool names of the calls with an open card."""
        self._notes: dict[str, list[str]] = {}
        self._refusal = ""
        """Why later calls that change the notebook do not start; "" if they do."""
        self._began: dict[str, float] = {}
        """When the source of a call began to arrive, on the loop's clock."""
        self._call = ToolUse("", "", {})
        """The latest call."""
        self._task: asyncio.Future[None] | None = None
        """The latest call at work; None after its exception was raised."""
        turn.notebook.number()

    def next(self) -> Calls:
        """The calls of the next step."""
        return Calls(self.turn, self.registry, self if self._is_discussed else self.discussed)

    # --- a call that arrives ---------------------------------------------------------

    def preview(self, call: ModelToolInput) -> None:
        """Show an unfinished call. Runs nothing and does not wait."""
        self.card(call.id, call.name)
        tool, source = self.registry.get(call.name), so_far(call.partial, "source")
        if tool is None or tool.draft is None or source is None:
            return
        now = asyncio.get_running_loop().time()
        if now - self._began.setdefault(call.id, now) < SHOWN_AFTER:
            return
        source = source.replace("\r\n", "\n").rstrip("\r")
        job = self.opened(tool, call.id, call.partial, source)
        if job is not None:
            job.write(source)

    def opened(
        self, tool: Tool, call_id: str, given: dict[str, object], source: str
    ) -> CellJob | None:
        """The call's draft, shown with ``source`` so far. None if its cell or position does not
        exist, or nothing may change."""
        turn, known = self.turn, self.jobs.get(call_id)
        place = None if known else _place(turn, tool, given)
        if place is None or not turn.allowed.changes:
            return known
        kind, cell_id, old_source, spot = place
        given_title = given.get("title") or turn.titles.get(cell_id)
        title = as_it_is(tool.label) or title_so_far(given_title, source)
        job = CellJob(turn, ToolUse(call_id, tool.name, {}), kind, cell_id, title, old_source)
        if kind != "edit":
            job.insert(turn.notebook.above(spot.after) if spot.after else ())
            job.replace_empty(spot.instead)
        return self.open(job)

    def open(self, job: CellJob) -> CellJob:
        """Show the job's draft. The job ends with this step at the latest."""
        job.open()
        self.jobs[job.call.id] = job
        return job

    def card(self, call_id: str, name: str) -> None:
        if call_id not in self._cards:
            self._cards[call_id] = name
            label = as_it_is(self.registry.label(name))
            self.turn.show(ToolStarted(call_id, name, label))

    # --- the calls of a reply --------------------------------------------------------

    async def run(self, calls: Sequence[ToolUse], invalid: Mapping[str, str]) -> bool:
        """Carry out a reply's calls, up to a draft that the person writes about. ``invalid``: the
        errors in the JSON of calls, by id. False if the loop guard stops the turn."""
        may_go_on = True
        for number, call in enumerate(calls):
            if self.discussed is not None and self.registry.changes(call.name):
                if not self.discussed.waits:
                    self._skip((call,), DECIDED)
                    continue
                await self.discussed.replace()
                self.discussed = None
            self._call = call
            task = self._task = asyncio.ensure_future(self._carry_out(call, invalid.get(call.id)))
            while not task.done():
                if self._is_discussed:
                    self._skip(calls[number + 1 :], NOT_STARTED)
                    return True
                await self.news()
            self._task = None
            task.result()
            may_go_on = self._may_go_on(call)
            if self.turn.went_on or not may_go_on:
                break
        self.stop(calls)
        return may_go_on

    async def _carry_out(self, call: ToolUse, invalid: str | None) -> None:
        """Carry out one call. After a failed change, later calls of the reply that change the
        notebook do not start: the model wrote them before it knew."""
        self.card(call.id, call.name)
        try:
            if invalid is not None:
                raise ValueError(f"The input of this call is not valid JSON: {invalid}")
            arguments, notes = self.registry.parse(call.name, call.input)
            self.note(call, *notes)
        except ValueError as error:
            self.not_started(call, str(error))
        else:
            if self._refusal and self.registry.changes(call.name):
                words, self._refusal = self._refusal, ALSO_AFTER_A_FAILURE
                self.not_started(call, words, NOT_AFTER)
            else:
                await self.registry.work(self.tool(call))(self, call, arguments)
        self.ended(call)

    def _may_go_on(self, call: ToolUse) -> bool:
        guard, result = self.turn.guard, self.results[call.id]
        verdict = guard.add(call, result.text)
        if verdict == "note":
            self.results[call.id] = noted(result, guard.note)
        return verdict != "stop"

    def answers(self, calls: Iterable[ToolUse]) -> list[ToolResult]:
        """The results of a reply's calls."""
        waiting = self._call.id if self._is_discussed else None
        return [
            self._not_yet(call) if call.id == waiting else self.results[call.id].block
            for call in calls
        ]

    # --- for tools -------------------------------------------------------------------

    def tool(self, call: ToolUse) -> Tool:
        tool = self.registry.get(call.name)
        if tool is None:
            raise RuntimeError(f"{call.name} is not a tool")
        return tool

    def title(self, call: ToolUse) -> Sentence:
        given = title_of(so_far(call.input, "title"), so_far(call.input, "source") or "")
        return as_it_is(self.registry.label(call.name)) or given

    def note(self, call: ToolUse, *notes: str) -> None:
        """Add notes to the call's result on how its input was read."""
        self._notes.setdefault(call.id, []).extend(filter(None, notes))

    def not_started(self, call: ToolUse, words: str, summary: Sentence = NONE) -> None:
        """``words`` are for the model, ``summary`` for the person."""
        job = self.jobs.get(call.id)
        title = job.title if job is not None else self.title(call)
        if job is not None:
            job.remove()
        self.results[call.id] = self.turn.results.make(
            call, "not_started", words, title=title, summary=summary
        )

    def is_refused(self, call: ToolUse) -> bool:
        """Whether the mode forbids changes. The call then has its result."""
        if self.turn.allowed.changes:
            return False
        if call.id in self.jobs:
            self.jobs[call.id].remove()
        tool, mode = self.tool(call), self.turn.mode
        words = policy.refusal(tool.action or ACTIONS[tool.draft or "insert"], mode)
        self.results[call.id] = self.turn.results.not_run(
            call, words, self.title(call), "", summary=policy.refused(mode)
        )
        return True

    async def confirm(self, call: ToolUse, draft: Draft) -> Decision | None:
        """Ask the person about something that is no cell. None if they reject it: the call then
        has its result."""
        turn = self.turn
        turn.show(DraftWaiting(draft))
        decision = await turn.clock.attend(turn.decisions.ask(draft))
        turn.show(
            DraftDecided(
                draft.call_id,
                draft.draft_id,
                decision.action,
                decision.by,
                reason=decision.reason,
                window=decision.window,
                said=decision.said,
                person=decision.person,
            )
        )
        if decision.action == "run":
            return decision
        self.results[call.id] = turn.results.not_run(
            call, decision.reason, draft.title, "", by=decision.by
        )
        return None

    def ended(self, call: ToolUse) -> None:
        """Close the card of a call, with its result."""
        self._take_results()
        for note in self._notes.pop(call.id, ()):
            words = self.turn.untrusted.inert(note)
            self.results[call.id] = noted(self.results[call.id], f"({words})")
        done = self.results[call.id].done
        if self.registry.changes(call.name) and done.status != "ok":
            self._refusal = self._refusal or AFTER_A_FAILURE
        del self._cards[call.id]
        self.turn.show(done)

    def _take_results(self) -> None:
        for call_id, job in self.jobs.items():
            if job.result is not None:
                self.results.setdefault(call_id, job.result)

    # --- a draft that the person writes about ----------------------------------------

    @property
    def at_work(self) -> bool:
        return self._task is not None and not self._task.done()

    @property
    def waits(self) -> bool:
        """Whether the draft of the call at work waits for a decision."""
        return self.at_work and self.turn.decisions.draft is not None

    @property
    def _is_discussed(self) -> bool:
        return self.discussed is None and self.waits and self.turn.decisions.written_about

    async def news(self) -> None:
        """Wait until the call ends, its draft begins to wait, or the person writes about it."""
        if self._task is None:
            return
        news = self.turn.decisions.news()
        try:
            await asyncio.wait({self._task, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def _not_yet(self, call: ToolUse) -> ToolResult:
        """The answer to the call while its draft waits, after the results of cells that it has
        run."""
        turn, job = self.turn, self.jobs.get(call.id)
        source, quoted = turn.decisions.cell_source, ""
        if source is not None:
            quoted = f"{THEIR_VERSION}\n{turn.untrusted.shown(source)}"
        if job is None or job.result is None:
            return turn.results.waiting(call, NOT_YET, quoted)
        block = job.result.block
        text = Text("\n".join(part for part in ("", NOT_YET, quoted) if part))
        return ToolResult(block.tool_use_id, (*block.content, text), block.is_error)

    def take_outcome(self) -> tuple[AnyBlock, ...]:
        """The outcome of the discussed draft, once it has one; returned once."""
        earlier = self.discussed
        if earlier is None or earlier.at_work:
            return ()
        self.discussed = None
        if earlier._task is not None:
            earlier._task.result()
        return earlier._outcome()

    def _outcome(self) -> tuple[AnyBlock, ...]:
        """The result of the latest call, as one text that is not taken for the person's."""
        content = self.results[self._call.id].block.content
        text = "\n".join(block.text for block in content if isinstance(block, Text))
        images = (block for block in content if isinstance(block, Image))
        return (Text(f"{OUTCOME}{text}"), *images)

    # --- ends ------------------------------------------------------------------------

    def _skip(self, calls: Iterable[ToolUse], words: str) -> None:
        """End calls that will not start."""
        for call in calls:
            self.not_started(call, words)
            self.card(call.id, call.name)
            self.ended(call)

    def discard(self) -> None:
        """Remove the drafts of a void step."""
        for job in self.jobs.values():
            job.remove()

    async def replace(self) -> None:
        """Withdraw the draft of the call at work."""
        await self._cancel()
        self.stop((self._call,), REPLACED)

    async def cancel(self) -> None:
        """Cancel the calls at work; ``stop`` and ``stop_discussed`` settle them."""
        await self._cancel()
        if self.discussed is not None:
            await self.discussed._cancel()

    async def _cancel(self) -> None:
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled() and task.exception() is not None:
                log.error("A tool call failed as its turn ended", exc_info=task.exception())

    def stop(self, calls: Iterable[ToolUse], words: str = NOT_REACHED) -> None:
        """Settle everything: each of ``calls`` gets a result, and every card ends, also those of
        unfinished calls. ``words`` is for calls that did not start."""
        known = {call.id: call for call in calls}
        for job in self.jobs.values():
            job.stop(words)
        self._take_results()
        for call_id, name in self._cards.items():
            call = known.get(call_id, ToolUse(call_id, name, {}))
            if call_id not in self.results:
                self.not_started(call, words)
            self.turn.show(self.results[call_id].done)
        self._cards.clear()
        for call in known.values():
            if call.id not in self.results:
                self.not_started(call, words)

    def stop_discussed(self) -> tuple[AnyBlock, ...]:
        """Settle the draft that still waits. Returns its outcome."""
        earlier, self.discussed = self.discussed, None
        if earlier is None:
            return ()
        earlier.stop((earlier._call,))
        return earlier._outcome()


def draft_of(
    call: ToolUse,
    kind: Literal["kernel", "notebook", "verify", "tool", "cells"],
    title: Sentence,
    words: str,
    *notices: Sentence,
) -> Draft:
    """A draft without a cell. ``words``: what will happen after the person's decision."""
    return Draft(
        draft_id=f"{kind}-{call.id}",
        call_id=call.id,
        kind=kind,
        cell_id="",
        title=title,
        source=str(words),
        words=words if isinstance(words, Sentence) else Sentence(),
        nonce=new_nonce(),
        notices=tuple(filter(None, notices)),
        runs=False,
    )


def _place(
    turn: Turn, tool: Tool, given: dict[str, object]
) -> tuple[Kind, str, str, NewCellPlace] | None:
    """Kind and cell of a draft, source as the model last saw it, and place."""
    if tool.draft == "edit":
        found = turn.notebook.find(so_far(given, "cell_id") or "")
        seen = turn.context.source_seen(found.cell_id) if found is not None else None
        return (
            None if seen is None or found is None else ("edit", found.cell_id, seen, NewCellPlace())
        )
    spot = turn.notebook.at(so_far(given, "position") or "")
    kind: Kind = "markdown" if tool.draft == "markdown" else "insert"
    return None if spot is None else (kind, new_cell_id(), "", spot[0])
