"""Lets a model look for mistakes in the latest answer of a session."""

from __future__ import annotations

import asyncio

from ..agent.second_look import LatestTurn, SecondLook, latest
from ..base.errors import CodeInterpError, CommandError, ModelError
from ..base.visible import visible_line
from ..wire.events import Looked, Note
from .log import Services, SessionLog

LONGEST_LOOK = 60.0
"""Seconds that a model has to name mistakes."""


class SecondLooks:
    def __init__(self, session_log: SessionLog, services: Services) -> None:
        self._log = session_log
        self._services = services

    async def look(self, name: str = "", window: int = 0) -> None:
        """Let the model ``name`` look for mistakes; "" for the default. Stop or a new turn cancels
        this. Raises CommandError ``busy``, ``nothing_to_look_at``, ``look_stopped`` or
        ``no_look``, and DocumentError."""
        self._log.need_idle()
        if self._log.task.look is not None:
            raise CommandError("busy", "A model is looking for mistakes. Wait a moment.")
        await self._look(self._latest_answer(), name, window)

    async def look_after_turn(self, name: str) -> None:
        """Look for mistakes in an answer with numbers. A failure becomes a note."""
        try:
            answered = self._latest_answer()
            if answered.has_figures:
                await self._look(answered, name, 0)
        except CodeInterpError as error:
            if getattr(error, "code", "") not in ("nothing_to_look_at", "look_stopped"):
                self._log.show_unasked(Note(error.message, "warning"))

    def _latest_answer(self) -> LatestTurn:
        replay = self._log.replay
        events = self._log.store.events(self._log.session_id)
        answered = latest(events, replay.asked, replay.said_last)
        if replay.ended is None or replay.ended.stop_reason != "end_turn" or not answered.runs:
            words = "There is no answer with a cell to look at."
            raise CommandError("nothing_to_look_at", words)
        return answered

    async def _look(self, answered: LatestTurn, name: str, window: int) -> None:
        name = name or self._services.rules.second_look or self._log.info.model
        work = self._ask_for_mistakes(answered, name, window)
        task = self._log.task.look = self._log.in_background(work)
        model = visible_line(name)
        try:
            await asyncio.wait({task}, timeout=LONGEST_LOOK)
            if not task.done():
                words = (
                    "{model} could not look for mistakes: it took longer than {limit:.0f} seconds."
                )
                raise CommandError("no_look", words, model=model, limit=LONGEST_LOOK)
            if task.cancelled():
                words = "{model} could not look for mistakes: it was stopped."
                raise CommandError("look_stopped", words, model=model)
            task.result()
        except ModelError as error:
            words = "{model} could not look for mistakes: {why}"
            raise CommandError("no_look", words, model=model, why=error.message) from None
        finally:
            task.cancel()
            if self._log.task.look is task:
                self._log.task.look = None

    async def _ask_for_mistakes(self, answered: LatestTurn, name: str, window: int) -> None:
        session = self._log
        turn = session.replay.turns
        snapshot = await session.workplace.document.snapshot()
        model = self._services.model(name)
        look = SecondLook(model, name, session.talk.untrusted, session.meter)
        async for counted in look.events(answered, snapshot, self._services.rules.limits.cost):
            with session.here():
                session.show(counted)
        with session.here():
            session.show(Looked(turn, name, look.mistakes, window))
