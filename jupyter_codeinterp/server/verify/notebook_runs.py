"""Verifies the notebook of a conversation for the agent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ...core.verify.verification import CodeCell, Verification
from .notebook import read
from .verifier import Verifier


class NotebookRuns:
    """Implements the core's ``FreshRuns``. ``path``: of the notebook, which may move."""

    def __init__(self, verifier: Verifier, path: Callable[[], str]) -> None:
        self._verifier = verifier
        self._path = path
        self._ending: set[asyncio.Task[None]] = set()
        """Runs that end after Stop; the event loop holds tasks only weakly."""

    async def cells(self) -> Sequence[CodeCell]:
        verifier = self._verifier
        return (await read(verifier.contents, verifier.kernels, self._path())).cells

    async def run(self, in_place: bool) -> Verification:
        path = self._path()
        starting = asyncio.ensure_future(self._verifier.start(path, in_place=in_place))
        try:
            await asyncio.shield(starting)
            return await self._verifier.ended(path)
        except asyncio.CancelledError:
            # Stop waits for no kernel.
            ending = asyncio.ensure_future(self._end(path, starting))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
            raise

    async def _end(self, path: str, starting: asyncio.Future[Verification]) -> None:
        await asyncio.wait({starting})
        if starting.exception() is None:
            await self._verifier.cancel(path)
