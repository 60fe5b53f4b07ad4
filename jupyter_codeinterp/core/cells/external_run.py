"""Code of a draft that a person runs from elsewhere: that run counts, and no second one.

A draft is a raw cell. But a person may make it a code cell and use the notebook's own run
commands, or take its code to a console. The run is then the decision, and its outputs are
the result; it stays the person's, so nothing of ours interrupts it or writes to its cell.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator

from ..approval.decisions import Decision
from ..errors import DocumentError
from ..events import Event, Note, RunStarted
from ..messages import ToolUse
from ..ports import ExecutionDone, ExternalRun, Kernel
from ..turn.results import Result
from .draft import DraftCell

IN_ITS_CELL = "The person ran this cell by themselves."
ELSEWHERE = "It was run from elsewhere."
DRAFT_REMOVED = "It was run from elsewhere; the draft was taken out of the notebook."
CELL_UNCHANGED = "It was run from elsewhere; this cell was not changed."
EDITED = "The person edited the code before it ran. What ran:"
STILL_RUNNING = "It was run from elsewhere, and may still be running: Stop leaves it alone."


class Watch:
    """Looks out for a run of a draft's code, from when the draft is whole until ours begins."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._source = ""
        self._seen: asyncio.Future[ExternalRun] | None = None

    def on(self, source: str) -> asyncio.Future[ExternalRun]:
        """Done when exactly this code has begun to run elsewhere, since it was first asked."""
        if self._seen is None or source != self._source:
            self.close()
            self._source = source
            self._seen = asyncio.ensure_future(self._kernel.external_run(source))
        return self._seen

    @property
    def run(self) -> ExternalRun | None:
        return self._seen.result() if self._seen is not None and self._seen.done() else None

    def close(self) -> None:
        if self._seen is not None:
            self._seen.cancel()


class ExternalExecution:
    """Follows a run that somebody else began. ``result`` is set at its end, also by Stop."""

    def __init__(
        self, draft: DraftCell, call: ToolUse, decision: Decision, run: ExternalRun
    ) -> None:
        self.result: Result | None = None
        self.done: ExecutionDone | None = None
        """How the run ended."""
        self._draft = draft
        self._call = call
        self._decision = decision
        self._run = run

    async def events(self) -> AsyncIterator[Event]:
        draft, turn, source = self._draft, self._draft.turn, self._decision.source
        run_id, kernel = uuid.uuid4().hex[:12], turn.kernel_start or ("", 0)
        yield RunStarted(self._call.id, draft.cell_id, run_id, self._run.msg_id, kernel[0])
        where, cell_id = await self._place()
        done = await self._run.ended()
        notes = [where]
        if done.note:
            notes.append(turn.foreign.inert(done.note))
        if self._decision.edited:
            notes += (EDITED, turn.foreign.shown(source))
        self.result = turn.results.of_run(
            self._call,
            "interrupted" if done.status == "dead" else done.status,
            title=draft.title,
            cell_id=cell_id,
            source=source,
            done=done,
            seen=await turn.results.see(done.outputs),
            notes=tuple(notes),
        )
        self.done = done
        if done.status == "dead":
            yield Note(done.note, "warning", kernel_died=True)

    async def _place(self) -> tuple[str, str]:
        """Where it ran, in words; and in which cell, if the notebook is to have one for it.

        A draft that is still raw has had its use: it goes. Where that cannot be seen it
        stays (if it is raw, until the next turn).
        """
        draft, turn = self._draft, self._draft.turn
        try:
            cell = await turn.notebook.look_at(draft.cell_id)
        except DocumentError:
            draft.settle()
            return ELSEWHERE, ""
        if cell is not None and cell.cell_type == "code" and cell.source == self._decision.source:
            draft.settle()
            turn.context.noted(draft.cell_id, cell.source)
            return IN_ITS_CELL, draft.cell_id
        if draft.kind == "edit":
            return CELL_UNCHANGED, draft.cell_id
        if cell is not None and cell.cell_type != "raw":
            draft.settle()
        draft.remove()
        return DRAFT_REMOVED, ""

    def abandon(self, words: str) -> None:
        """The turn ends now. The run goes on, and the cell is kept: it may be there."""
        if self.result is None:
            self._draft.settle()
            self.result = self._draft.turn.results.make(
                self._call, "interrupted", STILL_RUNNING, title=self._draft.title
            )
