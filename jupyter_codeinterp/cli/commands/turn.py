"""A conversation in one notebook, and its turns to the exit code."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any

from ...base.errors import CodeInterpError, CommandError
from ...models.offered import Models
from ...notebook.live.session_document import SessionDocument
from ...run.approval.decisions import Alone
from ...run.turn.ending import LIMITS
from ...session.messages import Sender
from ...session.server.service import Sent, carry_out
from ...wire import events as e
from ...wire.commands import Answer, Cancel, Decide, Retry, SendMessage, SessionCommand
from ...wire.ops import Output
from ..local.bench import LocalBench
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, USAGE, Problem
from ..terminal.asking import InputClosed
from ..terminal.fronts import NO_ANSWER, Front, Verdict
from ..terminal.stopping import Stopping

_USAGE = ("unknown_notebook", "no_such_kernel", "empty_message", "too_long")
_CODES = {"end_turn": DONE, "max_steps": LIMIT, "budget": LIMIT, "cancelled": INTERRUPTED}


def refused(error: CommandError) -> Problem:
    """The problem of a turn that could not begin."""
    return Problem(error.message, USAGE if error.code in _USAGE else FAILED)


def exit_code(ended: e.TurnEnded) -> int:
    return _CODES.get(ended.stop_reason, FAILED)


_MOST = 4_000
"""Characters at an output's end that are searched for its last line."""


def last_line(outputs: tuple[Output, ...]) -> str:
    """The last line with text of what a cell has printed; "" for none."""
    text = outputs[-1].get("text") if outputs else ""
    text = text[-_MOST:] if isinstance(text, str) else ""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1].strip() if lines else ""


class TerminalConversation:
    """A conversation in this process."""

    def __init__(self, bench: LocalBench, path: str) -> None:
        self._bench = bench
        self._path = path
        self._session_id = ""
        self._last = 0
        """The number of the last event that was read."""
        self._preloading: asyncio.Task[None] | None = None
        """Kept here, because the event loop holds tasks only weakly."""
        self._stopping: asyncio.Future[None] | None = None

    def go_on(self, session_id: str, last: int) -> None:
        """Continue an earlier conversation."""
        self._session_id, self._last = session_id, last

    async def start_kernel(self, kernel: str, model: str, stopping: Stopping) -> None:
        """``model``: "" for the default. Raises Problem."""
        models = self._bench.models
        chosen = model or models.default_for(self._path)
        models.check(chosen)
        # Import the heavy SDK while the kernel starts in its own process.
        self._preloading = asyncio.ensure_future(_preload_model(models, chosen))
        starting = asyncio.ensure_future(self._bench.kernel_ready(self._path, kernel))
        with stopping.by(starting.cancel, self.leave):
            try:
                await starting
            except CommandError as error:
                raise refused(error) from None

    def leave(self) -> None:
        """Clean up before an immediate exit."""
        self._bench.kernels.kill()

    # --- commands --------------------------------------------------------------------

    async def send(
        self,
        text: str,
        mode: e.Mode,
        model: str,
        references: tuple[e.Reference, ...] = (),
        alone: Alone = "",
    ) -> None:
        """Begin a turn. Raises Problem."""
        message = SendMessage(
            text,
            self._path,
            session_id=self._session_id,
            mode=mode,
            model=model,
            references=references,
        )
        await self._begin(message, alone)

    async def retry(self) -> None:
        """Begin a turn. Raises Problem."""
        await self._begin(Retry(self._session_id))

    async def _begin(self, command: SessionCommand, alone: Alone = "") -> None:
        try:
            sent = await self._carry_out(command, alone=alone)
        except CommandError as error:
            raise refused(error) from None
        if isinstance(sent, Sent):
            self._session = sent.session
            self._session.kept = True
            self._session_id = self._session.info.session_id

    async def _carry_out(
        self, command: SessionCommand, *, alone: Alone = "", nobody: bool = False
    ) -> object:
        """``alone`` and ``nobody`` as of ``Sender``. Raises CommandError."""
        sender = Sender(headless=True, alone=alone, nobody=nobody)
        return await carry_out(self._bench.manager, command, sender)

    async def events(self) -> AsyncIterator[bytes]:
        """The turn's events as JSON; does not end by itself."""
        log = self._bench.manager.session(self._session_id).event_log
        async for number, raw in log.follow(self._last):
            self._last = number
            yield raw

    async def decide(self, draft: e.Draft, decision: Verdict) -> None:
        """Raises CommandError if the draft can no longer be decided."""
        command = Decide(
            self._session_id,
            draft.draft_id,
            draft.nonce,
            decision.action,
            decision.source,
            decision.run_all,
            decision.reason,
        )
        await self._carry_out(command, nobody=decision.nobody)

    async def answer(self, call_id: str, text: str | None) -> None:
        """``text``: None if nobody can answer. Raises CommandError if the question was answered."""
        command = Answer(self._session_id, call_id, NO_ANSWER if text is None else text)
        await self._carry_out(command, nobody=text is None)

    def stop(self) -> None:
        self._stopping = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        with contextlib.suppress(CommandError):  # The conversation has ended.
            await self._carry_out(Cancel(self._session_id))

    def watch(self, following: Following) -> None:
        """A turn begins."""
        document = self._session.workplace.document
        if isinstance(document, SessionDocument):
            document.on_outputs = following.on_outputs


class Following:
    """Follows one turn."""

    def __init__(
        self, conversation: TerminalConversation, front: Front, stopping: Stopping
    ) -> None:
        self._conversation = conversation
        self._front = front
        self._stopping = stopping
        self._asking: asyncio.Task[None] | None = None
        self._waits_for = ""
        """The id of the call that the open question is about."""
        self._closed = False
        """Whether the output is closed."""

    async def to_the_end(self) -> e.TurnEnded:
        try:
            async for raw in self._conversation.events():
                event = e.read_event(raw)
                self._show(event, e.with_strings(raw))
                if isinstance(event, e.TurnEnded):
                    return event
                self._take(event)
            raise AssertionError("following events never ends")
        finally:
            self._forget_question()
            self._front.pause()

    def on_outputs(self, outputs: tuple[Output, ...]) -> None:
        """Show the progress of a running cell by its outputs."""
        with contextlib.suppress(OSError):  # The next event finds the closed output.
            self._front.progress(last_line(outputs))

    def _take(self, event: e.Event) -> None:
        if isinstance(event, e.DraftWaiting):
            self._ask(event.draft.call_id, self._decide(event.draft))
        elif isinstance(event, e.QuestionAsked):
            self._ask(event.call_id, self._answer(event))
        elif getattr(event, "call_id", "") == self._waits_for:
            # Decided, answered or ended, possibly by another client.
            self._forget_question()

    def _show(self, event: e.Event, raw: bytes) -> None:
        if self._closed:
            return
        try:
            self._front.show(event, raw)
        except OSError:
            # The output pipe or terminal is closed.
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

    async def _decide(self, draft: e.Draft) -> None:
        with self._person():
            decision = await self._front.decide(draft)
            with contextlib.suppress(CommandError):  # already decided
                await self._conversation.decide(draft, decision)

    async def _answer(self, question: e.QuestionAsked) -> None:
        with self._person():
            answer = await self._front.answer(question)
            with contextlib.suppress(CommandError):
                await self._conversation.answer(question.call_id, answer)

    @contextlib.contextmanager
    def _person(self) -> Iterator[None]:
        try:
            yield
        except (InputClosed, OSError):
            self._stopping.stop()


async def to_the_end(
    conversation: TerminalConversation, front: Front, stopping: Stopping
) -> e.TurnEnded:
    """Show a turn; at a limit, ask and show the next one."""
    while True:
        with stopping.by(conversation.stop, conversation.leave):
            following = Following(conversation, front, stopping)
            conversation.watch(following)
            ended = await following.to_the_end()
        if ended.code not in LIMITS or not await _goes_on(front, ended, stopping):
            return ended
        await conversation.retry()


async def _goes_on(front: Front, ended: e.TurnEnded, stopping: Stopping) -> bool:
    question = asyncio.ensure_future(front.go_on(ended))
    with stopping.by(question.cancel, lambda: None):
        await asyncio.wait({question})
    return not question.cancelled() and question.result()


async def _preload_model(models: Models, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn itself reports the failure.
        model = await models.get(model_id)
        await model.info(model_id)
