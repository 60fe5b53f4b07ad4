"""One cell from draft to result: its draft in the notebook, its states, and the ways it ends.

New code and Markdown are raw cells, which no run command runs. An edit or deletion changes its
cell only after the decision. ``scratch`` is code that runs without a cell. ``deciding.py`` gets the
decision, ``running.py`` runs the code; ``states.py`` has the table.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from ..base.off_loop import INLINE
from ..base.sentences import Sentence
from ..notebook.passive import is_passive
from ..view.outputs import Seen
from ..wire.events import DraftDecided, DraftOpened, Status
from ..wire.messages import ToolUse
from ..wire.ops import (
    CellView,
    Delete,
    FinishRun,
    Insert,
    Output,
    Receipt,
    SetSource,
    line_ends,
    weight,
)
from ..wire.ports import ExecutionDone, KernelInfo, Slot
from .approval import policy
from .approval.decisions import Decision
from .expected import Contract
from .states import CellEvent, CellState, after
from .turn.results import OutputRoom, Result
from .turn.turn import Turn

Kind = Literal["insert", "edit", "markdown", "delete", "scratch", "move", "rerun"]

ACTIONS: dict[Kind, policy.Action] = {
    "insert": "run_new",
    "edit": "edit",
    "markdown": "markdown",
    "delete": "delete",
    "scratch": "scratch",
    "move": "move",
    "rerun": "run_again",
}

THEIR_VERSION = "Their version was:"
RESTARTED = Sentence(
    "The kernel was restarted or changed since you decided. Variables may be gone."
)
CHANGED_MEANWHILE = Sentence(
    "The person changed this cell since you read it, or ran it; your change was not made."
)
BLOCKED = "A check of this server does not allow this run:"
NOT_CONFIRMED = Sentence("The notebook did not confirm this change. Nothing was run.")
MAYBE_EDITED = " The cell may already have its new source."
HAD_EFFECTS = "It was stopped before its end; it may have had effects."
UNRESPONSIVE = "The kernel has not reacted to the interrupt yet."
QUEUED = (
    "It is queued in the kernel behind the person's cell and will be interrupted when it starts."
)
RUNS_BY_HAND = (
    "The person runs this cell themselves. read_output shows its output, once there is one."
)
IN_SANDBOX = Sentence("in a sandboxed kernel")
UNASKED = Sentence("without asking")
_STUCK = "Interrupt sent. The kernel has not reacted yet."


def part_of(call: ToolUse) -> ToolUse:
    """One cell of a call with several cells. No model endpoint can guess its id."""
    return ToolUse(f"part_{uuid.uuid4().hex}", call.name, {})


class Granted(NamedTuple):
    """A person's decision about several cells. Holds for the kernel ``info`` and for the
    ``warnings`` on this cell that the person saw."""

    decision: Decision
    info: KernelInfo | None
    warnings: tuple[Sentence, ...]


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
        """Whether a person reviewed the run, outside a sandbox, which does not contain scripts in
        the page. Any other run becomes trusted only at its end, if nothing in its outputs can
        run."""
        return self._is_reviewed and not self._is_sandboxed

    @property
    def how(self) -> Sentence:
        return IN_SANDBOX if self._is_reviewed and self._is_sandboxed else UNASKED


class CellJob:
    """One call that writes, runs, moves or deletes a cell. ``result`` is set at the end, also by
    Stop.

    ``proposed`` is the model's source. ``source`` is the latest one, posted or typed; for an
    edit, the proposed one. ``shown`` is the source that the person was last asked about; None
    before the first question. ``old_source``: the cell's source before an edit or deletion."""

    def __init__(
        self,
        turn: Turn,
        call: ToolUse,
        kind: Kind,
        cell_id: str,
        title: Sentence,
        old_source: str = "",
    ) -> None:
        self.turn = turn
        self.call = call
        """Its id and the tool's name."""
        self.kind = kind
        self.cell_id = cell_id
        self.title = title
        self.old_source = old_source
        self.draft_id = uuid.uuid4().hex[:16]
        self.source = ""
        self.proposed = ""
        self.shown: str | None = None
        self.expects: Contract | None = None
        """What the model expects of the result of ``proposed``."""
        self.is_code = kind in ("insert", "edit", "scratch", "rerun")
        """The caller sets it to False if the edited cell is Markdown."""
        self.only_edits = False
        """Whether an accepted edit of code is left unrun."""
        self.timeout: float | None = None
        """Seconds that the model allows for the run; the turn's own bound applies, too."""
        self.room = OutputRoom()
        self.to: tuple[str, ...] = ()
        """For a move: the ids above the new place."""
        self.barred, self.why_barred = False, tuple[Sentence, ...]()
        """Whether a run must ask in every mode, and the reasons, from ``Turn.bars``."""
        self.typed_by_person = False
        """Whether the person typed ``source``."""
        self._written = ""
        """The cell's source before the person typed."""
        self.instead: CellView | None = None
        """An empty cell that this one replaces once accepted."""
        self.position = ""
        """The place of a new cell in the model's words, as known when the draft opened."""
        self._after: tuple[str, ...] | None = None
        """The ids above a new cell, until it is accepted or removed."""
        self._posted = False
        """Whether the notebook has the new cell."""
        self._units = 0
        """UTF-16 units streamed so far."""
        self.state = CellState.WRITING
        self.result: Result | None = None
        self.placing: asyncio.Future[Receipt] | None = None
        """The notebook's answer to the draft, until it is read."""
        self.verdict: policy.Verdict | None = None
        self.why = Sentence()
        """Why a person must decide; "" if there is no special reason."""
        self.attempt: RunAttempt | None = None
        """The latest decision to run."""

    @property
    def is_owned(self) -> bool:
        if self.kind in ("insert", "markdown", "scratch"):
            return True
        cell = self.turn.notebook.snapshot.cell(self.cell_id)
        same = cell is not None and cell.source == self.old_source
        return same and cell is not None and self.turn.ledger.owns(cell)

    @property
    def is_theirs(self) -> bool:
        """Whether the cell existed before."""
        return self.kind in ("edit", "rerun")

    @property
    def runs(self) -> bool:
        """Whether an accepted draft runs."""
        return self.is_code and not self.only_edits

    @property
    def is_text(self) -> bool:
        """Whether the draft is Markdown, which the page renders as soon as it is accepted."""
        return self.kind in ("edit", "markdown") and not self.is_code

    # --- in the notebook -------------------------------------------------------------

    def place_at(self, after: tuple[str, ...]) -> None:
        """Choose the place of the new cell. The notebook gets the cell with its first source."""
        self._after = after
        self.turn.notebook.placed[self.cell_id] = after

    def write(self, source: str) -> None:
        """Stream the part of ``source`` that is new. Offsets are UTF-16 units."""
        kind = self.kind
        if kind == "delete" or kind == "scratch" or kind == "move" or kind == "rerun":
            return
        if not source.startswith(self.source):
            return
        if self._after is not None and not self._posted:
            # Ops stay in order, so the receipt can wait.
            self._post("", self._after)
        text = source[len(self.source) :]
        if text:
            self.turn.document.stream(self.draft_id, self.cell_id, kind, self._units, text)
            self._units += len(text.encode("utf-16-le")) // 2
            self.source = source

    def complete(self, source: str) -> asyncio.Future[Receipt] | None:
        """Post the model's complete source. None for drafts that change no cell before the
        decision. ``conflict``: the person typed; the receipt has the current source."""
        self.source = source
        if self._posted:
            return self.turn.notebook.apply(SetSource(self.cell_id, source, ""))
        return None if self._after is None else self._post(source, self._after)

    def _post(self, source: str, after: tuple[str, ...]) -> asyncio.Future[Receipt]:
        self._posted = True
        return self.turn.notebook.apply(Insert(self.cell_id, "raw", source, after))

    def replace_empty(self, cell_id: str) -> None:
        """Replace this empty cell once accepted; "" for none."""
        self.instead = self.turn.notebook.snapshot.cell(cell_id)
        if self.instead is not None:
            self.turn.notebook.instead[self.cell_id] = cell_id

    def settle(self) -> None:
        """Turn the accepted draft into an ordinary cell."""
        self._after, self._posted = None, False
        self.turn.notebook.instead.pop(self.cell_id, None)
        empty, self.instead = self.instead, None
        if empty is not None:
            self.turn.notebook.apply(Delete(empty.cell_id, empty.source))
            self.turn.context.noted(empty.cell_id, None)

    def typed(self, source: str) -> None:
        """Record that the person typed ``source`` into the cell."""
        if not self.typed_by_person:
            self._written = self.source
        self.source = source
        self.typed_by_person = True

    def remove(self, *, typed_too: bool = False) -> None:
        """Remove an undecided draft. Text that the person typed stays as a raw cell, unless
        ``typed_too``: they rejected the draft themselves."""
        if self._after is not None and not self._posted:
            self.turn.notebook.placed.pop(self.cell_id, None)
        self._after = None
        if self._posted:
            self._posted = False
            written = self._written if self.typed_by_person else self.source
            self.turn.notebook.take_out(self.cell_id, line_ends(written), typed_too=typed_too)

    # --- states and results ----------------------------------------------------------

    def open(self) -> None:
        """Show the draft."""
        call_id, kind = self.call.id, self.kind
        self.turn.show(
            DraftOpened(
                *(call_id, self.draft_id, kind, self.cell_id),
                *(self.title, self.old_source),
            )
        )

    def decided(self, decision: Decision) -> DraftDecided:
        return DraftDecided(
            self.call.id,
            self.draft_id,
            decision.action,
            decision.by,
            None if decision.source == self.shown else decision.source,
            decision.edited,
            decision.reason,
            decision.window,
            decision.said,
            decision.person,
        )

    def go(self, event: CellEvent) -> None:
        self.state = after(self.state, event)

    def end(self, result: Result) -> None:
        self.result = result
        self.go(CellEvent.ENDED)

    def made(self, status: Status, words: str, cell_id: str = "") -> Result:
        return self.turn.results.make(self.call, status, words, title=self.title, cell_id=cell_id)

    def outdated(self, why: Sentence, at: RunAttempt | None = None) -> None:
        """The cell or the kernel is not the one of the decision: decide again."""
        self.go(CellEvent.OUTDATED)
        if why == RESTARTED and at is not None and at.decision.by == "policy":
            # The policy had decided, not a person: it decides again for the new kernel.
            self.verdict, self.why = None, Sentence()
        else:
            self.verdict, self.why = "ask", why

    def ran(self, at: RunAttempt) -> None:
        """The code has run: the draft is an ordinary cell."""
        if self.kind != "scratch":
            self.settle()
            self.turn.context.noted(self.cell_id, at.source, at.run_id)

    def post_end(
        self,
        at: RunAttempt,
        done: ExecutionDone | None,
        trusted: bool | None = None,
        kept: str = "",
    ) -> asyncio.Future[Receipt]:
        """Post ``FinishRun``. ``kept``: the digest of the outputs if the journal has them."""
        if self.kind == "scratch":
            nothing: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            nothing.set_result(Receipt("done"))
            return nothing
        outputs = done.outputs if done is not None else ()
        count = done.execution_count if done is not None else None
        if trusted is None:
            # Stop waits for nothing.
            trusted = at.is_trusted or (weight(outputs) <= INLINE and is_passive(outputs))
        end = FinishRun(self.cell_id, at.run_id, outputs, count, trusted, kept)
        if done is not None and at.slot is not None:
            at.slot.listen_on(partial(self.turn.came_late, end))
        return self.turn.notebook.apply(end)

    def of_run(
        self, at: RunAttempt, status: Status, done: ExecutionDone, seen: Seen, notes: list[str]
    ) -> Result:
        return self.turn.results.of_run(
            self.call,
            status,
            title=self.title,
            cell_id=self.cell_id,
            done=done,
            seen=seen,
            notes=tuple(notes),
            fixed=at.fixes_failure and status == "ok",
        )

    def reject(
        self,
        reason: Sentence,
        source: str = "",
        by: str = "policy",
        summary: Sentence | None = None,
    ) -> None:
        """``summary``: the reason for people, if it is another one than for the model."""
        self.remove()
        body = f"{reason}\n{THEIR_VERSION}" if source else reason
        cell_id = self.cell_id if self.kind in ("edit", "rerun", "delete", "move") else ""
        quoted = self.turn.untrusted.shown(source) if source else ""
        shown = Sentence() if by == "nobody" else summary or reason
        self.end(
            self.turn.results.not_run(self.call, body, self.title, cell_id, shown, quoted, by=by)
        )

    def block(self, reason: Sentence) -> None:
        """A hook does not allow this run, whoever decided on it."""
        self.remove()
        cell_id = self.cell_id if self.is_theirs else ""
        quoted = self.turn.untrusted.shown(reason)
        self.end(self.turn.results.not_run(self.call, BLOCKED, self.title, cell_id, reason, quoted))

    @property
    def is_by_hand(self) -> bool:
        """Whether the person runs this draft by a notebook command, so that we do not."""
        return self.kind == "insert" and self.turn.decisions.ran_by_hand(self.cell_id)

    def changed_meanwhile(self, receipt: Receipt) -> None:
        """An edit was not made: show the cell's current source."""
        turn = self.turn
        turn.context.seen_source(self.cell_id, receipt.source)
        words, shown = f"{CHANGED_MEANWHILE} It now reads:", turn.untrusted.shown(receipt.source)
        self.end(
            turn.results.not_run(
                self.call, words, self.title, self.cell_id, CHANGED_MEANWHILE, shown
            )
        )

    def never_ran(self, status: Status, words: str, at: RunAttempt) -> None:
        if at.posted and self.is_theirs:
            self.post_end(at, None)
            words += MAYBE_EDITED
        self.remove()
        self.end(self.made(status, words, self.cell_id if self.is_theirs else ""))

    def stopped(self, at: RunAttempt, done: ExecutionDone | None) -> None:
        """End the run after Stop. The outputs so far stay; does not wait for the receipt."""
        self.ran(at)
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
        if self.state is CellState.WAITING:
            stopped = Decision("reject", "stop", self.source, reason=Sentence("Stopped."))
            self.turn.show(self.decided(stopped))
        if self.result is None and self.is_by_hand:
            self.settle()
            self.end(self.made("not_confirmed", RUNS_BY_HAND, self.cell_id))
        elif self.result is None and self.attempt is not None:
            self.never_ran("not_started", words, self.attempt)
        self.remove()
        if self.result is None:
            self.end(self.made("not_started", words))


REFUSALS = {
    str(one): one
    for one in (
        Sentence("two cells have this id"),
        Sentence("the notebook is not in format 4"),
        Sentence("the person keeps the cell private"),
        Sentence("the cell has changed since, and is too large to send"),
        Sentence("the cell is locked: its metadata says deletable: false"),
        Sentence("the cell is locked: its metadata says editable: false"),
        Sentence("JupyterLab cannot show this cell"),
        Sentence("the shared notebook did not take the change"),
    )
}
"""Why a window or a document refuses an op: the reasons of receipts."""


def why_not(receipt: Receipt) -> Sentence:
    """Why an op failed, other than by a conflict."""
    if receipt.status == "refused":
        reason = REFUSALS.get(receipt.reason, receipt.reason)
        return Sentence("The notebook refused this change: {reason}.", reason=reason)
    return Sentence("The cell is no longer in the notebook.")


def _as_output(words: str) -> tuple[Output, ...]:
    """A text in place of a cell's outputs."""
    return ({"output_type": "stream", "name": "stderr", "text": f"{words}\n"},)
