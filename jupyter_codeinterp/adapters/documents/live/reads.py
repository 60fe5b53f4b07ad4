"""Reads of a notebook that wait for whoever has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Union

from ....core.document.ops import Snapshot
from ....core.errors import DocumentError

TIMEOUT = 10.0
"""Seconds that a window has to answer a read. A notebook of 1,000 cells takes 5 ms."""
SAVE_ONLY = 0
"""The number of a read whose answer nobody waits for: the window is only to save."""
SILENT = "The notebook's window does not answer. Reload it and try again."

CellIds = tuple[str, ...]


class Reads:
    def __init__(
        self, ask: Callable[[int, CellIds], None], somebody: Callable[[], Awaitable[None]]
    ) -> None:
        """``ask`` sends a request for the notebook (these cells of it; all without any), by its
        number (from 1), to ``somebody`` who has it: that is waited for. It raises
        DocumentError if there will be nobody."""
        self._ask = ask
        self._somebody = somebody
        self._waiting = 0
        self._last = 0
        self._open: dict[int, asyncio.Future[Union[Snapshot, None]]] = {}

    def __bool__(self) -> bool:
        """Whether any wait."""
        return self._waiting > 0

    async def read(self, cell_ids: CellIds) -> Snapshot:
        """Raises DocumentError ``not_open`` if who has it does not answer, or what
        ``somebody`` raises."""
        self._waiting += 1
        try:
            while True:
                await self._somebody()
                snapshot = await self._read_once(cell_ids)
                if snapshot is not None:
                    return snapshot
        except asyncio.TimeoutError:
            raise DocumentError("not_open", SILENT) from None
        finally:
            self._waiting -= 1

    async def _read_once(self, cell_ids: CellIds) -> Snapshot | None:
        """None if the lease has gone elsewhere meanwhile. Raises asyncio.TimeoutError."""
        self._last += 1
        request_id = self._last
        answer: asyncio.Future[Union[Snapshot, None]] = asyncio.get_running_loop().create_future()
        self._open[request_id] = answer
        self._ask(request_id, cell_ids)
        try:
            return await asyncio.wait_for(answer, TIMEOUT)
        finally:
            del self._open[request_id]

    def answer(self, request_id: int, snapshot: Snapshot) -> None:
        self._settle(self._open.get(request_id), snapshot)

    def ask_elsewhere(self) -> None:
        """The lease has gone elsewhere: no answer will come from where was asked."""
        for answer in self._open.values():
            self._settle(answer, None)

    def _settle(
        self, answer: asyncio.Future[Union[Snapshot, None]] | None, snapshot: Snapshot | None
    ) -> None:
        if answer is not None and not answer.done():
            answer.set_result(snapshot)
