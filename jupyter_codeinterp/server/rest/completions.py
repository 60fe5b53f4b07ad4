"""``POST complete``: what a cell in which a person types could go on with.

One at a time for each window: a new one ends the one before, and so does a page that has hung
up, for nobody pays for what nobody waits for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.completion import MOST, Unfinished, insertion, request
from ...core.errors import CommandError, ModelError
from ...core.ports import Model, ModelRequest, ModelText
from ..files.whereabouts import clean
from ..models import Models
from ..names import Names
from .base import Handler

PATIENCE = 15.0
"""Seconds: nobody looks at grey text that comes later."""
OFF = "Completions while typing are switched off on this server."


class Completion(Unfinished, frozen=True):
    """``model``: "" for the one that answers by default. ``notebook``: whose kernel's names the
    model is told, but for ``hidden``, those that its private cells assign."""

    model: str = ""
    notebook: str = ""
    hidden: tuple[str, ...] = ()


class Completed(msgspec.Struct, frozen=True):
    """``text`` is to be inserted at the cursor; "" for nothing. ``model`` has written it."""

    text: str
    model: str


class Completions:
    """Those under way. ``scrub`` takes keys out of what a model is sent."""

    def __init__(self, models: Models, names: Names, scrub: Callable[[str], str]) -> None:
        self._models = models
        self._names = names
        self._scrub = scrub
        self._under_way: dict[int, asyncio.Task[Completed]] = {}

    def begin(self, window: int, given: Completion) -> asyncio.Task[Completed]:
        """Instead of the one that is under way for this window."""
        if before := self._under_way.get(window):
            before.cancel()
        work = self._under_way[window] = asyncio.ensure_future(self._complete(given))
        work.add_done_callback(lambda _: self._ended(window, work))
        return work

    def _ended(self, window: int, work: asyncio.Task[Completed]) -> None:
        if self._under_way.get(window) is work:
            del self._under_way[window]

    async def _complete(self, given: Completion) -> Completed:
        """Raises ModelError."""
        model_id = given.model or self._models.default
        model = self._models.get(model_id)
        if model.always_ask:
            raise ModelError("unknown_model", "A recording does not complete what is typed.")
        said: list[str] = []
        asked = request(model_id, given, await self._known(given), self._scrub)
        try:
            await asyncio.wait_for(_collect(model, asked, said), PATIENCE)
        except asyncio.TimeoutError:
            if not said:
                raise ModelError("timeout", "The model has not answered in time.") from None
        return Completed(insertion("".join(said), given.before, given.after), model_id)

    async def _known(self, given: Completion) -> list[str]:
        notebook = clean(given.notebook)
        variables = await self._names.variables(notebook) if notebook else ()
        return [str(one) for one in variables if one.name not in given.hidden]


async def _collect(model: Model, asked: ModelRequest, said: list[str]) -> None:
    """The text, as far as it may be shown."""
    stream: Any = model.stream(asked)
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, ModelText):
                said.append(event.text)
                if sum(map(len, said)) > 2 * MOST:
                    return


class CompleteHandler(Handler):
    """Settings: ``codeinterp_completions``; None where an admin wants none."""

    _work: asyncio.Task[Completed] | None = None

    def on_connection_close(self) -> None:
        if self._work is not None:
            self._work.cancel()

    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self) -> None:
        window, given = self.window(), self.given(Completion)
        completions: Completions | None = self.settings["codeinterp_completions"]
        if completions is None:
            raise CommandError("not_allowed", OFF)
        self._work = completions.begin(window, given)
        await asyncio.wait({self._work})
        if self._work.cancelled():
            # Whoever has asked has asked for another since, or is gone.
            raise CommandError("no_longer_waits", "Another completion has been asked for.")
        self.answer(self._work.result())
