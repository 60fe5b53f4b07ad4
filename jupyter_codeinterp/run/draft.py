"""A draft in the notebook, from its first streamed code to its acceptance or removal.

New code and Markdown are raw cells, which no run command runs. An edit or deletion changes its
cell only after the decision. ``scratch`` is code that runs without a cell.
"""

from __future__ import annotations

import asyncio
import uuid
from functools import partial
from typing import Literal

from ..base.off_loop import off_loop
from ..wire.events import Draft, DraftDecided, DraftOpened
from ..wire.findings import Finding, Label
from ..wire.messages import ToolUse
from ..wire.ops import CellView, Delete, Insert, Receipt, SetSource, line_ends
from ..wire.ports import KernelInfo
from . import hooked
from .approval import code_warnings, markdown_cells, policy
from .approval.decisions import Decision, new_nonce
from .approval.hooks import CellCode, Checked, HookNote, checked
from .approval.labels import labels, persons_variables
from .expected import Contract
from .turn.results import OutputRoom
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


def part_of(call: ToolUse) -> ToolUse:
    """One cell of a call with several cells. No model endpoint can guess its id."""
    return ToolUse(f"part_{uuid.uuid4().hex}", call.name, {})


class DraftCell:
    """``proposed`` is the model's source. ``source`` is the latest one, posted or typed; for an
    edit, the proposed one. ``shown`` is the source that the person was last asked about; None
    before the first question. ``old_source``: the cell's source before an edit or deletion."""

    def __init__(
        self,
        turn: Turn,
        call: ToolUse,
        kind: Kind,
        cell_id: str,
        title: str,
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
        self.barred, self.why_barred = False, tuple[str, ...]()
        """Whether a run must ask in every mode, and the reasons, from ``Turn.bars``."""
        self.typed_by_person = False
        """Whether the person typed ``source``."""
        self._written = ""
        """The cell's source before the person typed."""
        self.instead: CellView | None = None
        """An empty cell that this one replaces once accepted."""
        self._after: tuple[str, ...] | None = None
        """The ids above a new cell, until it is accepted or removed."""
        self._posted = False
        """Whether the notebook has the new cell."""
        self._units = 0
        """UTF-16 units streamed so far."""
        self._found: tuple[str, tuple[Finding, ...]] = ("", ())
        """The source that the hooks checked last, and their findings."""
        self._labelled: tuple[str, str, tuple[Label, ...]] = ("", "", ())
        """Source, language and labels: most code runs as it was shown."""

    def opened(self) -> DraftOpened:
        return DraftOpened(
            self.call.id, self.draft_id, self.kind, self.cell_id, self.title, self.old_source
        )

    # --- in the notebook -------------------------------------------------------------

    def insert(self, after: tuple[str, ...]) -> None:
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

    # --- for the policy and the person -----------------------------------------------

    @property
    def action(self) -> policy.Action:
        return ACTIONS[self.kind]

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
    def provenance(self) -> dict[str, object]:
        """Metadata for the cell; {} for a cell that only runs again, which is not the agent's."""
        turn = self.turn
        if self.kind == "rerun":
            return {}
        return {
            "session": turn.session_id,
            "turn": turn.number,
            "tool_call": self.call.id,
            "model": turn.model,
        }

    @property
    def cell_timeout(self) -> float | None:
        bounds = [one for one in (self.timeout, self.turn.cell_timeout) if one is not None]
        return min(bounds, default=None)

    @property
    def is_text(self) -> bool:
        """Whether the draft is Markdown, which the page renders as soon as it is accepted."""
        return self.kind in ("edit", "markdown") and not self.is_code

    async def check(self, source: str, info: KernelInfo | None) -> Checked:
        """Check ``source`` before a decision or run: both for API keys, code with hooks, text for
        hidden characters and for what it may load or run."""
        said = await checked(partial(code_warnings.keys, self.turn.scrub), source)
        found = Checked()
        if self.is_code:
            found = await hooked.before_run(self.turn, self.code(source, info))
            self._found = (source, found.findings)
        else:
            hidden = await checked(code_warnings.hidden_characters, source)
            said = (*said, *hidden, *await self._risks())
        notes = (*(HookNote("", text) for text in said), *found.notes)
        return Checked(notes, found.ask or bool(said), found.refusal)

    def has_checked(self, source: str) -> bool:
        return self._found[0] == source

    def findings_on(self, source: str) -> tuple[Finding, ...]:
        """The findings of the last ``check``, if it was of this source."""
        return self._found[1] if self._found[0] == source else ()

    async def labels(self, source: str, info: KernelInfo | None) -> tuple[Label, ...]:
        """What the code may reach, for the card only."""
        if not self.is_code:
            return ()
        turn = self.turn
        code = self.code(source, info)
        if (source, code.language) != self._labelled[:2]:
            cells, protected_names = turn.notebook.snapshot.cells, turn.document.protected
            names = persons_variables(cells, turn.ledger.owns, protected_names)
            read = partial(labels, source, code.language, names, turn.workplace.folder())
            found = await off_loop(read, len(source), lambda: (Label("unreadable", 1),))
            self._labelled = (source, code.language, found)
        return self._labelled[2]

    def code(self, source: str, info: KernelInfo | None) -> CellCode:
        turn = self.turn
        return CellCode(
            notebook=turn.document.path,
            cell_id=self.cell_id,
            source=source,
            language=info.language if info else "python",
            title=self.title,
            files=tuple(name for name, _ in turn.files),
            session_id=turn.session_id,
            turn=turn.number,
            unread=bool(turn.alone),
            asked=turn.asked,
            protected=turn.document.protected,
        )

    def verdict(self, suspicious: bool, info: KernelInfo | None) -> policy.Verdict:
        self.barred, self.why_barred = self.turn.bars(info) if self.runs else (False, ())
        return policy.decide(
            self.action,
            self.turn.mode,
            owned=self.is_owned,
            suspicious=suspicious,
            always_ask=self.turn.always_ask,
            run_all=self.turn.run_all,
            barred=self.barred,
        )

    def decided(self, decision: Decision, labels: tuple[Label, ...]) -> DraftDecided:
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
            labels,
            decision.person,
        )

    async def _risks(self) -> tuple[str, ...]:
        if not self.is_text or not self.turn.allowed.changes:
            return ()
        return await markdown_cells.risks(self.turn.markdown_risks, self.source)

    def asking(self, notices: tuple[str, ...], labels: tuple[Label, ...], always: bool) -> Draft:
        """The draft to show the person, with a new nonce."""
        turn = self.turn
        return Draft(
            draft_id=self.draft_id,
            call_id=self.call.id,
            kind=self.kind,
            cell_id=self.cell_id,
            title=self.title,
            source=self.source,
            nonce=new_nonce(),
            old_source=self.old_source,
            notices=notices,
            runs=self.runs,
            can_run_all=self.runs and turn.can_run_all and not self.barred,
            labels=labels,
            always=always,
        )
