"""A conversation in one notebook, here or on a server, and its turns to the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Any, Protocol

from ...adapters.documents.file import ContentsFile
from ...adapters.documents.live.session_document import SessionDocument
from ...core.approval.decisions import Alone
from ...core.document.ops import id_of
from ...core.errors import CodeInterpError, CommandError, DocumentError
from ...core.history.transcript import AnswerText, Line, PastTurn, turns
from ...core.ports import Model
from ...core.session.session import Session
from ...core.turn.ending import LIMITS, Ending
from ...core.visible import visible_line
from ...core.wire import events as e
from ..local.bench import LocalBench
from ..local.problems import DONE, FAILED, INTERRUPTED, LIMIT, USAGE, Problem
from ..terminal.following import Following, Talk
from ..terminal.fronts import Decision, Front
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


class Conversation(Talk, Protocol):
    """``send`` and ``retry`` begin a turn; both raise Problem."""

    async def send(
        self,
        text: str,
        mode: e.Mode,
        model: str,
        references: tuple[e.Reference, ...] = (),
        alone: Alone = "",
    ) -> None: ...

    async def retry(self) -> None: ...

    def stop(self) -> None: ...

    def leave(self) -> None:
        """Clean up before an immediate exit."""

    async def unfinished(self, ended: e.TurnEnded) -> None:
        """Mark where the turn stopped."""


def nothing(following: Following) -> None:
    """Do nothing: the default for ``begin``."""


async def to_the_end(
    conversation: Conversation,
    front: Front,
    stopping: Stopping,
    begin: Callable[[Following], None] = nothing,
) -> e.TurnEnded:
    """Show a turn; at a limit, ask and show the next one. Calls ``begin`` before each."""
    while True:
        with stopping.by(conversation.stop, conversation.leave):
            following = Following(conversation, front, stopping)
            begin(following)
            ended = await following.to_the_end()
        if ended.code not in LIMITS or not await _goes_on(front, ended, stopping):
            break
        await conversation.retry()
    if ended.stop_reason != "end_turn":
        await conversation.unfinished(ended)
    return ended


async def _goes_on(front: Front, ended: e.TurnEnded, stopping: Stopping) -> bool:
    question = asyncio.ensure_future(front.go_on(ended))
    with stopping.by(question.cancel, lambda: None):
        await asyncio.wait({question})
    return not question.cancelled() and question.result()


class LocalConversation:
    """``timeout``: seconds of a turn, without the time spent on questions to the person."""

    def __init__(self, bench: LocalBench, path: str, timeout: float | None = None) -> None:
        self._bench = bench
        self._service = bench.manager.service
        self._path = path
        self._timeout = timeout
        self._session: Session | None = None
        self._last = 0
        """The number of the last event that was read."""
        self._preloading: asyncio.Task[None] | None = None
        """Kept here, because the event loop holds tasks only weakly."""
        self._clock: asyncio.TimerHandle | None = None

    async def open(self, kernel: str, model: str, stopping: Stopping) -> None:
        """Start the kernel. Raises Problem."""
        models = self._bench.models
        before = self._session.info.model if self._session is not None else ""
        chosen = model or before or models.default_for(self._path)
        models.check(chosen)
        # Import the heavy SDK while the kernel starts in its own process.
        self._preloading = asyncio.ensure_future(_preload_model(models.get(chosen), chosen))
        starting = asyncio.ensure_future(self._bench.kernel_ready(self._path, kernel))
        with stopping.by(starting.cancel, self.leave):
            try:
                await starting
            except CommandError as error:
                raise refused(error) from None

    def take_up(self, session_id: str) -> str:
        """Continue a conversation. Return its last question and the end of the answer."""
        manager = self._bench.manager
        self._session = manager.session(session_id)
        self._last = self._session.event_log.last_seq
        events = [event for _, event in manager.store.events(session_id)]
        return last_words(turns(events))

    async def send(
        self,
        text: str,
        mode: e.Mode,
        model: str,
        references: tuple[e.Reference, ...] = (),
        alone: Alone = "",
    ) -> None:
        session_id = self._id if self._session else ""
        try:
            sent = self._service.send(
                text,
                session_id=session_id,
                notebook=self._path,
                mode=mode,
                model=model,
                headless=True,
                references=references,
                alone=alone,
            )
        except CommandError as error:
            raise refused(error) from None
        self._session = sent.session
        self._session.kept = True

    async def retry(self) -> None:
        try:
            self._service.retry(self._id, headless=True)
        except CommandError as error:
            raise refused(error) from None

    @property
    def _here(self) -> Session:
        if self._session is None:
            raise RuntimeError("nothing was sent")
        return self._session

    @property
    def _id(self) -> str:
        return self._here.info.session_id

    async def events(self) -> AsyncIterator[bytes]:
        async for number, raw in self._service.follow(self._id, self._last):
            self._last = number
            yield raw

    async def decide(self, draft: e.Draft, decision: Decision) -> None:
        self._service.decide(
            self._id,
            draft.draft_id,
            draft.nonce,
            decision.action,
            decision.source,
            decision.run_all,
            reason=decision.reason,
            nobody=decision.nobody,
        )

    async def answer(self, call_id: str, text: str) -> None:
        self._service.answer(self._id, call_id, text)

    def stop(self) -> None:
        self._service.stop(self._id)

    def leave(self) -> None:
        self._bench.kernels.kill()

    def watch(self, following: Following, began: float | None = None) -> None:
        """Stop the turn at the time limit; otherwise check again later."""
        document = self._here.workplace.document
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
        elif self._here.running:
            words = f"Stopped at the time limit of {self._timeout:g} seconds."
            self._here.halt(Ending("budget", "time_limit", words))

    async def unfinished(self, ended: e.TurnEnded) -> None:
        cells = {*ended.added, *ended.edited, *ended.run_again}
        await mark_unfinished(self._bench.contents, self._path, cells, ended.message)


def last_words(past: Sequence[PastTurn]) -> str:
    """The last question of a conversation and the end of its answer, for a terminal."""
    asked = next((turn.asked for turn in reversed(past) if turn.asked), "")
    items = past[-1].steps[-1].items if past else []
    texts = [item.text for item in items if isinstance(item, (AnswerText, Line))]
    lines = [line for line in "\n".join(texts)[-SHOWN:].split("\n") if line.strip()]
    return "\n".join([f"> {visible_line(asked[:SHOWN])}", *map(visible_line, lines[-LINES:])])


async def _preload_model(model: Model, model_id: str) -> None:
    with contextlib.suppress(CodeInterpError):  # The turn reports it.
        await model.info(model_id)
