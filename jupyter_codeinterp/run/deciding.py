"""Gets the decision about a cell and carries it out.

A decision holds for its bytes, its cell and its kernel start. If one of them has changed by the
time of the run, nothing happens and the person decides again.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Literal

from ..base.errors import DocumentError, KernelError
from ..base.sentences import Sentence, as_it_is
from ..wire.events import Draft, DraftWaiting
from ..wire.ops import CellView, Delete, Move, SetSource
from ..wire.ports import ExecutionDone, KernelInfo
from . import hooked
from .approval import code_warnings, markdown_cells, policy
from .approval.code_warnings import CodeWarnings, checked, warnings_on
from .approval.decisions import Decision, new_nonce
from .approval.modes import MODES
from .job import ACTIONS, NOT_CONFIRMED, RUNS_BY_HAND, CellJob, Granted, RunAttempt, why_not
from .running import CHANGED, EDITED, run_in_kernel
from .states import CellEvent
from .turn.hooks import CellCode

MORE_TO_SEE = Sentence("There is more to see about this cell since you decided.")
NOT_RUN = Sentence("Changed and not run.")
OLD_OUTPUT = Sentence("Changed and not run. The output that it shows is of its earlier source.")
RAN_BY_HAND = "The person ran this cell themselves."
LOOKS, PAUSE = 20, 0.1
"""Looks at a cell that a person ran, and seconds between them: the kernel may be idle before the
page shows the end of the run."""
TYPED_INTO = Sentence("You changed the cell while it was being written. Your version would run.")


async def carry_out(job: CellJob, source: str, granted: Granted | None = None) -> None:
    """Go from the finished draft to ``result``. ``source`` is the model's. ``granted``: an earlier
    decision about this source."""
    turn = job.turn
    job.proposed = source
    job.placing = job.complete(source)
    job.go(CellEvent.WRITTEN)
    if not (job.runs and MODES[turn.mode].unasked):
        # If nobody is asked, ``BeginRun`` compares the source anyway.
        await _placed(job)
    deep = markdown_cells.too_deep(job.source) if job.is_text else None
    if deep and job.result is None:
        job.reject(deep)
    while job.result is None:
        await _decide(job, granted)
        granted = None


async def _placed(job: CellJob) -> bool:
    """Wait for the notebook's answer to the draft: whether it has the model's source. If not, the
    job has its ``result``, or the person typed into the draft."""
    placing, job.placing = job.placing, None
    if placing is None:
        return True
    receipt = await placing
    if receipt.status == "conflict":
        # No decision covers what the person typed.
        job.typed(receipt.source)
        job.why = TYPED_INTO
    elif receipt.status == "pending":
        job.end(job.made("not_confirmed", NOT_CONFIRMED))
    elif receipt.status != "done":
        job.reject(why_not(receipt))
    return receipt.status == "done"


async def _decide(job: CellJob, granted: Granted | None) -> None:
    """Get a decision and carry it out. Without ``result`` afterwards, it must be made anew."""
    if job.is_by_hand:
        await _seen_by_hand(job)
        return
    turn = job.turn
    info = await turn.kernel_info() if job.is_code else None
    info = granted.info if granted is not None else info
    said = await check(job, job.source, info)
    if granted is not None and not set(said.lines) <= set(granted.warnings):
        granted, job.why = None, MORE_TO_SEE
    if said.refusal:
        job.block(said.refusal)
        return
    if job.verdict is None:
        job.barred, job.why_barred = turn.bars(info) if job.runs else (False, ())
        job.verdict = policy.decide(
            ACTIONS[job.kind],
            turn.mode,
            owned=job.is_owned,
            suspicious=said.ask,
            always_ask=turn.always_ask,
            run_all=turn.run_all,
            barred=job.barred,
        )
        if job.verdict == "refuse":
            words = as_it_is(policy.refusal(ACTIONS[job.kind], turn.mode))
            job.reject(words, summary=policy.refused(turn.mode))
            return
    known: Decision | None = None
    if granted is not None:
        known = granted.decision.with_source(job.source, edited=False)
    elif job.verdict == "run" and not job.why:
        known = Decision("run", "policy", job.source)
    elif not await _placed(job):
        return
    decision = known or await _ask(job, said)
    job.go(CellEvent.DECIDED)
    if info is None and job.is_code and known is None:
        # The decision was made before a kernel had started: it holds for the one that started
        # since.
        info = await turn.kernel_info()
    await _follow_decision(job, RunAttempt(_compared(job, decision), info))


async def _ask(job: CellJob, said: CodeWarnings) -> Decision:
    turn = job.turn
    reasons = filter(None, (job.why, *job.why_barred))
    waiting = Draft(
        draft_id=job.draft_id,
        call_id=job.call.id,
        kind=job.kind,
        cell_id=job.cell_id,
        title=job.title,
        source=job.source,
        nonce=new_nonce(),
        old_source=job.old_source,
        notices=(*reasons, *said.lines),
        runs=job.runs,
        can_run_all=job.runs and turn.can_run_all and not job.barred,
        always=said.ask or bool(job.why) or job.barred,
    )
    job.shown = job.source
    turn.show(DraftWaiting(waiting))
    job.go(CellEvent.ASKED)
    decision = await turn.clock.attend(turn.decisions.ask(waiting))
    if decision.run_all:
        turn.let_all_run()
    return decision


def _compared(job: CellJob, decision: Decision) -> Decision:
    """The decision with ``edited`` set if its source differs from the model's."""
    source = job.proposed if job.kind in ("delete", "move") else decision.source
    return decision.with_source(source, edited=source != job.proposed)


async def _follow_decision(job: CellJob, at: RunAttempt) -> None:
    decision = at.decision
    job.turn.show(job.decided(decision))
    if decision.action != "run":
        job.remove(typed_too=decision.by == "person")
        edited = at.source if decision.edited else ""
        job.reject(decision.reason, edited, decision.by)
        return
    if job.is_by_hand:
        await _seen_by_hand(job)
        return
    if job.is_code and at.source != job.source:
        # The person edited the code, so the hooks check it again.
        said = await check(job, at.source, at.info)
        if said.refusal:
            job.block(said.refusal)
            return
    if job.runs:
        job.attempt = at
        await _run(job, at)
    else:
        await _change(job, at)


async def _seen_by_hand(job: CellJob) -> None:
    """The person runs this draft by a notebook command: wait for the end, and read the cell."""
    turn, began = job.turn, monotonic()
    job.settle()
    with suppress(KernelError):
        async with turn.kernel.hold():
            pass
    cell = await _after_run(job)
    if cell is None:
        job.end(job.made("not_confirmed", RUNS_BY_HAND, job.cell_id))
        return
    turn.context.seen(cell)
    turn.notebook.has_run(cell.cell_id, cell.outputs)
    notes = [RAN_BY_HAND]
    if cell.source != job.proposed:
        notes += (EDITED, turn.untrusted.shown(cell.source))
    failed = any(output.get("output_type") == "error" for output in cell.outputs)
    status: Literal["ok", "error"] = "error" if failed else "ok"
    job.end(
        turn.results.of_run(
            job.call,
            status,
            title=job.title,
            cell_id=job.cell_id,
            done=ExecutionDone(status, cell.outputs, cell.execution_count, monotonic() - began),
            seen=await turn.results.see(cell.outputs),
            notes=tuple(notes),
        )
    )


async def _after_run(job: CellJob) -> CellView | None:
    """The cell with its new execution count; None if the page shows none."""
    for _ in range(LOOKS):
        try:
            cell = await job.turn.notebook.look_at(job.cell_id)
        except DocumentError:
            return None
        if cell is None or cell.execution_count is not None:
            return cell
        await asyncio.sleep(PAUSE)
    return None


async def _run(job: CellJob, at: RunAttempt) -> None:
    done = await run_in_kernel(job, at)
    if job.result is None or done is None:
        return
    contract = job.expects if at.source == job.proposed else None
    code = _code(job, at.source, at.info)
    job.result = await hooked.after_run(job.turn, code, done, job.result, contract)


def _code(job: CellJob, source: str, info: KernelInfo | None) -> CellCode:
    turn, notebook = job.turn, job.turn.document.path
    return CellCode(source, _language(info), turn.session_id, turn.number, turn.asked, notebook)


def _left_unrun(job: CellJob) -> Sentence:
    cells = job.turn.notebook.snapshot.cells
    has_output = any(cell.outputs for cell in cells if cell.cell_id == job.cell_id)
    return OLD_OUTPUT if has_output else NOT_RUN


async def _change(job: CellJob, at: RunAttempt) -> None:
    """Write Markdown, edit without running, move or delete."""
    turn = job.turn
    receipt = await turn.notebook.apply(_change_of(job, at))
    if receipt.status == "done":
        job.settle()
        if job.kind == "move":
            turn.context.moved(job.cell_id)
        else:
            turn.context.noted(job.cell_id, None if job.kind == "delete" else at.source)
        job.end(job.made("ok", _left_unrun(job) if job.only_edits else "", job.cell_id))
    elif receipt.status == "pending":
        job.end(job.made("not_confirmed", NOT_CONFIRMED, job.cell_id))
    elif receipt.status == "conflict" and job.kind == "markdown":
        job.source = receipt.source
        job.outdated(CHANGED)
    elif receipt.status == "conflict":
        job.remove()
        job.changed_meanwhile(receipt)
    else:
        job.reject(why_not(receipt))


def _change_of(job: CellJob, at: RunAttempt) -> Delete | Move | SetSource:
    ledger, unasked = job.turn.ledger, at.decision.by == "policy"
    if job.kind == "delete":
        return Delete(job.cell_id, job.old_source)
    if job.kind == "move":
        return Move(job.cell_id, job.to)
    if job.kind == "edit":
        last_run = ledger.last_run(job.cell_id) if unasked and job.is_code else None
        return SetSource(job.cell_id, at.source, job.old_source, last_run=last_run)
    return SetSource(job.cell_id, at.source, job.source, cell_type="markdown")


# -------------------------------------------------------------------------------------------------
# What the person sees of the code.


async def check(job: CellJob, source: str, info: KernelInfo | None) -> CodeWarnings:
    """Check ``source`` before a decision: for API keys; code for what a reader may overlook and by
    the hooks, text for hidden characters and for what it may load or run."""
    turn = job.turn
    said = await checked(partial(code_warnings.keys, turn.scrub), source)
    if job.is_code:
        files = tuple(name for name, _ in turn.files)
        found = await warnings_on(source, _language(info), files, unread=bool(turn.alone))
        hooks = await hooked.before_run(turn, _code(job, source, info))
        lines, ask = (*said, *found.lines, *hooks.lines), found.ask or hooks.ask or bool(said)
        return CodeWarnings(lines, ask, hooks.refusal)
    said = (*said, *await checked(code_warnings.hidden_characters, source))
    if job.is_text and turn.allowed.changes:
        said = (*said, *await markdown_cells.risks(turn.markdown_risks, job.source))
    return CodeWarnings(said, bool(said))


def _language(info: KernelInfo | None) -> str:
    return info.language if info else "python"
