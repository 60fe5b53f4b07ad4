"""One cell from draft to result: its states, and the ways in which it ends.

``deciding.py`` gets the decision, ``running.py`` runs the code; ``states.py`` has the table.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from ..base.off_loop import INLINE
from ..notebook.passive import is_passive
from ..view.outputs import Seen, size
from ..wire.events import Status
from ..wire.ops import FinishRun, Output, Receipt
from ..wire.ports import ExecutionDone, KernelInfo, Slot
from . import hooked
from .approval import policy
from .approval.decisions import Decision
from .approval.hooks import HookNote
from .approval.modes import MODES
from .draft import DraftCell
from .states import CellEvent, CellState, after
from .turn.results import Result

THEIR_VERSION = "Their version was:"
RESTARTED = "The kernel was restarted or changed since you decided. Variables may be gone."
CHANGED_MEANWHILE = (
    "The person changed this cell since you read it, or ran it; your change was not made."
)
NOT_CONFIRMED = "The notebook did not confirm this change. Nothing was run."
MAYBE_EDITED = " The cell may already have its new source."
HAD_EFFECTS = "The person stopped it; it may have had effects."
UNRESPONSIVE = "The kernel has not reacted to the interrupt yet."
QUEUED = (
    "It is queued in the kernel behind the person's cell and will be interrupted when it starts."
)
RUNS_BY_HAND = "The person runs this cell by themselves: Stop leaves it alone."
IN_SANDBOX = "in a sandboxed kernel"
_STUCK = "Interrupt sent. The kernel has not reacted yet."


class Granted(NamedTuple):
    """A person's decision about several cells. Holds for the kernel ``info`` and for the ``notes``
    on this cell that the person saw."""

    decision: Decision
    info: KernelInfo | None
    notes: tuple[HookNote, ...]


@dataclass
class RunAttempt:
    """A decision to run, the kernel that it holds for, and how far its run has come."""

    decision: Decision
    info: KernelInfo | None
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex[:12])
    slot: Slot | None = None
    posted: bool = False
    """Whether the notebook got ops about it."""
    fixes_failure: bool = False
    hides_output: bool = False
    """Whether active content in the outputs is hidden."""

    @property
    def source(self) -> str:
        return self.decision.source

    @property
    def _is_reviewed(self) -> bool:
        return self.decision.by == "person" and not self.decision.run_all

    @property
    def _is_sandboxed(self) -> bool:
        return self.info is not None and self.info.sandboxed

    @property
    def is_trusted(self) -> bool:
        """Nobody reviewed what the policy allows or the rest of "run all", and a sandbox does not
        contain what runs in the page. Such a run becomes trusted only at its end, if nothing in
        its outputs can run."""
        return self._is_reviewed and not self._is_sandboxed

    @property
    def how(self) -> str:
        return IN_SANDBOX if self._is_reviewed and self._is_sandboxed else "without asking"


class CellJob:
    """One call that writes, runs, moves or deletes a cell. ``result`` is set at the end, also by
    Stop."""

    def __init__(self, draft: DraftCell) -> None:
        self.draft = draft
        self.turn = draft.turn
        self.call = draft.call
        self.state = CellState.WRITING
        self.result: Result | None = None
        self.next_inputs: tuple[str, ...] = ()
        """Code proposed with set_next_input."""
        self.placing: asyncio.Future[Receipt] | None = None
        """The notebook's answer to the draft, until it is read."""
        self.verdict: policy.Verdict | None = None
        self.why = ""
        """Why a person must decide; "" if there is no special reason."""
        self.attempt: RunAttempt | None = None
        """The latest decision to run."""
        self.expect_kernel()

    def expect_kernel(self) -> None:
        """Start the kernel early if nobody is asked: it may be what the run waits for."""
        if self.draft.runs and MODES[self.turn.mode].unasked:
            self.turn.kernel.expect()

    def go(self, event: CellEvent) -> None:
        self.state = after(self.state, event)

    def end(self, result: Result) -> None:
        self.result = result
        self.go(CellEvent.ENDED)

    def made(self, status: Status, words: str, cell_id: str = "") -> Result:
        return self.turn.results.make(
            self.call, status, words, title=self.draft.title, cell_id=cell_id
        )

    def outdated(self, why: str, at: RunAttempt | None = None) -> None:
        """The cell or the kernel is not the one of the decision: decide again."""
        self.go(CellEvent.OUTDATED)
        if why == RESTARTED and at is not None and at.decision.by == "policy":
            # The policy had decided, not a person: it decides again for the new kernel.
            self.verdict, self.why = None, ""
        else:
            self.verdict, self.why = "ask", why

    def settle(self, at: RunAttempt) -> None:
        """The code has run: the draft is an ordinary cell."""
        if self.draft.kind != "scratch":
            self.draft.settle()
            self.turn.context.noted(self.draft.cell_id, at.source, at.run_id)

    def post_end(
        self,
        at: RunAttempt,
        done: ExecutionDone | None,
        trusted: bool | None = None,
        kept: str = "",
    ) -> asyncio.Future[Receipt]:
        """Post ``FinishRun``. ``kept``: the digest of the outputs if the journal has them."""
        if self.draft.kind == "scratch":
            nothing: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            nothing.set_result(Receipt("done"))
            return nothing
        outputs = done.outputs if done is not None else ()
        count = done.execution_count if done is not None else None
        if trusted is None:
            # Stop waits for nothing.
            trusted = at.is_trusted or (size(outputs) <= INLINE and is_passive(outputs))
        end = FinishRun(self.draft.cell_id, at.run_id, outputs, count, trusted, kept)
        if done is not None and at.slot is not None:
            at.slot.listen_on(partial(self.turn.came_late, end))
        return self.turn.notebook.apply(end)

    def of_run(
        self, at: RunAttempt, status: Status, done: ExecutionDone, seen: Seen, notes: list[str]
    ) -> Result:
        return self.turn.results.of_run(
            self.call,
            status,
            title=self.draft.title,
            cell_id=self.draft.cell_id,
            done=done,
            seen=seen,
            notes=tuple(notes),
            fixed=at.fixes_failure and status == "ok",
        )

    def reject(self, reason: str, source: str = "", by: str = "policy") -> None:
        draft = self.draft
        draft.remove()
        body = f"{reason}\n{THEIR_VERSION}" if source else reason
        cell_id = draft.cell_id if draft.kind in ("edit", "rerun", "delete", "move") else ""
        quoted = self.turn.untrusted.shown(source) if source else ""
        summary = "" if by == "nobody" else reason
        self.end(
            self.turn.results.not_run(self.call, body, draft.title, cell_id, summary, quoted, by=by)
        )

    def refuse(self, note: HookNote) -> None:
        draft = self.draft
        draft.remove()
        cell_id = draft.cell_id if draft.is_theirs else ""
        self.end(hooked.refused(self.turn, self.call, note, draft.title, cell_id))

    def changed_meanwhile(self, receipt: Receipt) -> None:
        """An edit was not made: show the cell's current source."""
        turn, draft = self.turn, self.draft
        turn.context.seen_source(draft.cell_id, receipt.source)
        words, shown = f"{CHANGED_MEANWHILE} It now reads:", turn.untrusted.shown(receipt.source)
        self.end(
            turn.results.not_run(
                self.call, words, draft.title, draft.cell_id, CHANGED_MEANWHILE, shown
            )
        )

    def never_ran(self, status: Status, words: str, at: RunAttempt) -> None:
        draft = self.draft
        if at.posted and draft.is_theirs:
            self.post_end(at, None)
            words += MAYBE_EDITED
        draft.remove()
        self.end(self.made(status, words, draft.cell_id if draft.is_theirs else ""))

    def stopped(self, at: RunAttempt, done: ExecutionDone | None) -> None:
        """End the run after Stop. The outputs so far stay; does not wait for the receipt."""
        self.settle(at)
        notes = [HAD_EFFECTS]
        if done is None:
            begun = at.slot is not None and at.slot.begun
            notes.append(UNRESPONSIVE if begun else QUEUED)
            done = ExecutionDone("interrupted", _as_output(_STUCK if begun else QUEUED), None, 0.0)
            self.turn.unresponsive = self
        self.post_end(at, done)
        seen = self.turn.results.see_at_once(done.everything)
        self.end(self.of_run(at, "interrupted", done, seen, notes))

    async def has_stopped(self) -> bool:
        """Whether a stopped run has ended since (then posts its outputs) or never began."""
        at = self.attempt
        if at is None or at.slot is None:
            return False
        done = await at.slot.stopped()
        if done is not None:
            self.post_end(at, done)
        return done is not None or not at.slot.begun

    def stop(self, words: str) -> None:
        """Set ``result`` now, because the turn ends. ``words``: the result's text if the code never
        reached the kernel."""
        draft = self.draft
        if self.state is CellState.WAITING:
            stopped = Decision("reject", "stop", draft.source, reason="Stopped.")
            self.turn.show(draft.decided(stopped, ()))
        if self.state is CellState.BY_HAND:
            # That run goes on.
            draft.settle()
            self.end(self.made("interrupted", RUNS_BY_HAND))
        elif self.result is None and self.attempt is not None:
            self.never_ran("not_started", words, self.attempt)
        draft.remove()
        if self.result is None:
            self.end(self.made("not_started", words))


def why_not(receipt: Receipt) -> str:
    """Why an op failed, other than by a conflict."""
    if receipt.status == "refused":
        return f"The notebook refused this change: {receipt.reason}."
    return "The cell is no longer in the notebook."


def _as_output(words: str) -> tuple[Output, ...]:
    """A text in place of a cell's outputs."""
    return ({"output_type": "stream", "name": "stderr", "text": f"{words}\n"},)
