"""Reads of a notebook that wait for whoever has it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Union

from ...core.document import Snapshot

TIMEOUT = 10.0
"""Seconds that a window has to answer a read. A notebook of 1,000 cells takes 5 ms."""


class Reads:
    def __init__(self, ask: Callable[[int], None]) -> None:
        """``ask`` sends a request for the notebook, by its number (from 1)."""
        self._ask = ask
        self._last = 0
        self._open: dict[int, asyncio.Future[Union[Snapshot, None]]] = {}

    async def read(self) -> Snapshot | None:
        """None if the lease has gone elsewhere meanwhile. Raises asyncio.TimeoutError."""
        self._last += 1
        request_id = self._last
        answer: asyncio.Future[Union[Snapshot, None]] = asyncio.get_running_loop().create_future()
        self._open[request_id] = answer
        self._ask(request_id)
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
