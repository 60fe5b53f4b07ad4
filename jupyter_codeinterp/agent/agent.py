"""The agent loop: ask the model, run the calls, add the results; repeat.

After a cancellation ``settle`` gives every open tool call its result.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field

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
    ToolSpec,
)
from . import system_prompt
from .conversation import Conversation
from .describing import describe, describe_acts, instructions
from .final_answer import after_answer
from .naming import Mentions, look_up
from .tools.shared.base import ToolRegistry
from .tools.shared.calls import answers, discard, preview, run_calls, stop
from .tools.shared.step import Step

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


@dataclass(kw_only=True)
class AgentTurn(Turn):
    """A turn, with what the loop needs besides."""

    model_api: Model
    meter: Meter
    talk: Conversation
    next_number: Callable[[], int]
    """The number of the next step."""
    queued: Callable[[], MessagesHeard | None]
    """The person's messages since ``asked``."""
    answer_references: Callable[[], tuple[Reference, ...]]
    """The references in their answers since then."""
    goal: str = ""
    """The person's latest request."""
    references: tuple[Reference, ...] = ()
    """References in the messages of this turn."""
    budget: Budget = field(init=False)
    step: Step = field(init=False)
    specs: tuple[ToolSpec, ...] = ()
    worked_in: int = field(init=False)
    """The conversation in which a tool call ran last, or which the turn began with."""

    def __post_init__(self) -> None:
        self.goal = self.asked
        self.budget = Budget(self.limits, self.alone)
        self.worked_in = self.talk.number


async def run_turn(
    turn: AgentTurn,
    registry: ToolRegistry,
    text: str,
    note: str = "",
    references: tuple[Reference, ...] = (),
) -> Ending:
    """Run one turn. ``text`` is the person's message; "" continues with the same history.
    ``note`` tells the model about the turn before. Raises ModelError if the model is
    unavailable."""
    turn.specs, turn.step = registry.specs(), Step(turn, registry)
    turn.talk.cautions.begin_turn()
    await _open(turn, text, note, references)
    while True:
        turn.budget.reach(_limit(turn))
        if turn.budget.stage == "end":
            return turn.budget.ending
        if turn.meter.share > turn.limits.context_share:
            await _move_on(turn)
        if not turn.talk.is_answered:
            await _add_queued(turn)
        if not turn.talk.is_answered and (words := turn.budget.words()):
            turn.talk.add(user(Text(words)))
        ending = await _take_step(turn)
        if ending is not None:
            return ending


async def _take_step(turn: AgentTurn) -> Ending | None:
    """Ask, run the calls, add the results. None if the turn goes on."""
    ending = await _carry_out(turn, await _ask(turn))
    cautions = turn.talk.cautions
    if cautions.news:
        signs, cautions.news = cautions.news, []
        turn.show(Note(Sentence(SPOKEN_TO, signs=named(signs)), "warning"))
    return ending


async def _open(turn: AgentTurn, text: str, note: str, references: tuple[Reference, ...]) -> None:
    """Add the turn's first message: the notebook's description, then the person's words."""
    described = await describe(turn)
    turn.references = references
    found = await look_up(turn, references)
    words = text or (GO_ON if turn.talk.is_answered else "")
    may = turn.budget.opening if words else ""
    if turn.talk.has(may):
        may = ""
    before = (described, *instructions(turn), may, note, found.text)
    said = _texts(found.skills, turn.scrub(words))
    content = (*_texts(*before), *found.shown, *said)
    if content:
        turn.talk.add(user(*turn.talk.opening(), *content))
    _show_notes(turn, found)


def _show_notes(turn: AgentTurn, found: Mentions) -> None:
    """Record that the conversation shows these files, and show the notes about them."""
    turn.results.has_shown(found.shown)
    for note in found.notes:
        turn.show(note)


async def _add_queued(turn: AgentTurn) -> None:
    """Add the person's queued messages and changes, if any."""
    acts = await describe_acts(turn)
    in_answers = turn.answer_references()
    delivery, references = _queued_and_named(turn, in_answers)
    found = await look_up(turn, references, again=True)
    # The queue may have changed during the look-up.
    while _queued_and_named(turn, in_answers)[1] != references:
        _, references = _queued_and_named(turn, in_answers)
        found = await look_up(turn, references, again=True)
    delivery, _ = _queued_and_named(turn, in_answers)
    turn.references += references
    words = ""
    if delivery is not None:
        turn.show(delivery)
        words = turn.scrub(delivery.text)
        turn.goal = f"{turn.goal}\n\n{delivery.text}"
    content = (
        *_texts(acts, found.text),
        *found.shown,
        *_texts(found.skills, words),
    )
    if content:
        turn.talk.add(user(*content))
    _show_notes(turn, found)


def _queued_and_named(
    turn: AgentTurn, in_answers: tuple[Reference, ...]
) -> tuple[MessagesHeard | None, tuple[Reference, ...]]:
    """The queued messages, and all references in them or in answers."""
    delivery = turn.queued()
    return delivery, (*in_answers, *(delivery.references if delivery is not None else ()))


async def _move_on(turn: AgentTurn) -> None:
    """Continue in a new conversation with a summary: the old one is nearly full.

    Raises ModelError ``context_full`` if no call has run since the last time.
    """
    if turn.worked_in != turn.talk.number:
        raise ModelError("context_full", TOO_SMALL)
    summary = turn.talk.summary()
    turn.context = Context()
    # A closed notebook is described from the last snapshot.
    with contextlib.suppress(DocumentError):
        await turn.notebook.look()
    goal = turn.scrub(turn.goal) or "Go on with what was asked last."
    described = (await describe(turn), *instructions(turn))
    turn.results.forget_shown()
    found = await look_up(turn, turn.references)
    request = f"Go on with this request:\n{goal}"
    before = _texts(*described, summary, found.text)
    turn.talk.restart(user(*before, *found.shown, *_texts(found.skills, request)))
    turn.results.has_shown(found.shown)
    turn.meter.new_conversation()
    turn.show(Note(MOVED_ON))


async def _ask(turn: AgentTurn) -> ModelDone:
    """The model's reply. If the stream breaks, discard the step and repeat it once."""
    show = turn.show
    for last_try in (False, True):
        step = turn.step = Step(turn, turn.step.registry)
        step.number = turn.next_number()
        request = ModelRequest(
            turn.model,
            system_prompt.SYSTEM,
            turn.specs,
            turn.talk.for_request(),
            answer_only=turn.budget.is_last,
        )
        _keep(turn, request)
        show(StepStarted(step.number))
        try:
            return await _stream(turn, request)
        except ModelError as error:
            _count_usage(turn)
            discard(step)
            turn.step = Step(turn, step.registry)
            broken = error.code == "broken_stream" and not last_try
            show(StepDiscarded(step.number, REPEATING if broken else Sentence()))
            if error.code == "context_full" and not last_try:
                await _move_on(turn)
            elif not broken:
                raise
    raise RuntimeError("a step has ended without a reply")


def _keep(turn: AgentTurn, request: ModelRequest) -> None:
    sent = {
        "model": request.model,
        "system": request.system,
        "tools": [tool.name for tool in request.tools],
        "conversation": turn.talk.number,
        "messages": len(request.messages),
    }
    turn.store.append_request(turn.session_id, turn.step.number, sent)


async def _stream(turn: AgentTurn, request: ModelRequest) -> ModelDone:
    show, step = turn.show, turn.step
    texts, said = step.texts, step.said
    open_block = -1
    call = CallUsage(request)
    async with contextlib.aclosing(turn.model_api.stream(request)) as events:
        async for event in events:
            if not isinstance(event, ModelRetry):
                step.usage = call
                call.observe(event)
            elif step.usage is not None:
                _count_usage(turn)
                call = CallUsage(request)
            if open_block in texts and getattr(event, "block", None) != open_block:
                said[open_block] = texts.pop(open_block)
                show(TextDone(open_block, said[open_block]))
            if isinstance(event, ModelText):
                open_block = event.block
                texts[event.block] = texts.get(event.block, "") + event.text
                show(TextDelta(event.block, event.text))
            elif isinstance(event, ModelThinking):
                show(ThinkingDelta(event.block, event.text))
            elif isinstance(event, ModelToolInput):
                preview(step, event)
            elif isinstance(event, ModelRetry):
                show(Retrying(event.code, as_it_is(event.message), event.delay, event.attempt))
            elif isinstance(event, ModelDone):
                step.reply = event
                _count_usage(turn, event.usage)
    if step.reply is None:
        raise ModelError("broken_stream", "The model's answer ended early.")
    return step.reply


def _count_usage(turn: AgentTurn, usage: Usage | None = None) -> None:
    """Count the running call, complete or broken, if it has produced anything."""
    call, turn.step.usage = turn.step.usage, None
    if call is not None and turn.meter.estimates:
        turn.show(turn.meter.add(call.total(usage)))
    elif usage is not None:
        turn.show(turn.meter.add(usage))


async def _carry_out(turn: AgentTurn, reply: ModelDone) -> Ending | None:
    """Act on the reply: run its calls and store the results. Returns how the turn ends; None
    if it goes on."""
    calls = tool_uses(reply.message)
    reason, is_last = reply.stop_reason, turn.budget.is_last
    turn.budget.take()
    if reason == "refusal":
        words = as_it_is(reply.detail) or Sentence("The model declined to answer this.")
        turn.step.reply = None
        stop(turn.step, (), words)
        return Ending("refusal", "refusal", words)
    if reason == "tool_use" and calls and not is_last:
        await _run(turn, calls, reply)
        return None
    was_cut = reason in ("max_tokens", "model_context_window_exceeded")
    stop(turn.step, calls, NO_TOOLS if is_last else CUT_OFF if was_cut else NOT_ASKED_FOR)
    _store(turn, reply, calls)
    if reason == "model_context_window_exceeded" and not is_last:
        await _move_on(turn)
    if not is_last and (calls or reason in _GO_ON):
        return None
    if reason == "end_turn" and not is_last and turn.allowed.changes:
        ask = turn.budget.asks_for_step("\n".join(turn.step.said.values()))
        if ask:
            turn.talk.add(user(Text(ask)))
            return None
    ending = turn.budget.ending if is_last else _ending(reason)
    await _end_answer(turn, reply.message, is_last or ending.reason == "end_turn")
    return ending


async def _run(turn: AgentTurn, calls: tuple[ToolUse, ...], reply: ModelDone) -> None:
    turn.worked_in = turn.talk.number
    may_go_on = await run_calls(turn.step, calls, reply.invalid)
    if not may_go_on:
        turn.budget.reach(budget.loop(turn.guard.reason))
    _store(turn, reply, calls)
    turn.step = Step(turn, turn.step.registry)


async def _end_answer(turn: AgentTurn, message: Message, is_whole: bool) -> None:
    if is_whole and not _says_something(message):
        turn.show(Note(SILENT))
    step, messages = turn.step, turn.talk.for_request()
    for event in await after_answer(turn, step.number, step.said, turn.goal, messages):
        turn.show(event)


def _store(turn: AgentTurn, reply: ModelDone, calls: tuple[ToolUse, ...]) -> None:
    """Store the assistant message and the results of all its calls in one transaction."""
    turn.step.reply = None
    if not reply.message.content:
        return
    results = answers(turn.step, calls)
    turn.talk.add(reply.message, *([user(*results)] if results else []))


def settle(turn: AgentTurn) -> None:
    """Clean up after the last step: no draft waits, every call has a result."""
    step = turn.step
    turn.notebook.over = True
    for block, text in step.texts.items():
        turn.show(TextDone(block, text))
    step.texts = {}
    _count_usage(turn)
    calls = tool_uses(step.reply.message) if step.reply is not None else ()
    stop(step, calls)
    if step.reply is not None:
        _store(turn, step.reply, calls)


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


def _limit(turn: AgentTurn) -> budget.Reached | None:
    """The limit that the turn has reached, apart from the number of model calls."""
    limits, meter, spent = turn.limits, turn.meter, turn.meter.turn_cost
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
