"""One attempt to run what was decided on: exactly those bytes, in that cell, in that kernel.

    hold      wait until the kernel is idle, and see that it is still the same one
    begin     the notebook compares the cell with the decided source, and shows [*]
    execute   exactly those bytes; outputs go into the cell as they come
    finish    all outputs are in the cell, and the result is ready for the model

If what was decided on is no longer what is there, nothing runs and ``ask_again`` says why;
``DraftCell.source`` is then what stands there now.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator

import msgspec

from ..approval.decisions import Decision
from ..document.ops import BeginRun, FinishRun, Output, Receipt, SetSource, digest
from ..document.passive import is_passive, passive_data
from ..errors import DocumentError, KernelError
from ..events import Event, KernelWaiting, Note, RunStarted
from ..history.prose import known_language
from ..messages import ToolUse
from ..model_view.outputs import Seen, size
from ..model_view.plain_text import clean
from ..off_loop import INLINE, off_loop
from ..ports import DisplayUpdated, ExecutionDone, ExternalRun, KernelInfo, OutputsChanged, Slot
from ..turn.results import Result
from ..turn.turn import Turn, identity
from .draft import DraftCell
from .external_run import EDITED, ELSEWHERE, Watch

RESTARTED = "The kernel was restarted or changed since you decided: variables may be gone."
RESTARTED_BEFORE = (
    "The kernel was restarted or changed since your last cell: all earlier variables are gone."
)
CHANGED = "The cell changed after you decided."
CHANGED_MEANWHILE = "The person changed this cell since you read it; your change was not made."
NOT_CONFIRMED = "The notebook has not confirmed this change. Nothing was run."
MAYBE_EDITED = " The cell may already have its new source."
HAD_EFFECTS = "The person stopped it; it may have had effects."
DISOBEYED = "The kernel has not obeyed the interrupt yet."
QUEUED = "It waits in the kernel behind a cell of the person's, and is interrupted when it begins."
SUBDUED = (
    "“{title}” ran without being asked about, so widgets, scripts and the like in its output are "
    "not shown. Run the cell yourself to see them."
)

WAITS = 0.2
"""Seconds after which it is said that the run waits for the kernel."""


class Execution:
    """``result`` is set when it has come to an end, also by Stop."""

    def __init__(
        self,
        draft: DraftCell,
        call: ToolUse,
        decision: Decision,
        info: KernelInfo | None,
        watch: Watch,
    ) -> None:
        """``info`` is the kernel that the decision is good for. If ``watch`` sees the code
        run elsewhere while it waits for the kernel, nothing is done: there is no result."""
        self.ask_again = ""
        self.result: Result | None = None
        self.done: ExecutionDone | None = None
        """How the run ended, if it has come to its end by itself."""
        self.next_inputs: tuple[str, ...] = ()
        """Code that the cell has put forward with set_next_input."""
        self.turn = draft.turn
        self._draft = draft
        self._cell_id = draft.cell_id
        self._call = call
        self._source = decision.source
        self._edited = decision.edited
        # Nobody has looked at what policy alone lets run, nor at the rest of "run all": such a
        # run is trusted only at its end, and only if nothing in its outputs can run.
        self._trusted = decision.by == "person" and not decision.run_all
        self._info = info
        self._watch = watch
        self._run_id = uuid.uuid4().hex[:12]
        self._subdued = False
        """Whether its outputs are not shown as they are."""
        self._touched = False
        """Whether ops of this attempt are on their way to the cell."""
        self._slot: Slot | None = None
        self._mends = False

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
                if self._watch.run is not None:
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
        """Put the decided source in the cell and mark it running; False if it may not run."""
        turn, draft = self.turn, self._draft
        self._mends = self._cell_id in turn.ledger.failed
        edit = draft.kind == "edit"
        expect = draft.old_source if edit else draft.source
        self._touched = True
        told = not edit
        if self._source != expect or draft.is_theirs:
            # Also where it stands already: from now on it is known whose it is.
            receipt = await turn.notebook.apply(SetSource(self._cell_id, self._source, expect))
            if receipt.status == "conflict" and edit:
                self._refused_edit(receipt)
                return False
            if not self._accepted(receipt):
                return False
            told |= receipt.before is not None
        draft.source = draft.old_source = self._source
        draft.is_theirs = False
        begin = BeginRun(
            self._cell_id,
            digest(self._source),
            self._run_id,
            self._provenance,
            self._trusted,
            tell=not told,
        )
        return self._accepted(await turn.notebook.apply(begin))

    @property
    def _provenance(self) -> dict[str, object]:
        turn = self.turn
        return {
            "session": turn.session_id,
            "turn": turn.number,
            "tool_call": self._call.id,
            "model": turn.model,
        }

    def _accepted(self, receipt: Receipt) -> bool:
        if receipt.status == "conflict":
            self._draft.source = self._draft.old_source = receipt.source
            self._draft.is_theirs = True
            self.ask_again = CHANGED
        elif receipt.status == "pending":
            self._never_ran("not_confirmed", NOT_CONFIRMED)
        elif receipt.status != "done":
            self._draft.remove()
            self.result = self.turn.results.rejected(
                self._call, why_not(receipt), self._draft.title, self._cell_id
            )
        return receipt.status == "done"

    def _refused_edit(self, receipt: Receipt) -> None:
        self.turn.context.seen_source(self._cell_id, receipt.source)
        title = self._draft.title
        self.result = changed_meanwhile(self.turn, self._call, title, self._cell_id, receipt)

    def _back_to_draft(self) -> None:
        """The kernel has changed at the last moment and nothing was sent: ask again."""
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
        yield RunStarted(self._call.id, self._cell_id, self._run_id, msg_id, kernel_id, language)
        await turn.store.settle()
        done: ExecutionDone | None = None
        try:
            async for event in slot.execute(
                self._source,
                msg_id=msg_id,
                timeout=turn.cell_timeout,
                unless=self._watch.on(self._source),
            ):
                if isinstance(event, OutputsChanged):
                    turn.document.outputs(self._cell_id, self._run_id, event.start, event.outputs)
                elif isinstance(event, DisplayUpdated):
                    # What it stands in may be trusted.
                    data = event.data if self._trusted else passive_data(event.data)
                    turn.document.display(event.display_id, data, event.metadata)
                elif isinstance(event, ExecutionDone):
                    done = event
        except asyncio.CancelledError:
            if slot.sent:
                self._stopped(await slot.stopped())
            raise
        except KernelError:
            if self._watch.run is None:
                raise
            done = await self._ended_elsewhere(self._watch.run)
        if done is None:
            raise RuntimeError("the kernel's execution ended without a last event")
        await self._finish(slot, done)
        self.done = done
        self.next_inputs = done.next_inputs
        if self._subdued:
            yield Note(SUBDUED.format(title=self._draft.title))
        if done.status == "dead":
            yield Note(done.note, "warning", kernel_died=True)

    async def _ended_elsewhere(self, run: ExternalRun) -> ExecutionDone:
        """Somebody was quicker, when the cell was marked running: it shows their outputs."""
        try:
            done = await run.ended()
        except asyncio.CancelledError:
            self._stopped(ExecutionDone("interrupted", (), None, 0.0))
            raise
        return msgspec.structs.replace(done, note=f"{ELSEWHERE} {done.note}".strip())

    async def _finish(self, slot: Slot, done: ExecutionDone) -> None:
        turn = self.turn
        self._ran()
        notes: list[str] = []
        if turn.kernel_start not in (None, identity(slot.info)):
            notes.append(RESTARTED_BEFORE)
        turn.kernel_start = identity(slot.info)
        if done.note:
            notes.append(turn.foreign.inert(done.note))
        if self._edited:
            notes += (EDITED, turn.foreign.shown(self._source))
        notes += (turn.foreign.shown(clean(page)) for page in done.pages)
        seen: Seen | None = None
        try:
            # Stop may come while the notebook does not answer: the code has run all the same.
            seen = await turn.results.see(done.outputs)
            notes.extend(await self._shown(done))
        finally:
            status = "interrupted" if done.status == "dead" else done.status
            self.result = turn.results.of_run(
                self._call,
                status,
                title=self._draft.title,
                cell_id=self._cell_id,
                source=self._source,
                done=done,
                seen=seen or turn.results.see_at_once(done.outputs),
                notes=tuple(notes),
                mended=self._mends and status == "ok",
            )

    async def _shown(self, done: ExecutionDone) -> tuple[str, ...]:
        """All outputs are in the cell and saved; else notes that say what is not so."""
        trusted = self._trusted or await off_loop(
            lambda: is_passive(done.outputs), size(done.outputs), lambda: False
        )
        self._subdued = not trusted
        receipt = await self._post_end(done, trusted)
        if receipt.status == "missing":
            return ("The person deleted the cell while it ran.",)
        if receipt.status != "done":
            return ("The notebook has not confirmed that it shows the outputs.",)
        # A window that does not answer has been told of, or closed, by the person.
        with contextlib.suppress(DocumentError):
            await self.turn.document.save()
        return ()

    def _post_end(
        self, done: ExecutionDone | None, trusted: bool | None = None
    ) -> asyncio.Future[Receipt]:
        cell_outputs = done.outputs if done is not None else ()
        count = done.execution_count if done is not None else None
        if trusted is None:
            # After Stop, which waits for nothing.
            small = size(cell_outputs) <= INLINE
            trusted = self._trusted or (small and is_passive(cell_outputs))
        end = FinishRun(self._cell_id, self._run_id, cell_outputs, count, trusted)
        return self.turn.notebook.apply(end)

    def _ran(self) -> None:
        self._draft.settle()
        self.turn.context.noted(self._cell_id, self._source)

    # --- ends without a run, or in the middle of it ------------------------------------

    def _never_ran(self, status: str, words: str) -> None:
        draft = self._draft
        if self._touched and draft.kind == "edit":
            self._post_end(None)
            words += MAYBE_EDITED
        draft.remove()
        self.result = self.turn.results.make(
            self._call,
            "not_confirmed" if status == "not_confirmed" else "not_started",
            words,
            title=draft.title,
            cell_id=self._cell_id if draft.kind == "edit" else "",
        )

    def _stopped(self, done: ExecutionDone | None) -> None:
        """After Stop: the outputs so far stay in the cell. The receipt is not waited for."""
        self._ran()
        notes = [HAD_EFFECTS]
        if done is None:
            begun = self._slot is not None and self._slot.begun
            notes.append(DISOBEYED if begun else QUEUED)
            done = ExecutionDone("interrupted", _told(_STUCK if begun else QUEUED), None, 0.0)
            self.turn.disobeying = self
        self._post_end(done)
        self.result = self.turn.results.of_run(
            self._call,
            "interrupted",
            title=self._draft.title,
            cell_id=self._cell_id,
            source=self._source,
            done=done,
            seen=self.turn.results.see_at_once(done.outputs),
            notes=tuple(notes),
        )

    async def has_obeyed(self) -> bool:
        """Whether a stopped run that went on has ended since (its outputs are then shown),
        or had nothing to obey, as it has not begun."""
        if self._slot is None:
            return False
        done = await self._slot.stopped()
        if done is not None:
            self._post_end(done)
        return done is not None or not self._slot.begun

    def abandon(self, words: str) -> None:
        """The turn ends now. What has not been sent never will be."""
        if self.result is None:
            self._never_ran("not_started", words)


def changed_meanwhile(
    turn: Turn, call: ToolUse, title: str, cell_id: str, receipt: Receipt
) -> Result:
    """What the model is told of an edit that is not made, with what stands there now."""
    words = f"{CHANGED_MEANWHILE} It now reads:"
    shown = turn.foreign.shown(receipt.source)
    return turn.results.rejected(call, words, title, cell_id, CHANGED_MEANWHILE, shown)


def why_not(receipt: Receipt) -> str:
    """In words, for an op that was neither done nor in conflict."""
    if receipt.status == "refused":
        return f"The notebook refused this change: {receipt.reason}."
    return "The cell is no longer in the notebook."


_STUCK = "Interrupt sent; the kernel has not obeyed yet."


def _told(words: str) -> tuple[Output, ...]:
    """Words in the cell, where its outputs would be."""
    return ({"output_type": "stream", "name": "stderr", "text": f"{words}\n"},)
