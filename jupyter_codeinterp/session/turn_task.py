"""The task of a session's turn and how it is stopped, and its options."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from ..run.approval.decisions import Alone
from ..run.turn.ending import Ending
from ..run.turn.turn import Turn


class TurnTask:
    def __init__(self) -> None:
        self.ended: Callable[[], None] = lambda: None
        """Called at the end of each task."""
        self.turn: Turn | None = None
        """The latest turn, from its preparation on."""
        self.may_cancel = False
        """Whether the turn runs and is not yet stopping or ending."""
        self.stopped_by = 0
        self.forced_ending: Ending | None = None
        """The ending of the running turn if the journal fails or the notebook is gone."""
        self.task: asyncio.Task[None] | None = None
        self._begun = False
        """Whether the task has started. A task cancelled before that never runs."""

    @property
    def running(self) -> bool:
        return self.task is not None and not self.task.done()

    @property
    def has_deferred_ops(self) -> bool:
        return self.turn is not None and bool(self.turn.notebook.deferred)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self.may_cancel = True
        self.stopped_by = 0
        self.forced_ending = None
        self._begun = False
        self.task = asyncio.get_running_loop().create_task(work)
        self.task.add_done_callback(lambda _: self.ended())

    def begin(self) -> None:
        """Record that the task has started. Raises CancelledError if it was stopped before."""
        self._begun = True
        if not self.may_cancel:
            raise asyncio.CancelledError

    def cancel(self, window: int = 0) -> None:
        """Stop the turn, unless none runs or it is already stopping."""
        if self.task is not None and self.may_cancel:
            self.stopped_by = window
            self.may_cancel = False
            if self._begun:
                self.task.cancel()

    def halt(self, ending: Ending) -> None:
        """Stop the turn with this ending, unless another one was forced before."""
        if self.running and self.forced_ending is None:
            self.forced_ending = ending
            self.cancel()

    async def idle(self) -> None:
        """Wait for the end of the running turn."""
        while self.running and self.task is not None:
            await asyncio.wait({self.task})


class TurnOptions(msgspec.Struct, frozen=True):
    """How a turn works, as its sender wants it."""

    after: str = ""
    """New cells go after this one; "" for the default place."""
    rule_files: bool = True
    """Whether the turn reads the person's instruction files."""
    alone: Alone = ""
