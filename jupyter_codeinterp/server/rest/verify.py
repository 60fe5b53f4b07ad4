"""``verifications``: whether a notebook runs from scratch with the same outputs. ``holdings``: how
far the figures of an answer move on changed data. ``orders``: an order of cells that runs."""

from __future__ import annotations

import asyncio
from typing import Any, Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ...core.order.proposal import proposed
from ...core.verify.holding import MOST_FIGURES, Followed, Holding
from ...core.verify.verification import Verification
from ..files.paths import normalize
from ..verify import Holder, Verifier
from ..verify.notebook import read_all
from .base import Handler


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``in_place``: run in the notebook's own folder instead of a copy."""

    notebook: str
    in_place: bool = False


class Verified(msgspec.Struct, frozen=True):
    """null if the notebook was not verified since the server's start."""

    verification: Union[Verification, None]


class HoldAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``key`` names the answer. Without ``begin`` nothing runs: the answer is the plan."""

    notebook: str
    key: str
    figures: tuple[Followed, ...]
    begin: bool = False


class Held(msgspec.Struct, frozen=True):
    """null if there was none since the server's start."""

    holding: Union[Holding, None]


class OrderAsked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    notebook: str


class _Latest(Handler):
    """Of a notebook."""

    def wrapped(self, state: Any) -> Any:
        raise NotImplementedError

    @property
    def runs(self) -> Any:
        raise NotImplementedError

    async def send_latest(self) -> None:
        """The latest run of ``notebook``. With ``seen``, a version, wait for another version."""
        notebook = _path(self.get_query_argument("notebook", ""))
        seen = self.get_query_argument("seen", "")
        if seen:
            if not (seen.isdecimal() and len(seen) < 10):
                raise CommandError("malformed", "“seen” must be a version.")
            self.answer(self.wrapped(await self.runs.changed(notebook, int(seen))))
        else:
            self.answer(self.wrapped(self.runs.of(notebook)))

    async def cancel(self) -> None:
        notebook = _path(self.get_query_argument("notebook", ""))
        self.answer(self.wrapped(await self.runs.cancel(notebook)))


class VerificationsHandler(_Latest):
    @property
    def runs(self) -> Verifier:
        found: Verifier = self.settings["codeinterp_verifier"]
        return found

    def wrapped(self, state: Any) -> Verified:
        return Verified(state)

    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        await self.send_latest()

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def post(self) -> None:
        """Start a run of the notebook as its file has it."""
        asked = self.given(Asked)
        path = _path(asked.notebook)
        started = await self.runs.start(path, in_place=asked.in_place)
        self.answer(Verified(started))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        await self.cancel()


class HoldingsHandler(_Latest):
    @property
    def runs(self) -> Holder:
        found: Holder = self.settings["codeinterp_holder"]
        return found

    def wrapped(self, state: Any) -> Held:
        return Held(state)

    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        await self.send_latest()

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("read")
    async def post(self) -> None:
        """Plan runs on changed data, or begin them."""
        asked = self.given(HoldAsked)
        if len(asked.key) > 200 or len(asked.figures) > MOST_FIGURES:
            raise CommandError("too_large", f"More than {MOST_FIGURES} figures, or a long key.")
        path = _path(asked.notebook)
        work = self.runs.start if asked.begin else self.runs.plan
        found = await work(path, asked.key, asked.figures)
        self.answer(Held(found))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        await self.cancel()


class OrdersHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """Propose an order of the cells that the file has. Nothing runs or changes."""
        path = _path(self.given(OrderAsked).notebook)
        verifier: Verifier = self.settings["codeinterp_verifier"]
        cells = await read_all(verifier.contents, verifier.kernels, path)
        self.answer(await asyncio.to_thread(proposed, cells))


def _path(notebook: str) -> str:
    path = normalize(notebook)
    if not path:
        raise CommandError("malformed", "“notebook” must be the path of a notebook.")
    return path
