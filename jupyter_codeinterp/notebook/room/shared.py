"""Applies ops to a shared notebook: ``notebook/apply.py`` decides, and we write its result.

Synchronous, with one transaction for each op and its marker. An op concerns one cell: only that
cell is read whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycrdt import Map

from ...wire.ops import (
    BeginRun,
    Cell,
    FinishRun,
    Move,
    Notebook,
    Op,
    Output,
    Receipt,
    Restore,
    id_of,
    run_id_of,
    shaped,
)
from ..apply import apply, read_back
from ..content import applied, marked
from . import cells as shared_cells

ORIGIN = "codeinterp"
"""The origin of our transactions. The pages' undo managers do not track it."""
NOT_TAKEN = "the shared notebook did not take the change"
FORMAT = 4


class SharedNotebook:
    """A notebook in the format of ``jupyter_ydoc``. Call it within a transaction."""

    def __init__(self, document: Any, untrusted: set[str]) -> None:
        """``untrusted``: runs whose outputs nobody may trust. It outlives this document."""
        self.document = document
        self._cells = document.ycells
        self._meta = document.ydoc.get("meta", type=Map)
        self._untrusted = untrusted
        self._known_ids: list[Any] | None = None
        self.order = 0
        """Counts the times when others added, moved or removed cells."""
        self._watch = self._cells.observe_deep(self._on_change)

    def close(self) -> None:
        self._cells.unobserve(self._watch)

    def _on_change(self, events: Any, transaction: Any) -> None:
        if transaction.origin != ORIGIN and any(map(concerns_ids, events)):
            self._known_ids = None
            self.order += 1

    @property
    def is_loaded(self) -> bool:
        """Whether the room has read its file."""
        return self._meta.get("nbformat") is not None

    @property
    def metadata(self) -> dict[str, Any]:
        found = self._meta.to_py().get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def applied(self) -> dict[str, int]:
        """The highest op number of each session, by the notebook's own marker."""
        ours = shared_cells.plain(self.metadata.get("codeinterp"))
        return applied({"metadata": {"codeinterp": ours}})

    @property
    def _ids(self) -> list[Any]:
        """The cells' ids in order. Reading them takes as long as the rest of an op."""
        if self._known_ids is None:
            self._known_ids = [cell.get("id") for cell in self._cells]
        return self._known_ids

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(self._ids)

    def places(self, cell_ids: Sequence[str] = ()) -> list[int]:
        """The indexes of these cells; of all without ``cell_ids``."""
        return [at for at, one in enumerate(self._ids) if not cell_ids or one in cell_ids]

    def read(self, places: Sequence[int]) -> list[Cell]:
        return [shared_cells.read(self._cells[at]) for at in places]

    # --- ops -------------------------------------------------------------------------

    def apply(self, session_id: str, seq: int, op: Op) -> Receipt:
        if self._meta.get("nbformat") != FORMAT:
            return Receipt("refused", reason="the notebook is not in format 4")
        before = self._around(op.cell_id)
        if seq <= self.applied.get(session_id, 0):
            return read_back(before, op)
        after, receipt = apply(before, op)
        if receipt.status != "done":
            return receipt
        self._write(before["cells"], after["cells"], op)
        self._mark(session_id, seq)
        if isinstance(op, BeginRun) and not op.trusted:
            self._untrusted.add(op.run_id)
        elif isinstance(op, FinishRun):
            self._untrusted.discard(op.run_id)
        return receipt if self._took(after, op) else Receipt("refused", reason=NOT_TAKEN)

    def _around(self, cell_id: str) -> Notebook:
        """The notebook with only the cells of this id read whole."""
        cells: list[Cell] = [{"id": one} for one in self._ids]
        for at in self.places((cell_id,)):
            cells[at] = shared_cells.read(self._cells[at])
        return {"cells": cells, "metadata": {}}

    def _write(self, before: list[Cell], after: list[Cell], op: Op) -> None:
        """Write the one cell that was changed or moved."""
        if isinstance(op, Move):
            at = self.places((op.cell_id,))[0]
            place = [id_of(cell) for cell in after].index(op.cell_id)
            cell = shared_cells.new(after[place])
            del self._cells[at], self._ids[at]
            self._cells.insert(place, cell)
            self._ids.insert(place, op.cell_id)
            return
        ends = zip(before, after, strict=False)
        shorter = min(len(before), len(after))
        at = next((i for i, (was, now) in enumerate(ends) if was is not now), shorter)
        if len(after) > len(before):
            self._cells.insert(at, shared_cells.new(after[at]))
            self._ids.insert(at, id_of(after[at]))
        elif len(after) < len(before):
            del self._cells[at], self._ids[at]
        elif at < len(after):
            self._rewrite(at, shaped(before[at]), after[at], op)

    def _rewrite(self, at: int, was: Cell, now: Cell, op: Op) -> None:
        ycell = self._cells[at]
        fresh = _changes_trust(was, now, op) or not shared_cells.can_rewrite(ycell, was, now)
        if fresh:
            self._cells[at] = shared_cells.new(now)
        else:
            shared_cells.rewrite(ycell, was, now)
        if isinstance(op, (BeginRun, FinishRun)) or (fresh and now["cell_type"] == "code"):
            shared_cells.set_running(self._cells[at], isinstance(op, BeginRun))

    def _mark(self, session_id: str, seq: int) -> None:
        """Record the op, and that cells have ids from now on."""
        if (self._meta.get("nbformat_minor") or 0) < 5:
            self._meta["nbformat_minor"] = 5
        ours = shared_cells.plain(self.metadata.get("codeinterp"))
        notebook = marked({"metadata": {"codeinterp": ours}}, session_id, seq)
        if not isinstance(self._meta.get("metadata"), Map):
            self._meta["metadata"] = Map({})
        self._meta["metadata"]["codeinterp"] = notebook["metadata"]["codeinterp"]

    def _took(self, after: Notebook, op: Op) -> bool:
        """Whether the document, read back, has the cell's new source and type."""
        meant = [shaped(cell) for cell in after["cells"] if id_of(cell) == op.cell_id]
        found = [shaped(cell) for cell in self.read(self.places((op.cell_id,)))]
        return [(c["source"], c["cell_type"]) for c in meant] == [
            (c["source"], c["cell_type"]) for c in found
        ]

    # --- previews --------------------------------------------------------------------

    def show_outputs(
        self, cell_id: str, run_id: str, start: int, outputs: Sequence[Output]
    ) -> None:
        """Replace a running cell's outputs from index ``start`` on."""
        ycell = self._find(cell_id)
        if ycell is None:
            return
        cell = shaped(shared_cells.read(ycell))
        if cell["cell_type"] != "code" or run_id_of(cell) != run_id:
            return
        before = cell["outputs"]
        if start > len(before) or (run_id in self._untrusted and _is_trusted(cell)):
            return
        saved = [{k: v for k, v in output.items() if k != "transient"} for output in outputs]
        shared_cells.change_outputs(ycell["outputs"], before, [*before[:start], *saved])

    def _find(self, cell_id: str) -> Any:
        places = self.places((cell_id,))
        return self._cells[places[0]] if places else None


def concerns_ids(event: Any) -> bool:
    """Whether the event may have changed the list of cells, or an id."""
    return not event.path or (len(event.path) == 1 and "id" in event.keys)


def _changes_trust(was: Cell, now: Cell, op: Op) -> bool:
    """Whether pages must not show these outputs with the trust that the cell has there.

    A page learns of trust only with a new cell, and gives it by itself to a cell that its person
    runs. So each run begins with a new cell, and so does the return of earlier outputs.
    """
    if isinstance(op, FinishRun):
        return _is_trusted(was) and not _is_trusted(now)
    if isinstance(op, Restore):
        return now.get("outputs") != was.get("outputs")
    return isinstance(op, BeginRun)


def _is_trusted(cell: Cell) -> bool:
    return cell["metadata"].get("trusted") is True
