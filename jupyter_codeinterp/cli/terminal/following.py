"""Follows a turn: shows its events and asks the person, wherever the turn runs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, Protocol

import msgspec

from ...core.document.ops import Output
from ...core.errors import CommandError
from ...core.wire import events as e
from .asking import InputClosed
from .fronts import Decision, Front
from .stopping import Stopping

_MOST = 4_000
"""Characters at an output's end that are searched for its last line."""
_decode = msgspec.json.Decoder(e.Event).decode


def last_line(outputs: tuple[Output, ...]) -> str:
    """The last line with text of what a cell has printed; "" for none."""
    text = outputs[-1].get("text") if outputs else ""
    text = text[-_MOST:] if isinstance(text, str) else ""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line.strip()]
    return lines[-1].strip() if lines else ""


class Talk(Protocol):
    """A conversation with a running turn, here or on a server."""

    def events(self) -> AsyncIterator[bytes]:
        """The turn's events as JSON; does not end by itself."""

    async def decide(self, draft: e.Draft, decision: Decision) -> None:
        """Raises CommandError if the draft can no longer be decided."""

    async def answer(self, call_id: str, text: str) -> None:
        """Raises CommandError if the question was answered."""


class Following:
    """Follows one turn. ``attended``: seconds that questions to the person took."""

    def __init__(self, talk: Talk, front: Front, stopping: Stopping) -> None:
        self._talk = talk
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
            async for raw in self._talk.events():
                event = _decode(raw)
                self._show(event, raw)
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

    async def _decide(self, draft: e.Draft) -> None:
        with self._person():
            decision = await self._front.decide(draft)
            with contextlib.suppress(CommandError):  # already decided
                await self._talk.decide(draft, decision)

    async def _answer(self, question: e.QuestionAsked) -> None:
        with self._person():
            answer = await self._front.answer(question)
            with contextlib.suppress(CommandError):
                await self._talk.answer(question.call_id, answer)

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
