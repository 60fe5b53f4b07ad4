"""REST for MCP servers of the agent."""

from __future__ import annotations

from typing import Literal

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...server.files.paths import normalize
from ...server.rest.base import Handler
from .servers import ToolServers


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``approve`` starts or restarts the server; ``off`` stops it; ``pick`` sets the ``tools`` that
    new conversations get (None: as many as fit)."""

    notebook: str
    action: Literal["approve", "off", "pick"]
    tools: tuple[str, ...] | None = None


class _ToolServers(Handler):
    def initialize(self) -> None:
        super().initialize()
        self.servers: ToolServers = self.settings["codeinterp_tool_servers"]

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


SERVER = r"([0-9a-f]{64})"
ROUTES = (
    (r"tool-servers", ToolServersHandler),
    (rf"tool-servers/{SERVER}", ToolServerHandler),
)
