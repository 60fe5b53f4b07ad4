"""Gets the decision about a cell and carries it out.

A decision holds for its bytes, its cell and its kernel start. If one of them has changed by the
time of the run, nothing happens and the person decides again.
"""

from __future__ import annotations

import contextlib
from functools import partial

from ..wire.events import DraftWaiting
from ..wire.ops import Delete, Move, SetSource
from ..wire.ports import ExecutionDone, KernelInfo
from . import by_hand, hooked
from .approval import markdown_cells, policy
from .approval.decisions import BY_HAND, Decision, RunByHand
from .approval.hooks import Checked
from .approval.modes import MODES
from .draft import DraftCell
from .job import NOT_CONFIRMED, CellJob, Granted, RunAttempt, why_not
from .running import CHANGED, run_in_kernel
from .states import CellEvent

MORE_TO_SEE = "There is more to see about this cell since you decided."
NOT_RUN = "Changed and not run, as you asked. The output that it shows is of its earlier source."
TYPED_INTO = "You changed the cell while it was being written. Your version would run."


async def carry_out(
    job: CellJob, source: str, *, suspicious: bool = False, granted: Granted | None = None
) -> None:
    """Go from the finished draft to ``result``. ``source`` is the model's. ``suspicious``: ask
    in every mode. ``granted``: an earlier decision about this source."""
    draft, turn = job.draft, job.turn
    draft.proposed = source
    job.expect_kernel()
    job.placing = draft.complete(source)
    job.go(CellEvent.WRITTEN)
    if not (draft.runs and MODES[turn.mode].unasked):
        # If nobody is asked, ``BeginRun`` compares the source anyway.
        await _placed(job)
    deep = markdown_cells.too_deep(draft.source) if draft.is_text else ""
    if deep and job.result is None:
        job.reject(deep)
    with contextlib.ExitStack() as stack:
        if draft.kind == "insert":
            stack.enter_context(turn.decisions.watch(draft.cell_id))
        while job.result is None:
            await _decide(job, suspicious, granted)
            granted = None


async def _placed(job: CellJob) -> bool:
    """Wait until the notebook has the draft, or set ``result``. False if the person typed into
    it."""
    placing, job.placing = job.placing, None
    if placing is None:
        return True
    receipt = await placing
    if receipt.status == "conflict":
        # No decision covers what the person typed.
        job.draft.typed(receipt.source)
        job.why = TYPED_INTO
    elif receipt.status == "pending":
        job.end(job.made("not_confirmed", NOT_CONFIRMED))
    elif receipt.status != "done":
        job.reject(why_not(receipt))
    return receipt.status != "conflict"


async def _decide(job: CellJob, suspicious: bool, granted: Granted | None) -> None:
    """Get a decision and carry it out. Without ``result`` afterwards, it must be made anew."""
    draft, turn = job.draft, job.turn
    info = await turn.kernel_info() if draft.is_code else None
    info = granted.info if granted is not None else info
    said = await draft.check(draft.source, info)
    if granted is not None and not set(said.notes) <= set(granted.notes):
        granted, job.why = None, MORE_TO_SEE
    run = turn.decisions.by_hand(draft.cell_id)
    if said.refusal is not None and run is None:
        job.refuse(said.refusal)
        return
    if job.verdict is None:
        job.verdict = draft.verdict(suspicious or said.ask, info)
        if job.verdict == "refuse":
            job.reject(policy.refusal(draft.action, turn.mode))
            return
    if run is not None:
        known: Decision | None = Decision("run", "person", run.source, reason=BY_HAND)
    elif granted is not None:
        known = granted.decision.with_source(draft.source, edited=False)
    elif job.verdict == "run" and not job.why:
        known = Decision("run", "policy", draft.source)
    elif not await _placed(job) or job.result is not None:
        return
    else:
        known = None
    decision = known or await _ask(job, said, info, suspicious or said.ask)
    job.go(CellEvent.DECIDED)
    if info is None and draft.is_code and known is None:
        # Decided before a kernel had started: holds for the one that started since.
        info = await turn.kernel_info()
    await _follow_decision(job, RunAttempt(_compared(job, decision), info))


async def _ask(job: CellJob, said: Checked, info: KernelInfo | None, suspicious: bool) -> Decision:
    draft, turn = job.draft, job.turn
    notices = tuple(hooked.line(turn, note) for note in said.notes)
    labels = await draft.labels(draft.source, info)
    reasons = filter(None, (job.why, *draft.why_barred))
    always = suspicious or bool(job.why) or draft.barred
    waiting = draft.asking((*reasons, *notices), labels, always)
    draft.shown = draft.source
    turn.show(DraftWaiting(waiting))
    job.go(CellEvent.ASKED)
    decision = await turn.clock.attend(turn.decisions.ask(waiting))
    if decision.run_all:
        turn.let_all_run()
    return decision


def _compared(job: CellJob, decision: Decision) -> Decision:
    """The decision with ``edited`` set if its source differs from the model's."""
    source = job.draft.proposed if job.draft.kind in ("delete", "move") else decision.source
    return decision.with_source(source, edited=source != job.draft.proposed)


async def _follow_decision(job: CellJob, at: RunAttempt) -> None:
    draft, decision = job.draft, at.decision
    runs = decision.action == "run"
    labels = await draft.labels(at.source, at.info) if runs else ()
    job.turn.show(draft.decided(decision, labels))
    if not runs:
        draft.remove(typed_too=decision.by == "person")
        edited = at.source if decision.edited else ""
        job.reject(decision.reason, edited, decision.by)
        return
    if draft.is_code and at.source != draft.source:
        # The person edited the code, so the hooks check it again.
        said = await draft.check(at.source, at.info)
        if said.refusal is not None and decision.reason != BY_HAND:
            job.refuse(said.refusal)
            return
    if draft.runs:
        job.attempt = at
        await _run(job, at)
    else:
        await _change(job, at)


async def _run(job: CellJob, at: RunAttempt) -> None:
    run_by_hand = partial(job.turn.decisions.by_hand, job.draft.cell_id)
    done = await run_in_kernel(job, at) if run_by_hand() is None else None
    run = run_by_hand()
    if job.result is None and run is not None:
        at.decision = _compared(job, at.decision.with_source(run.source, edited=False))
        done = await _follow_by_hand(job, at, run)
    if job.result is None or done is None:
        return
    draft = job.draft
    if not draft.has_checked(at.source):
        await draft.check(at.source, at.info)
    job.result = await hooked.after_run(
        job.turn,
        draft.code(at.source, at.info),
        done,
        job.result,
        draft.findings_on(at.source),
        draft.expects if at.source == draft.proposed else None,
        at.decision.by == "person",
    )


async def _follow_by_hand(job: CellJob, at: RunAttempt, run: RunByHand) -> ExecutionDone:
    job.go(CellEvent.TAKEN_OVER)
    result, done = await by_hand.follow(job.draft, at.decision, run)
    job.end(result)
    return done


async def _change(job: CellJob, at: RunAttempt) -> None:
    """Write Markdown, edit without running, move or delete."""
    draft, turn = job.draft, job.turn
    receipt = await turn.notebook.apply(_change_of(draft, at))
    if receipt.status == "done":
        draft.settle()
        if draft.kind != "move":
            turn.context.noted(draft.cell_id, None if draft.kind == "delete" else at.source)
        job.end(job.made("ok", NOT_RUN if draft.only_edits else "", draft.cell_id))
    elif receipt.status == "pending":
        job.end(job.made("not_confirmed", NOT_CONFIRMED, draft.cell_id))
    elif receipt.status == "conflict" and draft.kind == "markdown":
        draft.source = receipt.source
        job.outdated(CHANGED)
    elif receipt.status == "conflict":
        draft.remove()
        job.changed_meanwhile(receipt)
    else:
        job.reject(why_not(receipt))


def _change_of(draft: DraftCell, at: RunAttempt) -> Delete | Move | SetSource:
    ledger, unasked = draft.turn.ledger, at.decision.by == "policy"
    if draft.kind == "delete":
        return Delete(draft.cell_id, draft.old_source)
    if draft.kind == "move":
        return Move(draft.cell_id, draft.to)
    if draft.kind == "edit":
        last_run = ledger.last_run(draft.cell_id) if unasked and draft.is_code else None
        return SetSource(draft.cell_id, at.source, draft.old_source, last_run=last_run)
    return SetSource(draft.cell_id, at.source, draft.source, cell_type="markdown")
