"""Runs one turn in one notebook, from the kernel's start to the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

from ...core import events as e
from ...core.errors import CodeInterpError, CommandError
from ...core.ports import Model
from ...core.session.service import SessionService
from ...core.session.session import Session
from ...core.turn.ending import Ending
from ..local.bench import LocalBench
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, USAGE, Problem
from ..local.recovery import mark_unfinished
from ..terminal.following import Following
from ..terminal.fronts import Decision, Front
from ..terminal.stopping import Stopping

_USAGE = ("unknown_notebook", "no_such_kernel", "empty_message", "too_long")
_CODES = {"end_turn": DONE, "max_steps": LIMIT, "budget": LIMIT, "cancelled": INTERRUPTED}


def refused(error: CommandError) -> Problem:
    """Of a turn that could not begin."""
    return Problem(error.message, USAGE if error.code in _USAGE else FAILED)


def exit_code(ended: e.TurnEnded) -> int:
    return _CODES.get(ended.stop_reason, FAILED)


class _LocalTalk:
    def __init__(self, service: SessionService, session_id: str) -> None:
        self._service = service
        self._session_id = session_id

    async def events(self) -> AsyncIterator[bytes]:
        async for _, raw in self._service.follow(self._session_id):
            yield raw

    async def decide(self, draft: e.Draft, decision: Decision) -> None:
        self._service.decide(
            self._session_id,
            draft.draft_id,
            draft.nonce,
            decision.action,
            decision.source,
            decision.run_all,
            reason=decision.reason,
            nobody=decision.nobody,
        )

    async def answer(self, call_id: str, text: str) -> None:
        self._service.answer(self._session_id, call_id, text)


class Turn:
    """``timeout``: seconds, without the time spent on questions to the person."""

    def __init__(
        self,
        bench: LocalBench,
        front: Front,
        stopping: Stopping,
        timeout: float | None = None,
    ) -> None:
        self._bench = bench
        self._front = front
        self._stopping = stopping
        self._timeout = timeout
        self._preloading: asyncio.Task[None] | None = None
        """Kept here, because the event loop holds tasks only weakly."""
        self._clock: asyncio.TimerHandle | None = None

    async def play(self, path: str, kernel: str, text: str, mode: e.Mode, model: str) -> int:
        """Run the turn and return the exit code. Raises Problem."""
        service, models = self._bench.manager.service, self._bench.models
        kill = self._bench.kernels.kill
        chosen = model or models.default_for(path)
        models.check(chosen)
        # Import the heavy SDK while the kernel starts in its own process.
        self._preloading = asyncio.ensure_future(_preload_model(models.get(chosen), chosen))
        starting = asyncio.ensure_future(self._bench.kernel_ready(path, kernel))
        with self._stopping.by(starting.cancel, kill):
            try:
                await starting
                session = service.send(
                    text, notebook=path, mode=mode, model=model, headless=True
                ).session
            except CommandError as error:
                raise refused(error) from None
        session_id = session.info.session_id
        following = Following(_LocalTalk(service, session_id), self._front, self._stopping)
        with self._stopping.by(lambda: service.stop(session_id), kill):
            self._watch(session, following, time.monotonic())
            try:
                ended = await following.to_the_end()
            finally:
                if self._clock is not None:
                    self._clock.cancel()
        if ended.stop_reason != "end_turn":
            cells = {*ended.added, *ended.edited}
            await mark_unfinished(self._bench.contents, path, cells, ended.message)
        return exit_code(ended)

    def _watch(self, session: Session, following: Following, began: float) -> None:
        """Stop the turn at the time limit; otherwise check again later."""
        if self._timeout is None:
            return
        left = self._timeout + following.attended + began - time.monotonic()
        if left > 0:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(left, self._watch, session, following, began)
        else:
            words = f"Stopped at the time limit of {self._timeout:g} seconds."
            session.halt(Ending("budget", "time_limit", words))


async def _preload_model(model: Model, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn reports it.
        await model.info(model_id)
