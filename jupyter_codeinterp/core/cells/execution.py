"""One attempt to run exactly the decided bytes, in that cell, in that kernel.

    hold      wait until the kernel is idle, and check that it is still the same one
    begin     the notebook compares the cell with the decided source, and shows [*]
    execute   run those bytes; outputs stream into the cell
    finish    the cell has all outputs, and the result is ready for the model

If the cell or kernel has changed, nothing runs and ``ask_again`` says why; ``DraftCell.source`` is
then the cell's current source.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from functools import partial

from ..approval.decisions import Decision
from ..document.ops import BeginRun, FinishRun, Output, Receipt, SetSource, Snapshot, digest
from ..document.passive import is_passive, passive_data
from ..errors import DocumentError, KernelError
from ..history.prose import known_language
from ..messages import ToolUse
from ..model_view.outputs import Seen, size
from ..model_view.plain_text import clean
from ..off_loop import INLINE, off_loop
from ..ports import DisplayUpdated, EnginesWork, ExecutionDone, KernelInfo, OutputsChanged, Slot
from ..staleness import Cell, Watch
from ..turn.results import Result
from ..turn.turn import Turn, identity
from ..wire.events import Event, KernelWaiting, Note, RunProgress, RunStarted
from .draft import DraftCell
from .run_by_hand import EDITED

# -------------------------------------------------------------------------------------------------
# Reports the agent's runs to the staleness watch, and tells the model of stale input.

STALE_INPUT = "[This run read what may be out of date: {reason}]"


async def noted(
    turn: Turn, kernel: KernelInfo, cell_id: str, number: int | None, source: str
) -> str:
    """Report a run to the watch. Returns a note for the model; "" if it read nothing stale."""
    watch, path = turn.workplace.watch, turn.document.path
    if watch is None or number is None or kernel.language != "python":
        return ""
    if not watch.knows(path):
        _report(turn, watch, turn.notebook.snapshot)
    watch.put(path, Cell(cell_id, source), turn.notebook.above(cell_id)[1:])
    watch.ran(kernel.kernel_id, cell_id, number, source)
    if cell_id not in watch.stale(path, kernel.kernel_id):
        return ""
    # A window's report comes a moment after an edit.
    reason = await _looked(turn, watch, kernel, cell_id)
    return STALE_INPUT.format(reason=turn.untrusted.inert(reason)) if reason else ""


async def _looked(turn: Turn, watch: Watch, kernel: KernelInfo, cell_id: str) -> str:
    try:
        # Not ``notebook.look``, which would mark the person's edits as told to the model.
        snapshot = await turn.document.snapshot()
    except DocumentError:
        return ""  # The result says already that the notebook does not answer.
    _report(turn, watch, snapshot)
    return watch.stale(turn.document.path, kernel.kernel_id).get(cell_id, "")


def _report(turn: Turn, watch: Watch, snapshot: Snapshot) -> None:
    code = [cell for cell in snapshot.cells if cell.cell_type == "code"]
    sources = {cell.cell_id: cell.source for cell in code}
    watch.report(turn.document.path, list(sources), sources)


RESTARTED = "The kernel was restarted or changed since you decided. Variables may be gone."
RESTARTED_BEFORE = (
    "The kernel was restarted or changed since your last cell. All earlier variables are gone."
)
CHANGED = "The cell changed after you decided."
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
IN_SANDBOX = "in a sandboxed kernel"
OUTPUT_HIDDEN = (
    "“{title}” ran {how}, so active content in its output (widgets, scripts) is "
    "hidden. Run the cell yourself to see it."
)

WAITS = 0.2
"""Seconds before the card says that the run waits for the kernel."""


class Execution:
    """One attempt to run a cell. ``result`` is set at the end, also by Stop."""

    def __init__(
        self,
        draft: DraftCell,
        call: ToolUse,
        decision: Decision,
        info: KernelInfo | None,
    ) -> None:
        """The decision holds for the kernel ``info``. If the person runs the cell by hand while
        this waits, ``result`` stays None."""
        self.ask_again = ""
        self.result: Result | None = None
        self.done: ExecutionDone | None = None
        """How the run ended; None while it goes on, also after Stop."""
        self.next_inputs: tuple[str, ...] = ()
        """Code proposed with set_next_input."""
        self.turn = draft.turn
        self._draft = draft
        self._cell_id = draft.cell_id
        self._call = call
        self._source = decision.source
        self._edited = decision.edited
        # Nobody reviewed what the policy allows or the rest of "run all", and a sandbox does not
        # contain what runs in the page. Such a run becomes trusted only at its end, if nothing in
        # its outputs can run.
        sandboxed = info is not None and info.sandboxed
        reviewed = decision.by == "person" and not decision.run_all
        self._how = IN_SANDBOX if reviewed and sandboxed else "without asking"
        self._trusted = reviewed and not sandboxed
        self._unasked = decision.by == "policy"
        self._info = info
        self._run_id = uuid.uuid4().hex[:12]
        self._hides_output = False
        """Whether active content in the outputs is hidden."""
        self._touched = False
        """Whether this attempt has posted ops for the cell."""
        self._slot: Slot | None = None
        self._ended = False
        """Whether ``FinishRun`` has been posted."""
        self._fixes_failure = False

    async def events(self) -> AsyncIterator[Event]:
        turn = self.turn
        try:
            async with contextlib.AsyncExitStack() as stack:
                holding = asyncio.ensure_future(stack.enter_async_context(turn.kernel.hold()))
                try:
                    if not (await asyncio.wait({holding}, timeout=WAITS))[0]:
                        yield KernelWaiting(self._call.id)
                    slot = await holding
                finally:
                    holding.cancel()
                self._slot = slot
                if turn.decisions.by_hand(self._cell_id) is not None:
                    return
                if self._info is None or identity(slot.info) != identity(self._info):
                    self._draft.source = self._source
                    self.ask_again = RESTARTED
                elif await self._begin():
                    async for event in self._execute(slot):
                        yield event
        except KernelError as error:
            if error.code == "kernel_changed":
                self._back_to_draft()
            else:
                self._never_ran("not_started", error.message)

    # --- the cell --------------------------------------------------------------------

    async def _begin(self) -> bool:
        """Put the decided source in the cell and mark it running. False: do not run."""
        turn, draft = self.turn, self._draft
        self._fixes_failure = self._cell_id in turn.ledger.failed
        edit = draft.is_theirs
        expect = draft.old_source if edit else draft.source
        self._touched = True
        # Without a person's decision, never overwrite a cell that the person has run since.
        guarded = draft.kind == "edit" and self._unasked
        last_run = turn.ledger.last_run(self._cell_id) if guarded else None
        known_before = not edit
        if self._source != expect or draft.typed_by_person:
            # Also if the cell has the source already: the op makes it the agent's in the ledger.
            receipt = await turn.notebook.apply(
                SetSource(self._cell_id, self._source, expect, last_run=last_run)
            )
            if receipt.status == "conflict" and edit:
                self._refused_edit(receipt)
                return False
            if not self._accepted(receipt):
                return False
            known_before |= receipt.before is not None
        draft.source = draft.old_source = self._source
        draft.typed_by_person = False
        begin = BeginRun(
            self._cell_id,
            digest(self._source),
            self._run_id,
            self._provenance,
            self._trusted,
            tell=not known_before,
            last_run=last_run,
        )
        return self._accepted(await turn.notebook.apply(begin))

    @property
    def _provenance(self) -> dict[str, object]:
        """Metadata for the cell; {} for a cell that only runs again, which is not the agent's."""
        turn = self.turn
        if self._draft.kind == "rerun":
            return {}
        return {
            "session": turn.session_id,
            "turn": turn.number,
            "tool_call": self._call.id,
            "model": turn.model,
        }

    def _accepted(self, receipt: Receipt) -> bool:
        if receipt.status == "conflict":
            self._draft.typed(receipt.source)
            self._draft.old_source = receipt.source
            self.ask_again = CHANGED
        elif receipt.status == "pending":
            self._never_ran("not_confirmed", NOT_CONFIRMED)
        elif receipt.status != "done":
            self._draft.remove()
            self.result = self.turn.results.not_run(
                self._call, why_not(receipt), self._draft.title, self._cell_id
            )
        return receipt.status == "done"

    def _refused_edit(self, receipt: Receipt) -> None:
        self.turn.context.seen_source(self._cell_id, receipt.source)
        title = self._draft.title
        self.result = changed_meanwhile(self.turn, self._call, title, self._cell_id, receipt)

    def _back_to_draft(self) -> None:
        """Ask again: the kernel changed at the last moment, before anything was sent."""
        self._post_end(None)
        if self._draft.kind == "insert":
            source = self._source
            self.turn.notebook.apply(SetSource(self._cell_id, source, source, cell_type="raw"))
        self.ask_again = RESTARTED

    # --- the run ---------------------------------------------------------------------

    async def _execute(self, slot: Slot) -> AsyncIterator[Event]:
        turn = self.turn
        msg_id = slot.new_msg_id()
        kernel_id, language = slot.info.kernel_id, known_language(slot.info.language)
        if turn.files_kept is not None:
            await asyncio.shield(turn.files_kept)
        yield RunStarted(self._call.id, self._cell_id, self._run_id, msg_id, kernel_id, language)
        await turn.store.settle(turn.session_id)
        done: ExecutionDone | None = None
        expects = self._draft.expects
        try:
            running = slot.execute(
                self._source,
                msg_id=msg_id,
                timeout=self._draft.cell_timeout,
                looks_at=expects.asked if expects is not None else None,
            )
            async for event in running:
                if isinstance(event, OutputsChanged):
                    self._show_outputs(event)
                elif isinstance(event, DisplayUpdated):
                    # The updated output may be in a trusted cell.
                    data = event.data if self._trusted else passive_data(event.data)
                    turn.document.display(event.display_id, data, event.metadata)
                elif isinstance(event, EnginesWork):
                    yield RunProgress(self._call.id, event.work)
                elif isinstance(event, ExecutionDone):
                    done = event
        except asyncio.CancelledError:
            if slot.sent:
                self._stopped(await slot.stopped())
            raise
        if done is None:
            raise RuntimeError("the kernel's execution ended without a final event")
        await self._finish(slot, done)
        self.done = done
        self.next_inputs = done.next_inputs
        if self._hides_output:
            yield Note(OUTPUT_HIDDEN.format(title=self._draft.title, how=self._how))
        if done.status == "dead":
            yield Note(done.note, "warning", kernel_died=True)

    async def _finish(self, slot: Slot, done: ExecutionDone) -> None:
        turn = self.turn
        self._ran()
        notes: list[str] = []
        if turn.kernel_start not in (None, identity(slot.info)):
            notes.append(RESTARTED_BEFORE)
        turn.kernel_start = identity(slot.info)
        if done.note:
            notes.append(turn.untrusted.inert(done.note))
        if self._edited:
            notes += (EDITED, turn.untrusted.shown(self._source))
        notes += (turn.untrusted.shown(clean(page)) for page in done.pages)
        seen: Seen | None = None
        try:
            # Stop may come while the notebook does not answer; the code has run already.
            seen = await turn.results.see(done.everything, self._draft.room)
            notes.extend(await self._shown(done))
            notes.extend(await self._noted(slot, done))
        finally:
            if not self._ended:
                self._post_end(done)
            status = "error" if done.status == "dead" else done.status
            self.result = turn.results.of_run(
                self._call,
                status,
                title=self._draft.title,
                cell_id=self._cell_id,
                done=done,
                seen=seen or turn.results.see_at_once(done.everything),
                notes=tuple(notes),
                fixed=self._fixes_failure and status == "ok",
            )

    def _show_outputs(self, event: OutputsChanged) -> None:
        self.turn.document.outputs(self._cell_id, self._run_id, event.start, event.outputs)

    async def _noted(self, slot: Slot, done: ExecutionDone) -> tuple[str, ...]:
        """Record what ran. Returns a note on stale input."""
        turn, count = self.turn, done.execution_count
        if done.captured:
            turn.notebook.has_run(self._cell_id, done.everything)
        stale = await noted(turn, slot.info, self._cell_id, count, self._source)
        return (stale,) if stale else ()

    async def _shown(self, done: ExecutionDone) -> tuple[str, ...]:
        """Put all outputs into the cell and save. Returns notes on what failed."""
        turn = self.turn
        trusted = self._trusted or await off_loop(
            lambda: is_passive(done.outputs), size(done.outputs), lambda: False
        )
        self._hides_output = not trusted
        kept = await turn.store.keep_outputs(turn.session_id, done.outputs)
        receipt = await self._post_end(done, trusted, kept)
        if receipt.status == "missing":
            return ("The person deleted the cell while it ran.",)
        if receipt.status != "done":
            return ("The notebook did not confirm the outputs.",)
        # The person knows of, or has closed, a window that does not answer.
        with contextlib.suppress(DocumentError):
            await self.turn.document.save()
        return ()

    def _post_end(
        self, done: ExecutionDone | None, trusted: bool | None = None, kept: str = ""
    ) -> asyncio.Future[Receipt]:
        """Post ``FinishRun``. ``kept``: the digest of the outputs if the journal has them."""
        self._ended = True
        cell_outputs = done.outputs if done is not None else ()
        count = done.execution_count if done is not None else None
        if trusted is None:
            # Stop waits for nothing.
            small = size(cell_outputs) <= INLINE
            trusted = self._trusted or (small and is_passive(cell_outputs))
        end = FinishRun(self._cell_id, self._run_id, cell_outputs, count, trusted, kept)
        if done is not None and self._slot is not None:
            self._slot.listen_on(partial(self.turn.came_late, end))
        return self.turn.notebook.apply(end)

    def _ran(self) -> None:
        self._draft.settle()
        self.turn.context.noted(self._cell_id, self._source, self._run_id)

    # --- ends before or during the run ------------------------------------------------

    def _never_ran(self, status: str, words: str) -> None:
        draft = self._draft
        if self._touched and draft.is_theirs:
            self._post_end(None)
            words += MAYBE_EDITED
        draft.remove()
        self.result = self.turn.results.make(
            self._call,
            "not_confirmed" if status == "not_confirmed" else "not_started",
            words,
            title=draft.title,
            cell_id=self._cell_id if draft.is_theirs else "",
        )

    def _stopped(self, done: ExecutionDone | None) -> None:
        """End the run after Stop. The outputs so far stay; does not wait for the receipt."""
        self._ran()
        notes = [HAD_EFFECTS]
        if done is None:
            begun = self._slot is not None and self._slot.begun
            notes.append(UNRESPONSIVE if begun else QUEUED)
            done = ExecutionDone("interrupted", _as_output(_STUCK if begun else QUEUED), None, 0.0)
            self.turn.unresponsive = self
        else:
            self.done = done
        self._post_end(done)
        self.result = self.turn.results.of_run(
            self._call,
            "interrupted",
            title=self._draft.title,
            cell_id=self._cell_id,
            done=done,
            seen=self.turn.results.see_at_once(done.everything),
            notes=tuple(notes),
        )

    async def has_stopped(self) -> bool:
        """Whether a stopped run has ended since (then posts its outputs) or never began."""
        if self._slot is None:
            return False
        done = await self._slot.stopped()
        if done is not None:
            self._post_end(done)
        return done is not None or not self._slot.begun

    def abandon(self, words: str) -> None:
        """The turn ends now; nothing more is sent."""
        if self.result is None:
            self._never_ran("not_started", words)


def changed_meanwhile(
    turn: Turn, call: ToolUse, title: str, cell_id: str, receipt: Receipt
) -> Result:
    """The result of an edit that was not made, with the cell's current source."""
    words = f"{CHANGED_MEANWHILE} It now reads:"
    shown = turn.untrusted.shown(receipt.source)
    return turn.results.not_run(call, words, title, cell_id, CHANGED_MEANWHILE, shown)


def why_not(receipt: Receipt) -> str:
    """Why an op failed, other than by a conflict."""
    if receipt.status == "refused":
        return f"The notebook refused this change: {receipt.reason}."
    return "The cell is no longer in the notebook."


_STUCK = "Interrupt sent. The kernel has not reacted yet."


def _as_output(words: str) -> tuple[Output, ...]:
    """A text in place of a cell's outputs."""
    return ({"output_type": "stream", "name": "stderr", "text": f"{words}\n"},)
