"""Carries out the tool calls of one step of the model.

A call works in a task of its own. While its draft waits, the person may write about it. The call
then gets the result "not run yet", and the model is asked again. The call keeps working; its
outcome follows as a message. Only one draft waits at a time. New code replaces it, unless the
person has already decided on it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence

from ....base.sentences import Sentence
from ....run.turn.results import OUTCOME, noted
from ....wire.messages import AnyBlock, Image, Text, ToolResult, ToolUse
from ....wire.ports import ModelToolInput
from . import own_run
from .arguments import so_far
from .step import (
    Step,
    add_notes,
    end_call,
    not_started,
    opened,
    show_card,
    take_results,
    tool_of,
)

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
ALSO_AFTER_A_FAILURE = Sentence("Not started either.")
NOT_AFTER = Sentence("Not started: an earlier call did not succeed.")
SHOWN_AFTER = 0.05
"""Seconds before a draft shows. A source that is complete by then is drawn only once."""

log = logging.getLogger(__name__)


def next_step(step: Step) -> Step:
    return Step(step.turn, step.registry, step if _is_discussed(step) else step.discussed)


def preview(step: Step, call: ModelToolInput) -> None:
    """Show an unfinished call. Runs nothing and does not wait."""
    show_card(step, call.id, call.name)
    tool, source = step.registry.get(call.name), so_far(call.partial, "source")
    if tool is None or tool.draft is None or source is None:
        return
    now = asyncio.get_running_loop().time()
    if now - step.began.setdefault(call.id, now) < SHOWN_AFTER:
        return
    source = source.replace("\r\n", "\n").rstrip("\r")
    job = opened(step, tool, call.id, call.partial, source)
    if job is not None:
        job.write(source)


async def run_calls(step: Step, calls: Sequence[ToolUse], invalid: Mapping[str, str]) -> bool:
    """Carry out a reply's calls, up to a draft that the person writes about. ``invalid``: the
    errors in the JSON of calls, by id. False if the loop guard stops the turn."""
    may_go_on = True
    for number, call in enumerate(calls):
        if step.discussed is not None and step.registry.changes(call.name):
            if not waits(step.discussed):
                _skip(step, (call,), DECIDED)
                continue
            await replace(step.discussed)
            step.discussed = None
        step.call = call
        task = step.task = asyncio.ensure_future(_carry_out(step, call, invalid.get(call.id)))
        while not task.done():
            if _is_discussed(step):
                _skip(step, calls[number + 1 :], NOT_STARTED)
                return True
            await news(step)
        step.task = None
        task.result()
        may_go_on = _may_go_on(step, call)
        if step.turn.went_on or not may_go_on:
            break
    stop(step, calls)
    return may_go_on


async def _carry_out(step: Step, call: ToolUse, invalid: str | None) -> None:
    """Carry out one call. After a failed change, later calls of the reply that change the
    notebook do not start: the model wrote them before it knew."""
    show_card(step, call.id, call.name)
    try:
        if invalid is not None:
            raise ValueError(f"The input of this call is not valid JSON: {invalid}")
        arguments, notes = step.registry.parse(call.name, call.input)
        add_notes(step, call, *notes)
    except ValueError as error:
        not_started(step, call, str(error))
    else:
        if step.refusal and step.registry.changes(call.name):
            words, step.refusal = step.refusal, ALSO_AFTER_A_FAILURE
            not_started(step, call, words, NOT_AFTER)
        else:
            work = tool_of(step, call).work or own_run.work
            await work(step, call, arguments)
    end_call(step, call)


def _may_go_on(step: Step, call: ToolUse) -> bool:
    guard, result = step.turn.guard, step.results[call.id]
    verdict = guard.add(call, result.text)
    if verdict == "note":
        step.results[call.id] = noted(result, guard.note)
    return verdict != "stop"


def answers(step: Step, calls: Iterable[ToolUse]) -> list[ToolResult]:
    """The results of a reply's calls."""
    waiting = step.call.id if _is_discussed(step) else None
    return [
        _not_yet(step, call) if call.id == waiting else step.results[call.id].block
        for call in calls
    ]


def at_work(step: Step) -> bool:
    return step.task is not None and not step.task.done()


def waits(step: Step) -> bool:
    """Whether the draft of the call at work waits for a decision."""
    return at_work(step) and step.turn.decisions.draft is not None


def _is_discussed(step: Step) -> bool:
    return step.discussed is None and waits(step) and step.turn.decisions.written_about


async def news(step: Step) -> None:
    """Wait until the call ends, its draft begins to wait, or the person writes about it."""
    if step.task is None:
        return
    news_of_draft = step.turn.decisions.news()
    try:
        await asyncio.wait({step.task, news_of_draft}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        news_of_draft.cancel()


def _not_yet(step: Step, call: ToolUse) -> ToolResult:
    """The answer to the call while its draft waits, after the results of cells that it has
    run."""
    turn, job = step.turn, step.jobs.get(call.id)
    source, quoted = turn.decisions.cell_source, ""
    if source is not None:
        quoted = f"{THEIR_VERSION}\n{turn.untrusted.shown(source)}"
    if job is None or job.result is None:
        return turn.results.waiting(call, NOT_YET, quoted)
    block = job.result.block
    text = Text("\n".join(part for part in ("", NOT_YET, quoted) if part))
    return ToolResult(block.tool_use_id, (*block.content, text), block.is_error)


def take_outcome(step: Step) -> tuple[AnyBlock, ...]:
    """The outcome of the discussed draft, once it has one; returned once."""
    earlier = step.discussed
    if earlier is None or at_work(earlier):
        return ()
    step.discussed = None
    if earlier.task is not None:
        earlier.task.result()
    return _outcome(earlier)


def _outcome(step: Step) -> tuple[AnyBlock, ...]:
    """The result of the latest call, as one text that is not taken for the person's."""
    content = step.results[step.call.id].block.content
    text = "\n".join(block.text for block in content if isinstance(block, Text))
    images = (block for block in content if isinstance(block, Image))
    return (Text(f"{OUTCOME}{text}"), *images)


def _skip(step: Step, calls: Iterable[ToolUse], words: str) -> None:
    """End calls that will not start."""
    for call in calls:
        not_started(step, call, words)
        show_card(step, call.id, call.name)
        end_call(step, call)


def discard(step: Step) -> None:
    """Remove the drafts of a void step."""
    for job in step.jobs.values():
        job.remove()


async def replace(step: Step) -> None:
    """Withdraw the draft of the call at work."""
    await _cancel(step)
    stop(step, (step.call,), REPLACED)


async def cancel(step: Step) -> None:
    """Cancel the calls at work; ``stop`` and ``stop_discussed`` settle them."""
    await _cancel(step)
    if step.discussed is not None:
        await _cancel(step.discussed)


async def _cancel(step: Step) -> None:
    if (task := step.task) is not None:
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled() and task.exception() is not None:
            log.error("A tool call failed as its turn ended", exc_info=task.exception())


def stop(step: Step, calls: Iterable[ToolUse], words: str = NOT_REACHED) -> None:
    """Settle everything: each of ``calls`` gets a result, and every card ends, also those of
    unfinished calls. ``words`` is for calls that did not start."""
    known = {call.id: call for call in calls}
    for job in step.jobs.values():
        job.stop(words)
    take_results(step)
    for call_id, name in step.cards.items():
        call = known.get(call_id, ToolUse(call_id, name, {}))
        if call_id not in step.results:
            not_started(step, call, words)
        step.turn.show(step.results[call_id].done)
    step.cards.clear()
    for call in known.values():
        if call.id not in step.results:
            not_started(step, call, words)


def stop_discussed(step: Step) -> tuple[AnyBlock, ...]:
    """Settle the draft that still waits. Returns its outcome."""
    earlier, step.discussed = step.discussed, None
    if earlier is None:
        return ()
    stop(earlier, (earlier.call,))
    return _outcome(earlier)
