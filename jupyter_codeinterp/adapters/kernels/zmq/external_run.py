"""Runs that other clients of the kernel begin, as far as iopub tells of them.

Their replies go to whoever asked, so what ends such a run is its ``idle``. Code in the
kernel can forge all of this; what a forged run can bring about is that ours does not run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from ....core.cells.collector import OUTPUT_TYPES, Collector
from ....core.ports import ExecutionDone
from .wire import Message

Settle = Callable[[], Coroutine[Any, Any, None]]
Spawn = Callable[[Coroutine[Any, Any, Any]], "asyncio.Task[Any]"]


class ZmqExternalRun:
    """One run, from its ``execute_input`` on. Its outputs are gathered from the start."""

    def __init__(self, began: Message, settling: Callable[[], asyncio.Task[Any]]) -> None:
        loop = asyncio.get_running_loop()
        self.msg_id = began.parent_id
        self.done: asyncio.Future[ExecutionDone] = loop.create_future()
        self._count: int | None = (began.content or {}).get("execution_count")
        self._settling = settling
        self._clock = loop.time
        self._began = loop.time()
        self._collector = Collector()

    async def ended(self) -> ExecutionDone:
        if not self.done.done():
            # Its own idle may be lost. A kernel that has nothing left to do has ended it.
            settling = self._settling()
            try:
                await asyncio.wait({self.done, settling}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                settling.cancel()
            self.end()
        return self.done.result()

    def handle(self, message: Message) -> None:
        kind, content = message.msg_type, message.content
        if kind in OUTPUT_TYPES or kind == "clear_output":
            self._collector.add(kind, content, message.size)
        elif kind == "update_display_data" and content is not None:
            self._collector.update(content, message.size)
        elif kind == "status" and (content or {}).get("execution_state") == "idle":
            self.end()

    def end(self, note: str = "") -> None:
        """``note`` says that the kernel did not live to see it end."""
        if self.done.done():
            return
        status: Literal["ok", "error", "dead"] = "error" if self._collector.has_error else "ok"
        self.done.set_result(
            ExecutionDone(
                status="dead" if note else status,
                outputs=self._collector.outputs,
                execution_count=self._count,
                elapsed=self._clock() - self._began,
                note=note or self._collector.note,
            )
        )


class ExternalRuns:
    """The foreign runs of one kernel that somebody waits for."""

    def __init__(self, settle: Settle, spawn: Spawn) -> None:
        self._settling = lambda: spawn(settle())
        self._waiting: list[tuple[str, asyncio.Future[ZmqExternalRun]]] = []
        self._runs: dict[str, ZmqExternalRun] = {}

    @contextmanager
    def watch(self, source: str) -> Iterator[asyncio.Future[ZmqExternalRun]]:
        """The next run of exactly ``source``, from when it begins. It is given to one
        watcher only, the first: who else wants that code run has not had it."""
        seen: asyncio.Future[ZmqExternalRun] = asyncio.get_running_loop().create_future()
        self._waiting.append((source, seen))
        try:
            yield seen
        finally:
            self._waiting.remove((source, seen))

    def handle(self, message: Message) -> None:
        """Any message that a request of another client has brought about."""
        run = self._runs.get(message.parent_id)
        if run is not None:
            run.handle(message)
        elif message.msg_type == "execute_input":
            self._begun(message)

    def _begun(self, message: Message) -> None:
        code = (message.content or {}).get("code")
        for source, seen in self._waiting:
            if source == code and not seen.done():
                run = self._runs[message.parent_id] = ZmqExternalRun(message, self._settling)
                run.done.add_done_callback(lambda _: self._runs.pop(message.parent_id, None))
                seen.set_result(run)
                return

    def lost(self, note: str) -> None:
        """The kernel process is gone, and with it all that ran there."""
        for run in self._runs.values():
            run.end(note)
