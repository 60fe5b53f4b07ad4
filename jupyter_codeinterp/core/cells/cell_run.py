"""One cell from the finished draft to its result: decide, then change the cell or run it.

A decision holds for its bytes, its cell and its kernel start. If one of them has changed by the
time of the run, nothing happens and the person decides again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import NamedTuple

from ..approval import markdown_cells, policy
from ..approval.decisions import BY_HAND, Decision
from ..approval.modes import MODES
from ..document.ops import Delete, Move, Receipt, SetSource
from ..findings import Label
from ..hooks import HookNote
from ..messages import ToolUse
from ..ports import ExecutionDone, KernelInfo, OutputsChanged, Slot
from ..turn.results import Result
from ..wire.events import DraftDecided, DraftWaiting, Event
from . import hooked
from .draft import DraftCell
from .execution import CHANGED, NOT_CONFIRMED, RESTARTED, Execution, changed_meanwhile, why_not
from .run_by_hand import ExecutionByHand

# -------------------------------------------------------------------------------------------------
# A run without a cell: decided and run as any other, without a trace in the notebook.


class Scratch(Execution):
    """A run whose outputs go to the card and the model alone."""

    async def _begin(self) -> bool:
        self.turn.notebook.worked = True
        return True

    def _show_outputs(self, event: OutputsChanged) -> None:
        """Do nothing: the card gets the outputs at the end."""

    async def _noted(self, slot: Slot, done: ExecutionDone) -> tuple[str, ...]:
        return ()

    async def _shown(self, done: ExecutionDone) -> tuple[str, ...]:
        self._ended = True
        return ()

    def _post_end(
        self, done: ExecutionDone | None, trusted: bool | None = None, kept: str = ""
    ) -> asyncio.Future[Receipt]:
        self._ended = True
        receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        receipt.set_result(Receipt("done"))
        return receipt

    def _back_to_draft(self) -> None:
        self.ask_again = RESTARTED

    def _ran(self) -> None:
        """Do nothing: no cell has run."""


THEIR_VERSION = "Their version was:"
MORE_TO_SEE = "There is more to see about this cell since you decided."
NOT_RUN = "Changed and not run, as you asked. The output that it shows is of its earlier source."
TYPED_INTO = "You changed the cell while it was being written. Your version would run."


class Granted(NamedTuple):
    """A person's decision about several cells. Holds for the kernel ``info`` and for the ``notes``
    on this cell that the person saw."""

    decision: Decision
    info: KernelInfo | None
    notes: tuple[HookNote, ...]


class CellRun:
    """One call that writes, runs, moves or deletes a cell. ``result`` is set at the end, also by
    Stop."""

    def __init__(self, draft: DraftCell, name: str) -> None:
        """``name``: the tool's name."""
        self.draft = draft
        self.turn = draft.turn
        self.call_id = draft.call_id
        self.name = name
        self.result: Result | None = None
        self.next_inputs: tuple[str, ...] = ()
        """Code proposed with set_next_input."""
        self._waits = False
        self._execution: Execution | ExecutionByHand | None = None
        self._again = ""
        """Why the person must decide again."""
        self._expect()

    async def run(
        self,
        call: ToolUse,
        source: str,
        *,
        suspicious: bool = False,
        granted: Granted | None = None,
    ) -> AsyncIterator[Event]:
        """Go from the finished draft to ``result``. ``source`` is the model's. ``suspicious``: ask
        in every mode. ``granted``: an earlier decision about this source."""
        draft, turn = self.draft, self.turn
        draft.proposed = source
        self._expect()
        placed = draft.complete(source)
        why = ""
        if placed is not None and not (draft.runs and MODES[turn.mode].unasked):
            # If nobody is asked, ``BeginRun`` compares the source anyway.
            why, placed = await self._placed(call, placed), None
        deep = markdown_cells.too_deep(draft.source) if draft.is_text else ""
        if deep and self.result is None:
            self._reject(call, deep)
        with ExitStack() as stack:
            if draft.kind == "insert":
                stack.enter_context(turn.decisions.watch(draft.cell_id))
            async for event in self._attempts(call, suspicious, why, placed, granted):
                yield event

    def _expect(self) -> None:
        """Start the kernel early if nobody is asked: it may be what the run waits for."""
        if self.draft.runs and MODES[self.turn.mode].unasked:
            self.turn.kernel.expect()

    async def _placed(self, call: ToolUse, answer: asyncio.Future[Receipt]) -> str:
        """Wait until the notebook has the draft, or set ``result``. Returns why a person must be
        asked; "" if no reason."""
        receipt = await answer
        if receipt.status == "conflict":
            # No decision covers what the person typed.
            self.draft.typed(receipt.source)
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
        granted: Granted | None,
    ) -> AsyncIterator[Event]:
        """Decide and carry out until there is a result. ``why``: the reason to ask a person.
        ``placed`` is awaited before asking."""
        draft, turn = self.draft, self.turn
        verdict: policy.Verdict | None = None
        while self.result is None:
            info = await turn.kernel_info() if draft.is_code else None
            info = granted.info if granted is not None else info
            said = await draft.check(draft.source, info)
            if granted is not None and not set(said.notes) <= set(granted.notes):
                granted, why = None, MORE_TO_SEE
            by_hand = turn.decisions.by_hand(draft.cell_id)
            if said.refusal is not None and by_hand is None:
                self._refuse(call, said.refusal)
                return
            if verdict is None:
                verdict = draft.verdict(suspicious or said.ask, info)
                if verdict == "refuse":
                    self._reject(call, policy.refusal(draft.action, turn.mode))
                    return
            if by_hand is not None:
                decision = Decision("run", "person", by_hand.source, reason=BY_HAND)
            elif granted is not None:
                decision, granted = granted.decision.with_source(draft.source, edited=False), None
            elif verdict == "ask" or why:
                if placed is not None:
                    why, placed = await self._placed(call, placed), None
                    if why or self.result is not None:
                        continue
                notices = tuple(hooked.line(turn, note) for note in said.notes)
                labels = await draft.labels(draft.source, info)
                reasons = filter(None, (why, *draft.why_barred))
                always = suspicious or said.ask or bool(why) or draft.barred
                waiting = DraftWaiting(draft.asking((*reasons, *notices), labels, always))
                draft.shown = draft.source
                yield waiting
                decision = await self._ask(waiting)
                if info is None and draft.is_code:
                    # Decided before a kernel had started: holds for the one that started since.
                    info = await turn.kernel_info()
            else:
                decision = Decision("run", "policy", draft.source)
            decision = self._compared(decision)
            runs = decision.action == "run"
            labels = await draft.labels(decision.source, info) if runs else ()
            yield self._decided(decision, labels)
            if decision.action == "reject":
                draft.remove(typed_too=decision.by == "person")
                edited = decision.source if decision.edited else ""
                self._reject(call, decision.reason, edited, decision.by)
                return
            if draft.is_code and decision.source != draft.source:
                # The person edited the code, so the hooks check it again.
                said = await draft.check(decision.source, info)
                if said.refusal is not None and decision.reason != BY_HAND:
                    self._refuse(call, said.refusal)
                    return
            if draft.runs:
                async for event in self._execute(call, decision, info):
                    yield event
                why = self._again
            else:
                why = await self._change(call, decision.source, decision.by == "policy")
            verdict = "ask"
            if why == RESTARTED and decision.by == "policy":
                # The policy had decided, not a person: it decides again for the new kernel.
                verdict, why = None, ""

    # --- deciding --------------------------------------------------------------------

    async def _ask(self, waiting: DraftWaiting) -> Decision:
        turn = self.turn
        self._waits = True
        decision = await turn.clock.attend(turn.decisions.ask(waiting.draft))
        self._waits = False
        if decision.run_all:
            turn.let_all_run()
        return decision

    def _compared(self, decision: Decision) -> Decision:
        """The decision with ``edited`` set if its source differs from the model's."""
        source = self.draft.proposed if self.draft.kind in ("delete", "move") else decision.source
        return decision.with_source(source, edited=source != self.draft.proposed)

    def _decided(self, decision: Decision, labels: tuple[Label, ...] = ()) -> DraftDecided:
        return DraftDecided(
            self.call_id,
            self.draft.draft_id,
            decision.action,
            decision.by,
            None if decision.source == self.draft.shown else decision.source,
            decision.edited,
            decision.reason,
            decision.window,
            decision.said,
            labels,
            decision.person,
        )

    def _reject(self, call: ToolUse, reason: str, source: str = "", by: str = "policy") -> None:
        draft = self.draft
        draft.remove()
        body = f"{reason}\n{THEIR_VERSION}" if source else reason
        cell_id = draft.cell_id if draft.kind in ("edit", "rerun", "delete", "move") else ""
        quoted = self.turn.untrusted.shown(source) if source else ""
        self.result = self.turn.results.not_run(
            call, body, draft.title, cell_id, "" if by == "nobody" else reason, quoted, by=by
        )

    def _refuse(self, call: ToolUse, note: HookNote) -> None:
        draft = self.draft
        draft.remove()
        cell_id = draft.cell_id if draft.is_theirs else ""
        self.result = hooked.refused(self.turn, call, note, draft.title, cell_id)

    # --- carrying out ----------------------------------------------------------------

    async def _execute(
        self, call: ToolUse, decision: Decision, info: KernelInfo | None
    ) -> AsyncIterator[Event]:
        by_hand = self.turn.decisions.by_hand
        if by_hand(self.draft.cell_id) is None:
            kind = Scratch if self.draft.kind == "scratch" else Execution
            execution = self._execution = kind(self.draft, call, decision, info)
            async for event in execution.events():
                yield event
            self.result = execution.result
            self.next_inputs = execution.next_inputs
            self._again = execution.ask_again
        run = by_hand(self.draft.cell_id)
        if self.result is None and run is not None:
            decision = self._compared(decision.with_source(run.source, edited=False))
            followed = self._execution = ExecutionByHand(self.draft, call, decision, run)
            async for event in followed.events():
                yield event
            self.result = followed.result
        done = self._execution.done if self._execution is not None else None
        if self.result is not None and done is not None:
            draft, source = self.draft, decision.source
            self.result = await hooked.after_run(
                self.turn,
                draft.code(source, info),
                done,
                self.result,
                draft.findings_on(source),
                draft.expects if source == draft.proposed else None,
                decision.by == "person",
            )

    async def _change(self, call: ToolUse, source: str, unasked: bool) -> str:
        """Write Markdown, edit without running, move or delete. Returns why a person must be
        asked again; "" if ``result`` is set."""
        turn, draft = self.turn, self.draft
        if draft.kind == "delete":
            receipt = await turn.notebook.apply(Delete(draft.cell_id, draft.old_source))
        elif draft.kind == "move":
            receipt = await turn.notebook.apply(Move(draft.cell_id, draft.to))
        elif draft.kind == "edit":
            last_run = turn.ledger.last_run(draft.cell_id) if unasked and draft.is_code else None
            change = SetSource(draft.cell_id, source, draft.old_source, last_run=last_run)
            receipt = await turn.notebook.apply(change)
        else:
            receipt = await turn.notebook.apply(
                SetSource(draft.cell_id, source, draft.source, cell_type="markdown")
            )
        if receipt.status == "done":
            draft.settle()
            if draft.kind != "move":
                turn.context.noted(draft.cell_id, None if draft.kind == "delete" else source)
            words = NOT_RUN if draft.only_edits else ""
            self.result = turn.results.make(
                call, "ok", words, title=draft.title, cell_id=draft.cell_id
            )
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
        """Set ``result`` now, because the turn ends. ``words``: the result's text if the code never
        reached the kernel."""
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
