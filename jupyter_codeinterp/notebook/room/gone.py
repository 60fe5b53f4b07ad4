"""Finds cells that people have deleted for good: an undo or a paste may bring a cell back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Union

from ...base.errors import DocumentError

log = logging.getLogger(__name__)

GONE_AFTER = 8.0
"""Seconds that a cell may be missing; longer than the page waits where a person deletes it."""

Ids = frozenset[str]


class GoneCells:
    """Looks only after somebody has changed the order of cells."""

    def __init__(self, ids: Callable[[], Awaitable[Ids]], gone: Callable[[Ids], None]) -> None:
        """``ids`` reads the ids of all cells between two changes; it may raise DocumentError.
        ``gone`` gets the ids of deleted cells right after that."""
        self._ids = ids
        self._gone = gone
        self._known: Ids = frozenset()
        self._missing: dict[str, float] = {}
        """Cell id to the time when the cell was first missed."""
        self._changed = asyncio.Event()
        self._failed = False
        """Whether the last look failed. The next change in the room triggers another one."""
        self._task: Union[asyncio.Task[None], None] = None

    def look(self) -> None:
        """The order of cells has changed, or the document is another one."""
        self._changed.set()
        if self._task is None:
            self._task = asyncio.ensure_future(self._follow())

    def know(self, cell_ids: Iterable[str]) -> None:
        """The agent has inserted these cells, or has read them before."""
        self._known |= frozenset(cell_ids)

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _follow(self) -> None:
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), self._wait())
            self._changed.clear()
            self._failed = True
            try:
                if gone := self._compare(await self._ids()):
                    self._gone(gone)
                self._failed = False
            except DocumentError as error:
                log.info("Cannot look for deleted cells: %s", error.message)
            except Exception:
                log.exception("Cannot look for deleted cells")

    def _wait(self) -> float | None:
        """Seconds until a missing cell counts as gone; None without one, or after a failure."""
        if self._failed or not self._missing:
            return None
        return max(0.0, min(self._missing.values()) + GONE_AFTER - _now())

    def _compare(self, there: Ids) -> Ids:
        """The ids that have been missing for long enough."""
        since = {one: _now() for one in self._known - there} | self._missing
        self._known = there
        ended = _now() - GONE_AFTER
        gone = frozenset(one for one, when in since.items() if one not in there and when <= ended)
        self._missing = {one: since[one] for one in since.keys() - there - gone}
        return gone


def _now() -> float:
    return asyncio.get_running_loop().time()
