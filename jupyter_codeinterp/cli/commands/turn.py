"""One turn in one notebook, from the kernel's start to the exit code: through the same service
as every other front.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine, Iterator
from typing import Any

import msgspec

from ...core import events as e
from ...core.errors import CodeInterpError, CommandError
from ...core.ports import Model
from ...core.session.session import Session
from ...core.turn.ending import Ending
from ..local.bench import LocalBench
from ..local.half_done import say_where
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, USAGE, Problem
from ..terminal.asking import NobodyThere
from ..terminal.fronts import Front
from ..terminal.stopping import Stopping

_decode = msgspec.json.Decoder(e.Event).decode
_USAGE = ("unknown_notebook", "no_such_kernel", "empty_message", "too_long")
_CODES = {"end_turn": DONE, "max_steps": LIMIT, "budget": LIMIT, "cancelled": INTERRUPTED}


class Turn:
    """``timeout`` is in seconds; time in which a person is asked does not count."""

    def __init__(
        self, bench: LocalBench, front: Front, stopping: Stopping, timeout: float | None = None
    ) -> None:
        self._bench = bench
        self._front = front
        self._stopping = stopping
        self._timeout = timeout
        self._known: asyncio.Task[None] | None = None
        """Kept, for the event loop does not."""
        self._asking: asyncio.Task[None] | None = None
        self._waits_for = ""
        """The call that somebody is asked about."""
        self._asked_for = 0.0
        """Seconds that somebody has been asked, without those since ``_since``."""
        self._since: float | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._deaf = False
        """Whether nobody reads any more what is shown."""

    async def play(self, path: str, kernel: str, text: str, mode: e.Mode, model: str) -> int:
        """The exit code. Raises Problem."""
        service, models = self._bench.manager.service, self._bench.models
        chosen = model or models.default_for(path)
        models.check(chosen)
        # The SDK is heavy: imported as the kernel starts, which is another process.
        self._known = asyncio.ensure_future(_get_to_know(models.get(chosen), chosen))
        starting = asyncio.ensure_future(self._bench.kernel_ready(path, kernel))
        with self._stopping.by(lambda: _cancel(starting), self._leave):
            try:
                await starting
                session = service.send(
                    text, notebook=path, mode=mode, model=model, headless=True
                ).session
            except CommandError as error:
                raise Problem(error.message, USAGE if error.code in _USAGE else FAILED) from None
        session_id = session.info.session_id
        with self._stopping.by(lambda: service.stop(session_id), self._leave):
            self._watch(session, time.monotonic())
            try:
                ended = await self._follow(session_id)
            finally:
                if self._clock is not None:
                    self._clock.cancel()
                self._forget_question()
                self._front.pause()
        if ended.stop_reason != "end_turn":
            cells = {*ended.added, *ended.edited}
            await say_where(self._bench.contents, path, cells, ended.message)
        return _CODES.get(ended.stop_reason, FAILED)

    def _leave(self) -> None:
        self._bench.kernels.kill()

    def _watch(self, session: Session, began: float) -> None:
        """Again whenever the time could be over."""
        if self._timeout is None:
            return
        left = self._timeout + self._attended() + began - time.monotonic()
        if left > 0:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(left, self._watch, session, began)
        else:
            words = f"Stopped at the time limit of {self._timeout:g} seconds."
            session.halt(Ending("budget", "time_limit", words))

    # --- what happens ----------------------------------------------------------------

    async def _follow(self, session_id: str) -> e.TurnEnded:
        async for _, raw in self._bench.manager.service.follow(session_id):
            event = _decode(raw)
            self._show(event, raw)
            if isinstance(event, e.TurnEnded):
                return event
            if isinstance(event, e.DraftWaiting):
                self._ask(event.draft.call_id, self._decide(session_id, event.draft))
            elif isinstance(event, e.QuestionAsked):
                self._ask(event.call_id, self._answer(session_id, event))
            elif getattr(event, "call_id", "") == self._waits_for:
                # Decided, answered or ended, whoever did it.
                self._forget_question()
        raise AssertionError("events are followed for ever")

    def _show(self, event: e.Event, raw: bytes) -> None:
        if self._deaf:
            return
        try:
            self._front.show(event, raw)
        except OSError:
            # The pipe, or the terminal, is closed: there is nobody for whom to go on.
            self._deaf = True
            self._stopping.stop()

    # --- what is asked ---------------------------------------------------------------

    def _ask(self, call_id: str, question: Coroutine[Any, Any, None]) -> None:
        self._forget_question()
        self._waits_for = call_id
        self._asking = asyncio.ensure_future(question)

    def _forget_question(self) -> None:
        if self._asking is not None and self._asking is not asyncio.current_task():
            self._asking.cancel()
        self._asking, self._waits_for = None, ""

    async def _decide(self, session_id: str, draft: e.Draft) -> None:
        with self._person():
            word = await self._front.decide(draft)
            with contextlib.suppress(CommandError):  # It does not wait any longer.
                self._bench.manager.service.decide(
                    session_id,
                    draft.draft_id,
                    draft.nonce,
                    word.action,
                    word.source,
                    word.run_all,
                    reason=word.reason,
                )

    async def _answer(self, session_id: str, question: e.QuestionAsked) -> None:
        with self._person():
            said = await self._front.answer(question)
            with contextlib.suppress(CommandError):
                self._bench.manager.service.answer(session_id, question.call_id, said)

    @contextlib.contextmanager
    def _person(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        except (NobodyThere, OSError):
            self._stopping.stop()
        finally:
            self._asked_for += time.monotonic() - self._since
            self._since = None

    def _attended(self) -> float:
        waiting = 0.0 if self._since is None else time.monotonic() - self._since
        return self._asked_for + waiting


async def _get_to_know(model: Model, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn will say so.
        await model.info(model_id)


def _cancel(task: asyncio.Future[None]) -> None:
    task.cancel()
