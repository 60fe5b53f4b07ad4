"""The agent loop: ask the model, run the calls, add the results; repeat.

While the model answers a message about a draft, the draft keeps waiting. The turn then ends only
after the decision (``Calls``).

After a cancellation ``stop`` gives every open tool call its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from ..base.errors import DocumentError, ModelError
from ..base.sentences import Sentence, as_it_is
from ..run.turn import budget
from ..run.turn.budget import Budget
from ..run.turn.ending import Ending
from ..run.turn.meter import CallUsage, Meter
from ..run.turn.turn import Turn
from ..view.context import Context
from ..view.injection.caution import named
from ..wire.events import (
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
from ..wire.messages import Message, Text, ToolUse, Usage, tool_uses, user
from ..wire.ports import (
    Model,
    ModelDone,
    ModelRequest,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from . import system_prompt
from .conversation import Conversation
from .describing import describe, describe_acts, instructions, late_outputs
from .final_answer import after_answer
from .naming import Mentions, look_up
from .tools.registry import ToolRegistry
from .tools.shared.calls import NOT_REACHED, Calls

CUT_OFF = Sentence(
    "Your reply was cut off at the output limit, so none of it was run. Write shorter code, in "
    "several cells."
)
NOT_ASKED_FOR = Sentence("Your reply ended without asking for its tools, so this was not started.")
TOO_SMALL = Sentence(
    "Even a summary of the conversation is too long for the model. Start a new conversation, "
    "or choose another model."
)
NO_TOOLS = Sentence("This was the turn's last model call, so this was not started.")
ANSWER_CUT_OFF = Sentence("The answer was cut off at the model's output limit.")
REPEATING = Sentence("Connection lost. Repeating this step.")
MOVED_ON = Sentence("The conversation is long. Continuing with a summary.")
GO_ON = "Go on."
SPOKEN_TO = Sentence(
    "Data that the model read has words like instructions to it: {signs}. The model was told that "
    "they are data."
)
SILENT = Sentence("The model ended its turn without an answer. Ask again, or say what is missing.")


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
        answer_references: Callable[[], tuple[Reference, ...]] = tuple,
    ) -> None:
        """``goal`` is the person's latest request. ``queued`` returns their messages since then,
        ``answer_references`` the references in their answers since then."""
        self.model = model
        self.meter = meter
        self.turn = turn
        self.talk = talk
        self._budget = Budget(turn.limits, turn.alone)
        self._goal = goal
        self._next_step = next_step
        self._queued = queued
        self._answer_references = answer_references
        self._references: tuple[Reference, ...] = ()
        """References in the messages of this turn."""
        self._specs = registry.specs()
        self._calls = Calls(turn, registry)
        self._reply: ModelDone | None = None
        """The model's reply until the conversation has it."""
        self._step = 0
        self._worked_in = talk.number
        """The conversation in which a tool call ran last, or which the turn began with."""
        self._texts: dict[int, str] = {}
        """Unfinished text blocks, by index."""
        self._said: dict[int, str] = {}
        """Complete text blocks of the running step, by index."""
        self._call_usage: CallUsage | None = None
        """Usage of the running model call; None before its first event."""

    async def run(
        self, text: str, note: str = "", references: tuple[Reference, ...] = ()
    ) -> Ending:
        """Run one turn. ``text`` is the person's message; "" continues with the same history.
        ``note`` tells the model about the turn before. Raises ModelError if the model is
        unavailable."""
        self.talk.cautions.begin_turn()
        await self._open(text, note, references)
        rests = False  # Whether the model has ended its answer and waits for the person.
        while True:
            await self._until_due(rests)
            self._budget.reach(_limit(self.turn, self.meter))
            if self._budget.stage == "end":
                return self._budget.ending
            if self.turn.went_on:
                return Ending("end_turn")
            if self.meter.share > self.turn.limits.context_share:
                await self._move_on()
            if rests or not self.talk.is_answered:
                rests = not await self._add_queued() and rests
            if rests:
                continue  # The person has withdrawn the message.
            if not self.talk.is_answered and (words := self._budget.words()):
                self.talk.add(user(Text(words)))
            ending = await self._take_step()
            if ending is not None and self._calls.discussed is None:
                return ending
            if ending is not None:
                # The draft still waits.
                if ending.message:
                    self.turn.show(Note(ending.message, "warning"))
                rests = True

    async def _take_step(self) -> Ending | None:
        """Ask, run the calls, add the results. None if the turn goes on."""
        try:
            ending = await self._carry_out(await self._ask())
        except ModelError as error:
            if self._calls.discussed is None:
                raise
            return Ending("error", error.code, error.message)
        cautions = self.talk.cautions
        if cautions.news:
            news, cautions.news = cautions.news, []
            self.turn.show(Note(Sentence(SPOKEN_TO, signs=named(news)), "warning"))
        return ending

    async def _until_due(self, rests: bool) -> None:
        """Wait while a discussed draft runs, and while the model has nothing to do."""
        while (calls := self._calls.discussed) is not None and calls.at_work:
            if calls.waits and not (rests and self._queued() is None):
                return
            await calls.news()

    # --- what the model gets ---------------------------------------------------------

    async def _open(self, text: str, note: str, references: tuple[Reference, ...]) -> None:
        """Add the turn's first message: the notebook's description, then the person's words."""
        described = await describe(self.turn)
        self._references = references
        found = await look_up(self.turn, references)
        words = text or (GO_ON if self.talk.is_answered else "")
        may = self._budget.opening if words else ""
        if self.talk.has(may):
            may = ""
        late, rules = late_outputs(self.turn), instructions(self.turn)
        before = (described, late, *rules, may, note, found.text)
        said = _texts(found.commands, self.turn.scrub(words))
        content = (*_texts(*before), *found.shown, *said)
        if content:
            self.talk.add(user(*self.talk.opening(), *content))
        self._show_notes(found)

    def _show_notes(self, found: Mentions) -> None:
        """Record that the conversation shows these files, and show the notes about them."""
        self.turn.results.has_shown(found.shown)
        for note in found.notes:
            self.turn.show(note)

    async def _add_queued(self) -> bool:
        """Add the outcome of a discussed draft, and the person's queued messages and changes.
        False if there is nothing."""
        acts = await describe_acts(self.turn)
        in_answers = self._answer_references()
        delivery, references = self._queued_and_named(in_answers)
        found = await look_up(self.turn, references, again=True)
        # The queue may have changed during the look-up.
        while self._queued_and_named(in_answers)[1] != references:
            _, references = self._queued_and_named(in_answers)
            found = await look_up(self.turn, references, again=True)
        delivery, _ = self._queued_and_named(in_answers)
        self._references += references
        words = ""
        if delivery is not None:
            self.turn.show(delivery)
            words = self.turn.scrub(delivery.text)
            self._goal = f"{self._goal}\n\n{delivery.text}"
        content = (
            *self._calls.take_outcome(),
            *_texts(acts, late_outputs(self.turn), found.text),
            *found.shown,
            *_texts(found.commands, words),
        )
        if content:
            self.talk.add(user(*content))
        self._show_notes(found)
        return bool(content)

    def _queued_and_named(
        self, in_answers: tuple[Reference, ...]
    ) -> tuple[MessagesHeard | None, tuple[Reference, ...]]:
        """The queued messages, and all references in them or in answers."""
        delivery = self._queued()
        return delivery, (*in_answers, *(delivery.references if delivery is not None else ()))

    async def _move_on(self) -> None:
        """Continue in a new conversation with a summary: the old one is nearly full.

        Raises ModelError ``context_full`` if no call has run since the last time.
        """
        if self._worked_in != self.talk.number:
            raise ModelError("context_full", TOO_SMALL)
        turn = self.turn
        summary = self.talk.summary()
        turn.context = Context()
        # A closed notebook is described from the last snapshot.
        with contextlib.suppress(DocumentError):
            await turn.notebook.look()
        goal = turn.scrub(self._goal) or "Go on with what was asked last."
        described = (await describe(turn), *instructions(turn))
        turn.results.forget_shown()
        found = await look_up(turn, self._references)
        request = f"Go on with this request:\n{goal}"
        before = _texts(*described, summary, found.text)
        self.talk.restart(user(*before, *found.shown, *_texts(found.commands, request)))
        turn.results.has_shown(found.shown)
        self.meter.new_conversation()
        turn.show(Note(MOVED_ON))

    # --- asking ----------------------------------------------------------------------

    async def _ask(self) -> ModelDone:
        """The model's reply. If the stream breaks, discard the step and repeat it once."""
        show = self.turn.show
        for last_try in (False, True):
            step = self._step = self._next_step()
            self._calls = self._calls.next()
            request = ModelRequest(
                self.turn.model,
                system_prompt.SYSTEM,
                self._specs,
                self.talk.for_request(),
                answer_only=self._budget.is_last,
            )
            self._keep(step, request)
            show(StepStarted(step))
            try:
                await self._stream(request)
                if self._reply is None:
                    raise ModelError("broken_stream", "The model's answer ended early.")
                break
            except ModelError as error:
                self._count_usage()
                self._calls.discard()
                self._calls = self._calls.next()
                self._texts = {}
                broken = error.code == "broken_stream" and not last_try
                show(StepDiscarded(step, REPEATING if broken else Sentence()))
                if error.code == "context_full" and not last_try:
                    await self._move_on()
                elif not broken:
                    raise
        if self._reply is None:
            raise RuntimeError("a step has ended without a reply")
        return self._reply

    def _keep(self, step: int, request: ModelRequest) -> None:
        sent = {
            "model": request.model,
            "system": request.system,
            "tools": [tool.name for tool in request.tools],
            "conversation": self.talk.number,
            "messages": len(request.messages),
        }
        self.turn.store.append_request(self.turn.session_id, step, sent)

    async def _stream(self, request: ModelRequest) -> None:
        show, texts = self.turn.show, dict[int, str]()
        self._texts, self._said, self._reply = texts, {}, None
        open_block = -1
        call = CallUsage(request)
        async for event in self.model.stream(request):
            if not isinstance(event, ModelRetry):
                self._call_usage = call
                call.observe(event)
            elif self._call_usage is not None:
                self._count_usage()
                call = CallUsage(request)
            if open_block in texts and getattr(event, "block", None) != open_block:
                self._said[open_block] = texts.pop(open_block)
                show(TextDone(open_block, self._said[open_block]))
            if isinstance(event, ModelText):
                open_block = event.block
                texts[event.block] = texts.get(event.block, "") + event.text
                show(TextDelta(event.block, event.text))
            elif isinstance(event, ModelThinking):
                show(ThinkingDelta(event.block, event.text))
            elif isinstance(event, ModelToolInput):
                self._calls.preview(event)
            elif isinstance(event, ModelRetry):
                show(Retrying(event.code, as_it_is(event.message), event.delay, event.attempt))
            elif isinstance(event, ModelDone):
                self._reply = event
                self._count_usage(event.usage)

    def _count_usage(self, usage: Usage | None = None) -> None:
        """Count the running call, complete or broken, if it has produced anything."""
        call, self._call_usage = self._call_usage, None
        if call is not None and self.meter.estimates:
            self.turn.show(self.meter.add(call.total(usage)))
        elif usage is not None:
            self.turn.show(self.meter.add(usage))

    # --- carrying out ----------------------------------------------------------------

    async def _carry_out(self, reply: ModelDone) -> Ending | None:
        """Act on the reply: run its calls and store the results. Returns how the turn ends; None
        if it goes on."""
        calls = tool_uses(reply.message)
        reason, is_last = reply.stop_reason, self._budget.is_last
        self._budget.take()
        if reason == "refusal":
            words = as_it_is(reply.detail) or Sentence("The model declined to answer this.")
            self._reply = None
            self._calls.stop((), words)
            return Ending("refusal", "refusal", words)
        if reason == "tool_use" and calls and not is_last:
            return await self._run(calls, reply)
        was_cut = reason in ("max_tokens", "model_context_window_exceeded")
        self._calls.stop(calls, NO_TOOLS if is_last else CUT_OFF if was_cut else NOT_ASKED_FOR)
        self._store(reply, calls)
        if reason == "model_context_window_exceeded" and not is_last:
            await self._move_on()
        if not is_last and (calls or reason in _GO_ON):
            return None
        may_act = self.turn.allowed.changes and self._calls.discussed is None
        if reason == "end_turn" and not is_last and may_act:
            ask = self._budget.asks_for_step("\n".join(self._said.values()))
            if ask:
                self.talk.add(user(Text(ask)))
                return None
        ending = self._budget.ending if is_last else _ending(reason)
        await self._end_answer(reply.message, is_last or ending.reason == "end_turn")
        return ending

    async def _run(self, calls: tuple[ToolUse, ...], reply: ModelDone) -> Ending | None:
        self._worked_in = self.talk.number
        may_go_on = await self._calls.run(calls, reply.invalid)
        if not may_go_on:
            self._budget.reach(budget.loop(self.turn.guard.reason))
        self._store(reply, calls)
        self._calls = self._calls.next()
        return Ending("end_turn") if may_go_on and self.turn.went_on else None

    async def _end_answer(self, message: Message, is_whole: bool) -> None:
        if is_whole and not _says_something(message):
            self.turn.show(Note(SILENT))
        messages = self.talk.for_request()
        for event in await after_answer(self.turn, self._step, self._said, self._goal, messages):
            self.turn.show(event)

    def _store(self, reply: ModelDone, calls: tuple[ToolUse, ...]) -> None:
        """Store the assistant message and the results of all its calls in one transaction."""
        self._reply = None
        if not reply.message.content:
            return
        results = self._calls.answers(calls)
        self.talk.add(reply.message, *([user(*results)] if results else []))

    # --- Stop ------------------------------------------------------------------------

    async def cancel_calls(self) -> None:
        """Cancel running calls; ``stop`` settles them."""
        await self._calls.cancel()

    def stop(self) -> None:
        """Settle open calls. Waits for nothing."""
        for block, text in self._texts.items():
            self.turn.show(TextDone(block, text))
        self._texts = {}
        self._count_usage()
        calls = tool_uses(self._reply.message) if self._reply is not None else ()
        self._calls.stop(calls, NOT_REACHED)
        if self._reply is not None:
            self._store(self._reply, calls)
        if outcome := self._calls.stop_discussed():
            self.talk.add(user(*outcome))


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
        return Ending("error", "max_tokens", ANSWER_CUT_OFF)
    words = Sentence(
        "The model stopped for an unknown reason: {reason}.", reason=stop_reason or "none"
    )
    return Ending("error", "unknown_stop", words)


def _limit(turn: Turn, meter: Meter) -> budget.Reached | None:
    """The limit that the turn has reached, apart from the number of model calls."""
    limits, spent = turn.limits, meter.turn_cost
    if limits.cost is not None and not meter.priced:
        return budget.no_price(turn.model, limits.cost)
    another = (spent or 0.0) + (meter.latest or 0.0)
    if limits.cost is not None and spent is not None and another >= limits.cost:
        # Leave room for one more call like the latest.
        return budget.cost_limit(limits.cost, answers=spent < limits.cost)
    longest = limits.turn_timeout if turn.allowed.unasked else None
    if longest is not None and turn.clock.unattended > longest:
        return budget.time_limit(longest)
    return None
