"""Connections of providers, and the MCP servers of the agent. Keys can be written, never read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.wire.commands import DoneElsewhere
from ..files.paths import normalize
from .base import Handler, Nothing
from .settings import status

if TYPE_CHECKING:
    from ..tool_servers.servers import ToolServers


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


# --- MCP servers ---------------------------------------------------------------------


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``approve`` starts or restarts the server; ``off`` stops it; ``pick`` sets the ``tools`` that
    new conversations get (None: as many as fit)."""

    notebook: str
    action: Literal["approve", "off", "pick"]
    tools: Union[tuple[str, ...], None] = None


class _ToolServers(Handler):
    @property
    def servers(self) -> ToolServers:
        servers: ToolServers = self.settings["codeinterp_tool_servers"]
        return servers

    async def answer_list(self, notebook: str) -> None:
        found, faults = await self.servers.shown(notebook)
        self.answer({"servers": found, "faults": faults})


class ToolServersHandler(_ToolServers):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        """The servers of a notebook. Starts nothing."""
        await self.answer_list(normalize(self.get_query_argument("notebook", "")))


class ToolServerHandler(_ToolServers):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def patch(self, digest: str) -> None:
        """Carry out a person's wish for the server with exactly this entry."""
        wish = self.given(Wish)
        notebook = normalize(wish.notebook)
        if wish.action == "approve":
            await self.servers.approve(notebook, digest)
        elif wish.action == "off":
            await self.servers.turn_off(notebook, digest)
        else:
            await self.servers.pick(notebook, digest, wish.tools)
        await self.answer_list(notebook)
