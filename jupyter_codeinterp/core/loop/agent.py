"""The agent loop: ask the model, carry out its tool calls, send it the results.

While the model answers a message about a draft, the draft keeps waiting. The turn then ends only
after the decision (``calls.py``).

``Agent.run`` yields events until the turn is over; ``ending`` then says how. It raises
ModelError when the model is unavailable. After a cancellation ``stopped`` gives every open tool
call its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

from ..document.ops import Snapshot
from ..errors import DocumentError, ModelError
from ..injection.caution import named
from ..messages import Message, Text, ToolUse, Usage, tool_uses, user
from ..model_view import rule_files
from ..model_view.context import Context
from ..model_view.outputs import size
from ..off_loop import off_loop
from ..own_command import NO_SKILLS, skills_told
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
from ..turn import budget
from ..turn.budget import ASK, Budget, only_announces
from ..turn.ending import Ending
from ..turn.meter import CallUsage, Meter
from ..turn.turn import Turn
from ..wire.events import (
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
from . import system_prompt
from .calls import Calls
from .conversation import Conversation
from .final_answer import after_answer
from .naming import Found, look_up

CUT_OFF = (
    "Your reply was cut off at the output limit, so none of it was run. Write shorter code, in "
    "several cells."
)
NOT_ASKED_FOR = "Your reply ended without asking for its tools, so this was not started."
TOO_SMALL = (
    "Even a summary of the conversation is too long for the model. Start a new conversation, "
    "or choose another model."
)
NO_TOOLS = "This was the turn's last model call, so this was not started."
NOT_DESCRIBED = "[Could not describe the notebook. read_notebook shows its cells.]"
MOVED_ON = "The conversation is long. Continuing with a summary."
GO_ON = "Go on."
SPOKEN_TO = (
    "Data that the model read has words like instructions to it: {signs}. The model was told that "
    "they are data."
)
SILENT = "The model ended its turn without an answer. Ask again, or say what is missing."


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
        show: Callable[[Event], None],
        answer_references: Callable[[], tuple[Reference, ...]] = tuple,
    ) -> None:
        """``goal`` is the person's latest request. ``queued`` returns their messages since then,
        ``answer_references`` the references in their answers since then. ``show`` gets the events
        of tool calls."""
        self.model = model
        self.meter = meter
        self.turn = turn
        self.talk = talk
        self._budget = Budget(turn.limits, turn.alone)
        self.ending = self._budget.ending
        self._goal = goal
        self._next_step = next_step
        self._queued = queued
        self._answer_references = answer_references
        self._references: tuple[Reference, ...] = ()
        """References in the messages of this turn."""
        self._specs = registry.specs()
        self._calls = Calls(turn, registry, show)
        self._reply: ModelDone | None = None
        self._step = 0
        self._over = False
        self._rests = False
        """Whether the model has no more to say until the person acts."""
        self._begun_anew = False
        """Whether a new conversation has begun and no tool call has run since."""
        self._announced = False
        """Whether the model was asked to take a step that it only announced."""
        self._texts: dict[int, str] = {}
        """Unfinished text blocks, by index."""
        self._said: dict[int, str] = {}
        """Complete text blocks of the running step, by index."""
        self._call_usage: CallUsage | None = None
        """Usage of the running model call; None before its first event."""

    async def run(
        self, text: str, note: str = "", references: tuple[Reference, ...] = ()
    ) -> AsyncIterator[Event]:
        """Run one turn. ``text`` is the person's message; "" continues with the same history.
        ``note`` tells the model about the turn before."""
        cautions = self.talk.cautions
        cautions.begin_turn()
        described = await self._describe()
        self._references = references
        found = await look_up(self.turn, references)
        opening = self._opening(described, note, found, text)
        if opening.content:
            self.talk.add(opening)
        for told in self._shown(found):
            yield told
        while True:
            await self._until_due()
            self._budget.reach(self._limit())
            if self._budget.stage == "end":
                self.ending = self._budget.ending
                return
            if self.turn.went_on:
                self.ending = Ending("end_turn")
                return
            if self.meter.share > self.turn.limits.context_share:
                yield await self._move_on()
            async for event in self._add_queued():
                yield event
            if self._rests:
                continue  # The message has been taken back.
            if not self.talk.is_answered and (words := self._budget.words()):
                self.talk.add(user(Text(words)))
            try:
                async for event in self._ask_once_more_if_broken():
                    yield event
                async for event in self._carry_out():
                    yield event
                if cautions.news:
                    news, cautions.news = cautions.news, []
                    yield Note(SPOKEN_TO.format(signs=named(news)), "warning")
            except ModelError as error:
                if self._calls.discussed is None:
                    raise
                self._over, self.ending = True, Ending("error", error.code, error.message)
            if self._over and self._calls.discussed is None:
                return
            if self._over:
                # The draft still waits.
                if self.ending.message:
                    yield Note(self.ending.message, "warning")
                self._over, self._rests, self.ending = False, True, self._budget.ending

    async def _until_due(self) -> None:
        """Wait while a discussed draft runs, and while the model has no more to say."""
        while (call := self._calls.discussed) is not None and not call.ended:
            if call.waits and not (self._rests and self._queued() is None):
                return
            await call.news()

    # --- asking ----------------------------------------------------------------------

    def _opening(self, described: str, note: str, found: Found, text: str) -> Message:
        """The turn's first message: the notebook's description, then the person's words."""
        words = text or (GO_ON if self.talk.is_answered else "")
        may = self._budget.opening if words else ""
        if self.talk.has(may):
            may = ""
        before = (described, self._late(), *self._instructions(), may, note, found.text)
        said = _texts(found.commands, self.turn.scrub(words))
        content = (*_texts(*before), *found.shown, *said)
        return user(*self.talk.opening(), *content) if content else user()

    def _shown(self, found: Found) -> tuple[Note, ...]:
        """Record that the conversation shows these files. Returns notes for the person."""
        self.turn.results.has_shown(found.shown)
        return found.notes

    def _instructions(self) -> tuple[str, str]:
        """The person's instruction files and skills; "" for those that the model has already."""
        turn, context = self.turn, self.turn.context
        rules = rule_files.as_text(turn.rule_files, turn.untrusted)
        skills = skills_told(turn.skills, turn.untrusted)
        before = (context.instructions, context.skills)
        context.instructions, context.skills = rules, skills
        return (
            "" if rules == before[0] else rules or rule_files.GONE,
            "" if skills == before[1] else skills or NO_SKILLS,
        )

    async def _describe(self) -> str:
        turn = self.turn
        info = await turn.kernel_info()
        if info is not None:
            turn.kernel_start = (info.kernel_id, info.start)
        state = await turn.kernel.state()
        variables = await turn.variables() if info is not None else None
        snapshot, files = turn.notebook.snapshot, turn.files
        owned = turn.ledger.owned(snapshot)
        new = turn.context.new_files(files)
        heads = await turn.workplace.table_heads(new) if new else {}
        return await self._described(
            snapshot,
            lambda fresh: fresh.describe(snapshot, files, info, variables, owned, state, heads),
        )

    async def _describe_acts(self) -> str:
        """What the person ran, changed or deleted since the last description."""
        turn = self.turn
        if not turn.notebook.person_acted:
            return ""
        try:
            snapshot = await turn.notebook.look()
        except DocumentError:
            return ""  # Closed for now; the next step reads it.
        owned = turn.ledger.owned(snapshot)
        return await self._described(snapshot, lambda fresh: fresh.describe_acts(snapshot, owned))

    async def _described(self, snapshot: Snapshot, describe: Callable[[Context], str]) -> str:
        """Describe with a copy of the context, and keep its state unless that takes too long."""
        fresh = Context(self.turn.context.state, self.turn.untrusted.scrub)
        text = await off_loop(
            lambda: describe(fresh),
            sum(len(cell.source) + size(cell.outputs) for cell in snapshot.cells),
            lambda: NOT_DESCRIBED,
        )
        if text != NOT_DESCRIBED:
            self.turn.context.state = fresh.state
        return text

    def _late(self) -> str:
        context = Context(self.turn.context.state, self.turn.untrusted.scrub)
        return context.describe_late(self.turn.late)

    async def _add_queued(self) -> AsyncIterator[Event]:
        """Add the person's queued messages and changes after the results, never between two
        parts of one answer of the model."""
        if self.talk.is_answered and not self._rests:
            return
        done = await self._describe_acts()
        named = self._answer_references()
        delivery, references = self._queued_and_named(named)
        found = await look_up(self.turn, references, again=True)
        # The queue may have changed during the look-up.
        while self._queued_and_named(named)[1] != references:
            _, references = self._queued_and_named(named)
            found = await look_up(self.turn, references, again=True)
        delivery, _ = self._queued_and_named(named)
        self._references += references
        words = ""
        if delivery is not None:
            yield delivery
            words = self.turn.scrub(delivery.text)
            self._goal = f"{self._goal}\n\n{delivery.text}"
        said = _texts(found.commands, words)
        content = (
            *self._calls.outcome(),
            *_texts(done, self._late(), found.text),
            *found.shown,
            *said,
        )
        if content:
            self.talk.add(user(*content))
            self._rests = False
        for told in self._shown(found):
            yield told

    def _queued_and_named(
        self, named: tuple[Reference, ...]
    ) -> tuple[MessagesHeard | None, tuple[Reference, ...]]:
        """The queued messages, and all references in them or in ``named``."""
        delivery = self._queued()
        return delivery, (*named, *(delivery.references if delivery is not None else ()))

    async def _move_on(self) -> Note:
        """Continue in a new conversation with a summary: the old one is nearly full.

        Raises ModelError ``context_full`` if no call has run since the last time.
        """
        if self._begun_anew:
            raise ModelError("context_full", TOO_SMALL)
        self._begun_anew = True
        turn = self.turn
        summary = self.talk.summary()
        turn.context = Context()
        # A closed notebook is described from the last snapshot.
        with contextlib.suppress(DocumentError):
            await turn.notebook.look()
        goal = turn.scrub(self._goal) or "Go on with what was asked last."
        described = (await self._describe(), *self._instructions())
        turn.results.forget_shown()
        found = await look_up(turn, self._references)
        request = f"Go on with this request:\n{goal}"
        before = _texts(*described, summary, found.text)
        self.talk.restart(user(*before, *found.shown, *_texts(found.commands, request)))
        self._shown(found)
        self.meter.new_conversation()
        return Note(MOVED_ON)

    async def _ask_once_more_if_broken(self) -> AsyncIterator[Event]:
        """Stream one step. If the stream breaks, discard the step and repeat it once."""
        for last_try in (False, True):
            step = self._step = self._next_step()
            self._reply = None
            self._calls.begin_step()
            request = ModelRequest(
                self.turn.model,
                system_prompt.SYSTEM,
                self._specs,
                self.talk.for_request(),
                answer_only=self._budget.is_last,
            )
            self._keep(step, request)
            yield StepStarted(step)
            try:
                async for event in self._stream(request):
                    yield event
                if self._reply is None:
                    raise ModelError("broken_stream", "The model's answer ended early.")
                return
            except ModelError as error:
                for counted in self._count_usage():
                    yield counted
                self._calls.discard()
                self._texts = {}
                if error.code == "context_full" and not last_try:
                    yield StepDiscarded(step, "")
                    yield await self._move_on()
                elif error.code == "broken_stream" and not last_try:
                    yield StepDiscarded(step, "Connection lost. Repeating this step.")
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
        self._said = {}
        open_block = -1
        call = CallUsage(request)
        async for event in self.model.stream(request):
            if not isinstance(event, ModelRetry):
                self._call_usage = call
                call.observe(event)
            elif self._call_usage is not None:
                for counted in self._count_usage():
                    yield counted
                call = CallUsage(request)
            if open_block in texts and getattr(event, "block", None) != open_block:
                self._said[open_block] = texts.pop(open_block)
                yield TextDone(open_block, self._said[open_block])
            if isinstance(event, ModelText):
                open_block = event.block
                texts[event.block] = texts.get(event.block, "") + event.text
                yield TextDelta(event.block, event.text)
            elif isinstance(event, ModelThinking):
                yield ThinkingDelta(event.block, event.text)
            elif isinstance(event, ModelToolInput):
                for shown in self._calls.preview(event):
                    yield shown
            elif isinstance(event, ModelRetry):
                yield Retrying(event.code, event.message, event.delay, event.attempt)
            elif isinstance(event, ModelDone):
                self._reply = event
                for counted in self._count_usage(event.usage):
                    yield counted

    def _count_usage(self, usage: Usage | None = None) -> Iterator[Event]:
        """Count the running call, complete or broken, if it has produced anything."""
        call, self._call_usage = self._call_usage, None
        if call is not None and self.meter.estimates:
            yield self.meter.add(call.total(usage))
        elif usage is not None:
            yield self.meter.add(usage)

    # --- carrying out ----------------------------------------------------------------

    async def _carry_out(self) -> AsyncIterator[Event]:
        """Act on the reply: run its tool calls, continue, or end the turn."""
        reply = self._reply
        if reply is None:
            raise RuntimeError("a step has ended without a reply")
        calls = tool_uses(reply.message)
        reason, last = reply.stop_reason, self._budget.is_last
        self._budget.take()
        self._over = last or reason == "refusal" or not (calls or reason in _GO_ON)
        if reason == "refusal":
            words = reply.detail or "The model declined to answer this."
            self.ending = Ending("refusal", "refusal", words)
            self._reply = None
            for event in self._calls.stop((), words):
                yield event
        elif reason == "tool_use" and calls and not last:
            async for event in self._run(calls, reply):
                yield event
        else:
            was_cut = reason in ("max_tokens", "model_context_window_exceeded")
            why = NO_TOOLS if last else CUT_OFF if was_cut else NOT_ASKED_FOR
            for event in self._calls.stop(calls, why):
                yield event
            self._store(reply, calls)
            if reason == "model_context_window_exceeded" and not last:
                yield await self._move_on()
            if self._over and reason == "end_turn" and not last and self._only_announces():
                self._over, self._announced = False, True
                self.talk.add(user(Text(ASK)))
            if self._over:
                self.ending = self._budget.ending if last else _ending(reason)
                ended = last or self.ending.reason == "end_turn"
                if ended and not _says_something(reply.message):
                    yield Note(SILENT)
                messages = self.talk.for_request()
                for event in await after_answer(
                    self.turn, self._step, self._said, self._goal, messages
                ):
                    yield event

    def _only_announces(self) -> bool:
        may = self.turn.allowed.changes and not self._announced and self._calls.discussed is None
        return may and only_announces("\n".join(self._said.values()))

    async def _run(self, calls: tuple[ToolUse, ...], reply: ModelDone) -> AsyncIterator[Event]:
        self._begun_anew = False
        async for event in self._calls.run(calls, reply.invalid):
            yield event
        if self._calls.goes_in_circles:
            self._budget.reach(budget.loop(self.turn.guard.reason))
        elif self.turn.went_on:
            self._over, self.ending = True, Ending("end_turn")
        self._store(reply, calls)

    def _store(self, reply: ModelDone, calls: tuple[ToolUse, ...]) -> None:
        """Store the assistant message and the results of all its calls in one transaction."""
        self._reply = None
        if not reply.message.content:
            return
        results = self._calls.answers(calls)
        self.talk.add(reply.message, *([user(*results)] if results else []))

    async def cancel_calls(self) -> None:
        """Cancel running calls; ``stopped`` settles them."""
        await self._calls.cancel()

    def stopped(self) -> list[Event]:
        """Settle open calls after Stop. Waits for nothing."""
        events: list[Event] = [TextDone(block, text) for block, text in self._texts.items()]
        self._texts = {}
        events += self._count_usage()
        calls = tool_uses(self._reply.message) if self._reply is not None else ()
        events += self._calls.stop(calls)
        if self._reply is not None:
            self._store(self._reply, calls)
        ends, outcome = self._calls.stop_discussed()
        if outcome:
            self.talk.add(user(*outcome))
        return [*events, *ends]

    # --- limits ----------------------------------------------------------------------

    def _limit(self) -> budget.Reached | None:
        """The limit that the turn has reached, apart from the number of model calls."""
        turn, limits, spent = self.turn, self.turn.limits, self.meter.turn_cost
        if limits.cost is not None and not self.meter.priced:
            return budget.no_price(turn.model, limits.cost)
        another = (spent or 0.0) + (self.meter.latest or 0.0)
        if limits.cost is not None and spent is not None and another >= limits.cost:
            # There is room for one more call like the latest, if any.
            return budget.cost_limit(limits.cost, answers=spent < limits.cost)
        longest = limits.turn_timeout if turn.allowed.unasked else None
        if longest is not None and turn.clock.unattended > longest:
            return budget.time_limit(longest)
        return None


_GO_ON = ("pause_turn", "model_context_window_exceeded")
"""Stop reasons that lead to another model call."""


def _texts(*parts: str) -> tuple[Text, ...]:
    return tuple(Text(part) for part in parts if part)


def _says_something(message: Message) -> bool:
    return any(isinstance(block, Text) and block.text.strip() for block in message.content)


def _ending(stop_reason: str) -> Ending:
    if stop_reason in ("end_turn", "stop_sequence", "tool_use"):
        return Ending("end_turn")
    if stop_reason == "max_tokens":
        return Ending("error", "max_tokens", "The answer was cut off at the model's output limit.")
    words = f"The model stopped for an unknown reason: {stop_reason or 'none'}."
    return Ending("error", "unknown_stop", words)
