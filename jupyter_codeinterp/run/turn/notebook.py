"""The notebook during one turn: posted ops, the last snapshot, and places for new cells."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from ...base.errors import StoreError
from ...journal.ledger import Ledger
from ...view.redaction.private_names import PrivateNames
from ...wire.ops import (
    BeginRun,
    CellView,
    Delete,
    FinishRun,
    Insert,
    Op,
    Output,
    Receipt,
    Snapshot,
    after_op,
)
from ...wire.ports import NotebookDocument

# -------------------------------------------------------------------------------------------------
# Find a cell by its number.
#
# A cell has an id, a place (1 is the top one) and, once it ran, an execution count. "7" is the
# cell at place 7, "[7]" the one that ran as number 7. If only one of the two exists, it is taken.

_NUMBER = re.compile(r"(?:In ?|cell ?)?(\[?)(\d{1,6})\]?", re.IGNORECASE)


class FoundCell(NamedTuple):
    """``note`` tells the model how its number was read; "" for an id."""

    cell_id: str
    note: str = ""


def found_in(cells: Sequence[CellView], name: str) -> FoundCell | None:
    """The cell with this number; None if ``name`` is not a number, or no cell has it."""
    match = _NUMBER.fullmatch(name.strip())
    if match is None:
        return None
    number = int(match[2])
    at = cells[number - 1] if 0 < number <= len(cells) else None
    ran = next((cell for cell in cells if cell.execution_count == number), None)
    first, second = (ran, at) if match[1] else (at, ran)
    meant = first or second
    if meant is None:
        return None
    how = {id(at): f"cell {number}, counted from 1 at the top", id(ran): f"the cell [{number}]"}
    note = f'"{name.strip()}" was read as {how[id(meant)]}: cell_id={meant.cell_id}.'
    if first is not None and second is not None and first is not second:
        note += f" Not meant: {how[id(second)]}, cell_id={second.cell_id}."
    return FoundCell(meant.cell_id, note)


# -------------------------------------------------------------------------------------------------
# Where a new cell goes if the model names no position: a policy as data (``ORDER``).
#
# Pure. Its cases are in ``tests/place_cases.json``.

Rule = Literal["this_turn", "chosen", "person", "earlier_turns", "gone_to"]

ORDER: tuple[Rule, ...] = ("this_turn", "chosen", "earlier_turns", "person", "gone_to")
"""A new cell goes below the first of these that exists, else below the last cell.
``this_turn``: the agent's last new cell of this turn; ``chosen``: the cell that the person chose
with the message; ``earlier_turns``: the conversation's last cell; ``person``: the cell in which
they last typed or ran something; ``gone_to``: the selected cell."""


class NewCellPlace(msgspec.Struct, frozen=True):
    """``after``: the cell above, "" for the top. ``instead``: the empty cell to replace, if any."""

    after: str = ""
    instead: str = ""


def place(cells: Sequence[CellView], candidates: dict[Rule, str]) -> NewCellPlace:
    """The place of a new cell. ``candidates``: cell ids by rule, as far as known."""
    there = {cell.cell_id: index for index, cell in enumerate(cells)}
    named = (candidates.get(rule, "") for rule in ORDER)
    after = next((cell_id for cell_id in named if cell_id in there), "")
    if not after and cells:
        after = cells[-1].cell_id
    empty = after in there and is_empty(cells[there[after]])
    return NewCellPlace(after, after if empty else "")


def last_of(ids: Sequence[str], agents: Sequence[str]) -> str:
    """The conversation's last cell: the newest of ``agents`` (oldest first) in ``ids``, or the
    lowest of the agent's cells directly below it. "" if there is none."""
    known = {cell_id: index for index, cell_id in enumerate(ids)}
    index = next((known[one] for one in reversed(agents) if one in known), None)
    if index is None:
        return ""
    ours = set(agents)
    while index + 1 < len(ids) and ids[index + 1] in ours:
        index += 1
    return ids[index]


def is_empty(cell: CellView) -> bool:
    """Whether it is a code cell without source, outputs, tags and assigned names."""
    bare = not cell.source.strip() and not cell.outputs and not cell.tags and not cell.assigns
    return cell.cell_type == "code" and bare


ANCHORS = 5
"""How many preceding cells an insert names, so that a deleted anchor is no loss."""


class TurnNotebook:
    def __init__(
        self,
        turn: int,
        document: NotebookDocument,
        ledger: Ledger,
        private: PrivateNames,
        journal_failed: Callable[[StoreError], None],
        chosen: str = "",
    ) -> None:
        """``ledger`` gets every confirmed op, ``private`` every cell read. ``journal_failed``
        gets write errors that the turn cannot raise. ``chosen``: the cell below which the person
        wants new ones."""
        self.document = document
        self.snapshot = Snapshot("")
        self.placed: dict[str, tuple[str, ...]] = {}
        """Cells that this turn inserted, the latest last, with the ids above each."""
        self.instead: dict[str, str] = {}
        """Empty cells that drafts replace once accepted, by the draft's cell."""
        self.over = False
        """Whether only clean-up remains."""
        self.deferred: list[Op] = []
        """Ops that end a draft or a run, waiting until the journal works again."""
        self._turn = turn
        self._ledger = ledger
        self._private = private
        self._journal_failed = journal_failed
        self._chosen = chosen
        self._acts = 0
        """``NotebookDocument.acts`` at the last read of the whole notebook."""
        self._before: Snapshot | None = None
        """The notebook as the turn began; None before the first look."""
        self.worked = False
        """Whether this turn has run anything, or tried to."""
        self.ran: dict[str, tuple[Output, ...]] = {}
        """Outputs of the cells that ran in this turn, the latest last."""
        self._numbered: tuple[CellView, ...] | None = None
        """The cells as the model counts them."""
        self._added: dict[str, None] = {}
        """Cells that this turn inserted, the latest last."""
        self._posted: set[asyncio.Future[Any]] = set()

    # --- ops -------------------------------------------------------------------------

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        """Post an op now, in order. The future resolves after the ledger has the receipt.

        Raises StoreError if the journal fails; an op that ends a draft or a run is then deferred,
        with a ``pending`` receipt.
        """
        try:
            posted = self.document.apply(op)
        except StoreError as error:
            if not self.over and not isinstance(op, FinishRun):
                raise
            self.deferred.append(op)
            self._journal_failed(error)
            pending: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            pending.set_result(Receipt("pending"))
            return pending
        self.worked = self.worked or isinstance(op, (Insert, BeginRun))
        if isinstance(op, Insert):
            self._added[op.cell_id] = None
        elif isinstance(op, FinishRun) and op.execution_count is not None:
            self.has_run(op.cell_id, op.outputs)
        elif isinstance(op, Delete):
            self.ran.pop(op.cell_id, None)
        answer = asyncio.ensure_future(self._recorded(op, posted))
        self._keep(answer)
        return asyncio.shield(answer)

    def has_run(self, cell_id: str, outputs: tuple[Output, ...]) -> None:
        self.ran.pop(cell_id, None)
        self.ran[cell_id] = outputs

    async def _recorded(self, op: Op, answer: Awaitable[Receipt]) -> Receipt:
        receipt = await answer
        self._ledger.record(self._turn, op, receipt)
        if receipt.status == "done":
            self.snapshot = after_op(self.snapshot, op)
        return receipt

    def flush_deferred(self) -> None:
        """Post the deferred ops; those that still fail stay deferred."""
        deferred, self.deferred = self.deferred, []
        for op in deferred:
            self.apply(op)

    def take_out(self, cell_id: str, written: str, *, typed_too: bool = False) -> None:
        """Delete a draft's cell. It stays if the person has typed since ``written``, unless
        ``typed_too``."""
        self.placed.pop(cell_id, None)
        self._added.pop(cell_id, None)
        answer = self.apply(Delete(cell_id, written))
        self._keep(asyncio.ensure_future(self._taken_out(answer, cell_id, written, typed_too)))

    async def _taken_out(
        self, answer: Awaitable[Receipt], cell_id: str, written: str, typed_too: bool
    ) -> None:
        receipt = await answer
        # The cell may have only a prefix: the rest of the stream had not arrived.
        nothing_typed = written.startswith(receipt.source)
        if receipt.status == "conflict" and (typed_too or nothing_typed):
            await self.apply(Delete(cell_id, receipt.source))

    def _keep(self, task: asyncio.Future[Any]) -> None:
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    async def settled(self, seconds: float) -> None:
        """Wait at most ``seconds`` for receipts of posted ops."""
        deadline = time.monotonic() + seconds
        while self._posted and (left := deadline - time.monotonic()) > 0:
            await asyncio.wait(set(self._posted), timeout=left)

    # --- reading ---------------------------------------------------------------------

    @property
    def person_acted(self) -> bool:
        """Whether the person has run or changed cells since the last look."""
        return self.document.acts != self._acts

    async def look(self) -> Snapshot:
        """Read the whole notebook. Raises DocumentError, as does ``look_at``."""
        self._acts = self.document.acts
        self.snapshot = await self.document.snapshot()
        self._private.learn(self.snapshot.cells)
        for cell_id in list(self._ledger.failed):
            self._ledger.observe(cell_id, self.snapshot.cell(cell_id))
        if self._before is None:
            self._before = self.snapshot
        return self.snapshot

    async def look_at(self, cell_id: str) -> CellView | None:
        """Read one cell again; None if it is missing. Other cells of the snapshot stay."""
        cells = await self.document.cells((cell_id,))
        self._private.learn(cells)
        cell = next((cell for cell in cells if cell.cell_id == cell_id), None)
        self._ledger.observe(cell_id, cell)
        self.snapshot = self.snapshot.with_cell(cell_id, cell, self.above(cell_id))
        return cell

    def number(self) -> None:
        """Fix the numbers of cells while one answer of the model is carried out."""
        self._numbered = self.snapshot.cells

    def knows(self, cell_id: str) -> bool:
        return cell_id in self.placed or self.snapshot.cell(cell_id) is not None

    def find(self, name: str) -> FoundCell | None:
        """The cell that the model means by an id, a place or an execution count."""
        return FoundCell(name) if self.knows(name) else found_in(self._numbered or (), name)

    def known_ids(self) -> str:
        """The ids of the last cells, for the model."""
        ids = [cell.cell_id for cell in self.snapshot.cells][-30:]
        return ", ".join(" ".join(cell_id.split())[:100] for cell_id in ids) or "none"

    def stands(self, cell_id: str) -> str:
        """The place of a cell: "3/12" is the third of twelve; "" if unknown."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        return f"{ids.index(cell_id) + 1}/{len(ids)}" if cell_id in ids else ""

    # --- where cells go --------------------------------------------------------------

    def above(self, cell_id: str) -> tuple[str, ...]:
        """``cell_id`` and the cells above it, nearest first, for ``Insert.after``."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        if cell_id in ids:
            end = ids.index(cell_id) + 1
            return tuple(reversed(ids[max(0, end - ANCHORS) : end]))
        return (cell_id, *self.placed.get(cell_id, ()))[:ANCHORS]

    def before(self, cell_id: str) -> str:
        """The cell above ``cell_id``; "" if it is the first."""
        above = self.above(cell_id)
        return above[1] if len(above) > 1 else ""

    def at(self, position: str) -> tuple[NewCellPlace, str] | None:
        """The place of a ``position``, and a note for the model on how it was read. None if there
        is no such place."""
        cells = self.snapshot.cells
        if not position:
            return self.place(), ""
        if position in ("start", "end"):
            return NewCellPlace(cells[-1].cell_id if position == "end" and cells else ""), ""
        side, colon, name = position.partition(":")
        if not colon:
            side, name = ("before", position) if position.strip().isdecimal() else ("after", side)
        if colon and side not in ("before", "after"):
            side, name = "after", position
        found = self.find(name.strip())
        if found is None:
            return None
        return NewCellPlace(
            found.cell_id if side == "after" else self.before(found.cell_id)
        ), found.note

    def place(self) -> NewCellPlace:
        """The place of a new cell if the model names none."""
        cells = self.snapshot.cells
        ids = {cell.cell_id for cell in cells} | self.placed.keys()
        latest = next((cell_id for cell_id in reversed(self._added) if cell_id in ids), "")
        if latest:
            # A draft that another one replaces passes its empty cell on.
            return NewCellPlace(latest, self.instead.get(latest, ""))
        before, agents = self._before or self.snapshot, self._ledger.added
        candidates: dict[Rule, str] = {
            "chosen": self._chosen,
            "person": before.acted_in if before.acted_in not in agents else "",
            "earlier_turns": last_of([cell.cell_id for cell in cells], agents),
            "gone_to": before.gone_to,
        }
        return place(cells, candidates)
