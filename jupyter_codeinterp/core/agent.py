"""The agent loop: ask the model, carry out what it asks for, tell it what came of it.

``Agent.run`` yields events until the turn is over; ``ending`` then says how. It raises
ModelError when the model cannot be had. When the turn is stopped (the task is cancelled),
``stopped`` settles what was under way, so that every tool call still gets its result.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from . import prompts
from .context import Context
from .conversation import Conversation
from .errors import DocumentError, ModelError
from .events import (
    Event,
    Note,
    Retrying,
    StepDiscarded,
    StepStarted,
    StopReason,
    TextDelta,
    TextDone,
    ThinkingDelta,
    UsageChanged,
)
from .messages import Message, Text, ToolResult, ToolUse, Usage, tool_uses, user
from .ports import (
    Model,
    ModelDone,
    ModelInfo,
    ModelRequest,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from .tools import Tools
from .toolspecs import TOOLS
from .turn import Result, Turn

CUT_OFF = (
    "Your reply was cut off at the output limit, so nothing of it was run. "
    "Write shorter code, in several cells."
)
MOVED_ON = "The conversation was long; it goes on with a summary."


class Ending(msgspec.Struct, frozen=True):
    reason: StopReason
    code: str = ""
    message: str = ""


class Meter(msgspec.Struct):
    """Sums of a session's tokens, and the size of the last request."""

    info: ModelInfo
    total: Usage = Usage()
    last: Usage = Usage()

    def add(self, usage: Usage) -> UsageChanged:
        self.total = self.total + usage
        self.last = usage
        return UsageChanged(self.total, self.share, self.cost(self.total))

    @property
    def share(self) -> float:
        return (self.last.total_input + self.last.output_tokens) / self.info.context_window

    def cost(self, usage: Usage) -> float | None:
        if self.info.prices is None:
            return None
        counts = (
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        )
        return sum(n * price for n, price in zip(counts, self.info.prices, strict=True)) / 1e6


class Agent:
    def __init__(
        self,
        model: Model,
        meter: Meter,
        turn: Turn,
        talk: Conversation,
        next_step: Callable[[], int],
    ) -> None:
        self.model = model
        self.meter = meter
        self.turn = turn
        self.talk = talk
        self.ending = Ending("max_steps", "max_steps", "Stopped at the limit of steps in a turn.")
        self._next_step = next_step
        self._tools = Tools(turn)
        self._reply: ModelDone | None = None
        self._spent_before = meter.total
        self._request = ""
        self._texts: dict[int, str] = {}
        """Text blocks that have begun and not ended, by index."""

    async def run(self, text: str) -> AsyncIterator[Event]:
        """One turn. ``text`` is the person's message; "" goes on with the history as it is."""
        if text:
            self._request = text
            self.talk.add(await self._message(text))
        for _ in range(self.turn.limits.steps):
            over = self._over_budget()
            if over is not None:
                self.ending = over
                return
            if self.meter.share > self.turn.limits.context_share:
                yield await self._move_on()
            async for event in self._ask_once_more_if_broken():
                yield event
            async for event in self._carry_out():
                yield event
            if self._over:
                return

    # --- asking ----------------------------------------------------------------------

    async def _message(self, text: str) -> Message:
        """The person's words, with what the model must know of the notebook before them."""
        described = await self._describe()
        blocks = (Text(described),) if described else ()
        return user(*blocks, Text(self.turn.scrub(text)))

    async def _describe(self) -> str:
        turn = self.turn
        info = await turn.kernel_info()
        if info is not None:
            turn.kernel_start = (info.kernel_id, info.start)
        variables = await turn.kernel.variables() if info is not None else None
        owned = turn.ledger.owned(turn.snapshot)
        return turn.scrub(turn.context.describe(turn.snapshot, turn.files, info, variables, owned))

    async def _move_on(self) -> Note:
        """Go on in a new conversation with a summary: the old one is nearly full."""
        turn = self.turn
        summary = self.talk.summary()
        turn.context = Context()
        # A notebook that is closed for now is described as it was last seen.
        with contextlib.suppress(DocumentError):
            await turn.look()
        described = await self._describe()
        goal = self._request or "Go on with what was asked last."
        self.talk.restart(
            user(
                Text(described),
                Text(f"Summary of this conversation so far:\n{summary}"),
                Text(f"Go on with this request:\n{goal}"),
            )
        )
        turn.images = 0
        self.meter.last = Usage()
        return Note(MOVED_ON)

    async def _ask_once_more_if_broken(self) -> AsyncIterator[Event]:
        """One step's stream. If it breaks, nothing of it counts, and it is repeated once."""
        for last_try in (False, True):
            step = self._next_step()
            self._over = False
            self._reply = None
            self._tools = Tools(self.turn)
            request = ModelRequest(self.turn.model, prompts.SYSTEM, TOOLS, self.talk.for_request())
            self._keep(step, request)
            yield StepStarted(step)
            try:
                async for event in self._stream(request):
                    yield event
                return
            except ModelError as error:
                self._discard_drafts()
                self._tools, self._texts = Tools(self.turn), {}
                if error.code == "context_full" and not last_try:
                    yield StepDiscarded(step, MOVED_ON)
                    yield await self._move_on()
                elif error.code == "broken_stream" and not last_try:
                    yield StepDiscarded(step, "The connection broke; this step is repeated.")
                else:
                    yield StepDiscarded(step, "")
                    raise

    def _keep(self, step: int, request: ModelRequest) -> None:
        sent = {
            "model": request.model,
            "system": request.system,
            "tools": [tool.name for tool in request.tools],
            "conversation": self.talk.number,
            "messages": len(request.messages),
        }
        self.turn.store.append_request(self.turn.session_id, step, sent)

    async def _stream(self, request: ModelRequest) -> AsyncIterator[Event]:
        texts = self._texts = {}
        open_block = -1
        async for event in self.model.stream(request):
            if open_block in texts and getattr(event, "block", None) != open_block:
                yield TextDone(open_block, texts.pop(open_block))
            if isinstance(event, ModelText):
                open_block = event.block
                texts[event.block] = texts.get(event.block, "") + event.text
                yield TextDelta(event.block, event.text)
            elif isinstance(event, ModelThinking):
                yield ThinkingDelta(event.block, event.text)
            elif isinstance(event, ModelToolInput):
                for shown in self._tools.preview(event):
                    yield shown
            elif isinstance(event, ModelRetry):
                yield Retrying(event.code, event.message, event.delay, event.attempt)
            elif isinstance(event, ModelDone):
                self._reply = event
                yield self.meter.add(event.usage)

    # --- carrying out ----------------------------------------------------------------

    async def _carry_out(self) -> AsyncIterator[Event]:
        """What follows from the reply: run its tool calls, go on, or end the turn."""
        reply = self._reply
        if reply is None:
            raise ModelError("broken_stream", "The model's answer ended too early.")
        calls = tool_uses(reply.message)
        reason = reply.stop_reason
        self._over = True
        if reason == "refusal":
            self._discard_drafts()
            words = reply.detail or "The model declined to answer this."
            self.ending = Ending("refusal", "refusal", words)
        elif reason == "tool_use" and calls:
            async for event in self._run(calls, reply):
                yield event
        elif reason in ("max_tokens", "model_context_window_exceeded") and calls:
            self._over = False
            self._discard_drafts()
            for call in calls:
                self._tools.results[call.id] = self.turn.result(call, "not_started", CUT_OFF)
                yield self._tools.results[call.id].done
            self._store(reply, calls)
            if reason == "model_context_window_exceeded":
                yield await self._move_on()
        elif reason == "pause_turn":
            self._over = False
            self._store(reply, ())
        else:
            self._store(reply, ())
            self.ending = _ending(reason)

    async def _run(self, calls: tuple[ToolUse, ...], reply: ModelDone) -> AsyncIterator[Event]:
        self._over = False
        for call in calls:
            async for event in self._tools.run(call, reply.invalid.get(call.id)):
                yield event
            result = self._tools.results[call.id]
            verdict = self.turn.guard.add(call, result.text, result.error_signature)
            if verdict == "note":
                self._tools.results[call.id] = self._noted(result)
            elif verdict == "stop":
                self._over = True
                self.ending = Ending(
                    "error",
                    "loop",
                    f"Stopped: the same step failed the same way {self.turn.guard.count} times.",
                )
                break
        self._store(reply, calls)

    def _noted(self, result: Result) -> Result:
        note = Text(f"\n{self.turn.guard.note}")
        block = result.block
        content = (*block.content, note)
        return msgspec.structs.replace(
            result, block=ToolResult(block.tool_use_id, content, block.is_error)
        )

    def _store(self, reply: ModelDone, calls: tuple[ToolUse, ...]) -> None:
        """The assistant message and the results of all its calls, in one transaction."""
        self._reply = None
        if not reply.message.content:
            return
        if not calls:
            self.talk.add(reply.message)
            return
        results = [
            (self._tools.results.get(call.id) or self._not_started(call)).block for call in calls
        ]
        self.talk.add(reply.message, user(*results))

    def _not_started(self, call: ToolUse) -> Result:
        return self.turn.result(call, "not_started", "The turn ended before this was started.")

    def _discard_drafts(self) -> None:
        for run in self._tools.runs.values():
            run.discard()

    def stopped(self) -> list[Event]:
        """Settle what was under way when the turn was stopped: quick, waits for nothing."""
        events: list[Event] = [TextDone(block, text) for block, text in self._texts.items()]
        calls = tool_uses(self._reply.message) if self._reply is not None else ()
        for call_id, run in self._tools.runs.items():
            run.discard()
            if run.result is not None:
                self._tools.results.setdefault(call_id, run.result)
        for call in calls:
            if call.id not in self._tools.results:
                self._tools.results[call.id] = self._not_started(call)
            events.append(self._tools.results[call.id].done)
        events.extend(self._tools.unfinished({call.id for call in calls}))
        if self._reply is not None:
            self._store(self._reply, calls)
        return events

    # --- limits ----------------------------------------------------------------------

    def _over_budget(self) -> Ending | None:
        limits = self.turn.limits
        if limits.cost is not None:
            cost = self.meter.cost(self.meter.total)
            before = self.meter.cost(self._spent_before)
            if cost is not None and before is not None and cost - before >= limits.cost:
                words = f"Stopped at the cost limit of ${limits.cost:.2f} for a turn."
                return Ending("budget", "cost_limit", words)
        elapsed = time.monotonic() - self.turn.started
        if (
            self.turn.mode == "auto"
            and limits.turn_timeout is not None
            and elapsed > limits.turn_timeout
        ):
            minutes = limits.turn_timeout / 60
            words = f"Stopped at the time limit of {minutes:.0f} minutes for an unattended turn."
            return Ending("budget", "time_limit", words)
        return None


def _ending(stop_reason: str) -> Ending:
    if stop_reason in ("end_turn", "stop_sequence", "tool_use"):
        return Ending("end_turn")
    if stop_reason == "max_tokens":
        return Ending("error", "max_tokens", "The answer was cut off at the model's output limit.")
    return Ending("error", "context_full", "The conversation no longer fits the model's context.")
