"""One cell from the model's first letter to its result.

    writing     the draft appears in the notebook and code streams into it
    deciding    the policy says run, ask or refuse; the person decides on exact bytes
    running     hold the idle kernel, compare the cell, run exactly those bytes
    finished    outputs are in the cell, the result is ready for the model

If the decision no longer fits when its turn comes (another kernel, a kernel that was
restarted, a cell that was edited) nothing runs, and the person is asked again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Literal

from . import policy
from .decisions import Decision, new_nonce
from .document import BeginRun, Delete, FinishRun, Insert, Output, SetSource
from .errors import KernelError
from .events import (
    Draft,
    DraftDecided,
    DraftOpened,
    DraftWaiting,
    Event,
    KernelWaiting,
    Note,
    RunStarted,
    Status,
)
from .messages import ToolUse
from .ports import DisplayUpdated, ExecutionDone, KernelInfo, OutputsChanged, Slot
from .turn import Result, Turn

Kind = Literal["insert", "edit", "markdown", "delete"]

RESTARTED = "The kernel was restarted or changed since you decided: variables may be gone."
RESTARTED_BEFORE = (
    "The kernel was restarted or changed since your last cell: all earlier variables are gone."
)
CHANGED = "The cell changed after you decided."


class CellRun:
    """A draft of one tool call. ``result`` is set when it has come to an end."""

    def __init__(self, turn: Turn, call_id: str, name: str) -> None:
        self.turn = turn
        self.call_id = call_id
        self.name = name
        self.kind: Kind = "insert"
        self.cell_id = ""
        self.title = ""
        self.old_source = ""
        self.draft_id = uuid.uuid4().hex[:16]
        self.opened = False
        self.inserted = False
        self.result: Result | None = None
        self.started = False
        """Code of ours has reached the kernel."""
        self.next_inputs: tuple[str, ...] = ()
        """Code that the cell has put forward with set_next_input."""
        self._written = ""
        """The source as we last put it into the notebook."""
        self._run_id = ""
        self._start_before: tuple[str, int] | None = None
        self._current = ""
        self._why = ""

    # --- writing ---------------------------------------------------------------------

    def open(self, kind: Kind, cell_id: str, title: str, old_source: str = "") -> DraftOpened:
        """The draft appears: a raw cell for new code, a proposal under an existing cell."""
        self.kind, self.title, self.old_source = kind, title, old_source
        self.cell_id = cell_id
        self.opened = True
        return DraftOpened(self.call_id, self.draft_id, kind, cell_id, title, old_source)

    def insert(self, after: tuple[str, ...]) -> None:
        """Post the raw cell. Ops stay in order, so nobody needs to wait for the receipt."""
        self.inserted = True
        self.turn.apply(Insert(self.cell_id, "raw", "", after))

    def write(self, source: str) -> None:
        """Show what is new of the source so far. Never cuts inside a surrogate pair."""
        if self.kind == "delete" or not source.startswith(self._written):
            return
        text = source[len(self._written) :]
        if text:
            start = len(self._written.encode("utf-16-le")) // 2
            self.turn.document.stream(self.draft_id, self.cell_id, self.kind, start, text)
            self._written = source

    def discard(self, source: str | None = None) -> None:
        """Take the draft out of the notebook, if it still is ``source`` (what we wrote).

        The receipt is not waited for: nothing depends on it.
        """
        if self.inserted and not self.started:
            self.inserted = False
            self.turn.apply(Delete(self.cell_id, self._written if source is None else source))

    # --- deciding --------------------------------------------------------------------

    async def run(
        self, call: ToolUse, source: str, *, always_ask: bool = False
    ) -> AsyncIterator[Event]:
        """From the finished draft to ``result``. ``source`` is what the model wrote."""
        turn = self.turn
        if self.inserted:
            receipt = await turn.apply(SetSource(self.cell_id, source, ""))
            if receipt.status == "conflict":
                source = receipt.source
            elif receipt.status != "done":
                self._reject(call, "The draft's cell is no longer in the notebook.")
                return
        self._written = source
        hidden = policy.hidden_characters(source)
        suspicious = bool(hidden) or (self.kind == "markdown" and policy.remote_or_raw(source))
        verdict = self._verdict(suspicious, always_ask)
        info = await turn.kernel_info()
        if verdict == "refuse":
            self.discard()
            words = policy.refusal(self._action, turn.mode)
            self._reject(call, words, source)
            return
        notices = self._notices(source, info, hidden)
        proposed = source
        while True:
            if verdict == "ask":
                draft = self._draft(source, notices)
                yield DraftWaiting(draft)
                decision = await turn.decisions.ask(draft)
                if decision.run_all:
                    turn.mode = "auto"
            else:
                decision = Decision("run", "policy", source)
            edited = decision.source != proposed
            yield DraftDecided(
                self.call_id,
                self.draft_id,
                decision.action,
                decision.by,
                decision.source,
                edited,
                decision.reason,
            )
            if decision.action == "reject":
                self.discard(decision.source)
                self._reject(call, decision.reason, decision.source if edited else "")
                return
            source = decision.source
            if self.kind in ("markdown", "delete"):
                await self._change(call, source)
            else:
                async for event in self._hold_and_run(call, source, info, edited):
                    yield event
            if self.result is not None:
                return
            # Nothing ran, because what was decided on is no longer what is there.
            verdict = "ask"
            info = await turn.kernel_info()
            source = self._current
            notices = (self._why, *self._notices(source, info, policy.hidden_characters(source)))

    @property
    def _action(self) -> policy.Action:
        names: dict[Kind, policy.Action] = {
            "insert": "run_new",
            "edit": "edit",
            "markdown": "markdown",
            "delete": "delete",
        }
        return names[self.kind]

    def _verdict(self, suspicious: bool, always_ask: bool) -> str:
        owned = self.kind in ("insert", "markdown") or self.turn.ledger.owns(
            self.cell_id, self.old_source
        )
        return policy.decide(
            self._action,
            self.turn.mode,
            owned=owned,
            suspicious=suspicious,
            always_ask=always_ask or self.turn.always_ask,
        )

    def _notices(
        self, source: str, info: KernelInfo | None, hidden: tuple[str, ...]
    ) -> tuple[str, ...]:
        if self.kind in ("markdown", "delete"):
            return hidden
        modules = frozenset(name[:-3] for name, _ in self.turn.files if name.endswith(".py"))
        language = info.language if info else "python"
        return (*hidden, *policy.notices(source, language, modules))

    def _draft(self, source: str, notices: tuple[str, ...]) -> Draft:
        return Draft(
            draft_id=self.draft_id,
            call_id=self.call_id,
            kind=self.kind,
            cell_id=self.cell_id,
            title=self.title,
            source=source,
            nonce=new_nonce(),
            old_source=self.old_source,
            notices=notices,
            can_run_all=self.kind in ("insert", "edit")
            and self.turn.mode == "review"
            and not self.turn.always_ask
            and self.turn.may_run_all,
        )

    def _reject(self, call: ToolUse, reason: str, source: str = "") -> None:
        body = f"{reason}\nTheir version was:\n{source}" if source else reason
        self.result = self.turn.result(
            call,
            "rejected",
            body,
            title=self.title,
            cell_id="" if self.kind != "edit" else self.cell_id,
            is_error=True,
            summary=reason,
        )

    # --- changing without running ----------------------------------------------------

    async def _change(self, call: ToolUse, source: str) -> None:
        turn = self.turn
        if self.kind == "delete":
            receipt = await turn.apply(Delete(self.cell_id, self.old_source))
        else:
            receipt = await turn.apply(
                SetSource(self.cell_id, source, self._written, cell_type="markdown")
            )
            self.started = True
            turn.context.noted(self.cell_id, source)
        if receipt.status == "done":
            self.result = turn.result(call, "ok", title=self.title, cell_id=self.cell_id)
        elif receipt.status == "pending":
            self._not_confirmed(call)
        else:
            body = f"{receipt.reason}. It now reads:\n{receipt.source}"
            self.result = turn.result(call, "error", body, title=self.title, cell_id=self.cell_id)

    def _not_confirmed(self, call: ToolUse) -> None:
        self.result = self.turn.result(
            call,
            "not_confirmed",
            "The notebook has not confirmed this change. Nothing was run.",
            title=self.title,
            cell_id=self.cell_id,
        )

    # --- running ---------------------------------------------------------------------

    async def _hold_and_run(
        self, call: ToolUse, source: str, info: KernelInfo | None, edited: bool
    ) -> AsyncIterator[Event]:
        turn = self.turn
        if turn.kernel.busy():
            yield KernelWaiting(self.call_id)
        try:
            async with turn.kernel.hold() as slot:
                if info is None or _identity(slot.info) != _identity(info):
                    self._ask_again(source, RESTARTED)
                    return
                if not await self._begin(call, source):
                    return
                async for event in self._execute(call, slot, source, edited):
                    yield event
        except KernelError as error:
            if self._run_id:
                turn.apply(FinishRun(self.cell_id, self._run_id, (), None))
            self.result = turn.result(
                call, "not_started", error.message, title=self.title, cell_id=self.cell_id
            )
            self.discard(source)

    def _ask_again(self, source: str, why: str) -> None:
        self._current, self._why = source, why

    async def _begin(self, call: ToolUse, source: str) -> bool:
        """Put the decided source in the cell and mark it running; False if it may not run."""
        turn = self.turn
        self._run_id = uuid.uuid4().hex[:12]
        metadata = {
            "session": turn.session_id,
            "turn": turn.number,
            "tool_call": self.call_id,
            "model": turn.model,
        }
        expect = self.old_source if self.kind == "edit" else self._written
        if source != expect:
            receipt = await turn.apply(SetSource(self.cell_id, source, expect))
            if receipt.status == "conflict" and self.kind == "edit":
                self.result = turn.result(
                    call,
                    "rejected",
                    "The person changed this cell since you read it; your edit was not made. "
                    f"It now reads:\n{receipt.source}",
                    title=self.title,
                    cell_id=self.cell_id,
                    is_error=True,
                    summary="The cell was changed meanwhile.",
                )
                turn.context.seen_source(self.cell_id, receipt.source)
                return False
            if not self._accepted(call, receipt.status, receipt.source):
                return False
        self._written = self.old_source = source
        receipt = await turn.apply(BeginRun(self.cell_id, source, self._run_id, metadata))
        return self._accepted(call, receipt.status, receipt.source)

    def _accepted(self, call: ToolUse, status: str, source: str) -> bool:
        if status == "done":
            return True
        if status == "conflict":
            self._written = source
            if self.kind == "edit":
                self.old_source = source
            self._ask_again(source, CHANGED)
        elif status == "pending":
            self._not_confirmed(call)
        else:
            self._reject(call, "The cell is no longer in the notebook, or cannot be changed.")
        return False

    async def _execute(
        self, call: ToolUse, slot: Slot, source: str, edited: bool
    ) -> AsyncIterator[Event]:
        turn = self.turn
        was_failed = self.cell_id in turn.ledger.failed
        self._start_before = turn.kernel_start
        msg_id = slot.new_msg_id()
        yield RunStarted(self.call_id, self.cell_id, self._run_id, msg_id)
        self.started = True
        done: ExecutionDone | None = None
        try:
            async for event in slot.execute(source, msg_id=msg_id, timeout=turn.cell_timeout):
                if isinstance(event, OutputsChanged):
                    turn.document.outputs(self.cell_id, self._run_id, event.start, event.outputs)
                elif isinstance(event, DisplayUpdated):
                    turn.document.display(event.display_id, event.data, event.metadata)
                elif isinstance(event, ExecutionDone):
                    done = event
        except asyncio.CancelledError:
            done = await slot.stopped()
            self._finish_stopped(call, source, done)
            raise
        if done is None:
            raise RuntimeError("the kernel's execution ended without a last event")
        notes = await self._finish(source, done, edited)
        if self._start_before not in (None, _identity(slot.info)):
            notes = (RESTARTED_BEFORE, *notes)
        turn.kernel_start = _identity(slot.info)
        self.result = self._result_of(call, source, done, notes, was_failed)
        if done.status == "dead":
            yield Note(done.note, "warning")
        self.next_inputs = done.next_inputs

    async def _finish(self, source: str, done: ExecutionDone, edited: bool) -> tuple[str, ...]:
        turn = self.turn
        notes = [done.note] if done.note else []
        if edited:
            notes.append(f"The person edited the code before it ran. What ran:\n{source}")
        notes.extend(done.pages)
        receipt = await turn.apply(
            FinishRun(self.cell_id, self._run_id, done.outputs, done.execution_count)
        )
        turn.context.noted(self.cell_id, source)
        if receipt.status == "missing":
            notes.append("The person deleted the cell while it ran.")
        elif receipt.status != "done":
            notes.append("The notebook has not confirmed that it shows the outputs.")
        await turn.document.save()
        return tuple(notes)

    def _result_of(
        self,
        call: ToolUse,
        source: str,
        done: ExecutionDone,
        notes: tuple[str, ...],
        was_failed: bool,
    ) -> Result:
        status: Status = "interrupted" if done.status == "dead" else done.status
        return self.turn.output_result(
            call,
            status,
            title=self.title,
            cell_id=self.cell_id,
            source=source,
            cell_outputs=done.outputs,
            execution_count=done.execution_count,
            elapsed=done.elapsed,
            notes=notes,
            mended=was_failed and status == "ok",
        )

    def _finish_stopped(self, call: ToolUse, source: str, done: ExecutionDone | None) -> None:
        """After Stop: the outputs so far stay in the cell. The receipt is not waited for."""
        notes: tuple[str, ...] = ("The person stopped it; it may have had effects.",)
        cell_outputs: tuple[Output, ...] = ()
        if done is None:
            notes = (*notes, "The kernel has not obeyed the interrupt yet.")
            done = ExecutionDone("interrupted", _STUCK, None, 0.0)
        cell_outputs = done.outputs
        op = FinishRun(self.cell_id, self._run_id, cell_outputs, done.execution_count)
        self.turn.apply(op)
        self.turn.context.noted(self.cell_id, source)
        self.result = self.turn.output_result(
            call,
            "interrupted",
            title=self.title,
            cell_id=self.cell_id,
            source=source,
            cell_outputs=cell_outputs,
            execution_count=done.execution_count,
            elapsed=done.elapsed,
            notes=notes,
        )


_STUCK: tuple[Output, ...] = (
    {
        "output_type": "stream",
        "name": "stderr",
        "text": "Interrupt sent; the kernel has not obeyed yet.\n",
    },
)


def _identity(info: KernelInfo) -> tuple[str, int]:
    return info.kernel_id, info.start
