"""``POST complete``: completions while a person types in a cell.

Each window has at most one request. A newer request or a closed connection cancels it, to save
its cost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec

from ...app.notebooks.names import ReferenceNames
from ...base.errors import CommandError, ModelError
from ...base.paths import normalize
from ...extensions import Route
from ...models.offered import Models
from ...server.rest.base import Handler
from ...wire.commands import EXECUTE
from ...wire.ports import Model, ModelRequest, ModelText
from .completion import MOST, Unfinished, insertion, request

TIMEOUT = 15.0
"""Seconds. Later completions are useless."""
OFF = "Completions while typing are switched off on this server."


class Completion(Unfinished, frozen=True):
    """``model``: "" for the default. ``notebook``: its kernel's variable names go to the model,
    except ``hidden``, which its private cells assign."""

    model: str = ""
    notebook: str = ""
    hidden: tuple[str, ...] = ()


class Completed(msgspec.Struct, frozen=True):
    """``text`` goes in at the cursor; "" for nothing. ``model`` wrote it."""

    text: str
    model: str


class Completions:
    """The running completions. ``scrub`` removes keys from requests."""

    def __init__(self, models: Models, names: ReferenceNames, scrub: Callable[[str], str]) -> None:
        self._models = models
        self._names = names
        self._scrub = scrub
        self._under_way: dict[int, asyncio.Task[Completed]] = {}

    def begin(self, window: int, given: Completion) -> asyncio.Task[Completed]:
        """Start a completion and cancel this window's previous one."""
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
        model = await self._models.get(model_id)
        if model.always_ask:
            raise ModelError("unknown_model", "The offline demo has no completions.")
        texts: list[str] = []
        model_request = request(model_id, given, await self._known(given), self._scrub)
        try:
            await asyncio.wait_for(_collect(model, model_request, texts), TIMEOUT)
        except asyncio.TimeoutError:
            if not texts:
                raise ModelError("timeout", "The model did not respond in time.") from None
        return Completed(insertion("".join(texts), given.before, given.after), model_id)

    async def _known(self, given: Completion) -> list[str]:
        notebook = normalize(given.notebook)
        variables = await self._names.variables(notebook) if notebook else ()
        return [str(one) for one in variables if one.name not in given.hidden]


async def _collect(model: Model, model_request: ModelRequest, texts: list[str]) -> None:
    """Collect the text, up to twice the length that can be shown."""
    stream: Any = model.stream(model_request)
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, ModelText):
                texts.append(event.text)
                if sum(map(len, texts)) > 2 * MOST:
                    return


async def complete(handler: Handler) -> Completed:
    """Uses the setting ``codeinterp_completions``; None: the admin disabled completions."""
    given = handler.given(Completion)
    completions: Completions | None = handler.settings["codeinterp_completions"]
    if completions is None:
        raise CommandError("not_allowed", OFF)
    work = completions.begin(handler.by, given)
    handler.at_disconnect = work.cancel
    await asyncio.wait({work})
    if work.cancelled():
        raise CommandError("no_longer_waits", "A newer completion request replaced this one.")
    return work.result()


ROUTES = (Route("POST", r"complete", (EXECUTE,), complete),)
