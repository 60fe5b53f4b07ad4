"""``Kernel`` for the agent's own process: IPython runs the code as it runs a cell."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec

from ...wire.ports import ExecutionDone, ExecutionEvent, ExecutionStarted, KernelInfo, KernelState
from ..inside import absent, variables
from .capture import Capture
from .main_thread import MainThread, Ticket

KERNEL_ID = "in-process"
INTERRUPT_TIMEOUT = 0.8
"""Seconds that a stopped run has to end, as the port says."""


class InProcessKernel:
    def __init__(self, shell: Any, main: MainThread) -> None:
        self.control = None
        self._shell = shell
        self._main = main
        self._idle = asyncio.Lock()
        self._info = KernelInfo(KERNEL_ID, 1, "python", platform.python_version())

    @property
    def kernel_id(self) -> str:
        return KERNEL_ID

    async def info(self) -> KernelInfo:
        return self._info

    async def overlay(self) -> None:
        """None: the code writes into the folder itself."""

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[InProcessSlot]:
        async with self._idle:
            yield InProcessSlot(self._info, self._main, self._run)

    async def state(self) -> KernelState:
        # The count includes the cell with the person's question.
        count = self._shell.execution_count
        return KernelState(cells_run=count, packages=variables.versions())

    async def variables(self, names: tuple[str, ...] = ()) -> list[dict[str, Any]] | None:
        with contextlib.suppress(RuntimeError):  # The namespace may change meanwhile.
            return variables.describe(self._shell.user_ns, self._shell.user_ns_hidden, names)
        return None

    # --- on the main thread ----------------------------------------------------------

    def _run(self, source: str) -> ExecutionDone:
        shell, main = self._shell, self._main
        began = time.monotonic()
        result = None
        with Capture(shell, lambda: main.interrupted) as captured:
            try:
                with main.breakable(), _own_loop(shell):
                    result = shell.run_cell(source, store_history=False)
            except KeyboardInterrupt:
                main.interrupted = True
            except UnboundLocalError:
                # IPython raises it itself at a second interrupt while it handles the first. Errors
                # of the cell never reach this line.
                if not main.interrupted:
                    raise
            if result is not None and not result.success:
                captured.failed(result.error_before_exec or result.error_in_exec)
        error = getattr(result, "error_in_exec", None)
        missed = absent.absent(error, shell.user_ns) if error is not None else {}
        status: Literal["ok", "error", "interrupted"] = "error"
        if main.interrupted:
            status = "interrupted"
        elif result is not None and result.success:
            status = "ok"
        return ExecutionDone(
            status,
            captured.collector.outputs,
            max(0, shell.execution_count - 1),
            time.monotonic() - began,
            captured.collector.note,
            report={"absent": missed} if missed else {},
        )


class InProcessSlot:
    def __init__(
        self, info: KernelInfo, main: MainThread, work: Callable[[str], ExecutionDone]
    ) -> None:
        self.info = info
        self._main = main
        self._work = work
        self._ticket = Ticket()
        self._run: asyncio.Task[ExecutionDone] | None = None

    @property
    def sent(self) -> bool:
        return self._ticket.begun

    begun = sent

    def new_msg_id(self) -> str:
        return uuid.uuid4().hex

    async def execute(
        self,
        source: str,
        *,
        msg_id: str,
        timeout: float | None = None,
        looks_at: dict[str, Any] | None = None,
    ) -> AsyncGenerator[ExecutionEvent, None]:
        work = self._main.run(lambda: self._work(source), self._ticket)
        run = self._run = asyncio.ensure_future(work)
        try:
            ended = bool((await asyncio.wait({run}, timeout=timeout))[0])
            if not ended:
                self._main.interrupt(self._ticket)
            done = await asyncio.shield(run)
        except asyncio.CancelledError:
            if not self._ticket.drop():
                self._main.interrupt(self._ticket)
            raise
        if not ended and done.status == "interrupted":
            done = msgspec.structs.replace(done, status="timeout")
        yield ExecutionStarted(done.execution_count)
        yield done

    def listen_on(self, hear: object) -> None:
        """Do nothing: later outputs appear in the person's cell."""

    async def stopped(self) -> ExecutionDone | None:
        if self._run is None:
            return None
        await asyncio.wait({self._run}, timeout=INTERRUPT_TIMEOUT)
        if not self._run.done() or self._run.cancelled() or self._run.exception():
            return None
        return msgspec.structs.replace(self._run.result(), status="interrupted")


@contextlib.contextmanager
def _own_loop(shell: Any) -> Iterator[None]:
    """Give code a loop of its own, so that it can await at the top level even where the thread
    already runs one, as a kernel's does."""
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        yield
        return

    def runner(work: Any) -> Any:
        asyncio._set_running_loop(None)
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(work)
        finally:
            loop.close()
            asyncio._set_running_loop(running)

    before = shell.loop_runner
    shell.loop_runner = runner
    try:
        yield
    finally:
        shell.loop_runner = before
