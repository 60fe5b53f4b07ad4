"""Carries out a tool that has a ``run``, and the cells that it asks for, one by one."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec

from ....base.errors import DocumentError, KernelError
from ....base.sentences import as_it_is
from ....run.approval import policy
from ....run.job import part_of
from ....run.turn.results import Result, joined
from ....view.untrusted import bare
from ....wire.messages import ToolUse
from .base import CellOutcome, CellRequest, ToolContext
from .step import Step, tool_of
from .writing import run_part

log = logging.getLogger(__name__)

RAN = "The tool ran a cell:"


async def work(step: Step, call: ToolUse, arguments: msgspec.Struct | dict[str, Any]) -> None:
    asked: asyncio.Queue[CellRequest] = asyncio.Queue()
    changes = step.registry.changes(call.name)
    context = ToolContext(step.turn, asked.put_nowait if changes else None)
    running = asyncio.ensure_future(_result(step, call, context, arguments))
    parts: list[Result] = []
    try:
        while changes:
            asking = asyncio.ensure_future(asked.get())
            await asyncio.wait({running, asking}, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                asking.cancel()
                break
            parts.append(await _run_cell(step, asking.result()))
        result = await running
    finally:
        running.cancel()
    for part in parts:
        result = joined(result, part, RAN)
    step.results[call.id] = result


async def _run_cell(step: Step, request: CellRequest) -> Result:
    turn, part = step.turn, part_of(ToolUse("", "run_cell", {}))
    if turn.allowed.changes:
        await run_part(step, part, request.source, request.title, request.after)
    else:
        step.results[part.id] = turn.results.not_run(
            part,
            policy.refusal("run_new", turn.mode),
            as_it_is(request.title),
            "",
            summary=policy.refused(turn.mode),
        )
    ran = step.results[part.id]
    if not request.outcome.done():
        done = ran.done
        request.outcome.set_result(CellOutcome(done.status, bare(ran.text), done.cell_id))
    return ran


async def _result(
    step: Step,
    call: ToolUse,
    context: ToolContext,
    arguments: msgspec.Struct | dict[str, Any],
) -> Result:
    turn, tool = step.turn, tool_of(step, call)
    title, is_built_in = as_it_is(tool.label), step.registry.is_built_in(tool)
    if tool.run is None:
        raise RuntimeError(f"{call.name} has nothing to run")
    try:
        seen = await tool.run(context, arguments)
    except (DocumentError, KernelError, LookupError) as error:
        return turn.results.make(call, "not_started", str(error), title=title)
    except Exception as error:
        if is_built_in:
            raise
        # Another package's fault must not end the turn.
        log.exception("The tool %s failed", call.name)
        words = f"The tool failed ({type(error).__name__})."
        return turn.results.make(call, "not_started", words, title=title)
    if is_built_in:
        quoted = seen.text if seen.is_delimited else turn.untrusted.quoted(seen.text)
        images, title = seen.images, as_it_is(seen.title) or title
    else:
        quoted, images = turn.untrusted.shown(seen.text), ()
    return turn.results.make(call, "ok", title=title, images=images, quoted=quoted)
