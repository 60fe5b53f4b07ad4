"""A conversation in one notebook, here or on a server, and its turns to the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Collection, Coroutine, Iterator, Sequence
from typing import Any, Protocol

from ...base.errors import CodeInterpError, CommandError, DocumentError
from ...base.sentences import as_it_is
from ...base.visible import visible_line
from ...journal.transcript import AnswerText, Line, PastTurn
from ...notebook.file import ContentsFile
from ...notebook.live.session_document import SessionDocument
from ...run.approval.decisions import Alone
from ...run.turn.ending import LIMITS, Ending
from ...session.messages import Sender
from ...session.service import Sent, carry_out
from ...wire import events as e
from ...wire.commands import Answer, Cancel, Decide, Retry, SendMessage, SessionCommand
from ...wire.ops import Output, id_of
from ...wire.ports import Model
from ..local.bench import LocalBench
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, USAGE, Problem
from ..terminal.asking import InputClosed
from ..terminal.fronts import NO_ANSWER, Front, Verdict
from ..terminal.stopping import Stopping

# -------------------------------------------------------------------------------------------------
# Marks the last cell of an unfinished turn with an output.

MARK = "[The code interpreter stopped here: {why}]\n"

log = logging.getLogger(__name__)


async def mark_unfinished(contents: Any, path: str, cells: Collection[str], why: str) -> None:
    """Add an output with the reason ``why`` to the last of ``cells`` (ids).

    Skips an interrupted cell, which already shows that, and an unwritable notebook.
    """

    async def is_elsewhere(path: str) -> bool:
        return False

    file = ContentsFile(contents, lambda: path, is_elsewhere)
    try:
        reading = await file.read()
        notebook = reading.notebook
        last = next((one for one in reversed(notebook["cells"]) if id_of(one) in cells), None)
        if last is None or last.get("cell_type") != "code" or _interrupted(last):
            return
        mark = {"output_type": "stream", "name": "stderr", "text": MARK.format(why=why)}
        last["outputs"] = [*last.get("outputs", []), mark]
        await file.write(notebook, reading)
    except DocumentError as error:
        log.warning("Could not mark the unfinished cell in %s: %s", path, error.message)


def _interrupted(cell: dict[str, Any]) -> bool:
    names = [one.get("ename") for one in cell.get("outputs", []) if isinstance(one, dict)]
    return "KeyboardInterrupt" in names[-1:]


_USAGE = ("unknown_notebook", "no_such_kernel", "empty_message", "too_long")
SHOWN, LINES = 500, 4
"""Characters and lines of the last answer that ``--continue`` shows."""
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


class Backend(Protocol):
    """Where a conversation's commands are carried out: in this process or by a Jupyter server."""

    async def carry_out(
        self, command: SessionCommand, *, alone: Alone = "", nobody: bool = False
    ) -> str:
        """Return the conversation's id. ``alone`` and ``nobody`` as of ``Sender``. Raises
        CommandError, and Problem without a connection."""

    def events(self, session_id: str, last: int) -> AsyncIterator[tuple[int, bytes]]:
        """Numbered events after ``last`` as JSON, without an end."""

    def watch(self, following: Following) -> None:
        """A turn begins."""

    async def unfinished(self, ended: e.TurnEnded) -> None:
        """Mark where the turn stopped."""

    def leave(self) -> None:
        """Clean up before an immediate exit."""


class TerminalConversation:
    """``last``: the number of the last event that was read."""

    def __init__(self, server: Backend, notebook: str, session_id: str = "", last: int = 0) -> None:
        self.server = server
        self._notebook = notebook
        self._session_id = session_id
        self._last = last
        self._stopping: asyncio.Future[None] | None = None

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
            self._notebook,
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
            self._session_id = await self.server.carry_out(command, alone=alone)
        except CommandError as error:
            raise refused(error) from None

    async def events(self) -> AsyncIterator[bytes]:
        """The turn's events as JSON; does not end by itself."""
        async for number, raw in self.server.events(self._session_id, self._last):
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
        await self.server.carry_out(command, nobody=decision.nobody)

    async def answer(self, call_id: str, text: str | None) -> None:
        """``text``: None if nobody can answer. Raises CommandError if the question was answered."""
        command = Answer(self._session_id, call_id, NO_ANSWER if text is None else text)
        await self.server.carry_out(command, nobody=text is None)

    def stop(self) -> None:
        self._stopping = asyncio.ensure_future(self._stop())

    async def _stop(self) -> None:
        with contextlib.suppress(CommandError):  # The conversation has ended.
            await self.server.carry_out(Cancel(self._session_id))


class Following:
    """Follows one turn. ``attended``: seconds that questions to the person took."""

    def __init__(
        self, conversation: TerminalConversation, front: Front, stopping: Stopping
    ) -> None:
        self._conversation = conversation
        self._front = front
        self._stopping = stopping
        self._asking: asyncio.Task[None] | None = None
        self._waits_for = ""
        """The id of the call that the open question is about."""
        self._asked_for = 0.0
        """Seconds spent on finished questions."""
        self._since: float | None = None
        self._closed = False
        """Whether the output is closed."""

    @property
    def attended(self) -> float:
        waiting = 0.0 if self._since is None else time.monotonic() - self._since
        return self._asked_for + waiting

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
        self._since = time.monotonic()
        try:
            yield
        except (InputClosed, OSError):
            self._stopping.stop()
        finally:
            self._asked_for += time.monotonic() - self._since
            self._since = None


async def to_the_end(
    conversation: TerminalConversation, front: Front, stopping: Stopping
) -> e.TurnEnded:
    """Show a turn; at a limit, ask and show the next one."""
    server = conversation.server
    while True:
        with stopping.by(conversation.stop, server.leave):
            following = Following(conversation, front, stopping)
            server.watch(following)
            ended = await following.to_the_end()
        if ended.code not in LIMITS or not await _goes_on(front, ended, stopping):
            break
        await conversation.retry()
    if ended.stop_reason != "end_turn":
        await server.unfinished(ended)
    return ended


async def _goes_on(front: Front, ended: e.TurnEnded, stopping: Stopping) -> bool:
    question = asyncio.ensure_future(front.go_on(ended))
    with stopping.by(question.cancel, lambda: None):
        await asyncio.wait({question})
    return not question.cancelled() and question.result()


class InProcess:
    """The service of this process. ``timeout``: seconds of a turn, without the time spent on
    questions to the person."""

    def __init__(self, bench: LocalBench, path: str, timeout: float | None = None) -> None:
        self._bench = bench
        self._path = path
        self._timeout = timeout
        self._preloading: asyncio.Task[None] | None = None
        """Kept here, because the event loop holds tasks only weakly."""
        self._clock: asyncio.TimerHandle | None = None

    async def start_kernel(self, kernel: str, model: str, stopping: Stopping) -> None:
        """``model``: "" for the default. Raises Problem."""
        models = self._bench.models
        chosen = model or models.default_for(self._path)
        models.check(chosen)
        # Import the heavy SDK while the kernel starts in its own process.
        self._preloading = asyncio.ensure_future(_preload_model(models.get(chosen), chosen))
        starting = asyncio.ensure_future(self._bench.kernel_ready(self._path, kernel))
        with stopping.by(starting.cancel, self.leave):
            try:
                await starting
            except CommandError as error:
                raise refused(error) from None

    async def carry_out(
        self, command: SessionCommand, *, alone: Alone = "", nobody: bool = False
    ) -> str:
        sender = Sender(headless=True, alone=alone, nobody=nobody)
        sent = await carry_out(self._bench.manager, command, sender)
        if not isinstance(sent, Sent):
            return command.session_id
        self._session = sent.session
        self._session.kept = True
        return self._session.info.session_id

    def events(self, session_id: str, last: int) -> AsyncIterator[tuple[int, bytes]]:
        return self._bench.manager.session(session_id).event_log.follow(last)

    def watch(self, following: Following, began: float | None = None) -> None:
        """Stop the turn at the time limit; otherwise check again later."""
        document = self._session.workplace.document
        if isinstance(document, SessionDocument):
            document.on_outputs = following.on_outputs
        if self._clock is not None:
            self._clock.cancel()
        if self._timeout is None:
            return
        began = time.monotonic() if began is None else began
        left = self._timeout + following.attended + began - time.monotonic()
        if left > 0:
            loop = asyncio.get_running_loop()
            self._clock = loop.call_later(left, self.watch, following, began)
        elif self._session.running:
            words = as_it_is(f"Stopped at the time limit of {self._timeout:g} seconds.")
            self._session.halt(Ending("budget", "time_limit", words))

    async def unfinished(self, ended: e.TurnEnded) -> None:
        cells = {*ended.added, *ended.edited, *ended.run_again}
        await mark_unfinished(self._bench.contents, self._path, cells, ended.message)

    def leave(self) -> None:
        self._bench.kernels.kill()


def last_words(past: Sequence[PastTurn]) -> str:
    """The last question of a conversation and the end of its answer, for a terminal."""
    asked = next((turn.asked for turn in reversed(past) if turn.asked), "")
    items = past[-1].steps[-1].items if past else []
    texts = [item.text for item in items if isinstance(item, (AnswerText, Line))]
    lines = [line for line in "\n".join(texts)[-SHOWN:].split("\n") if line.strip()]
    return "\n".join([f"> {visible_line(asked[:SHOWN])}", *map(visible_line, lines[-LINES:])])


async def _preload_model(model: Model, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn itself reports the failure.
        await model.info(model_id)
