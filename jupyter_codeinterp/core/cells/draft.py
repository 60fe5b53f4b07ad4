"""A draft in the notebook: it appears, code streams into it, it waits, it goes.

New code and Markdown are a raw cell, which no run command runs; an edit and a deletion
leave their cell as it is until they are decided on.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Literal

from ..approval import code_warnings, markdown_cells, policy
from ..approval.decisions import new_nonce
from ..document.ops import CellView, Delete, Insert, Receipt, SetSource
from ..events import Draft, DraftOpened
from ..hooks.code_checks import checked
from ..hooks.hook import CellCode
from ..hooks.hooks import Checked, Note
from ..ports import KernelInfo
from ..turn.turn import Turn

Kind = Literal["insert", "edit", "markdown", "delete"]

_ACTIONS: dict[Kind, policy.Action] = {
    "insert": "run_new",
    "edit": "edit",
    "markdown": "markdown",
    "delete": "delete",
}


class DraftCell:
    """``source`` is what we last put into the notebook (or, for an edit, propose);
    ``old_source`` what stands in the cell of an edit or a deletion."""

    def __init__(
        self,
        turn: Turn,
        call_id: str,
        kind: Kind,
        cell_id: str,
        title: str,
        old_source: str = "",
    ) -> None:
        self.turn = turn
        self.call_id = call_id
        self.kind = kind
        self.cell_id = cell_id
        self.title = title
        self.old_source = old_source
        self.draft_id = uuid.uuid4().hex[:16]
        self.source = ""
        self.is_code = kind in ("insert", "edit")
        """Whether it runs once it is accepted (an edited cell may be Markdown)."""
        self.is_theirs = False
        """Whether the person has typed it: ``source`` is not what an op has put there."""
        self.instead: CellView | None = None
        """An empty cell that goes once this one is accepted: it takes its place."""
        self._inserted = False
        self._units = 0
        """UTF-16 units of what has been streamed: counted once, as it grows."""

    def opened(self) -> DraftOpened:
        return DraftOpened(
            self.call_id, self.draft_id, self.kind, self.cell_id, self.title, self.old_source
        )

    # --- in the notebook -------------------------------------------------------------

    def insert(self, after: tuple[str, ...]) -> None:
        """Post the raw cell. Ops stay in order, so nobody needs to wait for the receipt."""
        self._inserted = True
        self.turn.notebook.placed[self.cell_id] = after
        self.turn.notebook.apply(Insert(self.cell_id, "raw", "", after))

    def write(self, source: str) -> None:
        """Show what is new of the source so far. Never cuts inside a surrogate pair."""
        if self.kind == "delete" or not source.startswith(self.source):
            return
        text = source[len(self.source) :]
        if text:
            self.turn.document.stream(self.draft_id, self.cell_id, self.kind, self._units, text)
            self._units += len(text.encode("utf-16-le")) // 2
            self.source = source

    def complete(self, source: str) -> asyncio.Future[Receipt] | None:
        """The model has written it all. ``conflict`` if the person has typed into it: what
        stands there now is then the receipt's source. None if the cell stays as it is."""
        self.source = source
        return (
            self.turn.notebook.apply(SetSource(self.cell_id, source, ""))
            if self._inserted
            else None
        )

    def settle(self) -> None:
        """It has been accepted: from now on it is a cell like any other."""
        self._inserted = False
        empty, self.instead = self.instead, None
        if empty is not None:
            self.turn.notebook.apply(Delete(empty.cell_id, empty.source))
            self.turn.context.noted(empty.cell_id, None)

    def remove(self) -> None:
        """Take an undecided draft out of the notebook, whatever has been typed into it."""
        if self._inserted:
            self._inserted = False
            self.turn.notebook.take_out(self.cell_id, self.source)

    # --- in the policy's eyes, and the person's --------------------------------------

    @property
    def action(self) -> policy.Action:
        return _ACTIONS[self.kind]

    @property
    def is_owned(self) -> bool:
        new = self.kind in ("insert", "markdown")
        return new or self.turn.ledger.owns(self.cell_id, self.old_source)

    @property
    def is_text(self) -> bool:
        """Whether it is shown as soon as it is accepted."""
        return self.kind != "delete" and not self.is_code

    async def check(self, source: str, info: KernelInfo | None) -> Checked:
        """What is to be said of ``source`` before it is decided on, or run: of code, by the
        hooks; of text, what cannot be seen in it, and what it may load or run when it is
        shown."""
        if self.is_code:
            return await self.turn.hooks.before_run(self.code(source, info))
        said = (*await checked(code_warnings.hidden_characters, source), *await self._risks())
        return Checked(tuple(Note("", text) for text in said), ask=bool(said))

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
        )

    def verdict(self, suspicious: bool) -> policy.Verdict:
        return policy.decide(
            self.action,
            self.turn.mode,
            owned=self.is_owned,
            suspicious=suspicious,
            always_ask=self.turn.always_ask,
            run_all=self.turn.run_all,
        )

    async def _risks(self) -> tuple[str, ...]:
        if not self.is_text or not self.turn.allowed.changes:
            return ()
        return await markdown_cells.risks(self.turn.markdown_risks, self.source)

    def asking(self, notices: tuple[str, ...]) -> Draft:
        """The draft as it is put before the person, with a nonce of its own."""
        turn = self.turn
        return Draft(
            draft_id=self.draft_id,
            call_id=self.call_id,
            kind=self.kind,
            cell_id=self.cell_id,
            title=self.title,
            source=self.source,
            nonce=new_nonce(),
            old_source=self.old_source,
            notices=notices,
            runs=self.is_code,
            can_run_all=self.is_code and turn.can_run_all,
        )
