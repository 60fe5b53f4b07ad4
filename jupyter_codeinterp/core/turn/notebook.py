"""The notebook as one turn works in it: what is posted to it, what was seen of it, and where
new cells go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from ..document.ops import BeginRun, CellView, Delete, FinishRun, Insert, Op, Receipt, Snapshot
from ..errors import DocumentError, StoreError
from ..history.ledger import Ledger
from ..off_loop import off_loop
from ..ports import Document
from ..redaction.private_names import PrivateNames
from .placing import Place, Rule, below_needs, place

ANCHORS = 5
"""How many preceding cells an insert names, so that a deleted anchor is no loss."""


class TurnNotebook:
    def __init__(
        self,
        turn: int,
        document: Document,
        ledger: Ledger,
        private: PrivateNames,
        journal_failed: Callable[[StoreError], None],
        chosen: str = "",
    ) -> None:
        """``ledger`` is told of every op that is confirmed, ``private`` of every cell that is
        seen, and ``journal_failed`` of what cannot be journaled, where the turn cannot simply
        fail. ``chosen``: after which cell the person wants new ones."""
        self.document = document
        self.snapshot = Snapshot("")
        """As it was seen last."""
        self.placed: dict[str, tuple[str, ...]] = {}
        """Cells that this turn has inserted, the latest last, with the ids above each."""
        self.over = False
        """Whether all that is left to do is to leave order behind."""
        self.owed: list[Op] = []
        """Ops that end something in the notebook, and could not be journaled when it ended."""
        self._turn = turn
        self._ledger = ledger
        self._private = private
        self._journal_failed = journal_failed
        self._chosen = chosen
        self._gone_to: str | None = None
        """Where the person was as the turn began; None: not looked yet."""
        self._worked: dict[str, None] = {}
        """Cells that this turn has inserted or run, the latest last."""
        self._posted: set[asyncio.Future[Any]] = set()

    @property
    def worked(self) -> bool:
        """Whether this turn has run anything, or tried to."""
        return bool(self._worked)

    # --- what is done ----------------------------------------------------------------

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        """Post an op now, in order; its receipt, once the ledger has it, may be awaited.

        Raises StoreError if it cannot be journaled. The end of something that stands in the
        notebook is owed then, and pending.
        """
        try:
            posted = self.document.apply(op)
        except StoreError as error:
            if not self.over and not isinstance(op, FinishRun):
                raise
            self.owed.append(op)
            self._journal_failed(error)
            pending: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            pending.set_result(Receipt("pending"))
            return pending
        if isinstance(op, (Insert, BeginRun)):
            self._worked.pop(op.cell_id, None)
            self._worked[op.cell_id] = None
        answer = asyncio.ensure_future(self._recorded(op, posted))
        self._keep(answer)
        return asyncio.shield(answer)

    async def _recorded(self, op: Op, answer: Awaitable[Receipt]) -> Receipt:
        receipt = await answer
        self._ledger.record(self._turn, op, receipt)
        return receipt

    def pay(self) -> None:
        """Post what is owed, as far as it can be journaled by now."""
        owed, self.owed = self.owed, []
        for op in owed:
            self.apply(op)

    def take_out(self, cell_id: str, source: str) -> None:
        """Delete a draft's cell, also if the person has typed into it since ``source``."""
        self.placed.pop(cell_id, None)
        self._worked.pop(cell_id, None)
        self._keep(
            asyncio.ensure_future(self._taken_out(self.apply(Delete(cell_id, source)), cell_id))
        )

    async def _taken_out(self, answer: Awaitable[Receipt], cell_id: str) -> None:
        receipt = await answer
        if receipt.status == "conflict":
            await self.apply(Delete(cell_id, receipt.source))

    def _keep(self, task: asyncio.Future[Any]) -> None:
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    async def settled(self, seconds: float) -> None:
        """Wait for the receipts of what has been posted, but not longer."""
        deadline = time.monotonic() + seconds
        while self._posted and (left := deadline - time.monotonic()) > 0:
            await asyncio.wait(set(self._posted), timeout=left)

    # --- what is seen ----------------------------------------------------------------

    async def look(self) -> Snapshot:
        """Raises DocumentError, as below."""
        self.snapshot = await self.document.snapshot()
        self._private.learn(self.snapshot.cells)
        if self._gone_to is None:
            self._gone_to = self.snapshot.gone_to
        return self.snapshot

    async def look_at(self, cell_id: str) -> CellView | None:
        """One cell as it is now; None if there is none. The others stay as they were seen."""
        cells = await self.document.cells((cell_id,))
        self._private.learn(cells)
        cell = next((cell for cell in cells if cell.cell_id == cell_id), None)
        self.snapshot = self.snapshot.with_cell(cell_id, cell, self.above(cell_id))
        return cell

    def knows(self, cell_id: str) -> bool:
        return cell_id in self._ledger.touched or self.snapshot.cell(cell_id) is not None

    def known_ids(self) -> str:
        ids = [cell.cell_id for cell in self.snapshot.cells][-30:]
        known = dict.fromkeys([*ids, *self._ledger.touched[-10:]])
        return ", ".join(" ".join(cell_id.split())[:100] for cell_id in known) or "none"

    # --- where cells go --------------------------------------------------------------

    def above(self, cell_id: str) -> tuple[str, ...]:
        """``cell_id`` and the cells above it, nearest first: where an insert goes."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        if cell_id in ids:
            end = ids.index(cell_id) + 1
            return tuple(reversed(ids[max(0, end - ANCHORS) : end]))
        return (cell_id, *self.placed.get(cell_id, ()))[:ANCHORS]

    def place(self) -> Place:
        """Where a new cell goes, as long as nothing is known of its code."""
        cells = self.snapshot.cells
        ids = {cell.cell_id for cell in cells} | self.placed.keys()
        latest = next((cell_id for cell_id in reversed(self._worked) if cell_id in ids), "")
        if latest:
            return Place(latest)
        earlier = (cell_id for cell_id in reversed(self._ledger.touched) if cell_id in ids)
        candidates: dict[Rule, str] = {
            "chosen": self._chosen,
            "person": self._gone_to or "",
            "earlier_turns": next(earlier, ""),
        }
        return place(cells, candidates)

    async def lower(self, after: str, source: str) -> Place | None:
        """Where the cell must go instead of after ``after``, with what it uses above it; None
        if it may stay."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        above = next((one for one in self.above(after) if one in ids), "")
        if not ids or above == ids[-1]:
            return None
        try:
            cells = (await self.look()).cells
        except DocumentError:
            return None
        size = len(source) + sum(len(cell.source) for cell in cells)
        return await off_loop(lambda: below_needs(cells, after, source), size, lambda: None)
