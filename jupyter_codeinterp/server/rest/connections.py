"""Connections of providers. Keys can be written, never read."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.wire.commands import DoneElsewhere
from .base import Handler, Nothing
from .settings import status


class ConnectionsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        self.answer({"connections": self.models.connections()})


class ConnectionHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, provider: str) -> None:
        """Test and save a key, an address or both."""
        await self._connect(provider)
        self._answer_connection(provider)

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self, provider: str) -> None:
        self._forget(provider)
        self._answer_connection(provider)

    async def _connect(self, provider: str) -> None:
        given = self.body()
        key, base_url, model = (self.text(given, n) for n in ("key", "base_url", "model"))
        await self.models.connect(provider, key, base_url, model)
        self._tell_others()

    def _forget(self, provider: str) -> None:
        self.models.forget(provider)
        self._tell_others()

    def _tell_others(self) -> None:
        self.manager.tell_others(DoneElsewhere(self.by, "key"))

    def _answer_connection(self, provider: str) -> None:
        self.answer({"connection": self.models.described(provider), "status": status(self)})


class TrialHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, provider: str) -> None:
        """Test the saved connection."""
        self.given(Nothing)
        self.answer({"connection": await self.models.test(provider)})


class KeyHandler(ConnectionHandler):
    """The default provider's connection."""

    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self) -> None:
        await self._connect(self.models.default_provider)
        self.answer(status(self))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        self._forget(self.models.default_provider)
        self.answer(status(self))


class LocalHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def get(self) -> None:
        self.answer(await self.models.local_servers())
