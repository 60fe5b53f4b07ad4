"""One cell from the finished draft to its result: the policy and the person decide, then
the change is made or the code runs.

A decision is good for the bytes, the cell and the kernel start that it was made on. If one
of them is another when its turn comes, nothing happens and the person is asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing

from ..approval import markdown_cells, policy
from ..approval.decisions import Decision
from ..approval.modes import MODES
from ..document.ops import Delete, Receipt, SetSource
from ..events import DraftDecided, DraftWaiting, Event
from ..hooks.hooks import Note
from ..messages import ToolUse
from ..ports import ExternalRun, KernelInfo
from ..turn.results import Result
from . import hooked
from .draft import DraftCell
from .execution import (
    CHANGED,
    NOT_CONFIRMED,
    Execution,
    changed_meanwhile,
    why_not,
)
from .external_run import ExternalExecution, Watch

THEIR_VERSION = "Their version was:"
TYPED_INTO = "You changed the cell while it was being written: what stands there now would run."


class CellRun:
    """``result`` is set when it has come to an end, also by Stop."""

    def __init__(self, draft: DraftCell, name: str) -> None:
        """``name`` is the tool's."""
        self.draft = draft
        self.turn = draft.turn
        self.call_id = draft.call_id
        self.name = name
        self.result: Result | None = None
        self.next_inputs: tuple[str, ...] = ()
        """Code that the cell has put forward with set_next_input."""
        self._proposed = ""
        self._waits = False
        self._shown: str | None = None
        """The source that the person was asked about last."""
        self._execution: Execution | ExternalExecution | None = None
        self._again = ""
        """Why it must be asked once more."""
        self._expect()

    async def run(
        self, call: ToolUse, source: str, *, suspicious: bool = False
    ) -> AsyncIterator[Event]:
        """From the finished draft to ``result``. ``source`` is what the model wrote;
        ``suspicious``: it asks in every mode, whatever the code is."""
        draft, turn = self.draft, self.turn
        self._proposed = source
        self._expect()
        placed = draft.complete(source)
        why = ""
        if placed is not None and not (draft.is_code and MODES[turn.mode].unasked):
            # Where nobody is asked, the begin of the run tells as well what stands there.
            why, placed = await self._placed(call, placed), None
        deep = markdown_cells.too_deep(draft.source) if draft.is_text else ""
        if deep and self.result is None:
            self._reject(call, deep)
        with closing(Watch(turn.kernel)) as watch:
            async for event in self._attempts(call, suspicious, why, placed, watch):
                yield event

    def _expect(self) -> None:
        """Where nobody is asked, it may be the kernel that is waited for."""
        if self.draft.is_code and MODES[self.turn.mode].unasked:
            self.turn.kernel.expect()

    async def _placed(self, call: ToolUse, answer: asyncio.Future[Receipt]) -> str:
        """The draft stands in the notebook, or there is a result. Says why it must ask."""
        receipt = await answer
        if receipt.status == "conflict":
            # Nobody has decided on what the person has typed into it.
            self.draft.source = receipt.source
            self.draft.is_theirs = True
            return TYPED_INTO
        if receipt.status == "pending":
            title = self.draft.title
            self.result = self.turn.results.make(call, "not_confirmed", NOT_CONFIRMED, title=title)
        elif receipt.status != "done":
            self._reject(call, why_not(receipt))
        return ""

    async def _attempts(
        self,
        call: ToolUse,
        suspicious: bool,
        why: str,
        placed: asyncio.Future[Receipt] | None,
        watch: Watch,
    ) -> AsyncIterator[Event]:
        """Decide and carry out, again if that came to nothing. ``why`` is why it must ask;
        ``placed`` is to be awaited before somebody is asked."""
        draft, turn = self.draft, self.turn
        verdict: policy.Verdict | None = None
        while self.result is None:
            seen = watch.on(draft.source) if draft.is_code else None
            info = await turn.kernel_info() if draft.is_code else None
            checked = await draft.check(draft.source, info)
            if checked.refusal is not None and watch.run is None:
                self._refuse(call, checked.refusal)
                return
            if verdict is None:
                verdict = draft.verdict(suspicious or checked.ask)
                if verdict == "refuse":
                    self._reject(call, policy.refusal(draft.action, turn.mode))
                    return
            if verdict == "ask" or why or checked.refusal is not None:
                if placed is not None:
                    why, placed = await self._placed(call, placed), None
                    if why or self.result is not None:
                        continue
                notices = tuple(hooked.line(turn, note) for note in checked.notes)
                waiting = DraftWaiting(draft.asking((why, *notices) if why else notices))
                self._shown = draft.source
                yield waiting
                decision = await self._ask(waiting, seen)
                if info is None and draft.is_code:
                    # Decided on before there was a kernel: good for the one that has come.
                    info = await turn.kernel_info()
            else:
                decision = Decision("run", "policy", draft.source)
            decision = self._compared(decision)
            yield self._decided(decision)
            if decision.action == "reject":
                self._reject(call, decision.reason, decision.source if decision.edited else "")
                return
            if draft.is_code and decision.source != draft.source:
                # The person has made something else of it, which no hook has been asked about.
                checked = await draft.check(decision.source, info)
                if checked.refusal is not None:
                    self._refuse(call, checked.refusal)
                    return
            if draft.is_code:
                async for event in self._execute(call, decision, info, watch):
                    yield event
                why = self._again
            else:
                why = await self._change(call, decision.source)
            verdict = "ask"

    # --- deciding --------------------------------------------------------------------

    async def _ask(
        self, waiting: DraftWaiting, seen: asyncio.Future[ExternalRun] | None
    ) -> Decision:
        turn = self.turn
        self._waits = True
        decision = await turn.clock.attend(turn.decisions.ask(waiting.draft, seen))
        self._waits = False
        if decision.run_all:
            turn.let_all_run()
        return decision

    def _compared(self, decision: Decision) -> Decision:
        """The decision, knowing whether the person has changed what the model wrote."""
        source = self._proposed if self.draft.kind == "delete" else decision.source
        return decision.with_source(source, edited=source != self._proposed)

    def _decided(self, decision: Decision) -> DraftDecided:
        return DraftDecided(
            self.call_id,
            self.draft.draft_id,
            decision.action,
            decision.by,
            None if decision.source == self._shown else decision.source,
            decision.edited,
            decision.reason,
            decision.window,
            decision.said,
        )

    def _reject(self, call: ToolUse, reason: str, source: str = "") -> None:
        draft = self.draft
        draft.remove()
        body = f"{reason}\n{THEIR_VERSION}" if source else reason
        cell_id = draft.cell_id if draft.kind in ("edit", "delete") else ""
        quoted = self.turn.foreign.shown(source) if source else ""
        self.result = self.turn.results.rejected(call, body, draft.title, cell_id, reason, quoted)

    def _refuse(self, call: ToolUse, note: Note) -> None:
        """A hook does not let it run."""
        self.draft.remove()
        self.result = hooked.refused(self.draft, call, note)

    # --- carrying out ----------------------------------------------------------------

    async def _execute(
        self, call: ToolUse, decision: Decision, info: KernelInfo | None, watch: Watch
    ) -> AsyncIterator[Event]:
        watch.on(decision.source)
        if watch.run is None:
            execution = self._execution = Execution(self.draft, call, decision, info, watch)
            async for event in execution.events():
                yield event
            self.result = execution.result
            self.next_inputs = execution.next_inputs
            self._again = execution.ask_again
        if self.result is None and watch.run is not None:
            external = self._execution = ExternalExecution(self.draft, call, decision, watch.run)
            async for event in external.events():
                yield event
            self.result = external.result
        done = self._execution.done if self._execution is not None else None
        if self.result is not None and done is not None:
            code = self.draft.code(decision.source, info)
            self.result = await hooked.after_run(self.turn, code, done, self.result)

    async def _change(self, call: ToolUse, source: str) -> str:
        """Write Markdown, edit a cell that is no code, or delete. Says why it must be asked
        again, "" if there is a result."""
        turn, draft = self.turn, self.draft
        if draft.kind == "delete":
            receipt = await turn.notebook.apply(Delete(draft.cell_id, draft.old_source))
        elif draft.kind == "edit":
            receipt = await turn.notebook.apply(SetSource(draft.cell_id, source, draft.old_source))
        else:
            receipt = await turn.notebook.apply(
                SetSource(draft.cell_id, source, draft.source, cell_type="markdown")
            )
        if receipt.status == "done":
            draft.settle()
            turn.context.noted(draft.cell_id, None if draft.kind == "delete" else source)
            self.result = turn.results.make(call, "ok", title=draft.title, cell_id=draft.cell_id)
        elif receipt.status == "pending":
            self.result = turn.results.make(
                call, "not_confirmed", NOT_CONFIRMED, title=draft.title, cell_id=draft.cell_id
            )
        elif receipt.status == "conflict" and draft.kind == "markdown":
            draft.source = receipt.source
            return CHANGED
        elif receipt.status == "conflict":
            turn.context.seen_source(draft.cell_id, receipt.source)
            draft.remove()
            self.result = changed_meanwhile(turn, call, draft.title, draft.cell_id, receipt)
        else:
            self._reject(call, why_not(receipt))
        return ""

    # --- Stop ------------------------------------------------------------------------

    def stop(self, call: ToolUse, words: str) -> list[Event]:
        """Settle it: the turn ends now. Afterwards there is a result; ``words`` is for what
        has not been sent to the kernel."""
        events: list[Event] = []
        draft = self.draft
        if self._waits:
            stopped = Decision("reject", "stop", draft.source, reason="Stopped.")
            events.append(self._decided(stopped))
        if self.result is None and self._execution is not None:
            self._execution.abandon(words)
            self.result = self._execution.result
        draft.remove()
        if self.result is None:
            self.result = self.turn.results.make(call, "not_started", words, title=draft.title)
        return events
