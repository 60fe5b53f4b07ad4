"""Brings the outputs of one run into the notebook, after the run's page has closed.

It uses the ops of the agent's runs, so the hand-over's rules hold (docs/adr/0004-hand-over.md):
a window gets them, or the notebook's file if no window has it open and none left with unsaved
edits. The document compares the cell's source with the one that ran.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...adapters.documents.live import LiveNotebook
from ...core.commands import OwnRun
from ...core.document.ops import BeginRun, FinishRun, Op, Output, Receipt, digest

if TYPE_CHECKING:
    from ...adapters.kernels.zmq import GatheredRun, KernelLink  # not at the server's start

OWN = "own-runs"
"""Stands for a session's id in ops and in the document's marker."""
PACE = 0.25
"""Seconds between two changes that a window gets."""
DIED = "The kernel died or was restarted during this run."
MISSED = "Outputs from the beginning of this run are missing."
CHANGED = (
    "The outputs of a cell that ran after its page had closed were dropped: the cell has changed "
    "since."
)

_last_number = 0


def _number() -> int:
    """A number above all earlier ones, also of earlier servers: markers in files name them."""
    global _last_number
    _last_number = max(_last_number + 1, int(time.time() * 1000))
    return _last_number


class Delivery:
    def __init__(
        self, notebook: LiveNotebook, command: OwnRun, link: KernelLink, run: GatheredRun
    ) -> None:
        self.begun = False
        """Whether the notebook has been sent anything: from then on it gets all."""
        self._notebook = notebook
        self._command = command
        self._link = link
        self._run = run
        self._wake = asyncio.Event()
        self._waits_for: tuple[int, asyncio.Future[Receipt]] | None = None
        run.changed = self.look

    def look(self) -> None:
        """Something has changed: outputs came, the run ended, or a window opened the notebook."""
        self._wake.set()

    async def deliver(self, tell: Callable[[str], None]) -> None:
        """Return when the notebook has all outputs, or cannot have them. ``tell`` gets the
        reason for people."""
        running = self._link.spawn(self._follow_to_end())
        try:
            await self._until(lambda: self._run.ended or self._has_window)
            if self._run.ended and not self._run.begun:
                return  # The kernel dropped the request: an earlier cell failed.
            self.begun = True
            receipt = await self._begin()
            if receipt.status == "conflict":
                tell(CHANGED)
            if receipt.status != "done":
                return
            while not self._run.ended:
                self._show()
                await asyncio.sleep(PACE)
                await self._until(lambda: self._run.ended or self._run.pending)
            await self._finish()
        finally:
            running.cancel()

    def late(self, number: int, receipt: Receipt) -> None:
        """The receipt of an op that had been answered as pending."""
        if self._waits_for is not None and self._waits_for[0] == number:
            self._waits_for[1].set_result(receipt)
            self._waits_for = None

    @property
    def _has_window(self) -> bool:
        return self._notebook.has_window and self._notebook.is_open

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._wake.clear()
            await self._wake.wait()

    async def _follow_to_end(self) -> None:
        """Keep the kernel from being culled until it is idle. That ends the run even if the
        message that tells so gets lost."""
        with self._link.connected():
            await self._link.settle()
        self._run.end()

    async def _begin(self) -> Receipt:
        command = self._command
        op = BeginRun(command.cell_id, digest(command.source), command.msg_id, trusted=True)
        return await self._apply(op)

    def _show(self) -> None:
        changed = self._run.take()
        if changed is not None:
            command = self._command
            self._notebook.outputs(OWN, command.cell_id, command.msg_id, *changed)

    async def _finish(self) -> None:
        run, command = self._run, self._command
        outputs = (*run.outputs, *self._notes())
        await self._apply(
            FinishRun(command.cell_id, command.msg_id, outputs, run.execution_count, trusted=True)
        )

    def _notes(self) -> tuple[Output, ...]:
        """What is missing, in a line below the outputs."""
        run = self._run
        notes = [
            *([] if run.whole else [MISSED]),
            *([run.note] if run.note else []),
            *([DIED] if run.kernel_died else []),
        ]
        if not notes:
            return ()
        return ({"output_type": "stream", "name": "stderr", "text": f"[{' '.join(notes)}]\n"},)

    async def _apply(self, op: Op) -> Receipt:
        """The document's final answer. It may take until somebody opens the notebook again."""
        number = _number()
        # The op stays on its way if this delivery ends.
        receipt = await asyncio.shield(self._notebook.apply(OWN, number, op))
        if receipt.status == "pending":
            late: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            self._waits_for = (number, late)
            receipt = await late
        return receipt
