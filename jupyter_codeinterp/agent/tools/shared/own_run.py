"""Carries out a tool that has a ``run``."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from ....base.errors import DocumentError, KernelError
from ....base.sentences import as_it_is
from ....run.turn.results import Result
from ....wire.messages import ToolUse
from .base import ToolContext
from .step import Step, tool_of

log = logging.getLogger(__name__)


async def work(step: Step, call: ToolUse, arguments: msgspec.Struct | dict[str, Any]) -> None:
    step.results[call.id] = await _result(step, call, arguments)


async def _result(step: Step, call: ToolUse, arguments: msgspec.Struct | dict[str, Any]) -> Result:
    turn, tool = step.turn, tool_of(step, call)
    title, is_built_in = as_it_is(tool.label), step.registry.is_built_in(tool)
    if tool.run is None:
        raise RuntimeError(f"{call.name} has nothing to run")
    try:
        seen = await tool.run(ToolContext(turn), arguments)
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
