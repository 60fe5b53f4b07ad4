"""How models are connected: a connection a provider, with a key that is written and never read."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.commands import DoneElsewhere
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
        """Try a key, an address or both, and keep them."""
        await self._connect(provider)
        self._tell(provider)

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self, provider: str) -> None:
        await self._forget(provider)
        self._tell(provider)

    async def _connect(self, provider: str) -> None:
        window, given = self.window(), self.body()
        key, base_url, model = (self.text(given, n) for n in ("key", "base_url", "model"))
        put_back = await self.models.put_back(provider)
        await self.models.connect(provider, key, base_url, model)
        self.manager.tell_others(DoneElsewhere(window, "key", self._host(provider)), put_back)

    async def _forget(self, provider: str) -> None:
        window = self.window()
        put_back = await self.models.put_back(provider)
        await self.models.forget(provider)
        self.manager.tell_others(DoneElsewhere(window, "no_key"), put_back)

    def _host(self, provider: str) -> str:
        """Where its requests go from now on; never what else an address may carry."""
        return self.models.described(provider).origin.partition("://")[2]

    def _tell(self, provider: str) -> None:
        self.answer({"connection": self.models.described(provider), "status": status(self)})


class TrialHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self, provider: str) -> None:
        """Ask for its models with what is kept; the answer says whether that works."""
        self.window()
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
        await self._forget(self.models.default_provider)
        self.answer(status(self))


class LocalHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def get(self) -> None:
        self.answer(await self.models.local_servers())
