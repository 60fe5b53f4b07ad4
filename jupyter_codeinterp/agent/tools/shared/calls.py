"""Carries out the tool calls of one step of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from ....base.sentences import Sentence
from ....run.turn.results import noted
from ....wire.messages import ToolResult, ToolUse
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

NOT_REACHED = Sentence("The turn ended before this was started. Nothing reached the kernel.")
ALSO_AFTER_A_FAILURE = Sentence("Not started either.")
NOT_AFTER = Sentence("Not started: an earlier call did not succeed.")
SHOWN_AFTER = 0.05
"""Seconds before a draft shows. A source that is complete by then is drawn only once."""


def preview(step: Step, call: ModelToolInput) -> None:
    """Show an unfinished call. Runs nothing and does not wait."""
    show_card(step, call.id, call.name)
    tool, source = step.registry.get(call.name), so_far(call.partial, "source")
    if tool is None or tool.draft is None or source is None:
        return
    now = asyncio.get_running_loop().time()
    if now - step.began.setdefault(call.id, now) < SHOWN_AFTER:
        return
    if call.id not in step.jobs and next(reversed(call.partial)) != "source":
        return  # Half of a cell's id can be the name of another cell.
    source = source.replace("\r\n", "\n").rstrip("\r")
    job = opened(step, tool, call.id, call.partial, source)
    if job is not None:
        job.write(source)


async def run_calls(step: Step, calls: Sequence[ToolUse], invalid: Mapping[str, str]) -> bool:
    """Carry out a reply's calls. ``invalid``: the errors in the JSON of calls, by id. False if the
    loop guard stops the turn."""
    may_go_on = True
    for call in calls:
        await _carry_out(step, call, invalid.get(call.id))
        may_go_on = _may_go_on(step, call)
        if not may_go_on:
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
    return [step.results[call.id].block for call in calls]


def discard(step: Step) -> None:
    """Remove the drafts of a void step."""
    for job in step.jobs.values():
        job.remove()


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
