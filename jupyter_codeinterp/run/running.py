"""Runs exactly the decided bytes, in that cell, in that kernel.

    hold      wait until the kernel is idle, and check that it is still the same one
    begin     the notebook compares the cell with the decided source, and shows [*]
    execute   run those bytes; outputs stream into the cell
    finish    the cell has all outputs, and the result is ready for the model

If the cell or kernel has changed, nothing runs and the person decides again. ``CellJob.source``
is then the cell's current source.
"""

from __future__ import annotations

import asyncio
import contextlib

from ..base.errors import DocumentError, KernelError
from ..base.off_loop import off_loop
from ..base.sentences import Sentence
from ..journal.prose import known_language
from ..notebook.passive import is_passive, passive_data
from ..view.outputs import Seen
from ..view.plain_text import clean
from ..wire.events import KernelWaiting, Note, RunStarted
from ..wire.ops import BeginRun, Receipt, SetSource, Snapshot, digest, weight
from ..wire.ports import (
    DisplayUpdated,
    ExecutionDone,
    KernelInfo,
    OutputsChanged,
    Slot,
)
from .job import NOT_CONFIRMED, RESTARTED, CellJob, RunAttempt, why_not
from .states import CellEvent, CellState
from .turn.staleness import NotebookCell, Watch
from .turn.turn import Turn, identity

EDITED = "The person edited the code before it ran. What ran:"
RESTARTED_BEFORE = (
    "The kernel was restarted or changed since your last cell. All earlier variables are gone."
)
TIME_LIMIT = "Interrupted at its time limit of {:g} s. What it had done before stays."
MORE_TIME = " timeout_s may be up to {:g}."
CHANGED = Sentence("The cell changed after you decided.")
OUTPUT_HIDDEN = Sentence(
    "“{title}” ran {how}, so active content in its output (widgets, scripts) is "
    "hidden. Run the cell yourself to see it."
)
STALE_NOW = "[Out of date now: {ids}.]"
MOST_STALE = 20
STALE_INPUT = "[This run read what may be out of date: {reason}]"
WAITS = 0.2
"""Seconds before the card says that the run waits for the kernel."""


async def run_in_kernel(job: CellJob, at: RunAttempt) -> ExecutionDone | None:
    """Wait for the idle kernel and run exactly the decided bytes, in that cell, in that kernel.
    None if that has not happened."""
    turn = job.turn
    try:
        async with contextlib.AsyncExitStack() as stack:
            holding = asyncio.ensure_future(stack.enter_async_context(turn.kernel.hold()))
            try:
                if not (await asyncio.wait({holding}, timeout=WAITS))[0]:
                    turn.show(KernelWaiting(job.call.id))
                slot = at.slot = await holding
            finally:
                holding.cancel()
            if job.is_by_hand:
                return None
            if at.info is None or identity(slot.info) != identity(at.info):
                job.source = at.source
                job.outdated(RESTARTED, at)
            elif await _begin(job, at):
                return await _execute(job, at, slot)
    except KernelError as error:
        if job.result is not None:
            return None  # The code had been sent, and the result says so.
        if error.code == "kernel_changed":
            _back_to_draft(job, at)
        else:
            job.never_ran("not_started", error.message, at)
    return None


async def _begin(job: CellJob, at: RunAttempt) -> bool:
    """Put the decided source in the cell and mark it running. False: do not run."""
    turn = job.turn
    job.go(CellEvent.BEGUN)
    if job.kind == "scratch":
        turn.notebook.worked = True
        return True
    at.posted = True
    at.fixes_failure = job.cell_id in turn.ledger.failed
    expect = job.old_source if job.is_theirs else job.source
    # Without a person's decision, never overwrite a cell that the person has run since.
    guarded = job.kind == "edit" and at.decision.by == "policy"
    last_run = turn.ledger.last_run(job.cell_id) if guarded else None
    known_before = not job.is_theirs
    if at.source != expect or job.typed_by_person:
        # Also if the cell has the source already: the op makes it the agent's in the ledger.
        receipt = await turn.notebook.apply(
            SetSource(job.cell_id, at.source, expect, last_run=last_run)
        )
        if receipt.status == "conflict" and job.is_theirs:
            job.changed_meanwhile(receipt)
            return False
        if not _is_accepted(job, receipt, at):
            return False
        known_before |= receipt.before is not None
    job.source = job.old_source = at.source
    job.typed_by_person = False
    begin = BeginRun(
        job.cell_id,
        digest(at.source),
        at.run_id,
        {} if job.kind == "rerun" else _provenance(job),
        at.is_trusted,
        tell=not known_before,
        last_run=last_run,
    )
    return _is_accepted(job, await turn.notebook.apply(begin), at)


def _provenance(job: CellJob) -> dict[str, object]:
    """Metadata for a cell that is the agent's."""
    turn = job.turn
    return {
        "session": turn.session_id,
        "turn": turn.number,
        "tool_call": job.call.id,
        "model": turn.model,
    }


def _is_accepted(job: CellJob, receipt: Receipt, at: RunAttempt) -> bool:
    if receipt.status == "conflict":
        job.typed(receipt.source)
        job.old_source = receipt.source
        job.outdated(CHANGED, at)
    elif receipt.status == "pending":
        job.never_ran("not_confirmed", NOT_CONFIRMED, at)
    elif receipt.status != "done":
        job.remove()
        job.end(job.turn.results.not_run(job.call, why_not(receipt), job.title, job.cell_id))
    return receipt.status == "done"


def _back_to_draft(job: CellJob, at: RunAttempt) -> None:
    """Ask again: the kernel changed at the last moment, before anything was sent."""
    job.post_end(at, None)
    if job.kind == "insert":
        change = SetSource(job.cell_id, at.source, at.source, cell_type="raw")
        job.turn.notebook.apply(change)
    job.outdated(RESTARTED, at)


async def _execute(job: CellJob, at: RunAttempt, slot: Slot) -> ExecutionDone:
    turn = job.turn
    msg_id = slot.new_msg_id()
    kernel_id, language = slot.info.kernel_id, known_language(slot.info.language)
    if turn.files_kept is not None:
        await asyncio.shield(turn.files_kept)
    turn.show(RunStarted(job.call.id, job.cell_id, at.run_id, msg_id, kernel_id, language))
    await turn.store.settle(turn.session_id)
    job.go(CellEvent.SENT)
    done: ExecutionDone | None = None
    expects = job.expects
    try:
        running = slot.execute(
            at.source,
            msg_id=msg_id,
            timeout=_time_limit(job),
            looks_at=expects.asked if expects is not None else None,
        )
        async with contextlib.aclosing(running) as events:
            async for event in events:
                if isinstance(event, OutputsChanged):
                    _show_outputs(job, at, event)
                elif isinstance(event, DisplayUpdated):
                    # The updated output may be in a trusted cell.
                    data = event.data if at.is_trusted else passive_data(event.data)
                    turn.document.display(event.display_id, data, event.metadata)
                elif isinstance(event, ExecutionDone):
                    done = event
    except BaseException:
        # Stop, or a fault. The code may have had effects, and the result must say so.
        if slot.sent:
            job.stopped(at, await slot.stopped())
        raise
    if done is None:
        raise RuntimeError("the kernel's execution ended without a final event")
    await _finish(job, at, slot, done)
    if at.hides_output:
        turn.show(Note(Sentence(OUTPUT_HIDDEN, title=job.title, how=at.how)))
    if done.status == "dead":
        turn.show(Note(done.note, "warning", kernel_died=True))
    return done


def _show_outputs(job: CellJob, at: RunAttempt, event: OutputsChanged) -> None:
    if job.kind != "scratch":  # The card gets the outputs at the end.
        document = job.turn.document
        document.outputs(job.cell_id, at.run_id, event.start, event.outputs)


async def _finish(job: CellJob, at: RunAttempt, slot: Slot, done: ExecutionDone) -> None:
    turn = job.turn
    job.ran(at)
    notes: list[str] = []
    if turn.kernel_start not in (None, identity(slot.info)):
        notes.append(RESTARTED_BEFORE)
    turn.kernel_start = identity(slot.info)
    if done.status == "timeout":
        limit, most = _time_limit(job), turn.cell_timeout
        more = MORE_TIME.format(most) if most is not None and most != limit else ""
        notes.append(f"{TIME_LIMIT.format(limit or 0.0)}{more}")
    if done.note:
        notes.append(turn.untrusted.inert(done.note))
    if at.decision.edited:
        notes += (EDITED, turn.untrusted.shown(at.source))
    notes += (turn.untrusted.shown(clean(page)) for page in done.pages)
    seen: Seen | None = None
    try:
        # Stop may come while the notebook does not answer; the code has run already.
        seen = await turn.results.see(done.everything, job.room)
        if job.kind != "scratch":
            notes += await _put_into_cell(job, at, done)
            notes += await _stale_input(job, slot.info, done, at.source)
    finally:
        if job.state is CellState.RUNNING:
            job.post_end(at, done)
        seen = seen or turn.results.see_at_once(done.everything)
        status = "error" if done.status == "dead" else done.status
        job.end(job.of_run(at, status, done, seen, notes))


def _time_limit(job: CellJob) -> float | None:
    """Seconds that the run may take; None for no limit."""
    limits = (job.timeout, job.turn.cell_timeout)
    return min((one for one in limits if one is not None), default=None)


async def _put_into_cell(job: CellJob, at: RunAttempt, done: ExecutionDone) -> tuple[str, ...]:
    """Put all outputs into the cell and save. Returns notes on what failed."""
    turn = job.turn
    trusted = at.is_trusted or await off_loop(
        lambda: is_passive(done.outputs), weight(done.outputs), lambda: False
    )
    at.hides_output = not trusted
    kept = await turn.store.keep_outputs(turn.session_id, done.outputs)
    job.go(CellEvent.FINISHED)
    receipt = await job.post_end(at, done, trusted, kept)
    if receipt.status == "missing":
        return ("The person deleted the cell while it ran.",)
    if receipt.status != "done":
        return ("The notebook did not confirm the outputs.",)
    # The person knows that the window does not answer, or has closed it.
    with contextlib.suppress(DocumentError):
        await turn.document.save()
    return ()


# --- stale input ---------------------------------------------------------------------------


async def _stale_input(
    job: CellJob, kernel: KernelInfo, done: ExecutionDone, source: str
) -> tuple[str, ...]:
    """Record what ran. Returns notes for the model: that it read stale input, and which cells an
    edit has made stale."""
    turn, cell_id, number = job.turn, job.cell_id, done.execution_count
    if done.captured:
        turn.notebook.has_run(cell_id, done.everything)
    watch, path = turn.workplace.watch, turn.document.path
    if watch is None or number is None or kernel.language != "python":
        return ()
    if not watch.knows(path):
        _report_cells(turn, watch, turn.notebook.snapshot)
    before = watch.stale(path, kernel.kernel_id)
    watch.put(path, NotebookCell(cell_id, source), turn.notebook.above(cell_id)[1:])
    watch.ran(kernel.kernel_id, cell_id, number, source)
    stale = watch.stale(path, kernel.kernel_id)
    notes: list[str] = []
    if job.kind == "edit" and (new := [one for one in stale if one not in {*before, cell_id}]):
        ids = ", ".join(new[:MOST_STALE])
        notes.append(STALE_NOW.format(ids=turn.untrusted.inert(ids)))
    # A window's report comes a moment after an edit.
    if cell_id in stale and (reason := await _stale_reason(turn, watch, kernel, cell_id)):
        notes.append(STALE_INPUT.format(reason=turn.untrusted.inert(reason)))
    return tuple(notes)


async def _stale_reason(turn: Turn, watch: Watch, kernel: KernelInfo, cell_id: str) -> str:
    try:
        # Not ``notebook.look``, which would mark the person's edits as told to the model.
        snapshot = await turn.document.snapshot()
    except DocumentError:
        return ""  # The result already says that the notebook does not answer.
    _report_cells(turn, watch, snapshot)
    return watch.stale(turn.document.path, kernel.kernel_id).get(cell_id, "")


def _report_cells(turn: Turn, watch: Watch, snapshot: Snapshot) -> None:
    code = [cell for cell in snapshot.cells if cell.cell_type == "code"]
    sources = {cell.cell_id: cell.source for cell in code}
    watch.report(turn.document.path, list(sources), sources)
