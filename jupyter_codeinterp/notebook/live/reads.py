"""Reads of a notebook that wait for its holder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Union

from ...base.errors import DocumentError
from ...wire.ops import Snapshot

TIMEOUT = 10.0
"""Seconds that a window has to answer a read. It needs 5 ms for 1,000 cells."""
SAVE_ONLY = 0
"""The number of a request that only asks the window to save."""
TOO_LARGE = (
    "The notebook's text is too large to be read from its window (32 MB at most). "
    "Make its cells smaller, or close the notebook so that the work goes on in its file."
)
SILENT = "The notebook's window does not answer. Reload it and try again."

CellIds = tuple[str, ...]


class Reads:
    def __init__(
        self, ask: Callable[[int, CellIds], None], wait_for_holder: Callable[[], Awaitable[None]]
    ) -> None:
        """``ask`` requests the notebook, or only these cells, under a number from 1.
        ``wait_for_holder`` waits for a holder first; it raises DocumentError if none will come."""
        self._ask = ask
        self._wait_for_holder = wait_for_holder
        self._waiting = 0
        self._last = 0
        self._open: dict[int, asyncio.Future[Union[Snapshot, None]]] = {}

    def __bool__(self) -> bool:
        """Whether a read waits."""
        return self._waiting > 0

    async def read(self, cell_ids: CellIds) -> Snapshot:
        """Raises DocumentError ``not_open`` if the holder does not answer, ``too_large``, or the
        errors of ``wait_for_holder``."""
        self._waiting += 1
        try:
            while True:
                await self._wait_for_holder()
                snapshot = await self._read_once(cell_ids)
                if snapshot is not None:
                    return snapshot
        except asyncio.TimeoutError:
            raise DocumentError("not_open", SILENT) from None
        finally:
            self._waiting -= 1

    async def _read_once(self, cell_ids: CellIds) -> Snapshot | None:
        """None if the lease moved meanwhile. Raises asyncio.TimeoutError."""
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

    def refuse(self, request_id: int) -> None:
        """The notebook does not fit into a message."""
        answer = self._open.get(request_id)
        if answer is not None and not answer.done():
            answer.set_exception(DocumentError("too_large", TOO_LARGE))

    def lease_moved(self) -> None:
        """The lease moved: the former holder will not answer."""
        for answer in self._open.values():
            self._settle(answer, None)

    def _settle(
        self, answer: asyncio.Future[Union[Snapshot, None]] | None, snapshot: Snapshot | None
    ) -> None:
        if answer is not None and not answer.done():
            answer.set_result(snapshot)
