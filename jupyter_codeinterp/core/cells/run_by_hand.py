"""A draft that the person runs with the notebook's own commands, and so decides on.

A draft is a raw cell, which the person may turn into a code cell and run. The cell's outputs are
then the result. We neither interrupt that run nor write to its cell.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncIterator
from typing import Literal

from ..approval.decisions import Decision, RunByHand
from ..errors import DocumentError, KernelError
from ..messages import ToolUse
from ..ports import ExecutionDone
from ..turn.results import Result
from ..wire.events import Event, RunStarted
from .draft import DraftCell

RAN = "The person ran this cell themselves."
EDITED = "The person edited the code before it ran. What ran:"
NOT_SEEN = "The person ran this cell by themselves. Its outputs cannot be read."
STILL_RUNNING = "The person runs this cell by themselves: Stop leaves it alone."

PATIENCE = 5.0
"""Seconds without a message from the page, after which an idle kernel ends the run."""


class ExecutionByHand:
    """Follows a run that the person started. ``result`` is set at its end, also by Stop."""

    def __init__(self, draft: DraftCell, call: ToolUse, decision: Decision, run: RunByHand) -> None:
        self.result: Result | None = None
        self.done: ExecutionDone | None = None
        """How the run ended."""
        self._draft = draft
        self._call = call
        self._decision = decision
        self._run = run

    async def events(self) -> AsyncIterator[Event]:
        draft, turn, source = self._draft, self._draft.turn, self._decision.source
        began = time.monotonic()
        run_id, kernel_id = uuid.uuid4().hex[:12], turn.kernel.kernel_id
        yield RunStarted(self._call.id, draft.cell_id, run_id, "", kernel_id)
        draft.settle()
        turn.changed_variables = True  # The kernel does not report on it.
        await self._ended()
        try:
            cell = await turn.notebook.look_at(draft.cell_id)
        except DocumentError:
            cell = None
        outputs = cell.outputs if cell is not None else ()
        count = cell.execution_count if cell is not None else None
        failed = any(output.get("output_type") == "error" for output in outputs)
        elapsed = time.monotonic() - began
        # Without an execution count, the run did not finish: the kernel may be gone.
        has_run = cell is not None and (failed or count is not None)
        status: Literal["ok", "error"] = "error" if failed else "ok"
        done = ExecutionDone(status, outputs, count, elapsed)
        notes = [NOT_SEEN if cell is None else RAN]
        if self._decision.edited:
            notes += (EDITED, turn.untrusted.shown(source))
        if cell is not None:
            turn.context.seen(cell)
            turn.notebook.has_run(cell.cell_id, outputs)
        self.result = turn.results.of_run(
            self._call,
            status if has_run else "interrupted",
            title=draft.title,
            cell_id=draft.cell_id if cell is not None else "",
            done=done,
            seen=await turn.results.see(outputs),
            notes=tuple(notes),
        )
        self.done = done

    async def _ended(self) -> None:
        """Wait until the page reports the end, or the page is gone and the kernel idle."""
        ended = asyncio.ensure_future(self._run.ended.wait())
        try:
            await asyncio.wait({ended}, timeout=PATIENCE)
            if not ended.done():
                idle = asyncio.ensure_future(self._idle())
                await asyncio.wait({ended, idle}, return_when=asyncio.FIRST_COMPLETED)
                idle.cancel()
                await asyncio.wait({ended}, timeout=1.0)
        finally:
            ended.cancel()

    async def _idle(self) -> None:
        with contextlib.suppress(KernelError):
            async with self._draft.turn.kernel.hold():
                pass

    def abandon(self, words: str) -> None:
        """Set ``result`` because the turn ends. The run goes on, and the cell is kept."""
        if self.result is None:
            self._draft.settle()
            self.result = self._draft.turn.results.make(
                self._call, "interrupted", STILL_RUNNING, title=self._draft.title
            )
