"""The agent loop: ask the model, carry out what it asks for, tell it what came of it.

``Agent.run`` yields events until the turn is over; ``ending`` then says how. It raises
ModelError when the model cannot be had. When the turn is stopped (the task is cancelled),
``stopped`` settles what was under way, so that every tool call still gets its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec

from ..errors import DocumentError, ModelError
from ..events import (
    Event,
    MessagesHeard,
    Note,
    Reference,
    Retrying,
    StepDiscarded,
    StepStarted,
    TextDelta,
    TextDone,
    ThinkingDelta,
)
from ..messages import Message, Text, ToolResult, ToolUse, Usage, tool_uses, user
from ..model_view import rule_files
from ..model_view.context import Context
from ..model_view.outputs import size
from ..off_loop import off_loop
from ..ports import (
    Model,
    ModelDone,
    ModelRequest,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from ..tools.registry import ToolRegistry
from ..tools.tools import Tools
from ..turn.ending import Ending
from ..turn.meter import Meter, Unpaid
from ..turn.results import Result
from ..turn.turn import Turn
from . import system_prompt
from .conversation import Conversation
from .naming import Found, look_at_named

CUT_OFF = (
    "Your reply was cut off at the output limit, so nothing of it was run. "
    "Write shorter code, in several cells."
)
NOT_ASKED_FOR = "Your reply ended without asking for its tools, so this was not started."
NOT_REACHED = "The turn ended before this was started: nothing of it reached the kernel."
TOO_SMALL = (
    "The conversation does not fit the model's context, not even as a summary. "
    "Begin a new conversation, or choose another model."
)
NOT_DESCRIBED = "[The notebook could not be described. read_notebook shows its cells.]"
MOVED_ON = "The conversation was long; it goes on with a summary."
GO_ON = "Go on."
SILENT = "The model ended its turn without a word. Ask again, or say what is missing."


class Agent:
    def __init__(
        self,
        model: Model,
        meter: Meter,
        turn: Turn,
        talk: Conversation,
        goal: str,
        next_step: Callable[[], int],
        registry: ToolRegistry,
        queued: Callable[[], MessagesHeard | None],
        aside: Callable[[], tuple[Reference, ...]] = tuple,
    ) -> None:
        """``goal`` is what the person asked for last, in their words; ``queued`` is what they
        have said since, None if nothing; ``aside`` what their answers have named since."""
        self.model = model
        self.meter = meter
        self.turn = turn
        self.talk = talk
        self.ending = Ending("max_steps", "max_steps", "Stopped at the limit of steps in a turn.")
        self._goal = goal
        self._next_step = next_step
        self._queued = queued
        self._aside = aside
        self._references: tuple[Reference, ...] = ()
        """What the messages of this turn name."""
        self._registry = registry
        self._specs = registry.specs()
        self._tools = Tools(turn, registry)
        self._reply: ModelDone | None = None
        self._over = False
        self._begun_anew = False
        """The conversation has begun anew, and no call has been carried out since."""
        self._texts: dict[int, str] = {}
        """Text blocks that have begun and not ended, by index."""
        self._unpaid: Unpaid | None = None
        """The call that is under way, once something has come of it."""

    async def run(
        self, text: str, note: str = "", references: tuple[Reference, ...] = ()
    ) -> AsyncIterator[Event]:
        """One turn. ``text`` is the person's message; "" goes on with the history as it is.
        ``note`` is what the model must know of the turn before."""
        described = await self._describe()
        self._references = references
        found = await look_at_named(self.turn, references)
        opening = self._opening(described, note, found, text)
        if opening.content:
            self.talk.add(opening)
        for told in self._shown(found):
            yield told
        for _ in range(self.turn.limits.steps):
            over = self._over_budget()
            if over is not None:
                self.ending = over
                return
            if self.meter.share > self.turn.limits.context_share:
                yield await self._move_on()
            async for event in self._hear():
                yield event
            async for event in self._ask_once_more_if_broken():
                yield event
            async for event in self._carry_out():
                yield event
            if self._over:
                return

    # --- asking ----------------------------------------------------------------------

    def _opening(self, described: str, note: str, found: Found, text: str) -> Message:
        """The person's words, with what the model must know of the notebook before them."""
        words = text or (GO_ON if self.talk.is_answered else "")
        before = (described, self._wishes(), note, found.text)
        content = (*_texts(*before), *found.shown, *_texts(self.turn.scrub(words)))
        return user(*self.talk.opening(), *content) if content else user()

    def _shown(self, found: Found) -> tuple[Note, ...]:
        """What was found is in the conversation now; what the person is told of it."""
        self.turn.results.has_shown(found.shown)
        return found.notes

    def _wishes(self) -> str:
        """What the person's files say, once, and again when they say something else."""
        turn = self.turn
        wishes = rule_files.told(turn.rule_files, turn.foreign)
        before, turn.context.wishes = turn.context.wishes, wishes
        if wishes == before:
            return ""
        return wishes or rule_files.GONE

    async def _describe(self) -> str:
        turn = self.turn
        info = await turn.kernel_info()
        if info is not None:
            turn.kernel_start = (info.kernel_id, info.start)
        variables = await turn.variables() if info is not None else None
        owned = turn.ledger.owned(turn.notebook.snapshot)
        snapshot, files = turn.notebook.snapshot, turn.files
        fresh = Context(turn.context.state, turn.scrub)
        text = await off_loop(
            lambda: fresh.describe(snapshot, files, info, variables, owned),
            sum(len(cell.source) + size(cell.outputs) for cell in snapshot.cells),
            lambda: NOT_DESCRIBED,
        )
        if text != NOT_DESCRIBED:
            turn.context.state = fresh.state
        return text

    async def _hear(self) -> AsyncIterator[Event]:
        """What the person has said meanwhile follows the results, in the same turn of theirs.
        (Between two parts of an answer of the model's nothing may stand.)"""
        if self.talk.is_answered:
            return
        aside = self._aside()
        heard, references = self._said(aside)
        found = await look_at_named(self.turn, references, again=True)
        # More may have been queued, or taken back, while that was looked at.
        while self._said(aside)[1] != references:
            _, references = self._said(aside)
            found = await look_at_named(self.turn, references, again=True)
        heard, _ = self._said(aside)
        self._references += references
        words = ""
        if heard is not None:
            yield heard
            words = self.turn.scrub(heard.text)
            self._goal = f"{self._goal}\n\n{heard.text}"
        content = (*_texts(found.text), *found.shown, *_texts(words))
        if content:
            self.talk.add(user(*content))
        for told in self._shown(found):
            yield told

    def _said(
        self, aside: tuple[Reference, ...]
    ) -> tuple[MessagesHeard | None, tuple[Reference, ...]]:
        """What is queued now, and what is named, in it or ``aside``."""
        heard = self._queued()
        return heard, (*aside, *(heard.references if heard is not None else ()))

    async def _move_on(self) -> Note:
        """Go on in a new conversation with a summary: the old one is nearly full.

        Raises ModelError ``context_full`` if nothing was run since the last time.
        """
        if self._begun_anew:
            raise ModelError("context_full", TOO_SMALL)
        self._begun_anew = True
        turn = self.turn
        summary = self.talk.summary()
        turn.context = Context()
        # A notebook that is closed for now is described as it was last seen.
        with contextlib.suppress(DocumentError):
            await turn.notebook.look()
        goal = turn.scrub(self._goal) or "Go on with what was asked last."
        described = (await self._describe(), self._wishes())
        turn.results.forget_shown()
        found = await look_at_named(turn, self._references)
        request = f"Go on with this request:\n{goal}"
        before = _texts(*described, summary, found.text)
        self.talk.restart(user(*before, *found.shown, *_texts(request)))
        self._shown(found)
        self.meter.new_conversation()
        return Note(MOVED_ON)

    async def _ask_once_more_if_broken(self) -> AsyncIterator[Event]:
        """One step's stream. If it breaks, nothing of it counts, and it is repeated once."""
        for last_try in (False, True):
            step = self._next_step()
            self._reply = None
            self._tools = Tools(self.turn, self._registry)
            request = ModelRequest(
                self.turn.model, system_prompt.SYSTEM, self._specs, self.talk.for_request()
            )
            self._keep(step, request)
            yield StepStarted(step)
            try:
                async for event in self._stream(request):
                    yield event
                if self._reply is None:
                    raise ModelError("broken_stream", "The model's answer ended too early.")
                return
            except ModelError as error:
                for paid in self._pay():
                    yield paid
                self._tools.discard()
                self._tools, self._texts = Tools(self.turn, self._registry), {}
                if error.code == "context_full" and not last_try:
                    yield StepDiscarded(step, "")
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
        unpaid = Unpaid(request)
        async for event in self.model.stream(request):
            if not isinstance(event, ModelRetry):
                self._unpaid = unpaid
                unpaid.hear(event)
            elif self._unpaid is not None:
                for paid in self._pay():
                    yield paid
                unpaid = Unpaid(request)
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
                for paid in self._pay(event.usage):
                    yield paid

    def _pay(self, usage: Usage | None = None) -> Iterator[Event]:
        """For a call of which something has come, to its end or not."""
        unpaid, self._unpaid = self._unpaid, None
        if unpaid is not None and self.meter.reckons:
            yield self.meter.add(unpaid.settled(usage))
        elif usage is not None:
            yield self.meter.add(usage)

    # --- carrying out ----------------------------------------------------------------

    async def _carry_out(self) -> AsyncIterator[Event]:
        """What follows from the reply: run its tool calls, go on, or end the turn."""
        reply = self._reply
        if reply is None:
            raise RuntimeError("a step has ended without a reply")
        calls = tool_uses(reply.message)
        reason = reply.stop_reason
        self._over = reason == "refusal" or not (calls or reason in _GO_ON)
        if reason == "refusal":
            words = reply.detail or "The model declined to answer this."
            self.ending = Ending("refusal", "refusal", words)
            self._reply = None
            for event in self._tools.stop((), words):
                yield event
        elif reason == "tool_use" and calls:
            async for event in self._run(calls, reply):
                yield event
        else:
            was_cut = reason in ("max_tokens", "model_context_window_exceeded")
            for event in self._tools.stop(calls, CUT_OFF if was_cut else NOT_ASKED_FOR):
                yield event
            self._store(reply, calls)
            if reason == "model_context_window_exceeded":
                yield await self._move_on()
            if self._over:
                self.ending = _ending(reason)
                if self.ending.reason == "end_turn" and not _says_something(reply.message):
                    yield Note(SILENT)

    async def _run(self, calls: tuple[ToolUse, ...], reply: ModelDone) -> AsyncIterator[Event]:
        self._begun_anew = False
        for call in calls:
            async for event in self._tools.run(call, reply.invalid.get(call.id)):
                yield event
            result = self._tools.results[call.id]
            verdict = self.turn.guard.add(call, result.text, result.error_signature)
            if verdict == "note":
                self._tools.results[call.id] = self._noted(result)
            elif verdict == "stop":
                self._over = True
                self.ending = Ending("error", "loop", self.turn.guard.reason)
                break
        for event in self._tools.stop(calls, NOT_REACHED):
            yield event
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
        results = [self._tools.results[call.id].block for call in calls]
        self.talk.add(reply.message, *([user(*results)] if results else []))

    def stopped(self) -> list[Event]:
        """Settle what was under way when the turn was stopped: quick, waits for nothing."""
        events: list[Event] = [TextDone(block, text) for block, text in self._texts.items()]
        self._texts = {}
        events += self._pay()
        calls = tool_uses(self._reply.message) if self._reply is not None else ()
        events += self._tools.stop(calls, NOT_REACHED)
        if self._reply is not None:
            self._store(self._reply, calls)
        return events

    # --- limits ----------------------------------------------------------------------

    def _over_budget(self) -> Ending | None:
        turn, limits = self.turn, self.turn.limits
        spent = self.meter.turn_cost
        if limits.cost is not None and not self.meter.priced:
            words = (
                f"What {turn.model} costs is not known, and a turn may cost ${limits.cost:.2f} "
                "here. An admin may set its price (prices)."
            )
            return Ending("budget", "cost_limit", words)
        if limits.cost is not None and spent is not None and spent >= limits.cost:
            words = f"Stopped at the cost limit of ${limits.cost:.2f} for a turn."
            return Ending("budget", "cost_limit", words)
        longest = limits.turn_timeout if turn.allowed.unasked else None
        if longest is not None and turn.clock.unattended > longest:
            words = f"Stopped at the time limit of {longest / 60:.0f} minutes without a person."
            return Ending("budget", "time_limit", words)
        return None


_GO_ON = ("pause_turn", "model_context_window_exceeded")
"""Stop reasons after which the model is asked again."""


def _texts(*parts: str) -> tuple[Text, ...]:
    return tuple(Text(part) for part in parts if part)


def _says_something(message: Message) -> bool:
    return any(isinstance(block, Text) and block.text.strip() for block in message.content)


def _ending(stop_reason: str) -> Ending:
    if stop_reason in ("end_turn", "stop_sequence", "tool_use"):
        return Ending("end_turn")
    if stop_reason == "max_tokens":
        return Ending("error", "max_tokens", "The answer was cut off at the model's output limit.")
    words = f"The model stopped for a reason that is not known here: {stop_reason or 'none'}."
    return Ending("error", "unknown_stop", words)
