"""The tool calls of a turn: those of the last reply, and an earlier one whose draft still waits.

One draft at a time: other code replaces a draft that waits, and does not start once the person has
decided on it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

from ..events import Event
from ..messages import AnyBlock, ToolResult, ToolUse
from ..ports import ModelToolInput
from ..tools.registry import ToolRegistry
from ..tools.tools import Tools
from ..turn.results import noted
from ..turn.turn import Turn
from .call_at_work import CallAtWork

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
        """An earlier call, already answered, whose draft the person has written about."""
        self.goes_in_circles = False
        """Whether the loop guard stops the turn."""
        self._turn = turn
        self._registry = registry
        self._show = show
        self._at_work: CallAtWork | None = None
        self._tools = Tools(turn, registry)
        self._answered: dict[str, ToolResult] = {}
        """The answers to a reply whose draft is discussed; ``discussed`` has its tools."""

    def begin_step(self) -> None:
        self._tools, self._answered = Tools(self._turn, self._registry), {}
        self._turn.notebook.number()

    def preview(self, call: ModelToolInput) -> list[Event]:
        return self._tools.preview(call)

    async def run(
        self, calls: Sequence[ToolUse], invalid: Mapping[str, str]
    ) -> AsyncIterator[Event]:
        """Carry out a reply's calls. It ends early at a draft that the person writes about."""
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
        """What became of the draft that was discussed, once."""
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
        """Stop what is at work; ``stop`` and ``stop_discussed`` settle it."""
        for call in (self._at_work, self.discussed):
            if call is not None:
                await call.cancel()

    def stop(self, calls: Iterable[ToolUse], words: str = NOT_REACHED) -> list[Event]:
        """Settle the calls of this reply."""
        return self._tools.stop(calls, words)

    def stop_discussed(self) -> tuple[list[Event], tuple[AnyBlock, ...]]:
        """Settle the draft that still waits. Returns its outcome, too."""
        call, self.discussed = self.discussed, None
        return (call.stop(NOT_REACHED), call.outcome()) if call is not None else ([], ())
