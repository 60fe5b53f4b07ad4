"""A live notebook for one session: numbers and journals its ops."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import msgspec

from ...base.errors import StoreError
from ...journal.event_log import DeferredWrites
from ...journal.sqlite.store import SqliteStore
from ...wire.ops import CellView, Op, Output, Receipt, Snapshot
from ...wire.stores import StoredOp, light_receipt
from .live_preview import StreamKind
from .notebook import LiveNotebook
from .outbox import LATER

log = logging.getLogger(__name__)


class SessionDocument:
    """Implements the ``NotebookDocument`` port."""

    def __init__(
        self, notebook: Callable[[], LiveNotebook], store: SqliteStore, session_id: str
    ) -> None:
        """``notebook`` returns the session's notebook at its current path."""
        self._notebook = notebook
        self._store = store
        self._session_id = session_id
        self._seq = store.last_op(session_id)
        self._turn = 0
        self._looked = False
        self._keeping: set[asyncio.Task[object]] = set()
        self._sending = asyncio.Lock()
        """Keeps ops in order while each waits for its append to the journal."""
        self._receipts = DeferredWrites(
            lambda error: log.warning("Storing a receipt later: %s", error.message)
        )
        """A receipt that cannot be stored is stored with the next one."""

    def begin_turn(self, turn: int) -> None:
        """Assign ops from now on to this turn; 0 for none."""
        self._turn = turn
        self._looked = False
        # Another server may have worked on the session meanwhile.
        self._seq = max(self._seq, self._store.last_op(self._session_id))

    def end_turn(self) -> None:
        self._notebook().end_turn(self._session_id)

    @property
    def path(self) -> str:
        return self._notebook().path

    @property
    def acts(self) -> int:
        return self._notebook().acts

    async def snapshot(self) -> Snapshot:
        """Read the notebook. A turn cannot begin in a closed notebook; in mid-turn, wait for a
        window or the file writer as ops do."""
        return await self._read(())

    async def cells(self, cell_ids: tuple[str, ...]) -> tuple[CellView, ...]:
        return (await self._read(cell_ids)).cells

    async def _read(self, cell_ids: tuple[str, ...]) -> Snapshot:
        notebook = self._notebook()
        if not (self._looked or notebook.hand_over.may_begin):
            raise notebook.why_not
        self._looked = True
        return await notebook.read(cell_ids)

    async def save(self) -> None:
        """Request a save; neither awaited nor answered."""
        self._notebook().save()

    def apply(self, op: Op) -> Awaitable[Receipt]:
        seq = self._seq + 1
        self._store.append_op(self._session_id, StoredOp(seq, self._turn, op))
        self._seq = seq
        if self._store.appends_later:
            return self._journaled(seq, asyncio.ensure_future(self._after_commit(seq, op)))
        return self._journaled(seq, self._notebook().apply(self._session_id, seq, op))

    def apply_later(self, turn: int, op: Op) -> None:
        seq = max(self._seq, self._store.last_op(self._session_id)) + 1
        self._store.append_op(self._session_id, StoredOp(seq, turn, op, LATER))
        self._seq = seq
        if self._store.appends_later:
            self._keep_task(self._after_commit(seq, op, later=True))
        else:
            self._notebook().apply_later(self._session_id, seq, op)

    async def _after_commit(self, seq: int, op: Op, *, later: bool = False) -> Receipt:
        """Send the op once the journal has it: after a crash, its number must not be given to
        another op, which the notebook would take for this one."""
        async with self._sending:
            try:
                await self._store.settle(self._session_id)
            except StoreError as error:
                return Receipt("pending", reason=error.message)
            if later:
                self._notebook().apply_later(self._session_id, seq, op)
                return LATER
            receipt = self._notebook().apply(self._session_id, seq, op)
        return await receipt

    def _journaled(self, seq: int, answer: asyncio.Future[Receipt]) -> asyncio.Future[Receipt]:
        """The receipt as the journal stores it, as soon as it has come."""
        kept: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()

        def confirmed(_: object) -> None:
            if answer.cancelled():
                kept.cancel()
            elif light_receipt(answer.result())[1]:
                self._keep_task(self._keep(seq, answer.result(), kept))
            else:
                self._set_receipt(seq, answer.result(), kept)

        if answer.done():
            confirmed(answer)
        else:
            answer.add_done_callback(confirmed)
        return kept

    def _keep_task(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.ensure_future(work)
        self._keeping.add(task)
        task.add_done_callback(self._keeping.discard)

    async def _keep(self, seq: int, receipt: Receipt, kept: asyncio.Future[Receipt]) -> None:
        light, outputs = light_receipt(receipt)
        digest = await self._store.keep_outputs(self._session_id, outputs)
        if digest:
            receipt = msgspec.structs.replace(light, outputs=digest)
        self._set_receipt(seq, receipt, kept)

    def _set_receipt(self, seq: int, receipt: Receipt, kept: asyncio.Future[Receipt]) -> None:
        self._receipts.do(partial(self._store.set_receipt, self._session_id, seq, receipt))
        if not kept.done():
            kept.set_result(receipt)

    def stream(self, draft_id: str, cell_id: str, kind: StreamKind, start: int, text: str) -> None:
        self._notebook().preview.stream(self._session_id, draft_id, cell_id, kind, start, text)

    on_outputs: Callable[[tuple[Output, ...]], None] | None = None
    """A terminal's function, which also gets the changed outputs of a running cell."""

    def outputs(self, cell_id: str, run_id: str, start: int, outputs: tuple[Output, ...]) -> None:
        if self.on_outputs is not None:
            self.on_outputs(outputs)
        self._notebook().preview.outputs(self._session_id, cell_id, run_id, start, outputs)

    def display(self, display_id: str, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._notebook().preview.display(display_id, data, metadata)
