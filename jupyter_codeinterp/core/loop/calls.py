"""The tool calls of a turn: those of the last reply, and an earlier one whose draft still waits.

Only one draft waits at a time. New code replaces it, unless the person has already decided on it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

from ..messages import AnyBlock, Image, Text, ToolResult, ToolUse
from ..ports import ModelToolInput
from ..tools.registry import ToolRegistry
from ..tools.tools import Tools
from ..turn.results import noted
from ..turn.turn import Turn
from ..wire.events import Event
from .conversation import OUTCOME

# -------------------------------------------------------------------------------------------------
# A tool call at work, in a task of its own.
#
# While its draft waits, the person may write about it. The call then gets the result "not run
# yet", and the model is asked again. The call keeps running; its outcome follows as a message.

NOT_YET = (
    "Not run yet: the draft waits for the person's decision. They have written a message about "
    "it, which follows. Answer it in words, and the draft goes on waiting: you will learn its "
    "outcome. Or write other code with run_cell or edit_cell, which replaces the draft."
)
THEIR_VERSION = "They have edited the draft. It now reads:"
REPLACED = "A newer draft replaced this one."

log = logging.getLogger(__name__)


class CallAtWork:
    """One tool call in a task. ``show`` gets its events."""

    def __init__(
        self, tools: Tools, call: ToolUse, invalid: str | None, show: Callable[[Event], None]
    ) -> None:
        self.call = call
        self._tools = tools
        self._decisions = tools.turn.decisions
        self._show = show
        self._task = asyncio.ensure_future(self._carry_out(invalid))

    async def _carry_out(self, invalid: str | None) -> None:
        async for event in self._tools.run(self.call, invalid):
            self._show(event)

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def waits(self) -> bool:
        """Whether its draft waits for a decision."""
        return not self.ended and self._decisions.draft is not None

    @property
    def is_discussed(self) -> bool:
        return self.waits and self._decisions.written_about

    async def news(self) -> None:
        """Wait until the call ends, its draft begins to wait, or the person writes about it."""
        news = self._decisions.news()
        try:
            await asyncio.wait({self._task, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def check(self) -> None:
        """Raise the exception that ended the call, if any."""
        self._task.result()

    def not_yet(self) -> ToolResult:
        """The answer to the call while its draft waits."""
        source = self._decisions.cell_source
        quoted = ""
        if source is not None:
            quoted = f"{THEIR_VERSION}\n{self._tools.turn.untrusted.shown(source)}"
        return self._tools.not_yet(self.call, NOT_YET, quoted)

    def outcome(self) -> tuple[AnyBlock, ...]:
        """The call's result for the model, as one text that is not taken for the person's."""
        content = self._tools.results[self.call.id].block.content
        text = "\n".join(block.text for block in content if isinstance(block, Text))
        images = (block for block in content if isinstance(block, Image))
        return (Text(f"{OUTCOME}{text}"), *images)

    # --- ends ------------------------------------------------------------------------

    async def cancel(self) -> None:
        """Cancel the call. ``stop`` then settles it."""
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled() and self._task.exception() is not None:
            log.error("A tool call failed as its turn ended", exc_info=self._task.exception())

    def stop(self, words: str) -> list[Event]:
        return self._tools.stop((self.call,), words)

    async def replace(self) -> list[Event]:
        """Withdraw its draft."""
        await self.cancel()
        return self.stop(REPLACED)


NOT_STARTED = (
    "The person wrote about an earlier call of the same reply, so this one was not started."
)
DECIDED = (
    "The person decided on the waiting draft before you had finished this reply, so this was not "
    "started. The outcome of the draft follows."
)
NOT_REACHED = "The turn ended before this was started. Nothing reached the kernel."


class Calls:
    def __init__(self, turn: Turn, registry: ToolRegistry, show: Callable[[Event], None]) -> None:
        """``show`` gets the events of calls at work."""
        self.discussed: CallAtWork | None = None
        """An earlier call that has a result, but whose draft still waits."""
        self.goes_in_circles = False
        """Whether the loop guard stops the turn."""
        self._turn = turn
        self._registry = registry
        self._show = show
        self._at_work: CallAtWork | None = None
        self._tools = Tools(turn, registry)
        self._answered: dict[str, ToolResult] = {}
        """Results of the reply whose draft is discussed, by call id."""

    def begin_step(self) -> None:
        self._tools, self._answered = Tools(self._turn, self._registry), {}
        self._turn.notebook.number()

    def preview(self, call: ModelToolInput) -> list[Event]:
        return self._tools.preview(call)

    async def run(
        self, calls: Sequence[ToolUse], invalid: Mapping[str, str]
    ) -> AsyncIterator[Event]:
        """Carry out a reply's calls. Ends early at a draft that the person writes about."""
        for number, call in enumerate(calls):
            if self.discussed is not None and self._registry.changes(call.name):
                if not self.discussed.waits:
                    for event in self._tools.skip((call,), DECIDED):
                        yield event
                    continue
                for event in await self.discussed.replace():
                    yield event
                self.discussed = None
            at_work = CallAtWork(self._tools, call, invalid.get(call.id), self._show)
            self._at_work = at_work
            if await self._is_discussed(at_work):
                for event in self._tools.skip(calls[number + 1 :], NOT_STARTED):
                    yield event
                results = self._tools.results.items()
                self.discussed, self._at_work = at_work, None
                self.begin_step()
                self._answered = {call_id: result.block for call_id, result in results}
                self._answered[call.id] = at_work.not_yet()
                return
            self._at_work = None
            at_work.check()
            if not self._goes_on(call):
                break
        for event in self._tools.stop(calls, NOT_REACHED):
            yield event

    async def _is_discussed(self, call: CallAtWork) -> bool:
        """Wait for the end of a call (False), or for a message about its draft (True)."""
        while not call.ended:
            if self.discussed is None and call.is_discussed:
                return True
            await call.news()
        return False

    def _goes_on(self, call: ToolUse) -> bool:
        """Whether the turn may go on after the call, as the loop guard says."""
        guard, result = self._turn.guard, self._tools.results[call.id]
        verdict = guard.add(call, result.text)
        if verdict == "note":
            self._tools.results[call.id] = noted(result, guard.note)
        self.goes_in_circles = verdict == "stop"
        return not (self.goes_in_circles or self._turn.went_on)

    def answers(self, calls: Iterable[ToolUse]) -> list[ToolResult]:
        """The results of a reply's calls."""
        if self._answered:
            return [self._answered[call.id] for call in calls]
        return [self._tools.results[call.id].block for call in calls]

    def outcome(self) -> tuple[AnyBlock, ...]:
        """The outcome of the discussed draft, returned once."""
        call = self.discussed
        if call is None or not call.ended:
            return ()
        self.discussed = None
        call.check()
        return call.outcome()

    # --- ends ------------------------------------------------------------------------

    def discard(self) -> None:
        """Remove the drafts of a void step."""
        self._tools.discard()
        self.begin_step()

    async def cancel(self) -> None:
        """Cancel running calls; ``stop`` and ``stop_discussed`` settle them."""
        for call in (self._at_work, self.discussed):
            if call is not None:
                await call.cancel()

    def stop(self, calls: Iterable[ToolUse], words: str = NOT_REACHED) -> list[Event]:
        """Settle the calls of this reply."""
        return self._tools.stop(calls, words)

    def stop_discussed(self) -> tuple[list[Event], tuple[AnyBlock, ...]]:
        """Settle the draft that still waits. Returns its events and outcome."""
        call, self.discussed = self.discussed, None
        return (call.stop(NOT_REACHED), call.outcome()) if call is not None else ([], ())
