"""The notebook of ``%%ai``, in memory, because a kernel does not know its notebook's file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ..journal.sqlite.store import SqliteStore
from ..wire.ops import Cell, CellView, Notebook, Op, Output, Receipt, Snapshot, run_id_of
from ..wire.stores import StoredOp
from .apply import apply


class MemoryDocument:
    """Implements the ``NotebookDocument`` port. Applies ops at once, in order."""

    def __init__(self, store: SqliteStore, session_id: str, name: str) -> None:
        self.path = name
        self.turn = 0
        """The number of the turn that ops belong to."""
        self._notebook: Notebook = {"cells": [], "metadata": {}}
        self._store = store
        self._session_id = session_id
        self._views: dict[str, CellView] = {}
        """The person's cells, from ``add_cells``."""
        self._seq = 0

    def add_cells(self, cells: Sequence[CellView]) -> None:
        """Add the person's cells, which the agent may read but not change. They keep their order
        among the agent's own."""
        for cell in cells:
            if cell.cell_id not in self._views:
                self._notebook["cells"].append(_locked(cell))
            self._views[cell.cell_id] = cell

    def source(self, cell_id: str) -> str:
        """The cell's source; "" if there is no such cell."""
        found = (cell["source"] for cell in self._notebook["cells"] if cell["id"] == cell_id)
        return next(found, "")

    # --- the port --------------------------------------------------------------------

    acts = 0
    """Always 0: only the agent works in this notebook."""

    async def snapshot(self) -> Snapshot:
        return Snapshot(self.path, tuple(map(self._view, self._notebook["cells"])))

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        cells = self._notebook["cells"]
        return tuple(self._view(cell) for cell in cells if cell["id"] in cell_ids)

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        self._seq += 1
        self._store.append_op(self._session_id, StoredOp(self._seq, self.turn, op))
        self._notebook, receipt = apply(self._notebook, op)
        self._store.set_receipt(self._session_id, self._seq, receipt)
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        answer.set_result(receipt)
        return answer

    def apply_later(self, turn: int, op: Op) -> None:
        now, self.turn = self.turn, turn
        self.apply(op)
        self.turn = now

    def stream(
        self,
        draft_id: str,
        cell_id: str,
        kind: Literal["insert", "edit", "markdown"],
        start: int,
        text: str,
    ) -> None:
        return None

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        return None

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        return None

    async def save(self) -> None:
        return None

    def _view(self, cell: Cell) -> CellView:
        view = self._views.get(cell["id"])
        if view is not None:
            return view
        return CellView(
            cell["id"],
            cell["cell_type"],
            cell["source"],
            tuple(cell.get("outputs", ())),
            cell.get("execution_count"),
            run_id=run_id_of(cell),
        )


def _locked(cell: CellView) -> Cell:
    view: dict[str, Any] = msgspec.to_builtins(cell)
    return {
        "id": cell.cell_id,
        "cell_type": cell.cell_type,
        "source": cell.source,
        "metadata": {"editable": False, "deletable": False, "tags": list(cell.tags)},
        "outputs": view["outputs"],
        "execution_count": cell.execution_count,
    }
