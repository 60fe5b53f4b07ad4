"""A server that dies at a planted point in a turn; run as a process of its own.

    python -m tests.dying JOURNAL POINT

The kernel is one that writes down what reaches it, in a file beside the journal.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.events import RunStarted
from jupyter_codeinterp.wire.ports import ExecutionDone, ExecutionEvent, KernelInfo, KernelState
from tests.reference_window import notebook
from tests.scripted import Bench, run, say

DIED = 17
"""The process's return code."""


def die() -> None:
    os._exit(DIED)


class Kernel:
    """``execute`` of one cell: what reached it is in ``reached``."""

    info_now = KernelInfo("k", 0, "python", "3")

    def __init__(self, reached: Path, point: str) -> None:
        self.reached = reached
        self.point = point

    async def info(self) -> KernelInfo:
        return self.info_now

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[Any]:
        yield Slot(self)

    async def state(self) -> KernelState:
        return KernelState()

    async def variables(self, names: tuple[str, ...] = ()) -> None:
        return None

    async def overlay(self) -> None:
        return None


class Slot:
    def __init__(self, kernel: Kernel) -> None:
        self.info = kernel.info_now
        self.sent = self.begun = False
        self._kernel = kernel

    def new_msg_id(self) -> str:
        return "message"

    async def execute(self, source: str, **_: Any) -> AsyncIterator[ExecutionEvent]:
        if self._kernel.point == "before the request":
            die()
        self._kernel.reached.write_text(source)
        self.sent = self.begun = True
        if self._kernel.point == "while it runs":
            die()
        await asyncio.sleep(0)
        yield ExecutionDone("ok", (), 1, 0.1)

    async def stopped(self) -> None:
        return None

    def listen_on(self, hear: object) -> None:
        """Nothing comes late here."""


def plant(store: SqliteStore, point: str) -> None:
    """Let the process die while the journal is written."""
    written: list[str] = []

    def seen(statement: str) -> None:
        if point == "before run_started" and str(RunStarted.__struct_config__.tag) in statement:
            die()
        if statement.startswith("BEGIN"):
            written.clear()
        if statement.startswith("INSERT INTO messages"):
            written.append(statement)
            if point == "between a reply and its results" and len(written) == 2:
                die()
        if point == "before they are committed" and len(written) == 2 and statement == "COMMIT":
            die()

    store._db.set_trace_callback(seen)


async def main(journal: Path, point: str) -> None:
    store = SqliteStore(journal)
    kernel = Kernel(journal.with_name("reached"), point)
    b = Bench(store, kernel, [run("a = 1"), say("Done.")], notebook("x = 20"))  # type: ignore[arg-type]
    plant(store, point)
    if point == "after a reply and its results":
        add = b.session.log.talk.add

        def added(*messages: Any) -> None:
            add(*messages)
            if len(messages) == 2:
                die()

        b.session.log.talk.add = added  # type: ignore[method-assign]
    await b.turn()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
