"""A draft that the person runs with the notebook's own commands, and so decides on.

A draft is a raw cell, which the person may turn into a code cell and run. The cell's outputs are
then the result. We neither interrupt that run nor write to its cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from typing import Literal

from ..base.errors import DocumentError, KernelError
from ..wire.events import RunStarted
from ..wire.ports import ExecutionDone
from .approval.decisions import Decision, RunByHand
from .job import CellJob
from .turn.results import Result
from .turn.turn import Turn

RAN = "The person ran this cell themselves."
EDITED = "The person edited the code before it ran. What ran:"
NOT_SEEN = "The person ran this cell themselves. Its outputs cannot be read."

PATIENCE = 5.0
"""Seconds without a message from the page, after which an idle kernel ends the run."""


async def follow(job: CellJob, decision: Decision, run: RunByHand) -> tuple[Result, ExecutionDone]:
    """Follow a run that the person started, to its end."""
    turn, source = job.turn, decision.source
    began = time.monotonic()
    run_id, kernel_id = uuid.uuid4().hex[:12], turn.kernel.kernel_id
    turn.show(RunStarted(job.call.id, job.cell_id, run_id, "", kernel_id))
    job.settle()
    turn.changed_variables = True  # The kernel makes no report on such a run.
    await _ended(turn, run)
    try:
        cell = await turn.notebook.look_at(job.cell_id)
    except DocumentError:
        cell = None
    outputs = cell.outputs if cell is not None else ()
    count = cell.execution_count if cell is not None else None
    failed = any(output.get("output_type") == "error" for output in outputs)
    # Without an execution count, the run did not finish: the kernel may be gone.
    has_run = cell is not None and (failed or count is not None)
    status: Literal["ok", "error"] = "error" if failed else "ok"
    done = ExecutionDone(status, outputs, count, time.monotonic() - began)
    notes = [NOT_SEEN if cell is None else RAN]
    if decision.edited:
        notes += (EDITED, turn.untrusted.shown(source))
    if cell is not None:
        turn.context.seen(cell)
        turn.notebook.has_run(cell.cell_id, outputs)
    result = turn.results.of_run(
        job.call,
        status if has_run else "interrupted",
        title=job.title,
        cell_id=job.cell_id if cell is not None else "",
        done=done,
        seen=await turn.results.see(outputs),
        notes=tuple(notes),
    )
    return result, done


async def _ended(turn: Turn, run: RunByHand) -> None:
    """Wait until the page reports the end, or the page is gone and the kernel idle."""
    ended = asyncio.ensure_future(run.ended.wait())
    idle: asyncio.Future[None] | None = None
    try:
        await asyncio.wait({ended}, timeout=PATIENCE)
        if not ended.done():
            idle = asyncio.ensure_future(_idle(turn))
            await asyncio.wait({ended, idle}, return_when=asyncio.FIRST_COMPLETED)
            idle.cancel()
            await asyncio.wait({ended}, timeout=1.0)
    finally:
        ended.cancel()
        if idle is not None:
            idle.cancel()


async def _idle(turn: Turn) -> None:
    with contextlib.suppress(KernelError):
        async with turn.kernel.hold():
            pass
