"""Outputs of runs in a journal, put there and read as a turn does."""

from __future__ import annotations

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.ops import FinishRun, Output
from jupyter_codeinterp.wire.stores import StoredOp


def put_outputs(
    store: SqliteStore, session_id: str, cell_id: str, outputs: tuple[Output, ...]
) -> None:
    """A cell has been run."""
    seq = store.last_op(session_id) + 1
    store.append_op(session_id, StoredOp(seq, 1, FinishRun(cell_id, f"r{seq}", outputs, seq)))


def kept_outputs(store: SqliteStore, session_id: str, cell_id: str) -> tuple[Output, ...] | None:
    """Those of the cell's last run."""
    query = "SELECT digest FROM cell_outputs WHERE session_id = ? AND cell_id = ?"
    row = store._db.execute(query, (session_id, cell_id)).fetchone()
    return store.outputs(session_id, row[0]) if row is not None else None
