"""Outputs that threads and displays add to runs that have ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from ...notebook.collector import OUTPUT_TYPES, Collector
from ...wire.ops import Output
from ..wire import KernelMessage

FLUSH = 0.1
"""Seconds that more outputs may come before a report."""
LATE = 1.0
"""Minimum seconds between two reports."""
LATE_RATE = 2_000
"""Bytes a second of these reports: a thread that prints for ever must not fill the journal."""
MOST_ENDED, ENDED_SIZE = 50, 32_000_000
"""Runs whose outputs may still change, and the size of all their outputs."""

Hear = Callable[[tuple[Output, ...]], Awaitable[None]]
Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class EndedRun:
    """The outputs of one run. ``listen_on`` sets who gets all of them after each change."""

    def __init__(self, collector: Collector, spawn: Spawn) -> None:
        self._collector = collector
        self._spawn = spawn
        self._hear: Hear | None = None
        self._telling: asyncio.Task[None] | None = None

    @property
    def size(self) -> int:
        return self._collector.size

    def listen_on(self, hear: Hear) -> None:
        self._hear = hear
        self._tell()

    def add(self, message: KernelMessage) -> None:
        if message.msg_type in OUTPUT_TYPES or message.msg_type == "clear_output":
            self._collector.add(message.msg_type, message.content, message.size)
            self._tell()

    def update(self, content: dict[str, Any], size: int) -> bool:
        """Apply ``update_display_data``. False if none of the outputs has that display id."""
        found = self._collector.update(content, size)
        self._tell()
        return found

    def close(self) -> None:
        """Report nothing more."""
        if self._telling is not None:
            self._telling.cancel()

    def _tell(self) -> None:
        if self._hear is None or not self._collector.pending:
            return
        if self._telling is None or self._telling.done():
            self._telling = self._spawn(self._report(self._hear))

    async def _report(self, hear: Hear) -> None:
        await asyncio.sleep(FLUSH)
        while self._collector.pending:
            self._collector.take()
            await hear(self._collector.outputs)
            await asyncio.sleep(max(LATE, self._collector.size / LATE_RATE))


class EndedRuns:
    """Our latest runs in one kernel process, by the id of their request."""

    def __init__(self) -> None:
        self._runs: dict[str, EndedRun] = {}

    def keep(self, msg_id: str, run: EndedRun) -> None:
        """Let the outputs of this run change, until newer runs take its place."""
        self._runs[msg_id] = run
        while len(self._runs) > 1 and (
            len(self._runs) > MOST_ENDED
            or sum(each.size for each in self._runs.values()) > ENDED_SIZE
        ):
            del self._runs[next(iter(self._runs))]

    def handle(self, message: KernelMessage, msg_id: str) -> None:
        """Take a message that belongs to the request ``msg_id``, which does not run now."""
        run, content = self._runs.get(msg_id), message.content
        if message.msg_type != "update_display_data":
            if run is not None:
                run.add(message)
        elif content is not None and not (run and run.update(content, message.size)):
            self.update(content, message.size)

    def update(self, content: dict[str, Any], size: int) -> None:
        """Apply ``update_display_data`` to each run that has this display id."""
        for run in self._runs.values():
            run.update(content, size)

    def close(self) -> None:
        for run in self._runs.values():
            run.close()

    def clear(self) -> None:
        self._runs.clear()
