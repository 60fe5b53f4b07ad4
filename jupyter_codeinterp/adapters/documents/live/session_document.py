"""A live notebook as one session works on it: ops numbered and journaled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ....core.document.ops import CellView, Op, Output, Receipt, Snapshot
from ....core.errors import StoreError
from ....core.history.deferred_writes import DeferredWrites
from ....core.stores import OpStore, StoredOp
from .live_preview import StreamKind
from .notebook import LiveNotebook

log = logging.getLogger(__name__)


class SessionDocument:
    """Fulfils the ``Document`` port."""

    def __init__(
        self, notebook: Callable[[], LiveNotebook], store: OpStore, session_id: str
    ) -> None:
        """``notebook`` gives the session's notebook, wherever it is by now."""
        self._notebook = notebook
        self._store = store
        self._session_id = session_id
        ops = store.ops(session_id)
        self._seq = ops[-1].seq if ops else 0
        self._turn = 0
        self._looked = False
        self._receipts = DeferredWrites(self._not_stored)
        """A receipt that cannot be stored is stored with the next one."""

    def _not_stored(self, error: StoreError) -> None:
        log.warning("A receipt is stored later: %s", error.message)

    def begin_turn(self, turn: int) -> None:
        """Ops from now on belong to this turn; 0 for none."""
        self._turn = turn
        self._looked = False
        # Another server may have worked on the session meanwhile.
        for stored in self._store.ops(self._session_id, self._seq):
            self._seq = stored.seq

    def end_turn(self) -> None:
        self._notebook().end_turn(self._session_id)

    @property
    def path(self) -> str:
        return self._notebook().path

    async def snapshot(self) -> Snapshot:
        """A turn does not begin without the notebook. One that is closed in mid-turn is
        waited for, as ops wait."""
        return await self._read(())

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        return (await self._read(cell_ids)).cells

    async def _read(self, cell_ids: tuple[str, ...]) -> Snapshot:
        notebook = self._notebook()
        if not (self._looked or notebook.may_begin):
            raise notebook.why_not
        self._looked = True
        return await notebook.read(cell_ids)

    async def save(self) -> None:
        """A request: neither awaited nor answered."""
        self._notebook().save()

    def apply(self, op: Op) -> Awaitable[Receipt]:
        seq = self._seq + 1
        self._store.append_op(self._session_id, StoredOp(seq, self._turn, op))
        self._seq = seq
        receipt = self._notebook().apply(self._session_id, seq, op)
        receipt.add_done_callback(lambda done: self._confirmed(seq, done))
        return receipt

    def _confirmed(self, seq: int, receipt: asyncio.Future[Receipt]) -> None:
        if not receipt.cancelled():
            told = receipt.result()
            self._receipts.do(lambda: self._store.set_receipt(self._session_id, seq, told))

    def stream(self, draft_id: str, cell_id: str, kind: StreamKind, start: int, text: str) -> None:
        self._notebook().stream(self._session_id, draft_id, cell_id, kind, start, text)

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        self._notebook().outputs(self._session_id, cell_id, run_id, start, outputs)

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._notebook().display(display_id, data, metadata)
