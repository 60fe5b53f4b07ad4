"""Runs one turn in one notebook, from the kernel's start to the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Coroutine, Iterator
from typing import Any

import msgspec

from ...core import events as e
from ...core.errors import CodeInterpError, CommandError
from ...core.history.transcript import in_no_output
from ...core.ports import Model
from ...core.session.session import Session
from ...core.turn.ending import Ending
from ...core.visible import visible_line
from ..local.bench import LocalBench
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, UNPROVEN, USAGE, Problem
from ..local.recovery import mark_unfinished
from ..terminal.asking import InputClosed
from ..terminal.fronts import Front
from ..terminal.stopping import Stopping

_decode = msgspec.json.Decoder(e.Event).decode
_USAGE = ("unknown_notebook", "no_such_kernel", "empty_message", "too_long")
STRICT = "Failed because of --strict."
_CODES = {"end_turn": DONE, "max_steps": LIMIT, "budget": LIMIT, "cancelled": INTERRUPTED}


class Turn:
    """``timeout``: seconds, without the time spent on questions to the person. ``strict``: the turn
    fails if no output has a figure of its answer."""

    def __init__(
        self,
        bench: LocalBench,
        front: Front,
        stopping: Stopping,
        timeout: float | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self._bench = bench
        self._front = front
        self._stopping = stopping
        self._timeout = timeout
        self._strict = strict
        self._unproven: list[str] = []
        """What no output has of the texts of the last step, which are the answer."""
        self._preloading: asyncio.Task[None] | None = None
        """Kept here, because the event loop holds tasks only weakly."""
        self._asking: asyncio.Task[None] | None = None
        self._waits_for = ""
        """The id of the call in question."""
        self._asked_for = 0.0
        """Seconds spent on finished questions."""
        self._since: float | None = None
        self._clock: asyncio.TimerHandle | None = None
        self._closed = False
        """Whether the output is closed."""

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
                raise Problem(error.message, USAGE if error.code in _USAGE else FAILED) from None
        session_id = session.info.session_id
        with self._stopping.by(lambda: service.stop(session_id), kill):
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
            await mark_unfinished(self._bench.contents, path, cells, ended.message)
        elif self._strict and self._unproven:
            print(visible_line(" ".join((*self._unproven, STRICT))), file=sys.stderr, flush=True)
            return UNPROVEN
        return _CODES.get(ended.stop_reason, FAILED)

    def _watch(self, session: Session, began: float) -> None:
        """Stop the turn at the time limit; otherwise check again later."""
        if self._timeout is None:
            return
        left = self._timeout + self._attended() + began - time.monotonic()
        if left > 0:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(left, self._watch, session, began)
        else:
            words = f"Stopped at the time limit of {self._timeout:g} seconds."
            session.halt(Ending("budget", "time_limit", words))

    # --- events ----------------------------------------------------------------------

    async def _follow(self, session_id: str) -> e.TurnEnded:
        async for _, raw in self._bench.manager.service.follow(session_id):
            event = _decode(raw)
            self._show(event, raw)
            if isinstance(event, e.StepStarted):
                self._unproven.clear()
            elif isinstance(event, e.AnswerChecked) and (words := in_no_output(event)):
                self._unproven.append(words)
            if isinstance(event, e.TurnEnded):
                return event
            if isinstance(event, e.DraftWaiting):
                self._ask(event.draft.call_id, self._decide(session_id, event.draft))
            elif isinstance(event, e.QuestionAsked):
                self._ask(event.call_id, self._answer(session_id, event))
            elif getattr(event, "call_id", "") == self._waits_for:
                # Decided, answered or ended, possibly by another client.
                self._forget_question()
        raise AssertionError("following events never ends")

    def _show(self, event: e.Event, raw: bytes) -> None:
        if self._closed:
            return
        try:
            self._front.show(event, raw)
        except OSError:
            # The pipe or terminal is closed.
            self._closed = True
            self._stopping.stop()

    # --- questions -------------------------------------------------------------------

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
            with contextlib.suppress(CommandError):  # already decided
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
            answer = await self._front.answer(question)
            with contextlib.suppress(CommandError):
                self._bench.manager.service.answer(session_id, question.call_id, answer)

    @contextlib.contextmanager
    def _person(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        except (InputClosed, OSError):
            self._stopping.stop()
        finally:
            self._asked_for += time.monotonic() - self._since
            self._since = None

    def _attended(self) -> float:
        waiting = 0.0 if self._since is None else time.monotonic() - self._since
        return self._asked_for + waiting


async def _preload_model(model: Model, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn reports it.
        await model.info(model_id)
